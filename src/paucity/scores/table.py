"""The waist: all that is ever asked of scores and labels, as counts in narrow bins. Tables add."""

from __future__ import annotations

import json
import math
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from paucity.diagnosis import sentence
from paucity.exceptions import InvalidSource, UnequalTables
from paucity.scores.cells import MAX_FLOAT, Floats, Integers
from paucity.scores.counting import Invalid
from paucity.scores.design import LabelDesign, LabelPattern, resolved
from paucity.validation import finite_numbers

MAX_LABELLED = 1_000_000
SCHEMA = 1
SMALLEST = 5e-324  # a variance too small to write down; no variance says: one value
ARRAYS = ("edges", "x", "v", "log_x", "unlabelled", "negative", "positive")
UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, BadZipFile, zlib.error)
LABELLED_ARRAYS = ("labelled_scores", "labelled_values", "labelled_strata", "labelled_inclusion", "strata_counts")


@dataclass(frozen=True)
class Alerts:
    """How many items are alerts at a threshold, by label; ``exact`` unless the threshold lay inside a bin."""

    asked: float
    threshold: float
    unlabelled: int
    negative: int
    positive: int
    exact: bool

    @property
    def n_items(self) -> int:
        """All alerts, labelled or not."""
        return self.unlabelled + self.negative + self.positive

    @property
    def diagnosis(self) -> tuple[str, ...]:
        """Says so where the nearest edge had to stand in for the threshold."""
        return () if self.exact else (sentence("nearest_edge", asked=self.asked, edge=self.threshold),)


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable:
    """Scores and labels as counts in bins: the one value that stands between data and mathematics.

    Made by :func:`score_table`. All arrays are read-only. Bin i holds the items with
    ``edges[i] <= score < edges[i + 1]``; an item is an alert at a threshold iff its score is at or above it, so
    counts at or above an edge are exact. Tables on the same edges add: ``table + other``.

    Attributes
    ----------
    edges : array of shape (n_bins + 1,)
        Ends of the bins, ascending. Items beyond the edges that a table was given count in the outermost bins.
    x, v, log_x : arrays of shape (n_bins,)
        Mean and variance of the scores in a bin, and the mean of their logarithm (NaN where a score in the bin is
        not above 0); from the fine cells that the bins were merged from.
    unlabelled, negative, positive : integer arrays of shape (n_bins,)
        Items in each bin.
    low, high : float
        The lowest and the highest score.
    labelled_scores, labelled_values, labelled_strata, labelled_inclusion : arrays or None
        The labelled items one by one, by ascending score; None beyond a million of them.
    strata : tuple of str
        Names of the strata; ``strata_counts`` (n_strata, n_bins) holds all items, labelled or not.
    n_dropped : dict
        Items that were left out because their score was missing or infinite, by kind.
    design : LabelDesign
        How the labelled items were chosen, as declared.
    positive_name : str
        The word for a positive, for sentences.
    higher_is_positive : bool
        False where low scores are suspicious: the table then holds the negated scores, and ``turn`` takes a
        threshold from one to the other.
    thresholds : tuple of float
        Thresholds pinned as edges, in the units of the table.

    Examples
    --------
    >>> import numpy as np
    >>> from paucity import score_table
    >>> scores = np.array([0.1, 0.2, 0.2, 0.7, 0.9])
    >>> labels = np.array([-1, 0, -1, 1, 1])
    >>> table = score_table((scores, labels))
    >>> table
    ScoreTable: 5 items in 4 bins, scores 0.1 to 0.9; 3 labelled: 2 positive, 1 negative
    >>> table.alerts(0.7).n_items
    2
    >>> (table + table).n_items
    10
    """

    edges: Floats
    x: Floats
    v: Floats
    log_x: Floats
    unlabelled: Integers
    negative: Integers
    positive: Integers
    low: float
    high: float
    lowest_labelled: float
    highest_unlabelled: float
    labelled_scores: Floats | None = None
    labelled_values: Integers | None = None
    labelled_strata: Integers | None = None
    labelled_inclusion: Floats | None = None
    strata: tuple[str, ...] = ()
    strata_counts: Integers | None = None
    n_dropped: Mapping[str, int] = field(default_factory=dict)
    n_outside: int = 0
    design: LabelDesign = field(default_factory=LabelDesign.auto)
    positive_name: str = "positive"
    higher_is_positive: bool = True
    thresholds: tuple[float, ...] = ()
    library: str | None = None

    def __post_init__(self) -> None:
        for name in (*ARRAYS, *LABELLED_ARRAYS):
            array = getattr(self, name)
            if array is not None:
                array = np.ascontiguousarray(array).view()
                array.flags.writeable = False
                object.__setattr__(self, name, array)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # copies and pickles are read-only too

    def __len__(self) -> int:
        """The number of bins."""
        return len(self.x)

    def __repr__(self) -> str:
        n_positive, n_negative = int(self.positive.sum()), int(self.negative.sum())
        labels = (
            f"{self.n_labelled:,} labelled: {n_positive:,} {self.positive_name}, {n_negative:,} negative"
            if self.n_labelled
            else "none labelled"
        )
        scores = f"scores {self.low:g} to {self.high:g}" if self.n_items else "no scores"
        return f"ScoreTable: {self.n_items:,} items in {len(self):,} bins, {scores}; {labels}"

    @property
    def n_items(self) -> int:
        """All items in the table."""
        return int(self.counts.sum())

    @property
    def n_labelled(self) -> int:
        """Items whose label is known."""
        return int(self.negative.sum() + self.positive.sum())

    @property
    def counts(self) -> Integers:
        """All items in each bin, labelled or not."""
        return np.asarray(self.unlabelled + self.negative + self.positive)

    @property
    def diagnosis(self) -> tuple[str, ...]:
        """What is special about these scores and labels, in sentences."""
        n_positive = int(self.positive.sum())
        facts: dict[str, Any] = {
            "n_items": self.n_items,
            "n_labelled": self.n_labelled,
            "low": self.low,
            "high": self.high,
        }
        codes = {
            "no_labels": self.n_labelled == 0,
            "census": self.n_labelled == self.n_items,
            "no_positives": self.n_labelled > 0 and n_positive == 0,
            "no_negatives": self.n_labelled > 0 and n_positive == self.n_labelled,
            "one_score": self.low == self.high,
            "two_scores": len(self) == 2 and self.low < self.high and not self.v.any(),
            "dropped": bool(self.n_dropped),
            "outside": self.n_outside > 0,
            "labels_not_kept": self.labelled_scores is None,
        }
        facts |= {"score": self.low, "dropped": str(Invalid(**self.n_dropped)), "n_outside": self.n_outside}
        return tuple(sentence(code, most=MAX_LABELLED, **facts) for code, holds in codes.items() if holds)

    def turn(self, threshold: float) -> float:
        """A threshold between your units and the table's: its negative where low scores are suspicious."""
        return float(threshold) if self.higher_is_positive else -float(threshold)

    def alerts(self, threshold: float) -> Alerts:
        """Items at or above a threshold (at or below it, where low scores are suspicious).

        Exact at every edge, hence at every pinned threshold; inside a bin the nearest edge answers and says so.
        """
        asked = self.turn(finite_numbers((threshold,), "threshold")[0])
        first, exact = self._first_bin(asked)
        edge = asked if exact else self._begin_of(first)
        return Alerts(
            asked=self.turn(asked),
            threshold=self.turn(edge),
            unlabelled=int(self.unlabelled[first:].sum()),
            negative=int(self.negative[first:].sum()),
            positive=int(self.positive[first:].sum()),
            exact=exact,
        )

    def _first_bin(self, threshold: float) -> tuple[int, bool]:
        """The first bin at or above the threshold, and whether all below it lie below the threshold."""
        if threshold <= self.low:
            return 0, True
        if threshold > self.high:
            return len(self), True
        after = int(np.searchsorted(self.edges[1:-1], threshold)) + 1
        occupied = self.counts[after - 1] > 0
        if (after < len(self) and self.edges[after] == threshold) or not occupied:
            return after, True
        if self.v[after - 1] == 0:  # one value in the bin
            return (after - 1 if self.x[after - 1] >= threshold else after), True
        below, above = self._begin_of(after - 1), self._begin_of(after)
        return (after - 1 if threshold - below < above - threshold else after), False

    def _begin_of(self, first: int) -> float:
        """Where alerts begin that fill the bins from this one on; the outermost bins hold what is beyond the edges."""
        if first == 0:
            return self.low
        return math.nextafter(self.high, math.inf) if first == len(self) else float(self.edges[first])

    def resolve_design(self) -> LabelDesign:
        """How the labels were chosen: ``auto`` told from the labels, or refused with the choices there are."""
        return resolved(self.design, self._pattern())

    def _pattern(self) -> LabelPattern:
        declared = self.design.threshold
        line = self._fully_labelled_from() if declared is None else self.turn(declared)
        labelled = self.negative + self.positive
        first = self._first_bin(line)[0] if line is not None else len(self)
        return LabelPattern(
            n_items=self.n_items,
            n_labelled=self.n_labelled,
            n_negative=int(self.negative.sum()),
            lowest_labelled=self.lowest_labelled,
            highest_unlabelled=self.highest_unlabelled,
            line=line,
            n_above_line=int(self.counts[first:].sum()),
            n_below_line=int(labelled[:first].sum()),
            thresholds=self.thresholds,
            turned=not self.higher_is_positive,
        )

    def _fully_labelled_from(self) -> float | None:
        """The lowest edge above which every item is labelled; None where there is no such stretch."""
        open_bins = np.flatnonzero(self.unlabelled)
        first = int(open_bins[-1]) + 1 if len(open_bins) else 0
        return float(self.edges[first]) if self.counts[first:].any() else None

    def __add__(self, other: ScoreTable) -> ScoreTable:
        """The table of both sets of items, where the edges are equal."""
        if not isinstance(other, ScoreTable):
            return NotImplemented
        check_addable(self, other)
        return added(self, other)

    def __radd__(self, other: Any) -> ScoreTable:
        """``sum(tables)`` begins at 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def save(self, path: str | Path) -> None:
        """Write the table to a .npz file (arrays and JSON; nothing in it is ever executed)."""
        arrays = {name: getattr(self, name) for name in (*ARRAYS, *LABELLED_ARRAYS) if getattr(self, name) is not None}
        with Path(path).open("wb") as file:
            np.savez_compressed(file, header=np.array(json.dumps(self._header())), **arrays)

    @classmethod
    def load(cls, path: str | Path) -> ScoreTable:
        """Read a table that ``save`` wrote."""
        try:
            with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as stored:
                header = json.loads(str(stored["header"]))
                arrays = {name: stored[name] for name in stored.files if name != "header"}
            schema = header.pop("schema")
        except UNREADABLE as error:
            raise no_table(path, error) from error
        if schema != SCHEMA:
            raise InvalidSource(
                f"{str(path)!r} holds a table of schema {schema!r}, but this version of paucity reads schema {SCHEMA}. "
                "Build the table anew, or use the version that wrote it."
            )
        try:
            header |= {name: tuple(header[name]) for name in ("strata", "thresholds")}
            return cls(**arrays, **header | {"design": LabelDesign.from_dict(header["design"])})
        except (KeyError, TypeError) as error:
            raise no_table(path, error) from error

    def _header(self) -> dict[str, Any]:
        """What is not an array, as JSON."""
        arrays = {*ARRAYS, *LABELLED_ARRAYS}
        header = {item.name: getattr(self, item.name) for item in fields(self) if item.name not in arrays}
        return header | {"schema": SCHEMA, "design": self.design.to_dict(), "n_dropped": dict(self.n_dropped)}

    def to_frame(self) -> Any:
        """The bins as a frame of the library that the scores came in, else of the first one installed."""
        from paucity.scores.frames.answers import to_frame

        columns = {
            "low": self.edges[:-1],
            "high": self.edges[1:],
            **{name: getattr(self, name) for name in ARRAYS if name != "edges"},
        }
        return to_frame(columns, self.library)


def no_table(path: Any, why: Exception) -> InvalidSource:
    """The error for a file that is no table."""
    return InvalidSource(
        f"{str(path)!r} is not a table that ScoreTable.save wrote ({type(why).__name__}: {why}). "
        "To build one from scores, call score_table."
    )


def check_addable(a: ScoreTable, b: ScoreTable) -> None:
    """Two tables speak of the same bins, designs and strata."""
    if not np.array_equal(a.edges, b.edges):
        raise UnequalTables(
            f"Only tables on the same edges can be added, but these have {len(a):,} bins over {a.edges[0]:g} to "
            f"{a.edges[-1]:g} and {len(b):,} over {b.edges[0]:g} to {b.edges[-1]:g}. "
            "Build the second with edges=first.edges."
        )
    for name, words in (
        ("higher_is_positive", "the direction of the scores (higher_is_positive)"),
        ("strata", "the strata"),
        ("design", "the label design"),
        ("positive_name", "the word for a positive"),
    ):
        if getattr(a, name) != getattr(b, name):
            raise UnequalTables(
                f"Only tables alike can be added, but {words} differs: {getattr(a, name)!s} and {getattr(b, name)!s}. "
                "Build both in the same way."
            )


def added(a: ScoreTable, b: ScoreTable) -> ScoreTable:
    """Counts add; moments are pooled by the items behind them."""
    n, m = a.counts.astype(np.float64), b.counts.astype(np.float64)
    share = np.divide(m, n + m, out=np.full(len(a), 0.5), where=n + m > 0)
    only_a, only_b = (m == 0), (n == 0)  # NaN of an empty side must not spread
    apart = b.x - a.x
    with np.errstate(over="ignore"):
        v = (1 - share) * a.v + share * b.v + (np.sqrt(share * (1 - share)) * apart) ** 2
    several = (a.v > 0) | (b.v > 0) | ((apart != 0) & (n > 0) & (m > 0))
    return replace(
        a,
        x=np.clip(a.x + share * apart, np.minimum(a.x, b.x), np.maximum(a.x, b.x)),
        v=np.where(several, np.clip(v, SMALLEST, MAX_FLOAT), 0.0),
        log_x=np.where(only_a, a.log_x, np.where(only_b, b.log_x, a.log_x + share * (b.log_x - a.log_x))),
        unlabelled=a.unlabelled + b.unlabelled,
        negative=a.negative + b.negative,
        positive=a.positive + b.positive,
        low=min(a.low, b.low),
        high=max(a.high, b.high),
        lowest_labelled=min(a.lowest_labelled, b.lowest_labelled),
        highest_unlabelled=max(a.highest_unlabelled, b.highest_unlabelled),
        strata_counts=None if a.strata_counts is None or b.strata_counts is None else a.strata_counts + b.strata_counts,
        n_dropped=dict(Counter(a.n_dropped) + Counter(b.n_dropped)),
        n_outside=a.n_outside + b.n_outside,
        thresholds=tuple(sorted({*a.thresholds, *b.thresholds})),
        **pooled_labels(a, b),
    )


def pooled_labels(a: ScoreTable, b: ScoreTable) -> dict[str, Any]:
    """The labelled items of both, in order; None where either has too many, or both together."""
    names = ("labelled_inclusion", "labelled_strata", "labelled_values", "labelled_scores")
    if a.labelled_scores is None or b.labelled_scores is None or a.n_labelled + b.n_labelled > MAX_LABELLED:
        return dict.fromkeys(names)
    held = {name: [array for table in (a, b) if (array := getattr(table, name)) is not None] for name in names}
    both = {name: np.concatenate(arrays) for name, arrays in held.items() if arrays}
    order = np.lexsort(list(both.values()))
    return {name: array[order] for name, array in both.items()}
