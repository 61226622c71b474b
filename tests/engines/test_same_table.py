"""The same table, bit for bit, from every engine: scores that break naive counting, two million of them."""

import dask.dataframe as dd
import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paucity
from paucity import InvalidScores, InvalidSource, score_table, select_rows

N = 2_000_000
INVALID = {"missing": 2_100, "plus_infinity": 10, "minus_infinity": 10}
ARRAYS = ("edges", "x", "v", "log_x", "unlabelled", "negative", "positive")
LABELLED = ("labelled_scores", "labelled_values", "labelled_strata", "labelled_inclusion", "strata_counts")
NUMBERS = ("low", "high", "lowest_labelled", "highest_unlabelled", "n_dropped", "strata", "n_outside", "thresholds")


def hostile():
    """Ties, an atom, -0.0, 1e-100 to 1e100 of both signs, NaN, infinities and nulls; labels null and -1."""
    rng = np.random.default_rng(20)
    scores = rng.normal(size=N)
    scores[:50] = 10.0 ** rng.uniform(-100, 100, 50) * rng.choice([-1, 1], 50)
    scores[50:54] = 1e100, -1e100, 1e-100, -1e-100
    scores[100:200] = np.nan
    scores[200:210], scores[210:220] = np.inf, -np.inf
    scores[300:400], scores[400:450] = -0.0, 0.0
    scores[1_000:300_000] = 0.25
    scores[300_000:310_000] = np.round(scores[300_000:310_000], 2)
    null = np.arange(N) % 1_000 == 507  # 2,000 of them, beside the 100 NaN
    labels = np.where(rng.random(N) < 0.001, (rng.random(N) < 0.2) * 1, -1).astype(np.int8)
    group = np.where(scores > 1, "high", "low")
    inclusion = np.where(scores > 1, 0.5, 0.001)
    table = pa.table(
        {
            "score": pa.array(scores, mask=null),
            "label": pa.array(labels, mask=(labels < 0) & (rng.random(N) < 0.5)),
            "group": group,
            "inclusion": inclusion,
            "id": np.arange(N),
        }
    )
    return table, np.where(null, np.nan, scores), labels


@pytest.fixture(scope="module")
def spark(java):
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.driver.memory", "2g")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    table, scores, labels = hostile()
    path = str(tmp_path_factory.mktemp("hostile") / "scores.parquet")
    pq.write_table(table, path, row_group_size=100_000)
    frame = table.to_pandas()
    return {
        "arrays": (scores, labels),
        "pandas": frame,
        "polars": pl.from_arrow(table),
        "polars_lazy": pl.scan_parquet(path),
        "arrow": table,
        "duckdb": duckdb.read_parquet(path),
        "dask": dd.from_pandas(frame, npartitions=4),
        "ibis": ibis.duckdb.connect().read_parquet(path),
        "path": path,
    }


@pytest.fixture(scope="module")
def reference(inputs):
    tables = {}

    def of(**settings):
        key = tuple(sorted((name, str(value)[:40]) for name, value in settings.items()))
        if key not in tables:
            tables[key] = score_table(inputs["pandas"], drop_invalid=True, **settings)
        return tables[key]

    return of


def assert_same_bits(table, expected):
    for name in (*ARRAYS, *LABELLED):
        ours, theirs = getattr(table, name), getattr(expected, name)
        if theirs is None:
            assert ours is None, name
        else:
            assert ours.dtype == theirs.dtype, name
            assert ours.tobytes() == theirs.tobytes(), name
    for name in NUMBERS:
        assert getattr(table, name) == getattr(expected, name), name


LOCAL = ("arrays", "polars", "polars_lazy", "arrow", "duckdb", "dask", "ibis", "path")
PLAIN = {"thresholds": (0.3, 1.0)}


@pytest.mark.parametrize("engine", LOCAL)
def test_the_same_table_from_every_engine(engine, inputs, reference):
    table = score_table(inputs[engine], drop_invalid=True, **PLAIN)
    assert table.n_dropped == INVALID
    assert table.n_items == N - sum(INVALID.values())
    assert_same_bits(table, reference(**PLAIN))


@pytest.mark.parametrize("engine", LOCAL)
@pytest.mark.parametrize("column", ["stratum", "inclusion"])
def test_the_same_strata_from_every_engine(engine, column, inputs, reference):
    name = "group" if column == "stratum" else "inclusion"
    given = inputs["pandas"][name].to_numpy() if engine == "arrays" else name
    table = score_table(inputs[engine], drop_invalid=True, **{column: given})
    assert table.strata_counts.sum() == table.n_items
    assert_same_bits(table, reference(**{column: name}))


@pytest.mark.parametrize("engine", LOCAL)
def test_the_next_chunk_counts_the_same_on_the_edges_of_the_first(engine, inputs, reference):
    edges = reference(**PLAIN).edges
    table = score_table(inputs[engine], drop_invalid=True, edges=edges)
    assert_same_bits(table, reference(edges=edges))
    np.testing.assert_array_equal(table.counts, reference(**PLAIN).counts)


@pytest.mark.parametrize("engine", LOCAL)
def test_many_labels_are_counted_the_same(engine, inputs, reference, monkeypatch):
    monkeypatch.setattr("paucity.scores.binning.MAX_LABELLED", 100)
    table = score_table(inputs[engine], drop_invalid=True, **PLAIN)
    few = reference(**PLAIN)
    assert table.labelled_scores is None
    for name in (*ARRAYS, "lowest_labelled", "highest_unlabelled"):
        np.testing.assert_array_equal(getattr(table, name), getattr(few, name), err_msg=name)


@pytest.mark.parametrize("engine", LOCAL)
def test_turned_scores_are_the_same(engine, inputs, reference):
    turned = {"higher_is_positive": False, "thresholds": -1.5}
    table = score_table(inputs[engine], drop_invalid=True, **turned)
    assert_same_bits(table, reference(**turned))
    scores = inputs["arrays"][0]
    assert table.alerts(-1.5).n_items == np.count_nonzero(np.isfinite(scores) & (scores <= -1.5))


def test_the_same_tables_from_spark(spark, inputs, reference):
    frame = spark.read.parquet(inputs["path"])
    assert_same_bits(score_table(frame, drop_invalid=True, **PLAIN), reference(**PLAIN))
    assert_same_bits(score_table(frame, drop_invalid=True, stratum="group"), reference(stratum="group"))
    edges = reference(**PLAIN).edges
    assert_same_bits(score_table(frame, drop_invalid=True, edges=edges), reference(edges=edges))
    with pytest.raises(InvalidScores, match="2,100 missing or NaN, 10 \\+infinity, 10 -infinity"):
        score_table(frame)
    rows = select_rows(frame, key="id", keys=[7, 3])
    assert rows.to_pydict()["id"] == [7, 3] if isinstance(rows, pa.Table) else list(rows["id"]) == [7, 3]


def test_ibis_on_spark_is_refused_with_a_way_out(spark, inputs):
    table = ibis.pyspark.connect(spark).read_parquet(inputs["path"])
    with pytest.raises(InvalidSource, match="Pass the Spark DataFrame itself"):
        score_table(table)


@pytest.mark.parametrize("engine", LOCAL)
def test_invalid_scores_are_named_by_kind(engine, inputs):
    with pytest.raises(InvalidScores, match="2,100 missing or NaN, 10 \\+infinity, 10 -infinity"):
        score_table(inputs[engine])


@pytest.mark.parametrize("engine", [engine for engine in LOCAL if engine != "arrays"])
def test_rows_are_fetched_by_key_in_order(engine, inputs):
    rows = select_rows(inputs[engine], key="id", keys=[1_999_999, 5])
    assert (
        [int(value) for value in rows["id"]] == [1_999_999, 5]
        if not isinstance(rows, pa.Table)
        else (rows["id"].to_pylist() == [1_999_999, 5])
    )


def test_answers_come_in_the_library_of_the_input(inputs, reference):
    assert isinstance(reference(**PLAIN).to_frame(), pd.DataFrame)
    assert isinstance(score_table(inputs["polars"], drop_invalid=True).to_frame(), pl.DataFrame)
    assert isinstance(score_table(inputs["arrow"], drop_invalid=True).to_frame(), pa.Table)
    assert paucity.ScoreTable is type(reference(**PLAIN))


def test_an_affine_map_would_have_failed():
    """The control: subtracting the minimum first puts -1e-300 into the cell of 0."""
    scores = np.array([-1.0, -1e-300, 0.0, 1.0])
    affine = np.floor((scores + 1.0) * 2.0)
    assert affine[1] == affine[2]
    edges = score_table(np.concatenate((scores, np.linspace(-1, 1, 200_000))), thresholds=0.0).edges
    assert np.searchsorted(edges, -1e-300, side="right") < np.searchsorted(edges, 0.0, side="right")
