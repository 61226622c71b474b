"""Bad input is refused in a sentence that says what was expected, what was found and what to do."""

from __future__ import annotations

import datetime as dt
import gzip
import math
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from paucity import (
    InvalidColumns,
    InvalidLabels,
    InvalidScores,
    InvalidSource,
    ScoreTable,
    score_table,
    select_rows,
)
from tests.surface.libraries import LIBRARIES
from tests.surface.refusals import Case, check_refusal

NAN, INF = math.nan, math.inf
SCORES, LABELS = [0.1, 0.4, 0.8], [-1, 0, 1]
FRAME = pl.DataFrame(
    {"id": [1, 2, 2], "score": SCORES, "label": LABELS, "p": [0.5, 1.5, 1.0], "word": ["a", None, "b"]}
)


def labelled(labels: object, **options: object) -> ScoreTable:
    """The table of three scores with these labels."""
    return score_table((SCORES, labels), **options)


def scored(scores: object, **options: object) -> ScoreTable:
    """The table of these scores in a Polars frame, unlabelled."""
    return score_table(pl.DataFrame({"score": scores}), label=None, **options)


def in_file(folder: Path, name: str, content: str | bytes) -> str:
    """The path of a new file."""
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return str(folder / name)


def broken_parquet(folder: Path) -> str:
    """A Parquet file whose footer is whole and whose pages are not."""
    path = folder / "broken.parquet"
    pl.DataFrame({"score": np.random.default_rng(0).normal(size=9000), "label": np.zeros(9000)}).write_parquet(path)
    content = path.read_bytes()
    path.write_bytes(content[:500] + bytes(len(content) // 2) + content[500 + len(content) // 2 :])
    return str(path)


def table(scores: object = SCORES, labels: object = LABELS, **options: object) -> ScoreTable:
    """A small table on shared edges."""
    return score_table((scores, labels), edges=(0.0, 0.5, 1.0), **options)


def of_no_table(folder: Path, content: bytes) -> ScoreTable:
    """What loading such a file gives."""
    return ScoreTable.load(in_file(folder, "table.npz", content))


def part_of_a_table(folder: Path) -> bytes:
    """The first half of a stored table."""
    table().save(folder / "whole.npz")
    content = (folder / "whole.npz").read_bytes()
    return content[: len(content) // 2]


MISSING_SCORE = ["'score'", "'skore', 'label'", "Did you mean 'skore'", 'score="..."']
PAIR = ["pair of arrays", "Polars", "path", "found"]
DATES = [dt.date(2024, 1, 1)] * 3

SCORE_CASES: dict[str, Case] = {
    "empty list": (lambda _: score_table(([], [])), InvalidScores, ["at least one", "none", "filter"]),
    "empty frame": (lambda _: score_table(FRAME[:0]), InvalidScores, ["at least one", "none", "filter"]),
    "all NaN": (lambda _: score_table([NAN, NAN]), InvalidScores, ["finite", "none of the 2", "right column"]),
    "all NaN, dropped": (
        lambda _: score_table([NAN, INF], drop_invalid=True),
        InvalidScores,
        ["finite", "1 missing or NaN, 1 +infinity", "right column"],
    ),
    "all null": (lambda _: scored([None, None]), InvalidScores, ["finite", "2 missing or NaN", "right column"]),
    "some NaN, null and infinite": (
        lambda _: scored([0.1, NAN, None, INF, INF, -INF]),
        InvalidScores,
        ["of 6 scores", "2 missing or NaN, 2 +infinity, 1 -infinity", "drop_invalid=True"],
    ),
    "the largest numbers": (
        lambda _: score_table([0.1, 1.7976931348623157e308]),
        InvalidScores,
        ["between", "1.79769e+308", "infinity", "drop_invalid=True"],
    ),
    "a masked score": (
        lambda _: score_table(np.ma.array([0.1, 0.2], mask=[False, True])),
        InvalidScores,
        ["of 2 scores", "1 missing or NaN", "drop_invalid=True"],
    ),
    "text": (lambda _: score_table(["high", "low"]), InvalidScores, ["numbers", "'high'", "Convert"]),
    "text among objects": (lambda _: score_table([0.5, None, "high"]), InvalidScores, ["numbers", "'high'", "Convert"]),
    "text in pandas": (
        lambda _: score_table(pd.DataFrame({"score": [0.5, "high"], "label": 0}, dtype=object)),
        InvalidScores,
        ["numbers", "'high'", "Convert"],
    ),
    "true and false": (lambda _: score_table([True, False]), InvalidScores, ["numbers", "bool", "Convert"]),
    "dates": (
        lambda _: score_table(np.array(DATES, dtype="M8[D]")),
        InvalidScores,
        ["numbers", "datetime64", "Convert"],
    ),
    "complex numbers": (lambda _: score_table([1j, 2j]), InvalidScores, ["numbers", "complex", "Convert"]),
    "lists as scores": (
        lambda _: score_table([[0.1], [0.2, 0.3]]),
        InvalidScores,
        ["one dimension", "unequal lengths", "flat"],
    ),
    "two columns": (
        lambda _: score_table(np.full((3, 2), 0.5)),
        InvalidScores,
        ["one dimension", "(3, 2)", "proba[:, 1]"],
    ),
    "objects": (lambda _: score_table([object(), 0.1]), InvalidScores, ["numbers", "object", "Convert"]),
}
for _name, _convert in LIBRARIES.items():
    SCORE_CASES |= {
        f"no score column, {_name}": (
            lambda _, convert=_convert: score_table(convert(FRAME.select(skore="score", label="label"))),
            InvalidColumns,
            MISSING_SCORE,
        ),
        f"text column, {_name}": (
            lambda _, convert=_convert: score_table(convert(FRAME.select(score="word", label="label"))),
            InvalidScores,
            ["numbers", "score", "Convert"],
        ),
        f"NaN column, {_name}": (
            lambda _, convert=_convert: score_table(convert(FRAME.with_columns(score=pl.lit(NAN)))),
            InvalidScores,
            ["finite", "none of the 3", "3 missing or NaN", "right column"],
        ),
    }
for _name in ("polars", "lazy", "arrow", "duckdb"):
    SCORE_CASES |= {
        f"{_kind} column, {_name}": (
            lambda _, convert=LIBRARIES[_name], values=_values: score_table(convert(FRAME.with_columns(score=values))),
            InvalidScores,
            ["numbers", "'score'", "Convert"],
        )
        for _kind, _values in {"boolean": pl.Series([True, False, True]), "date": pl.Series(DATES)}.items()
    }

TWO_VALUES = ["0 or 1", "unknown", 'positive="fraud"']
LABEL_CASES: dict[str, Case] = {
    "label 2": (lambda _: labelled([0, 1, 2]), InvalidLabels, ["1 labels", "example 2", *TWO_VALUES]),
    "label 0.5": (lambda _: labelled([0, 0.5, 0.5]), InvalidLabels, ["2 labels", "example 0.5", *TWO_VALUES]),
    "labels in words": (lambda _: labelled(["ok", "fraud", None]), InvalidLabels, ["2 labels", "'ok'", *TWO_VALUES]),
    "infinite labels": (lambda _: labelled([0, 1, INF]), InvalidLabels, ["1 labels", "inf", *TWO_VALUES]),
    "lists as labels": (
        lambda _: labelled([[0], [1, 0], [1]]),
        InvalidLabels,
        ["one dimension", "unequal lengths", "flat"],
    ),
    "objects as labels": (
        lambda _: labelled(np.array([[0], None, 1], dtype=object)),
        InvalidLabels,
        ["true/false", "[0]", *TWO_VALUES],
    ),
    "two columns of labels": (lambda _: labelled(np.zeros((3, 2))), InvalidLabels, ["one dimension", "(3, 2)", "one"]),
    "one label for all": (lambda _: labelled(1), InvalidLabels, ["one dimension", "()", "Pass"]),
    "three words": (
        lambda _: labelled(["a", "b", "c"], positive="a"),
        InvalidLabels,
        ["positive='a'", "one other", "'b', 'c'", "null"],
    ),
    "three numbers": (lambda _: labelled([1, 2, 3], positive=1), InvalidLabels, ["positive=1", "'2', '3'", "null"]),
    "a word for numbers": (
        lambda _: labelled([0, 1, 0], positive="fraud"),
        InvalidLabels,
        ["'fraud' is not a number", "labels are numbers", "Pass the number"],
    ),
    "fewer labels": (lambda _: labelled([0, 1]), InvalidColumns, ["3 scores", "2 values of labels", "each item"]),
    "unequal indexes": (
        lambda _: score_table((pd.Series(SCORES), pd.Series([0, 1, 0], index=[2, 1, 0]))),
        InvalidColumns,
        ["different indexes", "never aligned", "to_numpy()"],
    ),
    "score and label in one column": (
        lambda _: score_table(FRAME, label="score"),
        InvalidColumns,
        ["'score'", "column of its own", "label=None"],
    ),
    "no name of a column": (lambda _: score_table(FRAME, score=1), InvalidColumns, ["column", "1", "'id', 'score'"]),
    "numbers as names": (
        lambda _: score_table(pd.DataFrame(np.zeros((3, 2)))),
        InvalidColumns,
        ["'score'", "0, 1", 'score="..."'],
    ),
    "two columns of a name": (
        lambda _: score_table(pd.DataFrame(np.zeros((3, 2)), columns=["score", "score"]), label=None),
        InvalidColumns,
        ["name of its own", "score", "Rename"],
    ),
}
for _name, _convert in LIBRARIES.items():
    LABEL_CASES |= {
        f"no label column, {_name}": (
            lambda _, convert=_convert: score_table(convert(FRAME.select("score", lable="label"))),
            InvalidColumns,
            ["'label'", "Did you mean 'lable'", "label=None"],
        ),
        f"label 2, {_name}": (
            lambda _, convert=_convert: score_table(convert(FRAME.with_columns(label=pl.Series([0, 2, 1])))),
            InvalidLabels,
            ["1 labels", "example 2", *TWO_VALUES],
        ),
        f"words, {_name}": (
            lambda _, convert=_convert: score_table(convert(FRAME), label="word"),
            InvalidLabels,
            ["2 labels", "'a'", *TWO_VALUES],
        ),
        f"three words, {_name}": (
            lambda _, convert=_convert: score_table(
                convert(FRAME.with_columns(label=pl.Series(["x", "y", "z"]))), positive="y"
            ),
            InvalidLabels,
            ["positive='y'", "'x', 'z'", "null"],
        ),
    }

SOURCE_CASES: dict[str, Case] = {
    "web address": (lambda _: score_table("https://a.org/s.csv"), InvalidSource, ["path", "https://a.org", "download"]),
    "bucket address": (lambda _: score_table("s3://b/*.parquet"), InvalidSource, ["path", "s3://b", "download"]),
    "no such file": (lambda _: score_table("none/*.parquet"), InvalidSource, ["matches 'none/", "pattern", "scores/*"]),
    "a folder": (lambda folder: score_table(folder), InvalidSource, ["files", "folder", "/*.parquet"]),
    "unknown kind": (
        lambda f: score_table(in_file(f, "a.xlsx", "?")),
        InvalidSource,
        ["a.xlsx", ".parquet", "Convert"],
    ),
    "no Parquet": (
        lambda f: score_table(in_file(f, "a.parquet", "?" * 99)),
        InvalidSource,
        ["a.parquet", "whole", "Check"],
    ),
    "broken Parquet": (lambda f: score_table(broken_parquet(f)), InvalidSource, ["broken.parquet", "whole", "Check"]),
    "rows of broken Parquet": (
        lambda f: select_rows(broken_parquet(f), positions=[3]),
        InvalidSource,
        ["broken.parquet", "whole", "Check"],
    ),
    "late broken CSV": (
        lambda f: score_table(in_file(f, "a.csv", "score,label\n" + "0.5,1\n" * 30_000 + "1,2,3,4\n")),
        InvalidSource,
        ["a.csv", "CSV", "Check"],
    ),
    "broken JSON": (
        lambda f: score_table(in_file(f, "a.jsonl", '{"score": 1, "label": 0}\n{"score"')),
        InvalidSource,
        ["a.jsonl", "JSON", "Check"],
    ),
    "empty CSV": (lambda f: score_table(in_file(f, "a.csv", "")), InvalidSource, ["scores", "a.csv", "empty", "Check"]),
    "header only": (
        lambda f: score_table(in_file(f, "a.csv", "score,label\n")),
        InvalidScores,
        ["at least one", "none", "path"],
    ),
    "empty gzip": (
        lambda f: score_table(in_file(f, "a.csv.gz", gzip.compress(b"score,label\n"))),
        InvalidScores,
        ["at least one", "none", "path"],
    ),
    "kinds mixed": (
        lambda f: (in_file(f, "a.csv", "x"), score_table(in_file(f, "a.json", "{}").replace("json", "*"))),
        InvalidSource,
        ["different kinds", "csv, json", "one kind"],
    ),
    "words in a CSV": (
        lambda f: score_table(in_file(f, "a.csv", "score,label\n0.1,1\nhigh,0\n")),
        InvalidScores,
        ["of 2 scores", "1 missing", "drop_invalid=True"],
    ),
    "three things": (lambda _: score_table((SCORES, LABELS, LABELS)), InvalidSource, ["pair", "3 things", "Expected"]),
    "numbers for arrays": (lambda _: score_table((0.5, 1)), InvalidSource, ["pair", "0.5", "Pass arrays"]),
    **{
        f"a {type(_thing).__name__}": (
            lambda _, thing=_thing: score_table(thing),
            InvalidSource,
            [*PAIR, type(_thing).__name__, "Convert"],
        )
        for _thing in ({0.1, 0.2}, {"score": [0.1]}, 0.5, None, table())
    },
    "no table": (lambda f: of_no_table(f, b"?"), InvalidSource, ["table.npz", "ScoreTable.save", "score_table"]),
    "an empty file": (lambda f: of_no_table(f, b""), InvalidSource, ["table.npz", "ScoreTable.save", "score_table"]),
    "half a table": (
        lambda f: of_no_table(f, part_of_a_table(f)),
        InvalidSource,
        ["table.npz", "ScoreTable.save", "score_table"],
    ),
    "no file of a table": (
        lambda f: ScoreTable.load(f / "no.npz"),
        InvalidSource,
        ["no.npz", "No such", "score_table"],
    ),
    "an array": (
        lambda f: (np.save(f / "a.npy", np.zeros(3)), ScoreTable.load(f / "a.npy")),
        InvalidSource,
        ["a.npy", "ScoreTable.save", "score_table"],
    ),
    "other arrays": (
        lambda f: (np.savez(f / "a.npz", x=np.zeros(3)), ScoreTable.load(f / "a.npz")),
        InvalidSource,
        ["a.npz", "header", "score_table"],
    ),
    "another version": (
        lambda f: (np.savez(f / "a.npz", header=np.array('{"schema": 99}')), ScoreTable.load(f / "a.npz")),
        InvalidSource,
        ["a.npz", "99", "anew"],
    ),
    "a version and nothing else": (
        lambda f: (np.savez(f / "a.npz", header=np.array('{"schema": 1}')), ScoreTable.load(f / "a.npz")),
        InvalidSource,
        ["a.npz", "ScoreTable.save", "score_table"],
    ),
}

CASES = {
    f"{_what}: {_name}": _case
    for _what, _cases in {"scores": SCORE_CASES, "labels": LABEL_CASES, "source": SOURCE_CASES}.items()
    for _name, _case in _cases.items()
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_refusal_says_what_was_expected_found_and_to_do(case: Case, tmp_path: Path) -> None:
    check_refusal(case, tmp_path)


def test_there_are_many_cases() -> None:
    assert len(CASES) > 100
