"""Tables of scores: from Parquet against bare SQL, from arrays against a histogram; and what an import costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.timing import RESULTS, Row, in_fresh_process, interleaved
from paucity import score_table
from paucity.validation import UNKNOWN

N_PARQUET = 100_000_000
N_ARRAY = 10_000_000
CHUNK = 2_000_000

# the quickest of five ways of writing it
BARE_SQL = """
    SELECT CAST(floor(score * {scale}) AS INTEGER) AS cell, label, count(*) AS n
    FROM read_parquet('{path}') GROUP BY cell, label
"""


def parquet_of(n: int, labelled: float) -> str:
    """A file of scores (float64) and labels (nullable int8), written a chunk at a time; kept for the next run."""
    path = RESULTS / f"scores_{n}_{labelled:g}.parquet"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        rng = np.random.default_rng(7)
        schema = pa.schema([("score", pa.float64()), ("label", pa.int8())])
        with pq.ParquetWriter(partial, schema) as writer:
            for start in range(0, n, CHUNK):
                size = min(CHUNK, n - start)
                truth = rng.random(size) < 0.01
                scores = rng.normal(size=size) + 3 * truth
                unknown = rng.random(size) >= labelled
                labels = pa.array(truth.astype(np.int8), mask=unknown)
                writer.write_table(pa.table({"score": scores, "label": labels}, schema=schema))
        partial.rename(path)
    return str(path)


def bare_sql(path: str) -> dict[str, np.ndarray]:
    """The two queries that a person would write by hand for the same cells."""
    database = duckdb.connect()
    low, high = database.sql(f"SELECT min(score), max(score) FROM read_parquet('{path}')").fetchall()[0]
    scale = 2.0 ** math.floor(math.log2(2**17 / (high - low)))
    return dict(database.sql(BARE_SQL.format(scale=scale, path=path)).fetchnumpy())


def parquet_rows(n: int = N_PARQUET) -> Iterator[Row]:
    """Time against bare SQL, and the peak of memory in a process of its own."""
    for labelled, words in ((1e-4, "1 in 10,000 labelled"), (1.0, "all labelled")):
        path = parquet_of(n, labelled)
        ours, theirs = interleaved(lambda p=path: score_table(p), lambda p=path: bare_sql(p), runs=3)  # type: ignore[misc]
        name = f"table of {n:.0e} rows of Parquet, {words} / bare SQL"
        yield Row(name, ours / theirs, 1.3, f"{ours:.2f} s / {theirs:.2f} s")
        found = in_fresh_process(f"from paucity import score_table; found['n'] = score_table({path!r}).n_items")
        assert found["n"] == n
        yield Row(f"  its peak of memory, {words}", found["peak"], 300, "in a fresh process", " MB")


def array_rows(n: int = N_ARRAY) -> Iterator[Row]:
    """Time against minimum, maximum and a histogram of as many bins."""
    rng = np.random.default_rng(7)
    truth = rng.random(n) < 0.01
    scores = rng.normal(size=n) + 3 * truth
    few = np.where(rng.random(n) < 1e-4, truth, UNKNOWN).astype(np.int8)

    def histogram() -> object:
        low, high = scores.min(), scores.max()
        return np.histogram(scores, bins=4096, range=(low, high))

    for labels, words in ((few, "1 in 10,000 labelled"), (truth.astype(np.int8), "all labelled")):
        pair = (scores, labels)
        ours, theirs = interleaved(lambda p=pair: score_table(p), histogram, runs=7)  # type: ignore[misc]
        name = f"table of an array of {n:.0e}, {words} / min, max, np.histogram"
        yield Row(name, ours / theirs, 0.7, f"{1e3 * ours:.0f} ms / {1e3 * theirs:.0f} ms")


def import_rows() -> Iterator[Row]:
    """The time of an import, in fresh processes by turns."""
    code = "import time; start = time.perf_counter(); import {}; found['seconds'] = time.perf_counter() - start"

    def timed(module: str) -> Callable[[], float]:
        return lambda: in_fresh_process(code.format(module))["seconds"]

    ours, theirs = timed("paucity"), timed("sklearn.linear_model")
    times = [(ours(), theirs()) for _ in range(9)]
    mine, other = min(a for a, _ in times), min(b for _, b in times)
    yield Row("import paucity / import sklearn.linear_model", mine / other, 1.3, f"{mine:.2f} s / {other:.2f} s")


BENCHMARKS = {"import": import_rows, "array": array_rows, "parquet": parquet_rows}
