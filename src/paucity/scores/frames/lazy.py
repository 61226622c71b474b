"""Frames that are queries: one expression counts them in Polars, DuckDB, Dask, Spark and Ibis alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, reduce
from operator import or_
from typing import Any

import narwhals as nw
import numpy as np

from paucity.scores.cells import MAX_FLOAT, Grid, Integers, Run
from paucity.scores.columns import Columns, check_inclusion, check_strata, inclusion_rungs, rung_name
from paucity.scores.counting import N_LABEL_ROWS, Invalid, Labelled, Summary, Tally, added_up, label_rows, no_labels
from paucity.scores.frames.answers import Answer, answer, as_floats, check_labels, extremes_of
from paucity.scores.frames.expressions import (
    INVALID_INDEX,
    Frame,
    choose,
    finite,
    index_unit,
    known_expression,
    label_expression,
    left_end,
    quotient,
    stairs,
    stratum_expression,
    with_floating,
    within,
)
from paucity.validation import UNKNOWN


class LazySource:
    """A Polars, DuckDB, Dask, Spark or Ibis frame that is asked for counts."""

    def __init__(self, frame: Frame, columns: Columns) -> None:
        self.frame = frame
        self.columns = columns
        self.schema = frame.collect_schema()
        self.library: str | None = frame.implementation.value

    def check(self) -> None:
        """What must be known before anything is counted: that a column of words has two values, and the strata."""
        if self.columns.positive is not None:
            self.check_labels()
        _ = self.strata

    def check_labels(self) -> None:
        """No label is outside what was expected; else the error names one."""
        if self.columns.label is not None:
            check_labels(self.frame, self.columns)

    @cached_property
    def strata(self) -> tuple[str, ...]:
        """The names of the strata, or of the groups of inclusion probabilities."""
        columns = self.columns
        if columns.stratum is not None:
            column = stratum_expression(columns.stratum, self.schema[columns.stratum])
            found = answer(self.frame.select(group=column).group_by("group").agg(n=nw.len()))
            missing = np.array([not isinstance(name, str) for name in found["group"]], dtype=bool)
            names = sorted(str(name) for name in found["group"][~missing])
            check_strata(names, int(found["n"][missing].sum()))
            return tuple(names)
        if columns.inclusion is not None:
            p = nw.col(str(columns.inclusion)).cast(nw.Float64)
            right = (p > 0) & (p <= 1) & ~p.is_null()
            wrong = self.frame.select(p=p, right=nw.when(right).then(nw.lit(1)).otherwise(nw.lit(0)))
            found = answer(wrong.filter(nw.col("right") == 0).select(n=nw.len(), low=nw.col("p").min()))
            check_inclusion(int(found["n"][0]), float(as_floats(found["low"])[0]))
            found = answer(self.frame.select(group=self._group()).group_by("group").agg(n=nw.len()))
            return tuple(rung_name(int(rung)) for rung in sorted(found["group"]))
        return ()

    def _group(self) -> Any:
        columns = self.columns
        if columns.stratum is not None:
            return stratum_expression(columns.stratum, self.schema[columns.stratum])
        p = nw.col(str(columns.inclusion)).cast(nw.Float64)
        rungs = inclusion_rungs()
        return stairs(p, rungs[1:].tolist(), range(len(rungs)))

    def _rows(self, *extra: str, only: Any = None) -> Frame:
        """The score as float64, turned where low is suspicious, and what else is asked for."""
        frame = self.frame if only is None else self.frame.filter(only)
        score = nw.col(self.columns.score).cast(nw.Float64)
        named = {"score": score if self.columns.higher_is_positive else score * -1.0}
        if "label" in extra:
            label = self.columns.label
            named["label"] = nw.lit(UNKNOWN) if label is None else label_expression(self.schema[label], self.columns)
        if "group" in extra:
            named["group"] = self._group()
        if "inclusion" in extra:
            named["inclusion"] = nw.col(str(self.columns.inclusion)).cast(nw.Float64)
        return frame.select(**named)

    def summary(self) -> Summary:
        """Items and extremes."""
        found = extremes_of(self.frame, self.columns.score)
        n_items = int(found["n"][0])
        ends = [float(as_floats(found[end])[0]) for end in ("low", "high")]
        if not np.isfinite(ends).all():
            rows = self.frame.select(score=nw.col(self.columns.score).cast(nw.Float64)).filter(finite())
            found = answer(rows.select(low=nw.col("score").min(), high=nw.col("score").max()))
            ends = [float(as_floats(found[end])[0]) for end in ("low", "high")]
        if not np.isfinite(ends).all():
            return Summary(n_items, math.inf, -math.inf)
        low, high = ends if self.columns.higher_is_positive else (-ends[1], -ends[0])
        return Summary(n_items, low + 0.0, high + 0.0)

    def invalid(self) -> Invalid:
        """Scores that are missing or infinite, by kind."""
        score = nw.col("score")
        kind = choose(
            (score.is_null() | score.is_nan(), 0), (score > MAX_FLOAT, 1), (score < -MAX_FLOAT, 2), otherwise=3
        )
        found = answer(self._rows().select(kind=kind).group_by("kind").agg(n=nw.len()))
        counts = dict(zip(found["kind"].astype(int).tolist(), found["n"].astype(int).tolist(), strict=True))
        return Invalid(*(counts.get(number, 0) for number in range(3)))

    def labelled(self, most: int) -> Labelled | None:
        """The labelled rows whose scores are finite; None where they are more."""
        label = self.columns.label
        if label is None:
            return no_labels()
        names = ["label", *(["group"] if self.strata else []), *(["inclusion"] if self.columns.inclusion else [])]
        rows = self._rows(*names, only=known_expression(self.schema[label], self.columns)).filter(finite())
        if self.frame.implementation.value == "dask":  # its head looks into the first partition only
            if int(answer(rows.select(n=nw.len()))["n"][0]) > most:
                return None
        else:
            rows = rows.head(most + 1)
        found = answer(rows)
        if len(found["score"]) > most:
            return None
        return Labelled(
            scores=as_floats(found["score"]),
            values=found["label"].astype(np.int64),
            groups=self._group_numbers(found["group"]) if self.strata else None,
            inclusion=as_floats(found["inclusion"]) if self.columns.inclusion else None,
        )

    def _group_numbers(self, values: np.ndarray) -> Integers:
        numbers = {name: number for number, name in enumerate(self.strata)}
        if self.columns.stratum is None:
            values = np.array([rung_name(int(value)) for value in values], dtype=object)
        return np.array([numbers[str(value)] for value in values], dtype=np.int64)

    def lowest_labelled(self) -> float:
        """The lowest labelled score; inf where there is none."""
        rows = self._rows("label").filter(finite() & (nw.col("label") >= 0))
        found = as_floats(answer(rows.select(low=nw.col("score").min()))["low"])
        return math.inf if len(found) == 0 or math.isnan(found[0]) else float(found[0]) + 0.0

    def highest_unlabelled(self, at_least: float) -> float:
        """The highest unlabelled score at or above the given one; -inf where there is none."""
        rows = self._rows("label").filter(finite() & (nw.col("score") >= at_least) & (nw.col("label") < 0))
        found = as_floats(answer(rows.select(high=nw.col("score").max()))["high"])
        return -math.inf if len(found) == 0 or math.isnan(found[0]) else float(found[0]) + 0.0

    def tally(self, grid: Grid, *, runs: Sequence[Run] = (), by: str = "", observe: bool = False) -> Tally:
        """Counts by cell of the scores inside the runs (all, where none is named)."""
        rows = self._rows(by) if by else self._rows()
        if runs:
            rows = rows.filter(reduce(or_, [within(nw.col("score"), run) for run in runs]))
        if any(piece.floating for piece in grid.pieces):
            rows = with_floating(rows)
        unit = index_unit(grid)
        cell = quotient(nw.col("score"), unit).floor() if unit else left_end(grid, nw.col("score"))
        cell = nw.when(finite()).then(cell).otherwise(nw.lit(float(INVALID_INDEX) if unit else math.inf))
        wanted = ({by: nw.col(by)} if by else {}) | ({"score": nw.col("score")} if observe else {})
        if grid.pins:
            wanted["pin"] = stairs(nw.col("score"), grid.pins, (-math.inf, *grid.pins))
        rows = rows.select(cell=cell.cast(nw.Int32) if unit else cell, **wanted)
        if grid.pins:
            cut = nw.when(nw.col("pin") > nw.col("cell")).then(nw.col("pin")).otherwise(nw.col("cell"))
            rows = rows.with_columns(cell=cut)
        extremes = {"low": nw.col("score").min(), "high": nw.col("score").max()} if observe else {}
        found = answer(rows.group_by("cell", *([by] if by else [])).agg(n=nw.len(), **extremes))
        left = as_floats(found["cell"])
        if unit:
            left = np.where(left == INVALID_INDEX, math.inf, left * unit)
        n_rows = {"": 1, "label": N_LABEL_ROWS, "group": len(self.strata)}[by]
        row, n = self._row_numbers(by, found), found["n"].astype(np.int64)
        valid = np.isfinite(left)
        ends = (as_floats(found["low"])[valid], as_floats(found["high"])[valid]) if observe else None
        tally = added_up(left[valid], row[valid], n[valid], n_rows, ends)
        return replace(tally, n_invalid=int(n[~valid].sum()))

    def _row_numbers(self, by: str, found: Answer) -> Integers:
        if by == "label":
            return label_rows(found["label"].astype(np.int64))
        return self._group_numbers(found["group"]) if by else np.zeros(len(found["n"]), dtype=np.int64)
