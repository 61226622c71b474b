"""Count scores in fine cells: two passes, a third where scores crowd into few of them.

The first pass asks for the number of items and the extremes (Parquet knows them without reading), the second
counts in one grid over that range.
Where many items share a cell (a spike, a core dwarfed by its tails), further passes cut only these cells finer,
until no cell holds more than its share or what it holds is one value. Whatever is decided here is decided from
integer counts and observed extremes, so every engine takes the same decisions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from paucity.exceptions import InvalidScores
from paucity.scores.cells import (
    Floats,
    Grid,
    Integers,
    Piece,
    Run,
    finer_pieces,
    grid_for_edges,
    runs_over,
    unit_for,
)

MAX_FINER_PASSES = 6
MAX_PINS_AT_ONCE = 64
MAX_BY_VALUE = 1_000_000  # items that are counted value by value
MARGIN = 64  # a cell that stays coarse is this many cells away from a crowd: its width is 1.6% of that distance


@dataclass(frozen=True)
class Summary:
    """What the first pass tells: how many items, and the extremes of the finite scores."""

    n_items: int
    low: float
    high: float


@dataclass(frozen=True)
class Invalid:
    """Scores that cannot be placed: how many of which kind."""

    missing: int = 0
    plus_infinity: int = 0
    minus_infinity: int = 0

    def __int__(self) -> int:
        return self.missing + self.plus_infinity + self.minus_infinity

    def __str__(self) -> str:
        parts = (
            (self.missing, "missing or NaN"),
            (self.plus_infinity, "+infinity"),
            (self.minus_infinity, "-infinity"),
        )
        return ", ".join(f"{n:,} {name}" for n, name in parts if n)


@dataclass(frozen=True)
class Labelled:
    """The labelled items one by one: score, label (0 or 1), group and inclusion probability."""

    scores: Floats
    values: Integers
    groups: Integers | None = None
    inclusion: Floats | None = None

    def sorted(self) -> Labelled:
        """By score, then label, group and inclusion: the same order whatever the engine returned."""
        keys = [key for key in (self.inclusion, self.groups, self.values, self.scores) if key is not None]
        order = np.lexsort(keys)
        return Labelled(
            scores=self.scores[order] + 0.0,
            values=self.values[order],
            groups=None if self.groups is None else self.groups[order],
            inclusion=None if self.inclusion is None else self.inclusion[order],
        )


def no_labels() -> Labelled:
    """Nothing is labelled."""
    return Labelled(np.empty(0), np.empty(0, dtype=np.int64))


@dataclass(frozen=True)
class Tally:
    """Counts by cell, as an engine returns them: cells by left end, ascending."""

    left: Floats
    count: Integers  # (n_rows, n_cells), a row for each combination that was asked for
    low: Floats | None = None  # (n_cells,) the extremes seen in each cell, where asked for
    high: Floats | None = None
    n_invalid: int = 0


def added_up(left: Floats, row: Integers, n: Integers, n_rows: int, extremes: tuple[Floats, Floats] | None) -> Tally:
    """Groups, of an engine or of chunks, as a tally: cells ascending, -0.0 and 0.0 as one."""
    distinct, where = np.unique(left + 0.0, return_inverse=True)
    count = np.zeros((n_rows, len(distinct)), dtype=np.int64)
    np.add.at(count, (row, where), n)
    if extremes is None:
        return Tally(distinct, count)
    low, high = np.full(len(distinct), np.inf), np.full(len(distinct), -np.inf)
    np.minimum.at(low, where, extremes[0])
    np.maximum.at(high, where, extremes[1])
    return Tally(distinct, count, low + 0.0, high + 0.0)


class Source(Protocol):
    """Scores and labels, wherever they live; answers with counts, and with the few labelled rows."""

    library: str | None

    def summary(self) -> Summary:
        """Items and extremes."""

    def invalid(self) -> Invalid:
        """Scores that are missing or infinite, by kind."""

    def labelled(self, most: int) -> Labelled | None:
        """The labelled rows whose scores are finite, in any order; labels as codes. None where they are more."""

    def check_labels(self) -> None:
        """Raise the error that names a label outside what was expected."""

    def lowest_labelled(self) -> float:
        """The lowest labelled score; inf where there is none."""

    def tally(self, grid: Grid, *, runs: Sequence[Run] = (), by: str = "", observe: bool = False) -> Tally:
        """Counts by cell of the scores inside the runs (all, where none is named).

        ``by`` is "", "label" (rows as in ``label_rows``) or "group" (a row a group).
        """

    def highest_unlabelled(self, at_least: float) -> float:
        """The highest unlabelled score at or above the given one; -inf where there is none."""


N_LABEL_ROWS = 4
NEGATIVE_ROW, POSITIVE_ROW, OTHER_ROW, UNLABELLED_ROW = range(N_LABEL_ROWS)


def label_rows(codes: np.ndarray) -> Integers:
    """Rows of a tally by label: the last two bits of 0, 1, 2 (neither) and -1 (unknown)."""
    return (codes & (N_LABEL_ROWS - 1)).astype(np.int64)


@dataclass(frozen=True)
class Cells:
    """Fine cells [left, right), ascending, with their counts and, where seen, the extremes of their scores."""

    left: Floats
    right: Floats
    low: Floats
    high: Floats
    rows: Integers  # (n_rows, n_cells): one row, or one for each kind of label

    def __len__(self) -> int:
        return len(self.left)

    @cached_property
    def count(self) -> Integers:
        """All items in each cell."""
        return self.rows[0] if len(self.rows) == 1 else np.asarray(self.rows.sum(axis=0))

    @property
    def n_items(self) -> int:
        """How many items were counted."""
        return int(self.count.sum())

    @property
    def single(self) -> np.ndarray:
        """Cells whose items are known to share one value."""
        return self.low == self.high

    def select(self, keep: np.ndarray) -> Cells:
        """Only these cells, in this order."""
        return Cells(self.left[keep], self.right[keep], self.low[keep], self.high[keep], self.rows[:, keep])

    def merged(self, other: Cells) -> Cells:
        """Two sets of cells without overlap, in order."""
        names = ("left", "right", "low", "high", "rows")
        both = Cells(*(np.concatenate((getattr(self, name), getattr(other, name)), axis=-1) for name in names))
        return both.select(np.argsort(both.left, kind="stable"))


@dataclass(frozen=True)
class Counted:
    """The outcome of all passes: the cells, the grid that made them, and the scores left out."""

    cells: Cells
    grid: Grid
    n_invalid: int


def cells_of(tally: Tally, grid: Grid) -> Cells:
    """A tally as cells."""
    right = grid.right_ends(tally.left)
    seen = tally.low is not None and tally.high is not None
    last = np.maximum(np.nextafter(right, -math.inf), tally.left)  # the last number below the right end
    low, high = (tally.low, tally.high) if seen else (tally.left, last)
    return Cells(tally.left, right, np.asarray(low), np.asarray(high), tally.count)


def count_on_edges(source: Source, summary: Summary, edges: Floats, *, by: str = "") -> Counted:
    """One pass on a grid that knows all the edges of an earlier table.

    Edges that lie on no grid (0.1, 0.2, ...) cost comparisons, so where there are many, a pass without them comes
    first: where every cell that holds such an edge holds one value, as with rounded scores, nothing more is needed.
    """
    grid = grid_for_edges(edges, low=summary.low, high=summary.high)
    if len(grid.pins) > MAX_PINS_AT_ONCE:
        unpinned = Grid(grid.pieces)
        tally = source.tally(unpinned, by=by, observe=True)
        cells = cells_of(tally, unpinned)
        if not divided(cells, grid.pins).any():
            return Counted(cells, unpinned, tally.n_invalid)
    tally = source.tally(grid, by=by, observe=True)
    return Counted(cells_of(tally, grid), grid, tally.n_invalid)


def divided(cells: Cells, pins: Sequence[float]) -> np.ndarray:
    """Cells that hold scores on both sides of a pin."""
    return np.searchsorted(pins, cells.low, side="right") < np.searchsorted(pins, cells.high, side="right")


def count_finely(source: Source, summary: Summary, *, n_bins: int, pins: Sequence[float] = (), by: str = "") -> Counted:
    """One pass over the whole range, then finer ones where cells are crowded."""
    grid = Grid(first_pieces(summary, n_bins), tuple(pins))
    tally = source.tally(grid, by=by)
    cells = cells_of(tally, grid)
    n_invalid = tally.n_invalid
    seen = False
    for _ in range(MAX_FINER_PASSES):
        crowded = crowded_cells(cells, n_bins)
        if not crowded.any():
            break
        pieces = finer_step(cells, crowded, grid, summary, already_seen=seen)
        if not pieces:
            break
        cells, grid = recount(source, cells, grid, pieces, by=by)
        seen = True
    if len(cells) <= n_bins and not cells.single.all():
        cells, grid = told_apart(source, cells, grid, by=by)
    return Counted(cells, grid, n_invalid)


def told_apart(source: Source, cells: Cells, grid: Grid, *, by: str) -> tuple[Cells, Grid]:
    """Few cells, perhaps few distinct scores: the extremes of every cell, then by value what still holds several."""
    cells, grid = recount(source, cells, grid, (), by=by, runs=runs_over_wide(cells))
    if 0 < cells.count[~cells.single].sum() <= MAX_BY_VALUE:
        pieces = tuple(Piece(run.low, run.high) for run in runs_over_wide(cells))
        cells, grid = recount(source, cells, grid, pieces, by=by)
    return cells, grid


def runs_over_wide(cells: Cells) -> list[Run]:
    """The stretches of cells that perhaps hold several values."""
    wide = ~cells.single
    return runs_over(cells.left[wide], cells.right[wide])


def first_pieces(summary: Summary, n_bins: int) -> tuple[Piece, ...]:
    """No more items than bins: every value by itself. Else one unit over the range."""
    if summary.n_items <= n_bins:
        return (Piece(),)
    above = math.nextafter(summary.high, math.inf)
    return (Piece(summary.low, above, unit_for(summary.low, summary.high)),)


def crowded_cells(cells: Cells, n_bins: int) -> np.ndarray:
    """Cells that hold more than a bin's share of the items, and perhaps several values.

    Where there is none, and no more cells than bins, every cell of perhaps several values: there may be few distinct
    scores, which then get a bin each.
    """
    crowded = ~cells.single & (cells.count > cells.n_items / n_bins)
    return crowded if crowded.any() or len(cells) > n_bins else ~cells.single


def finer_step(
    cells: Cells, crowded: np.ndarray, grid: Grid, summary: Summary, *, already_seen: bool
) -> tuple[Piece, ...]:
    """The crowded stretches in finer cells; none where nothing would be gained."""
    left, right = cells.left[crowded], cells.right[crowded]
    pieces = whole_cells(finer_pieces(left, right, low=summary.low, high=summary.high, margin=MARGIN), grid)
    if already_seen and not any(piece.floating for piece in grid.pieces) and crowd_at_zero(cells, crowded):
        return tuple(replace(piece, floating=piece.low <= 0 <= piece.high) for piece in pieces)
    if pieces or already_seen:
        return pieces
    # no finer, but once more with the extremes of every cell, which tell single values
    return tuple(Piece(run.low, run.high, grid.pieces[0].unit) for run in runs_over(left, right))


def whole_cells(pieces: tuple[Piece, ...], grid: Grid) -> tuple[Piece, ...]:
    """The stretches, widened to ends of cells of the grid: a cell is counted again whole or not at all."""
    low, high = (np.array([getattr(piece, end) for piece in pieces]) for end in ("low", "high"))
    begins, last = grid.left_ends(low), grid.left_ends(high)
    ends = np.where(last == high, high, grid.right_ends(last))
    return tuple(
        replace(piece, low=begin, high=end)
        for piece, begin, end in zip(pieces, begins.tolist(), ends.tolist(), strict=True)
    )


def crowd_at_zero(cells: Cells, crowded: np.ndarray) -> bool:
    """Cut finer, the cell next to zero is still crowded: magnitudes differ by more than one width can show."""
    return bool(np.any(crowded & (cells.left <= 0) & (cells.right >= 0)))


def recount(
    source: Source, cells: Cells, grid: Grid, pieces: tuple[Piece, ...], *, by: str, runs: Sequence[Run] = ()
) -> tuple[Cells, Grid]:
    """The cells with those inside the pieces (or runs) replaced by finer ones."""
    runs = runs or [Run(piece.low, piece.high) for piece in pieces]
    inside = np.zeros(len(cells), dtype=bool)
    for run in runs:
        inside |= (cells.left >= run.low) & (cells.left < run.high)
    finer = Grid(grid.pieces + pieces, grid.pins)
    tally = source.tally(finer, runs=runs, by=by, observe=True)
    return cells.select(~inside).merged(cells_of(tally, finer)), finer


def check_scores(n_invalid: int, n_items: int, source: Source, *, drop_invalid: bool) -> Invalid:
    """Refuse scores that cannot be placed, unless they may be dropped; say how many of which kind."""
    if not n_invalid:
        return Invalid()
    invalid = source.invalid()
    if not drop_invalid:
        raise InvalidScores(
            f"Scores must be finite numbers, but of {n_items:,} scores these are not: {invalid}. "
            "Repair them, or pass drop_invalid=True to leave these items out (they are counted in n_dropped)."
        )
    return invalid
