"""One small frame in every library that holds it in memory, or asks a relation for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import polars as pl

LIBRARIES: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars": lambda frame: frame,
    "lazy": lambda frame: frame.lazy(),
    "pandas": lambda frame: frame.to_pandas(),
    "arrow": lambda frame: frame.to_arrow(),
    "duckdb": lambda frame: duckdb.from_arrow(frame.to_arrow()),
}
