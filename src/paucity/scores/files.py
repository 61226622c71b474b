"""Scores in files: Parquet, CSV and JSON, one or many, read where they lie by DuckDB."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paucity.exceptions import InvalidSource, MissingExtra
from paucity.scores.columns import Columns, quoted

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "csv",
    ".tsv.gz": "csv",
    ".json": "json",
    ".json.gz": "json",
    ".jsonl": "json",
    ".jsonl.gz": "json",
    ".ndjson": "json",
    ".ndjson.gz": "json",
}
ADDRESS = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+://")
TEXT = ("csv", "json")  # columns come as words; numbers are read from them one by one


def is_path(data: Any) -> bool:
    """Whether the data is the name of a file or a pattern."""
    return isinstance(data, str | os.PathLike)


def files_of(path: str | os.PathLike[str]) -> tuple[list[str], str]:
    """The files a path or pattern stands for, in order, and their format."""
    name = os.fspath(path)
    if ADDRESS.match(name):
        raise InvalidSource(
            f"Expected a path of this machine, found the address {name!r}. paucity reads nothing from the network; "
            "download the file, or pass a frame or a DuckDB relation that reads it."
        )
    whole = Path(name).expanduser()
    matches = [str(whole)] if whole.is_file() else glob.glob(str(whole), recursive=True)  # noqa: PTH207 (absolute too)
    found = sorted(file for file in matches if Path(file).is_file())
    if whole.is_dir():
        example = f"{name.rstrip('/')}/*.parquet"
        raise InvalidSource(f"Expected files, found the folder {name!r}. Name what to read, such as {example!r}.")
    if not found:
        raise InvalidSource(
            f"No file matches {name!r} (looked from the folder {Path.cwd().name!r}). "
            'Give a path or a pattern such as "scores/*.parquet".'
        )
    formats = sorted({_format(file) for file in found})
    if len(formats) > 1:
        raise InvalidSource(
            f"The files of {name!r} are of different kinds: {', '.join(formats)}. Read one kind at a time."
        )
    empty = next((file for file in found if not Path(file).stat().st_size), None)
    if empty is not None:
        raise InvalidSource(f"Expected scores in {empty!r}, but the file is empty. Check how it was written.")
    return found, formats[0]


def _format(file: str) -> str:
    suffixes = Path(file.lower()).suffixes
    for ending in ("".join(suffixes[-2:]), "".join(suffixes[-1:])):
        if ending in FORMATS:
            return FORMATS[ending]
    raise InvalidSource(
        f"{file!r} is of no kind that is read here: expected {', '.join(sorted(FORMATS))}. Convert it to Parquet."
    )


def connection() -> Any:
    """A DuckDB of our own: nothing is downloaded, nothing read from the network, nothing written."""
    try:
        import duckdb
    except ImportError as error:
        raise MissingExtra('Reading files needs DuckDB. Type: pip install "paucity[cli]"') from error
    settings: dict[str, Any] = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    return duckdb.connect(":memory:", config=settings)


def relation(path: str | os.PathLike[str], columns: Columns | None = None) -> Any:
    """The files as one DuckDB relation; in text files scores and probabilities are read as numbers where they are.

    What is made of it, and of all that is asked of it later, belongs inside ``reading``.
    """
    files, kind = files_of(path)
    rows = read(connection(), files, kind)
    return typed(rows, columns) if columns is not None and kind in TEXT else rows


@contextmanager
def reading(path: Any) -> Iterator[None]:
    """What DuckDB finds wrong, which may be as late as the last row, in an error of ours."""
    if not is_path(path):
        yield
        return
    try:
        yield
    except Exception as error:
        if type(error).__module__.lstrip("_").startswith("duckdb"):
            raise unreadable(path, error) from error
        raise


def read(database: Any, files: Sequence[str], kind: str) -> Any:
    """A relation over files of one format; names are taken as they are, never as patterns again."""
    names = [glob.escape(file) for file in files]
    if kind == "parquet":
        return database.read_parquet(names, union_by_name=True)
    if kind == "csv":
        return database.read_csv(names, all_varchar=True, header=True, union_by_name=True)
    return database.read_json(names)


def typed(rows: Any, columns: Columns) -> Any:
    """Numbers read from words with TRY_CAST, so that a late word becomes null and is counted, not a crash."""
    numbers = {columns.score, columns.inclusion}
    words = {columns.label, columns.stratum}
    parts = []
    for name in rows.columns:
        column = quoted(name)
        if name in numbers:
            parts.append(f"TRY_CAST({column} AS DOUBLE) AS {column}")
        elif name in words:
            parts.append(f"CAST({column} AS VARCHAR) AS {column}")
        else:
            parts.append(column)
    return rows.project(", ".join(parts))


def unreadable(path: Any, error: Exception) -> InvalidSource:
    """DuckDB's first line in an error of ours."""
    return InvalidSource(
        f"{os.fspath(path)!r} cannot be read as what its ending says it is: {str(error).strip().splitlines()[0]}. "
        "Check that the file is whole and of that kind."
    )


def numbered(rows: Any, name: str) -> Any:
    """The relation with each row's position in the files, in order."""
    return rows.project(f"*, row_number() OVER () - 1 AS {quoted(name)}")


def write_parquet(columns: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Arrays as the columns of a Parquet file."""
    database = connection()
    database.register("columns_to_write", columns)
    database.table("columns_to_write").write_parquet(os.fspath(path))
