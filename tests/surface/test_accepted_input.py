"""Odd input that means something clear is counted right, and alike from every library in memory."""

from __future__ import annotations

import decimal
import gzip
import json
import math
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from paucity import LabelDesign, ScoreTable, score_table, select_rows
from tests.surface.libraries import LIBRARIES

NAN, INF = math.nan, math.inf
SCORES = [0.1, 0.4, 0.4, 0.8]
ONE_EACH = [None, 0, 0, 1]  # one unknown, two negative, one positive
AS_BOOLEANS = [None, False, False, True]

ARRAYS: dict[str, object] = {
    "list with None": ONE_EACH,
    "list of booleans": AS_BOOLEANS,
    "floats with NaN": [NAN, 0.0, 0.0, 1.0],
    "integers with -1": np.array([-1, 0, 0, 1]),
    "int8": np.array([-1, 0, 0, 1], dtype=np.int8),
    "float32": np.array([NAN, 0, 0, 1], dtype=np.float32),
    "one column of two dimensions": np.array([[-1], [0], [0], [1]]),
    "objects mixed": np.array([None, 0.0, False, True], dtype=object),
    "words": ["", "0", "false", "True"],
    "words for floats": ["nan", "0.0", "0.0", "1.0"],
    "masked integers": np.ma.array([1, 0, 0, 1], mask=[True, False, False, False]),
    "masked booleans": np.ma.array([True, False, False, True], mask=[True, False, False, False]),
    "pandas Int64": pd.array([pd.NA, 0, 0, 1], dtype="Int64"),
    "pandas boolean": pd.array([pd.NA, False, False, True], dtype="boolean"),
    "pandas Float64": pd.array([pd.NA, 0, 0, 1], dtype="Float64"),
    "pandas objects": pd.Series([pd.NA, 0, 0.0, True], dtype=object),
    "pandas categorical of numbers": pd.Categorical([None, 0, 0, 1]),
    "Polars": pl.Series(ONE_EACH),
    "Polars booleans": pl.Series(AS_BOOLEANS),
    "Arrow": pa.array(ONE_EACH),
    "Arrow chunks": pa.chunked_array([ONE_EACH[:2], ONE_EACH[2:]]),
}
COLUMNS: dict[str, object] = {
    "pandas Int64": pd.DataFrame({"score": SCORES, "label": pd.array(ONE_EACH, dtype="Int64")}),
    "pandas boolean": pd.DataFrame({"score": SCORES, "label": pd.array(AS_BOOLEANS, dtype="boolean")}),
    "pandas Float64": pd.DataFrame({"score": SCORES, "label": pd.array(ONE_EACH, dtype="Float64")}),
    "pandas floats": pd.DataFrame({"score": SCORES, "label": [NAN, 0, 0, 1]}),
    "pandas objects": pd.DataFrame({"score": SCORES, "label": pd.Series([None, 0, False, True], dtype=object)}),
    "pandas words": pd.DataFrame({"score": SCORES, "label": [None, "0", "0.0", "true"]}),
    "pandas categorical of numbers": pd.DataFrame({"score": SCORES, "label": pd.Categorical(ONE_EACH)}),
    "pandas categorical of words": pd.DataFrame({"score": SCORES, "label": pd.Categorical([None, "0", "0", "1"])}),
    "pandas with Arrow types": pl.DataFrame({"score": SCORES, "label": ONE_EACH}).to_pandas(
        use_pyarrow_extension_array=True
    ),
    "Polars floats with NaN and null": pl.DataFrame({"score": SCORES, "label": [NAN, 0.0, 0.0, 1.0]}),
    "Polars booleans": pl.DataFrame({"score": SCORES, "label": AS_BOOLEANS}),
    "Polars words": pl.DataFrame({"score": SCORES, "label": ["", "0", "False", "TRUE"]}),
    "Polars categorical": pl.DataFrame(
        {"score": SCORES, "label": pl.Series([None, "0", "0", "1"], dtype=pl.Categorical)}
    ),
    "Polars enum": pl.DataFrame(
        {"score": SCORES, "label": pl.Series([None, "0", "0", "1"], dtype=pl.Enum(["0", "1"]))}
    ),
    "Polars unsigned": pl.DataFrame({"score": SCORES, "label": pl.Series(ONE_EACH, dtype=pl.UInt8)}),
    "Arrow dictionary": pa.table({"score": SCORES, "label": pa.array([None, "0", "0", "1"]).dictionary_encode()}),
    "Arrow booleans": pa.table({"score": SCORES, "label": AS_BOOLEANS}),
}
PLAIN = pl.DataFrame({"id": [1, 2, 3, 4], "score": SCORES, "label": ONE_EACH})
every_library = pytest.mark.parametrize("library", LIBRARIES)


def check(table: ScoreTable) -> None:
    """Four items at .1, .4, .4 and .8: one unknown, two negative, one positive."""
    assert table.x.tolist() == [0.1, 0.4, 0.8]
    assert table.unlabelled.tolist() == [1, 0, 0]
    assert table.negative.tolist() == [0, 2, 0]
    assert table.positive.tolist() == [0, 0, 1]
    assert table.labelled_scores.tolist() == [0.4, 0.4, 0.8]


@pytest.mark.parametrize("labels", ARRAYS.values(), ids=ARRAYS)
def test_labels_beside_an_array(labels: object) -> None:
    check(score_table((SCORES, labels)))


@pytest.mark.parametrize("frame", COLUMNS.values(), ids=COLUMNS)
def test_labels_in_a_frame(frame: Any) -> None:
    check(score_table(frame))


@pytest.mark.parametrize("frame", [frame for frame in COLUMNS.values() if isinstance(frame, pl.DataFrame)])
def test_labels_in_lazy_frames(frame: pl.DataFrame) -> None:
    check(score_table(frame.lazy()))
    if not frame.schema["label"].is_(pl.Categorical) and not isinstance(frame.schema["label"], pl.Enum):
        check(score_table(duckdb.from_arrow(frame.to_arrow())))


WORDS: dict[str, tuple[list[object], object]] = {
    "words": ([None, "ok", "ok", "fraud"], "fraud"),
    "unicode words": ([None, "原", "原", "詐欺"], "詐欺"),
    "words with quotes": ([None, "it's", "it's", 'a "b"'], 'a "b"'),
    "one and two": ([None, 2, 2, 1], 1),
    "minus one for a positive": ([None, 1, 1, -1], -1),
    "zero for a positive": ([-1, 1, 1, 0], 0),
    "a word that is a number": ([None, "0", "0", "7"], 7),
    "a word for unknown": (["NA", "ok", "ok", "fraud"], "fraud"),
    "an empty word for unknown": (["", "ok", "ok", "fraud"], "fraud"),
}


@pytest.mark.parametrize("library", ["arrays", *LIBRARIES])
@pytest.mark.parametrize(("labels", "positive"), WORDS.values(), ids=WORDS)
def test_two_values_of_which_one_is_positive(labels: list[object], positive: object, library: str) -> None:
    data: Any = (SCORES, labels)
    if library != "arrays":
        data = LIBRARIES[library](pl.DataFrame({"score": SCORES, "label": labels}))
    table = score_table(data, positive=positive)
    check(table)
    assert table.positive_name == str(positive)


NUMBERS: dict[str, object] = {
    "integers": np.array([1, 2, 2, 3]),
    "uint8": np.array([1, 2, 2, 3], dtype=np.uint8),
    "uint64": np.array([1, 2, 2, 3], dtype=np.uint64),
    "float16": np.array([1, 2, 2, 3], dtype=np.float16),
    "float32": np.array([1, 2, 2, 3], dtype=np.float32),
    "long double": np.array([1, 2, 2, 3], dtype=np.longdouble),
    "every other": np.repeat([1.0, 2.0, 2.0, 3.0], 2)[::2],
    "backwards": np.array([3.0, 2.0, 2.0, 1.0])[::-1],
    "big-endian": np.array([1.0, 2.0, 2.0, 3.0], dtype=">f8"),
    "decimals": [decimal.Decimal(number) for number in (1, 2, 2, 3)],
    "objects": np.array([1, 2.0, np.float32(2), 3], dtype=object),
    "pandas": pd.Series([1, 2, 2, 3]),
    "pandas Int64": pd.array([1, 2, 2, 3], dtype="Int64"),
    "pandas Float64": pd.array([1, 2, 2, 3], dtype="Float64"),
    "Polars": pl.Series([1, 2, 2, 3]),
    "Polars decimals": pl.Series([decimal.Decimal(number) for number in (1, 2, 2, 3)]),
    "Arrow": pa.array([1, 2, 2, 3]),
    "Arrow decimals": pa.array([decimal.Decimal(number) for number in (1, 2, 2, 3)]),
}


@pytest.mark.parametrize("scores", NUMBERS.values(), ids=NUMBERS)
def test_scores_of_any_number_type(scores: Any) -> None:
    for table in (score_table(scores), score_table((scores, ONE_EACH))):
        assert table.x.tolist() == [1.0, 2.0, 3.0]
        assert table.counts.tolist() == [1, 2, 1]
    if isinstance(scores, pl.Series | pd.Series | pa.Array):
        column = {"score": scores}
        frame = pa.table(column) if isinstance(scores, pa.Array) else type(scores.to_frame())(column)
        assert score_table(frame, label=None).counts.tolist() == [1, 2, 1]


@pytest.mark.parametrize("library", ["arrays", *LIBRARIES])
def test_a_float32_score_is_not_the_float64_of_the_same_digits(library: str) -> None:
    narrow = np.array([0.7, 0.1, 0.9], dtype=np.float32)
    data: Any = (narrow, None) if library == "arrays" else LIBRARIES[library](pl.DataFrame({"score": narrow}))
    table = score_table(data, label=None, thresholds=(0.7, float(np.float32(0.7))))
    assert table.alerts(0.7).n_items == 1
    assert table.alerts(float(np.float32(0.7))).n_items == 2


NAMES = [
    "it's",
    'a "quote"',
    "naïve 分数",
    "two words",
    "line\nbreak",
    "semi;colon",
    "a,b",
    "select",
    "x.y",
    "%s",
    "\\",
]


@every_library
@pytest.mark.parametrize("name", NAMES)
def test_any_column_name(name: str, library: str) -> None:
    frame = PLAIN.select(**{name: "score", name + "2": "label", name + "3": pl.lit("a"), "p": pl.lit(0.5)})
    data = LIBRARIES[library](frame)
    check(score_table(data, score=name, label=name + "2"))
    assert score_table(data, score=name, label=name + "2", stratum=name + "3").strata == ("a",)
    rows = select_rows(data, key=name, keys=[0.8])
    assert len(rows) == 1


@pytest.mark.parametrize("name", NAMES)
def test_any_column_name_in_a_file(name: str, tmp_path: Path) -> None:
    frame = PLAIN.select(**{name: "score", name + "2": "label"})
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_csv(tmp_path / "a.csv")
    for file in ("a.parquet", "a.csv"):
        check(score_table(tmp_path / file, score=name, label=name + "2"))


STATES: dict[str, tuple[list[float], list[int], str, list[str]]] = {
    "a single item": ([0.5], [1], "census", ["Every item", "All of the 1", "same score, 0.5"]),
    "constant scores": ([0.5] * 9, [-1] * 8 + [1], "", ["All of the 1", "9 items have the same score"]),
    "two distinct scores": ([0.0, 1.0] * 5, [-1, 1] * 5, "above", ["two values only, 0 and 1"]),
    "all labelled": (SCORES, [0, 0, 1, 1], "census", ["Every item is labelled"]),
    "none labelled": (SCORES, [-1] * 4, "unlabelled", ["No item is labelled"]),
    "no positives": (SCORES, [-1, -1, 0, 0], "", ["None of the 2 labelled"]),
    "no negatives": (SCORES, [-1, -1, -1, 1], "above", ["All of the 1 labelled"]),
    "nothing special": (SCORES, [-1, -1, -1, 1], "above", []),
}


@pytest.mark.parametrize("library", ["arrays", *LIBRARIES])
@pytest.mark.parametrize(("scores", "labels", "kind", "sentences"), STATES.values(), ids=STATES)
def test_special_states_are_said(
    scores: list[float], labels: list[int], kind: str, sentences: list[str], library: str
) -> None:
    data: Any = (scores, labels)
    if library != "arrays":
        data = LIBRARIES[library](pl.DataFrame({"score": scores, "label": labels}))
    table = score_table(data)
    assert table.counts.sum() == len(scores)
    assert table.positive.sum() == labels.count(1)
    assert table.negative.sum() == labels.count(0)
    assert np.isfinite(table.x).all()
    for sentence in sentences:
        assert sentence in " ".join(table.diagnosis)
    if kind:
        assert table.resolve_design().kind == kind


def test_scores_left_out_are_counted() -> None:
    scores = [0.1, NAN, 0.4, INF, 0.4, -INF, 0.8, None]
    labels = [None, 1, 0, 1, 0, 1, 1, None]
    for data in (
        (scores, labels),
        *(convert(pl.DataFrame({"score": scores, "label": labels})) for convert in LIBRARIES.values()),
    ):
        table = score_table(data, drop_invalid=True)
        check(table)
        assert table.n_dropped == {"missing": 2, "plus_infinity": 1, "minus_infinity": 1}
        assert "2 missing or NaN, 1 +infinity, 1 -infinity" in " ".join(table.diagnosis)


def csv(frame: pl.DataFrame) -> str:
    """The frame as comma-separated text."""
    return frame.write_csv()


def test_files_of_every_kind(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps(row) for row in PLAIN.to_dicts())
    contents = {
        "a.csv": csv(PLAIN).encode(),
        "a.csv.gz": gzip.compress(csv(PLAIN).encode()),
        "a.tsv": PLAIN.write_csv(separator="\t").encode(),
        "a.json": json.dumps(PLAIN.to_dicts()).encode(),
        "a.jsonl": lines.encode(),
        "a.jsonl.gz": gzip.compress(lines.encode()),
        "A.CSV": csv(PLAIN).encode(),
        "[brackets] 1*.csv": csv(PLAIN).encode(),
        "no newline.csv": csv(PLAIN).strip().encode(),
        "crlf.csv": csv(PLAIN).replace("\n", "\r\n").encode(),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        check(score_table(tmp_path / name))
        check(score_table(str(tmp_path / name)))
    PLAIN.write_parquet(tmp_path / "a.parquet")
    check(score_table(tmp_path / "a.parquet"))


def test_a_csv_with_words_for_numbers(tmp_path: Path) -> None:
    late = "score,label\n" + "0.4,0\n" * 30_000 + "nan,1\ninf,1\n-inf,0\nword,1\n,1\n0.8,true\n0.1,\n"
    (tmp_path / "a.csv").write_text(late)
    table = score_table(tmp_path / "a.csv", drop_invalid=True)
    assert table.n_dropped == {"missing": 3, "plus_infinity": 1, "minus_infinity": 1}
    assert table.counts.tolist() == [1, 30_000, 1]
    assert table.positive.tolist() == [0, 0, 1]
    assert table.unlabelled.tolist() == [1, 0, 0]


def test_several_files_are_one(tmp_path: Path) -> None:
    for ending in ("parquet", "csv"):
        for name, rows in (("1", PLAIN[:1]), ("2", PLAIN[1:])):
            in_other_order = rows.select("label", "score", "id") if name == "2" else rows
            getattr(in_other_order, f"write_{ending}")(tmp_path / f"{name}.{ending}")
        check(score_table(tmp_path / f"*.{ending}"))
        check(score_table(f"{tmp_path}/**/?.{ending}"))
        rows = select_rows(tmp_path / f"*.{ending}", positions=[3, 0])
        assert [float(score) for score in rows["score"]] == [0.8, 0.1]


@every_library
def test_rows_by_key(library: str) -> None:
    rows = select_rows(LIBRARIES[library](PLAIN), key="id", keys=[4, 2])
    assert pl.DataFrame(rows)["score"].to_list() == [0.8, 0.4]
    assert len(select_rows(LIBRARIES[library](PLAIN), key="id", keys=[])) == 0
    if library != "duckdb":
        rows = select_rows(LIBRARIES[library](PLAIN), positions=np.array([3, 0, 3]))
        assert pl.DataFrame(rows).to_dict(as_series=False) == PLAIN[[3, 0, 3]].to_dict(as_series=False)


def test_rows_of_arrays_and_files(tmp_path: Path) -> None:
    scores, labels = select_rows((SCORES, ONE_EACH), positions=[3, 0])
    assert (scores.tolist(), labels.tolist()) == ([0.8, 0.1], [1, None])
    assert select_rows((np.array(SCORES), None), positions=[3])[1] is None
    assert select_rows(np.array(SCORES), positions=[3]).tolist() == [0.8]
    (tmp_path / "a.csv").write_text(csv(PLAIN))
    for key in (4, "4"):
        assert float(select_rows(tmp_path / "a.csv", key="id", keys=[key])["score"][0]) == 0.8


def test_the_same_design_in_either_form() -> None:
    groups = ["a", "a", "b", "b"]
    frame = PLAIN.with_columns(group=pl.Series(groups), p=pl.Series([0.5, 0.5, 1.0, 1.0]))
    tables = (
        score_table((SCORES, ONE_EACH), stratum=groups),
        score_table((SCORES, ONE_EACH), design=LabelDesign.stratified(groups)),
        score_table((SCORES, ONE_EACH), stratum=groups, design=LabelDesign.stratified(np.array(groups))),
        score_table(np.array(SCORES), stratum=groups),
        score_table(frame, stratum="group"),
        score_table(frame.lazy(), stratum="group", design=LabelDesign.stratified("group")),
    )
    for table in tables:
        assert table.design.kind == "stratified"
        assert table.strata == ("a", "b")
        assert table.strata_counts.tolist() == [[1, 1, 0], [0, 1, 1]]
    for table in (score_table(frame, inclusion="p"), score_table((SCORES, ONE_EACH), inclusion=[0.5, 0.5, 1, 1])):
        assert table.design.kind == "sampled"
        assert table.labelled_inclusion.tolist() == [0.5, 1.0, 1.0]


@pytest.mark.parametrize("thresholds", [0.4, (0.4, 0.2), [0.4], np.array([0.4]), pd.Series([0.4]), {0.4}, iter([0.4])])
def test_thresholds_in_any_form(thresholds: Any) -> None:
    table = score_table((SCORES, ONE_EACH), thresholds=thresholds)
    assert 0.4 in table.thresholds
    assert table.alerts(0.4).exact
