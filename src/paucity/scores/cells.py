"""Fine cells: where scores are counted, without rounding and alike in every engine.

A cell is an interval [left, right) between neighbouring multiples of a power of two, ``unit``. Then

    left = floor(score / unit) * unit

has no rounding in it, on any machine and in any engine: scaling by a power of two and flooring are exact. So a
score is never counted on the wrong side of an edge, edges of one table are edges of another, and counts from
pandas, Spark and DuckDB agree bit for bit. (With an affine map, subtracting the minimum first, -1e-300 would
land in the cell of 0.)

A grid is a list of pieces, later ones overriding earlier ones, so that a spike or a long tail can have cells of
its own size; pins (thresholds, design lines) cut the cell they fall into.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

N_CELLS = 2**17  # a grid has between half as many and as many cells over its range
STEPS_PER_OCTAVE = 1024  # of a floating piece: cells of 0.07-0.1% of the score
MAX_RUNS = 8
MAX_LEVELS = 8
MAX_FLOAT = float(np.finfo(np.float64).max)
SMALLEST_UNIT = 2.0**-1022  # below it the reciprocal overflows


@dataclass(frozen=True)
class Piece:
    """Scores in [low, high) are counted in cells of this unit; unit 0 counts every value by itself."""

    low: float = -math.inf
    high: float = math.inf
    unit: float = 0.0
    floating: bool = False

    def left_ends(self, scores: Floats) -> Floats:
        """floor(score / unit) * unit."""
        if self.floating:
            return floating_left_ends(scores)
        if not self.unit:
            return scores.copy()
        with np.errstate(over="ignore"):  # of scores that another piece counts
            left = np.floor(scores * (1 / self.unit)) * self.unit
        # the quotient of a tiny number and a large unit is lost, its sign is not
        return np.where(scores < 0, np.minimum(left, -self.unit), left) if self.unit > 1 else left

    def right_ends(self, left: Floats) -> Floats:
        """Where the cells that begin at ``left`` end; left itself where a cell is one value."""
        if self.floating:
            begin = floating_left_ends(left)
            mantissa, exponent = np.frexp(begin)
            # a power of two below zero begins a cell of the finer octave
            octave = np.maximum(np.where(mantissa == 0, -1021, exponent - (mantissa == -0.5)), -1021)
            return np.minimum(begin + np.ldexp(1.0 / STEPS_PER_OCTAVE, octave - 1), self.high)
        return np.minimum(self.left_ends(left) + self.unit, self.high) if self.unit else left.copy()


@dataclass(frozen=True)
class Grid:
    """Pieces, later ones overriding earlier ones, and pins that cut the cell they fall into."""

    pieces: tuple[Piece, ...]
    pins: tuple[float, ...] = ()

    def left_ends(self, scores: Floats) -> Floats:
        """The left end of each score's cell."""
        left = self.pieces[0].left_ends(scores)
        for piece in self.pieces[1:]:
            inside = (scores >= piece.low) & (scores < piece.high)
            # a piece may begin where its own cells do not
            left[inside] = np.maximum(piece.left_ends(scores[inside]), piece.low)
        if self.pins:
            lowest = np.concatenate(([-math.inf], self.pins))[np.searchsorted(self.pins, scores, side="right")]
            left = np.maximum(left, lowest)
        return left + 0.0  # -0.0 is 0.0

    def right_ends(self, left: Floats) -> Floats:
        """The right end of the cells that begin at ``left``."""
        right = self.pieces[0].right_ends(left)
        for piece in self.pieces[1:]:
            inside = (left >= piece.low) & (left < piece.high)
            right[inside] = piece.right_ends(left[inside])
        if self.pins:
            next_pin = np.concatenate((self.pins, [math.inf]))[np.searchsorted(self.pins, left, side="right")]
            right = np.minimum(right, next_pin)
        return np.maximum(right, left)


def floating_left_ends(scores: Floats) -> Floats:
    """Cells of a fixed share of an octave, at every magnitude at once."""
    mantissa, exponent = np.frexp(scores)
    octave = np.maximum(exponent, -1021)
    mantissa = np.ldexp(mantissa, exponent - octave)
    return np.ldexp(np.floor(mantissa * 2 * STEPS_PER_OCTAVE) / STEPS_PER_OCTAVE, octave - 1)


def unit_for(low: float, high: float, *, n_cells: int = N_CELLS) -> float:
    """The smallest power of two that covers [low, high) with at most n_cells cells."""
    return _unit_of_width(high / 2 - low / 2, max(abs(low), abs(high)), n_cells)


def _unit_of_width(half_width: float, largest: float, n_cells: int) -> float:
    """2^ceil(log2(width / n_cells)), kept where largest / unit neither overflows nor loses its unit."""
    _, top = math.frexp(largest)
    mantissa, exponent = math.frexp(half_width)
    wanted = exponent - (mantissa == 0.5) + 1 - (n_cells.bit_length() - 1) if half_width else -1022
    return math.ldexp(1.0, min(max(wanted, top - 1022, -1022), 1022))


@dataclass(frozen=True)
class Run:
    """A stretch [low, high) of neighbouring cells that are to be cut finer."""

    low: float
    high: float


def runs_over(left: Floats, right: Floats) -> list[Run]:
    """At most MAX_RUNS stretches that cover the given cells, bridging the narrowest gaps."""
    gaps = left[1:] - right[:-1]
    widest = np.argsort(-gaps, kind="stable")[: MAX_RUNS - 1]
    cuts = np.sort(widest[gaps[widest] > 0])
    starts = np.concatenate(([0], cuts + 1))
    stops = np.concatenate((cuts, [len(left) - 1]))
    return [Run(float(left[i]), float(right[j])) for i, j in zip(starts, stops, strict=True)]


def finer_pieces(
    left: Floats, right: Floats, *, low: float, high: float, margin: int = 0, n_cells: int = N_CELLS
) -> tuple[Piece, ...]:
    """Stretches over the given cells with the finest common unit that n_cells allow; none if that is no finer.

    Cells that are narrower than this unit already are left as they are. ``margin`` cells on either side are cut finer
    too: a cell that stays coarse is then at least that many cells away from where the scores crowd.
    """
    wide = np.ones(len(left), dtype=bool)
    while wide.any():
        runs = widened(runs_over(left[wide], right[wide]), float(np.max((right - left)[wide])) * margin)
        pieces = _pieces_of(runs, low, high, n_cells)
        narrower = wide & (right - left <= pieces[0].unit)
        if not narrower.any():
            return pieces
        wide &= ~narrower
    return ()


def widened(runs: list[Run], margin: float) -> list[Run]:
    """The stretches with a margin on both sides, joined where they then overlap."""
    joined: list[Run] = []
    for run in runs:
        low, high = run.low - margin, run.high + margin
        if joined and low <= joined[-1].high:
            low = joined.pop().low
        joined.append(Run(low, high))
    return joined


def _pieces_of(runs: Iterable[Run], low: float, high: float, n_cells: int) -> tuple[Piece, ...]:
    clipped = [(max(run.low, low), min(run.high, high)) for run in runs]
    half_width = sum(max(b / 2 - a / 2, 0.0) for a, b in clipped)
    largest = max(max(abs(a), abs(b)) for a, b in clipped)
    unit = _unit_of_width(half_width, largest, n_cells)
    return tuple(Piece(run.low, run.high, unit) for run in runs)


def grid_for_edges(edges: Floats, *, low: float, high: float) -> Grid:
    """A grid on which every edge is the end of a cell: by finer pieces where edges are dense, else as pins."""
    first, last = float(edges[0]), float(edges[-1])
    inner = edges[1:-1]
    n_cells = 2 * N_CELLS  # the first and last edge lie beyond the scores, so the range is a little wider
    grid = Grid((Piece(first, last, unit_for(first, last, n_cells=n_cells)),))
    for _ in range(MAX_LEVELS):
        inside = off_grid(inner, grid)
        left = np.unique(grid.left_ends(inside))
        finer = finer_pieces(left, grid.right_ends(left), low=first, high=last, n_cells=n_cells)
        if not finer:
            break
        around_zero = len(finer) == 1 and finer[0].low <= 0 <= finer[0].high
        if around_zero and len(off_grid(inside, Grid(grid.pieces + finer))) == len(inside):
            finer = tuple(replace(piece, floating=True) for piece in finer)
        grid = Grid(grid.pieces + finer)
    unit = unit_for(min(low, first), max(high, last))
    below = Piece(min(low, first), first, unit)
    above = Piece(last, max(math.nextafter(high, math.inf), last), unit)
    whole = Grid((*grid.pieces, below, above))
    return replace(whole, pins=tuple(off_grid(edges, whole).tolist()))


def off_grid(values: Floats, grid: Grid) -> Floats:
    """The values that are not the left end of a cell."""
    return values[grid.left_ends(values) != values]
