"""Frames in memory: their columns as arrays, without a copy where the library allows it."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from paucity.scores.arrays import ArraySource
from paucity.scores.cells import Floats, Integers
from paucity.scores.columns import Columns, check_strata, inclusion_groups
from paucity.scores.frames.answers import check_labels
from paucity.scores.frames.expressions import Frame, label_expression, stratum_expression
from paucity.validation import OTHER, label_codes, scores_array


def eager_source(frame: Frame, columns: Columns) -> tuple[ArraySource, tuple[str, ...]]:
    """The columns of a frame in memory as arrays."""
    if columns.label is None:
        labels = None
    elif frame.schema[columns.label] in (nw.Object, nw.Unknown):
        labels = label_codes(frame[columns.label].to_numpy(), columns.positive)
    else:
        labels = frame.select(label_expression(frame.schema[columns.label], columns).cast(nw.Int8))[:, 0].to_numpy()
        if columns.positive is not None or (labels == OTHER).any():
            check_labels(frame, columns)
    strata, groups, inclusion = _eager_groups(frame, columns)
    source = ArraySource(
        _eager_scores(frame[columns.score]),
        labels,
        sign=1.0 if columns.higher_is_positive else -1.0,
        groups=groups,
        inclusion=inclusion,
        library=frame.implementation.value,
    )
    return source, strata


def _eager_scores(series: Any) -> np.ndarray:
    """Numbers with NaN for null; without a copy where the library allows it."""
    if series.dtype in (nw.Object, nw.Unknown):
        return scores_array(series.to_numpy())
    if series.dtype in (nw.Float64, nw.Float32) and series.null_count() == 0:
        return np.asarray(series.to_numpy())
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _eager_groups(frame: Frame, columns: Columns) -> tuple[tuple[str, ...], Integers | None, Floats | None]:
    if columns.stratum is not None:
        series = frame.select(stratum_expression(columns.stratum, frame.schema[columns.stratum]))[:, 0]
        names = sorted(str(name) for name in series.unique().to_list() if name is not None)
        check_strata(names, int(series.null_count()))
        groups = np.zeros(len(series), dtype=np.int64)
        for number, name in enumerate(names):
            groups[(series == name).to_numpy()] = number
        return tuple(names), groups, None
    if columns.inclusion is not None:
        inclusion = np.asarray(frame[columns.inclusion].cast(nw.Float64).to_numpy(), dtype=np.float64)
        return (*inclusion_groups(inclusion), inclusion)
    return (), None, None
