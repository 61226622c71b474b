"""Scores and labels in memory: counted in chunks that stay in the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from paucity.scores.cells import MAX_FLOAT, Floats, Grid, Integers, Run
from paucity.scores.counting import (
    N_LABEL_ROWS,
    UNLABELLED_ROW,
    Invalid,
    Labelled,
    Summary,
    Tally,
    added_up,
    label_rows,
    no_labels,
)

CHUNK = 2**18
SMALL_CHUNK = 2**16  # of the plain grid: positions, indices and counts together fit the second-level cache
MAX_PLAIN_PINS = 16


class ArraySource:
    """A pair of arrays; labels already as codes (1, 0, -1 unknown)."""

    def __init__(
        self,
        scores: np.ndarray,
        labels: np.ndarray | None,
        *,
        sign: float = 1.0,
        groups: Integers | None = None,
        inclusion: Floats | None = None,
        library: str | None = None,
    ) -> None:
        self.scores = scores
        self.labels = labels
        self.sign = sign
        self.groups = groups
        self.inclusion = inclusion
        self.library = library
        self._summary: Summary | None = None
        self._all_finite = True

    def chunks(self, size: int = CHUNK) -> Iterator[tuple[slice, Floats]]:
        """The scores as float64, turned where low is suspicious, a chunk at a time."""
        for start in range(0, len(self.scores), size):
            rows = slice(start, start + size)
            chunk = self.scores[rows].astype(np.float64, copy=False)
            yield rows, (-chunk if self.sign < 0 else chunk)

    def summary(self) -> Summary:
        """Items and extremes."""
        if self._summary is None:
            self._summary = self._summarise()
        return self._summary

    def _summarise(self) -> Summary:
        low, high = np.inf, -np.inf
        for _, chunk in self.chunks(SMALL_CHUNK):
            smallest, largest = chunk.min(), chunk.max()  # NaN comes through
            if not (smallest >= -MAX_FLOAT and largest <= MAX_FLOAT):
                self._all_finite = False
                finite = chunk[np.isfinite(chunk)]
                smallest, largest = finite.min(initial=np.inf), finite.max(initial=-np.inf)
            low, high = min(low, smallest), max(high, largest)
        return Summary(len(self.scores), float(low) + 0.0, float(high) + 0.0)

    def invalid(self) -> Invalid:
        """Scores that are missing or infinite, by kind."""
        totals = np.zeros(3, dtype=np.int64)
        for _, chunk in self.chunks():
            totals += [np.count_nonzero(kind) for kind in (np.isnan(chunk), chunk == np.inf, chunk == -np.inf)]
        return Invalid(*(int(total) for total in totals))

    def labelled(self, most: int) -> Labelled | None:
        """The labelled rows whose scores are finite; None where they are more."""
        if self.labels is None:
            return no_labels()
        starts = range(0, len(self.labels), SMALL_CHUNK)
        n_found = 0
        for start in starts:
            n_found += int(np.count_nonzero(self.labels[start : start + SMALL_CHUNK] >= 0))
            if n_found > most:
                return None
        found = [np.flatnonzero(self.labels[start : start + SMALL_CHUNK] >= 0) + start for start in starts]
        rows = np.concatenate(found)
        scores = self.scores[rows].astype(np.float64) * self.sign
        rows, scores = rows[np.isfinite(scores)], scores[np.isfinite(scores)]
        return Labelled(
            scores=scores,
            values=self.labels[rows].astype(np.int64),
            groups=None if self.groups is None else self.groups[rows],
            inclusion=None if self.inclusion is None else self.inclusion[rows],
        )

    def check_labels(self) -> None:
        """Nothing to do: labels were turned into codes at the door."""

    def lowest_labelled(self) -> float:
        """The lowest labelled score; inf where there is none."""
        lowest = np.inf
        for rows, chunk in self.chunks():
            if self.labels is not None:
                candidate = (self.labels[rows] >= 0) & np.isfinite(chunk)
                lowest = min(lowest, chunk[candidate].min(initial=np.inf))
        return float(lowest) + 0.0

    def highest_unlabelled(self, at_least: float) -> float:
        """The highest unlabelled score at or above the given one; -inf where there is none."""
        highest = -np.inf
        for rows, chunk in self.chunks():
            candidate = (chunk >= at_least) & (chunk <= MAX_FLOAT)
            if self.labels is not None:
                candidate &= self.labels[rows] < 0
            highest = max(highest, chunk[candidate].max(initial=-np.inf))
        return float(highest) + 0.0

    def tally(self, grid: Grid, *, runs: Sequence[Run] = (), by: str = "", observe: bool = False) -> Tally:
        """Counts by cell of the scores inside the runs (all, where none is named)."""
        plain = len(grid.pieces) == 1 and grid.pieces[0].unit and by != "group" and not (runs or observe)
        if not plain or len(grid.pins) > MAX_PLAIN_PINS:
            return self._sorted_tally(grid, runs, by=by, observe=observe)
        tally = self._plain_tally(grid, by)
        return self._cut_at_pins(tally, grid, by) if grid.pins else tally

    def _plain_tally(self, grid: Grid, by: str) -> Tally:
        """floor(score / unit) as an index into counts: a third of the time of a histogram."""
        unit = grid.pieces[0].unit
        summary = self.summary()
        first, last = grid.pieces[0].left_ends(np.array([summary.low, summary.high])) / unit
        size = int(last - first) + 1
        counts = np.zeros((self._n_rows(by), size), dtype=np.int64)
        buffer, indices = np.empty(SMALL_CHUNK), np.empty(SMALL_CHUNK, dtype=np.int64)
        n_counted = 0
        for rows, chunk in self.chunks(SMALL_CHUNK):
            keep = None if self._all_finite else np.isfinite(chunk)
            scores = chunk if keep is None else chunk[keep]
            position = np.multiply(scores, 1 / unit, out=buffer[: len(scores)])
            np.floor(position, out=position)
            if unit > 1:  # as in Piece.left_ends
                np.minimum(position, -1.0, out=position, where=scores < 0)
            index = np.subtract(position, first, out=indices[: len(scores)], casting="unsafe")
            if by:
                row = self._row(by, rows)
                row = row if keep is None else row[keep]
                row *= size
                index += row
            np.add.at(counts.reshape(-1), index, 1)
            n_counted += len(scores)
        occupied = np.flatnonzero(np.logical_or.reduce(counts, axis=0))
        left = (occupied + first) * unit + 0.0
        return Tally(np.asarray(left, dtype=np.float64), counts[:, occupied], n_invalid=len(self.scores) - n_counted)

    def _cut_at_pins(self, tally: Tally, grid: Grid, by: str) -> Tally:
        """The cells that hold a pin, counted again with the pins."""
        unit = grid.pieces[0].unit
        ends = np.unique(grid.pieces[0].left_ends(np.array(grid.pins)) + 0.0)
        after = np.maximum(ends + unit, np.nextafter(ends, np.inf))  # far from zero a unit may be lost in a score
        cut = self._sorted_tally(grid, [Run(*run) for run in zip(ends.tolist(), after.tolist(), strict=True)], by=by)
        whole = ~np.isin(tally.left, ends)
        left = np.concatenate((tally.left[whole], cut.left))
        order = np.argsort(left)
        count = np.concatenate((tally.count[:, whole], cut.count), axis=1)
        return Tally(left[order], count[:, order], n_invalid=tally.n_invalid)

    def _sorted_tally(self, grid: Grid, runs: Sequence[Run], *, by: str = "", observe: bool = False) -> Tally:
        """Any grid: left ends by formula, then counted by sorting each chunk."""
        parts: list[Part] = []
        n_invalid = 0
        for rows, chunk in self.chunks():
            keep = (chunk >= -MAX_FLOAT) & (chunk <= MAX_FLOAT)
            n_invalid += len(chunk) - int(np.count_nonzero(keep))
            if runs:
                keep &= np.logical_or.reduce([(chunk >= run.low) & (chunk < run.high) for run in runs])
            parts.append(_counted(grid, chunk[keep], self._row(by, rows)[keep] if by else None))
        left, row, n, low, high = (np.concatenate(column) for column in zip(*parts, strict=True))
        return replace(added_up(left, row, n, self._n_rows(by), (low, high) if observe else None), n_invalid=n_invalid)

    def _n_rows(self, by: str) -> int:
        if by == "label":
            return N_LABEL_ROWS
        return 1 if not by or self.groups is None else int(self.groups.max(initial=0)) + 1

    def _row(self, by: str, rows: slice) -> Integers:
        """The row of a tally that each item counts in: by its label, or by its group."""
        if by == "group" and self.groups is not None:
            return self.groups[rows].copy()
        if self.labels is None:
            return np.full(len(self.scores[rows]), UNLABELLED_ROW)
        return label_rows(self.labels[rows])


Part = tuple[Floats, Integers, Integers, Floats, Floats]


def _counted(grid: Grid, scores: Floats, row: Integers | None) -> Part:
    """One chunk, sorted by row and score: left end, row, count and extremes of each group of neighbours."""
    if row is None:
        scores = np.sort(scores)
        row = np.zeros(len(scores), dtype=np.int64)
    else:
        order = np.lexsort((scores, row))
        scores, row = scores[order], row[order]
    left = grid.left_ends(scores)
    starts = np.flatnonzero(np.concatenate(([True], (left[1:] != left[:-1]) | (row[1:] != row[:-1])))[: len(left)])
    stops = np.concatenate((starts[1:], [len(left)]))[: len(starts)]
    return left[starts], row[starts], stops - starts, scores[starts], scores[stops - 1]
