"""What kind of frame this is, and the source that counts in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import narwhals as nw

from paucity.exceptions import InvalidColumns, InvalidScores, InvalidSource
from paucity.scores.columns import Columns, check_inclusion_type, quoted
from paucity.scores.counting import Source
from paucity.scores.frames.expressions import Frame
from paucity.scores.frames.lazy import LazySource
from paucity.scores.frames.memory import eager_source

ROLES = ("score", "label", "stratum", "inclusion")


def narwhals_frame(data: Any) -> Frame | None:
    """The data as a narwhals frame; None where it is not a frame."""
    try:
        frame: Any = nw.from_native(data, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        found = " ".join(str(error).split())
        raise InvalidColumns(f"Every column needs a name of its own. {found}. Rename the columns.") from error
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
    if columns.inclusion is not None:
        check_inclusion_type(columns.inclusion, schema[columns.inclusion])
    if isinstance(frame, nw.DataFrame):
        return eager_source(frame, columns)
    if frame.implementation.value == "duckdb":
        frame, columns = plainly_named(frame, columns)
    source = LazySource(frame, columns)
    source.check()
    return source, source.strata


def plainly_named(frame: Frame, columns: Columns) -> tuple[Frame, Columns]:
    """A relation whose columns need no quotes: narwhals hands names to DuckDB, which reads a dot or a quote in them."""
    roles = {role: name for role in ROLES if (name := getattr(columns, role)) is not None}
    if not any(set('".') & set(name) for name in roles.values()):
        return frame, columns
    parts = [f"{quoted(name)} AS {role}" for role, name in roles.items()]
    renamed = nw.from_native(frame.to_native().project(", ".join(parts)))
    plain: dict[str, Any] = {role: role for role in roles}
    return renamed, replace(columns, **plain)


def check_score_type(name: str, dtype: Any) -> None:
    """Scores are numbers; pandas objects are looked at one by one later."""
    if not (dtype.is_numeric() or dtype in (nw.Object, nw.Unknown)):
        raise InvalidScores(
            f"Scores must be numbers, but column {name!r} is of type {dtype}. Convert it, or name another: score=..."
        )
