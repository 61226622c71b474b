"""What kind of frame this is, and the source that counts in it."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from paucity.exceptions import InvalidScores, InvalidSource
from paucity.scores.columns import Columns
from paucity.scores.counting import Source
from paucity.scores.frames.expressions import Frame
from paucity.scores.frames.lazy import LazySource
from paucity.scores.frames.memory import eager_source


def narwhals_frame(data: Any) -> Frame | None:
    """The data as a narwhals frame; None where it is not a frame."""
    frame: Any = nw.from_native(data, pass_through=True)
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        return None
    if frame.implementation.value == "ibis" and data.get_backend().name == "pyspark":
        raise InvalidSource(
            "An Ibis table on Spark counts infinite scores wrongly (its isinf is always false), so it is refused. "
            "Pass the Spark DataFrame itself, for example spark.table(name)."
        )
    return frame


def frame_source(frame: Frame, columns: Columns) -> tuple[Source, tuple[str, ...]]:
    """A source for a frame, and the names of its strata."""
    schema = frame.collect_schema()
    columns.check(list(schema.names()))
    check_score_type(columns.score, schema[columns.score])
    if isinstance(frame, nw.DataFrame):
        return eager_source(frame, columns)
    source = LazySource(frame, columns)
    source.check()
    return source, source.strata


def check_score_type(name: str, dtype: Any) -> None:
    """Scores are numbers; pandas objects are looked at one by one later."""
    if not (dtype.is_numeric() or dtype in (nw.Object, nw.Unknown)):
        raise InvalidScores(
            f"Scores must be numbers, but column {name!r} is of type {dtype}. Convert it, or name another: score=..."
        )
