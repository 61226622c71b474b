"""Bad options, designs, sums and rows are refused in a sentence that says what was expected, found and to do."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from paucity import (
    InvalidColumns,
    InvalidDesign,
    InvalidInput,
    InvalidSource,
    LabelDesign,
    ScoreTable,
    UnequalTables,
    score_table,
    select_rows,
)
from tests.surface.libraries import LIBRARIES
from tests.surface.refusals import Case, check_refusal

NAN = math.nan
SCORES, LABELS = [0.1, 0.4, 0.8], [-1, 0, 1]
FRAME = pl.DataFrame(
    {
        "id": [1, 2, 2],
        "score": SCORES,
        "label": LABELS,
        "zero": [0.0, 0.5, 1.0],
        "large": [0.5, 1.5, 1.0],
        "null": [0.5, None, 1.0],
        "word": ["a", None, "b"],
    }
)
CSV = "id,score,label\n1,0.1,0\n2,0.4,1\n"


def of(**options: object) -> ScoreTable:
    """The table of three items in arrays."""
    return score_table((SCORES, LABELS), **options)


def of_frame(**options: object) -> ScoreTable:
    """The table of three items in a frame."""
    return score_table(FRAME, **options)


def on_edges(**options: object) -> ScoreTable:
    """The table of three items on shared edges."""
    return of(**{"edges": (0.0, 0.5, 1.0), **options})


def rows_of_csv(folder: Path, **wanted: object) -> object:
    """Rows of a file of two."""
    (folder / "rows.csv").write_text(CSV)
    return select_rows(folder / "rows.csv", **wanted)


EDGES = ["two finite numbers in ascending order", "edges=table.edges"]
BINS = ["whole number of at least 8", "default is 4096"]
OPTION_CASES: dict[str, Case] = {
    "threshold NaN": (lambda _: of(thresholds=NAN), InvalidInput, ["thresholds must be finite", "nan", "Leave"]),
    "threshold infinite": (lambda _: of(thresholds=(0.1, math.inf)), InvalidInput, ["finite", "inf", "Leave"]),
    "threshold in words": (lambda _: of(thresholds="high"), InvalidInput, ["numbers", "'high'", "thresholds=("]),
    "threshold missing": (lambda _: of(thresholds=None), InvalidInput, ["numbers", "None", "thresholds=("]),
    "threshold of alerts in words": (lambda _: of().alerts("high"), InvalidInput, ["number", "'high'", "threshold"]),
    "threshold of alerts NaN": (lambda _: of().alerts(NAN), InvalidInput, ["finite", "nan", "Leave"]),
    "edges descending": (lambda _: of(edges=[1, 0]), InvalidInput, [*EDGES, "found 2 from [1.0] to [0.0]"]),
    "edges equal": (lambda _: of(edges=[0, 0.5, 0.5]), InvalidInput, [*EDGES, "found 3"]),
    "edges too few": (lambda _: of(edges=[0]), InvalidInput, [*EDGES, "found 1"]),
    "edges none": (lambda _: of(edges=[]), InvalidInput, [*EDGES, "found 0"]),
    "edges NaN": (lambda _: of(edges=[0, NAN, 1]), InvalidInput, [*EDGES, "found 3"]),
    "edges infinite": (lambda _: of(edges=[0, math.inf]), InvalidInput, [*EDGES, "found 2"]),
    "edges in words": (lambda _: of(edges="high"), InvalidInput, ["numbers", "'high'", "edges=table.edges"]),
    "no bins": (lambda _: of(n_bins=0), InvalidInput, [*BINS, "not 0"]),
    "few bins": (lambda _: of(n_bins=7), InvalidInput, [*BINS, "not 7"]),
    "bins a float": (lambda _: of(n_bins=64.0), InvalidInput, [*BINS, "not 64.0"]),
    "bins true": (lambda _: of(n_bins=True), InvalidInput, [*BINS, "not True"]),
    "bins in words": (lambda _: of(n_bins="many"), InvalidInput, [*BINS, "'many'"]),
    "threshold that is no edge": (
        lambda _: on_edges(thresholds=0.3),
        InvalidInput,
        ["must be one of them", "0.3", "first table"],
    ),
    "line that is no edge": (
        lambda _: on_edges(design=LabelDesign.above(0.3)),
        InvalidInput,
        ["must be one of them", "0.3", "first table"],
    ),
    "threshold at an outer edge": (
        lambda _: on_edges(thresholds=1.0),
        InvalidInput,
        ["must be one of them", "1.0", "first table"],
    ),
}

PROBABILITY = ["above 0 and at most 1", "1 are not", "Give every item"]
DESIGN_CASES: dict[str, Case] = {
    "unknown name": (lambda _: of(design="top"), InvalidDesign, ["one of auto, random", "'top'", "LabelDesign.above("]),
    "no name": (lambda _: of(design=None), InvalidDesign, ["one of auto, random", "None", "LabelDesign.above("]),
    "an array": (
        lambda _: of(design=np.array([1, 2])),
        InvalidDesign,
        ["one of auto, random", "1, 2", "LabelDesign.above("],
    ),
    "above, by name": (lambda _: of(design="above"), InvalidDesign, ["one of auto", "'above'", "LabelDesign.above("]),
    "above None": (lambda _: LabelDesign.above(None), InvalidDesign, ["'above'", "alert line", "LabelDesign.above("]),
    "above NaN": (lambda _: LabelDesign.above(NAN), InvalidInput, ["threshold must be finite", "nan", "Leave"]),
    "above a word": (lambda _: LabelDesign.above("high"), InvalidInput, ["threshold must be numbers", "high", "Pass"]),
    "above an array": (lambda _: LabelDesign.above([1, 2]), InvalidInput, ["numbers", "[1, 2]", "Pass"]),
    "stratified without": (lambda _: of(design=LabelDesign.stratified(None)), InvalidDesign, ["needs", "'str", "("]),
    "strata and probabilities": (
        lambda _: of_frame(stratum="id", inclusion="zero"),
        InvalidDesign,
        ["Both strata and inclusion", "each describes", "Give the strata"],
    ),
    "strata and probabilities, one in the design": (
        lambda _: of_frame(stratum="id", design=LabelDesign.sampled("zero")),
        InvalidDesign,
        ["Both strata and inclusion", "each describes", "Give the strata"],
    ),
    "strata twice, unequal": (
        lambda _: of_frame(stratum="id", design=LabelDesign.stratified("label")),
        InvalidDesign,
        ["stratum=", "differ", "Give one"],
    ),
    "strata twice, unequal arrays": (
        lambda _: of(stratum=["a", "a", "b"], design=LabelDesign.stratified(["a", "b", "b"])),
        InvalidDesign,
        ["stratum=", "differ", "Give one"],
    ),
    "probabilities twice, unequal": (
        lambda _: of(inclusion=[1, 1, 1], design=LabelDesign.sampled([1, 1, 0.5])),
        InvalidDesign,
        ["inclusion=", "differ", "Give one"],
    ),
    "strata and random": (
        lambda _: of_frame(stratum="id", design="random"),
        InvalidDesign,
        ["'stratified'", "'random'", "Give one"],
    ),
    "strata missing": (lambda _: of(stratum=["a", None, "b"]), InvalidDesign, ["Every item", "1 have none", "Fill"]),
    "strata NaN": (lambda _: of(stratum=["a", NAN, "b"]), InvalidDesign, ["Every item", "1 have none", "Fill"]),
    "strata NA": (lambda _: of(stratum=pd.array(["a", pd.NA, "b"])), InvalidDesign, ["Every", "1 have none", "Fill"]),
    "strata floats": (lambda _: of(stratum=[0.1, 0.2, 0.3]), InvalidDesign, ["whole numbers", "float", "Convert"]),
    "strata too few": (lambda _: of(stratum=["a", "b"]), InvalidColumns, ["3 scores", "2 values of stratum", "each"]),
    "strata too many": (
        lambda _: score_table(np.arange(70.0), stratum=np.arange(70)),
        InvalidDesign,
        ["At most 64", "70", "Join strata"],
    ),
    "stratum a column beside arrays": (
        lambda _: of(stratum="region"),
        InvalidColumns,
        ["stratum='region'", "array", "Pass an array"],
    ),
    "inclusion a column beside arrays": (
        lambda _: of(inclusion="p"),
        InvalidColumns,
        ["inclusion='p'", "array", "Pass an array"],
    ),
    "strata an array beside a frame": (
        lambda _: of_frame(stratum=["a", "b", "c"]),
        InvalidColumns,
        ["name of a column", "list", "as a column"],
    ),
    "probability 0": (lambda _: of(inclusion=[0, 0.5, 1]), InvalidDesign, [*PROBABILITY, "0.0"]),
    "probability 1.5": (lambda _: of(inclusion=[1.5, 0.5, 1]), InvalidDesign, [*PROBABILITY, "1.5"]),
    "probability NaN": (lambda _: of(inclusion=[NAN, 0.5, 1]), InvalidDesign, [*PROBABILITY, "nan"]),
    "probability None": (lambda _: of(inclusion=[None, 0.5, 1]), InvalidDesign, [*PROBABILITY, "nan"]),
    "probabilities in words": (lambda _: of(inclusion=["a", "b", "c"]), InvalidDesign, ["numbers", "'a'", "read"]),
    "probabilities too few": (lambda _: of(inclusion=[0.5]), InvalidColumns, ["3 scores", "1 values of inc", "each"]),
}
for _name, _convert in LIBRARIES.items():
    DESIGN_CASES |= {
        f"{_what}, {_name}": (
            lambda _, convert=_convert, options=_options: score_table(convert(FRAME), **options),
            _error,
            _fragments,
        )
        for _what, _options, _error, _fragments in (
            ("strata null", {"stratum": "word"}, InvalidDesign, ["Every item", "1 have none", "Fill"]),
            ("strata floats", {"stratum": "zero"}, InvalidDesign, ["whole numbers", "'zero'", "Convert"]),
            ("no such strata", {"stratum": "idd"}, InvalidColumns, ["'idd'", "Did you mean 'id'", "stratum="]),
            ("no such key", {"key": "idd"}, InvalidColumns, ["'idd'", "Did you mean 'id'", "key="]),
            ("probability 0", {"inclusion": "zero"}, InvalidDesign, [*PROBABILITY, "0.0"]),
            ("probability 1.5", {"inclusion": "large"}, InvalidDesign, [*PROBABILITY, "1.5"]),
            ("probability null", {"inclusion": "null"}, InvalidDesign, [*PROBABILITY, "nan"]),
            ("probabilities in words", {"inclusion": "word"}, InvalidDesign, ["numbers", "'word'", "Convert"]),
        )
    }

ADDING_CASES: dict[str, Case] = {
    "unequal edges": (
        lambda _: on_edges() + on_edges(edges=(0.0, 1.0)),
        UnequalTables,
        ["same edges", "2 bins over 0 to 1 and 1 over 0 to 1", "edges=first.edges"],
    ),
    "unequal directions": (
        lambda _: on_edges() + on_edges(higher_is_positive=False),
        UnequalTables,
        ["direction", "True and False", "same way"],
    ),
    "unequal designs": (
        lambda _: on_edges(design="random") + on_edges(design="adaptive"),
        UnequalTables,
        ["label design", "at random", "same way"],
    ),
    "unequal strata": (
        lambda _: on_edges(stratum=["a", "a", "b"]) + on_edges(stratum=["a", "c", "b"]),
        UnequalTables,
        ["strata", "'a', 'b', 'c'", "same way"],
    ),
    "strata and none": (
        lambda _: on_edges(stratum=["a", "a", "b"]) + on_edges(),
        UnequalTables,
        ["strata", "'a', 'b'", "same way"],
    ),
    "unequal words": (
        lambda _: on_edges(positive=1) + on_edges(),
        UnequalTables,
        ["word for a positive", "1 and positive", "same way"],
    ),
}

WHICH = ["Say which rows", 'key="id"', "positions=[...]"]
ONE_ROW = ["one row of column 'id'", "Name a column"]
ROW_CASES: dict[str, Case] = {
    "of a table": (lambda _: select_rows(of(), positions=[0]), InvalidSource, ["data", "counts, no rows", "frame"]),
    "nothing asked": (lambda _: select_rows(FRAME), InvalidInput, [*WHICH, "keys missing, positions missing"]),
    "a key without keys": (lambda _: select_rows(FRAME, key="id"), InvalidInput, [*WHICH, "keys missing"]),
    "keys without a key": (lambda _: select_rows(FRAME, keys=[1]), InvalidInput, [*WHICH, "key=None"]),
    "keys and positions": (
        lambda _: select_rows(FRAME, key="id", keys=[1], positions=[0]),
        InvalidInput,
        [*WHICH, "keys given, positions given"],
    ),
    "keys of arrays": (
        lambda _: select_rows((SCORES, LABELS), key="id", keys=[1]),
        InvalidColumns,
        ["Arrays", "no key", "positions=[...]"],
    ),
    "negative position": (lambda _: select_rows(FRAME, positions=[-1]), InvalidInput, ["from 0", "[-1]", "[0, 17]"]),
    "half a position": (lambda _: select_rows(FRAME, positions=[0.5]), InvalidInput, ["whole", "[0.5]", "[0, 17]"]),
    "position true": (lambda _: select_rows(FRAME, positions=[True]), InvalidInput, ["whole", "[True]", "[0, 17]"]),
    "position in words": (lambda _: select_rows(FRAME, positions=["a"]), InvalidInput, ["whole", "['a']", "[0, 17]"]),
    "one position": (lambda _: select_rows(FRAME, positions=1), InvalidInput, ["whole numbers", "found 1", "[0, 17]"]),
    "positions in lists": (
        lambda _: select_rows(FRAME, positions=[[1], [1, 2]]),
        InvalidInput,
        ["one dimension", "unequal lengths", "flat"],
    ),
    "arrays of unequal lengths": (
        lambda _: select_rows((SCORES, [0, 1]), positions=[2]),
        InvalidColumns,
        ["one length", "[2, 3]", "Pass"],
    ),
    "a set": (lambda _: select_rows({1, 2}, positions=[0]), InvalidSource, ["data a table was built", "set", "Pass"]),
    "text key of numbers in a file": (
        lambda f: rows_of_csv(f, key="id", keys=["3"]),
        InvalidColumns,
        [*ONE_ROW, "1 keys were not found", "'3'"],
    ),
    "position beyond a file": (lambda f: rows_of_csv(f, positions=[2]), InvalidInput, ["Position 2", "2 rows", "0"]),
    "position of a relation": (
        lambda _: select_rows(LIBRARIES["duckdb"](FRAME), positions=[0]),
        InvalidSource,
        ["duckdb", "no order", "keys=[...]"],
    ),
}
for _name, _convert in LIBRARIES.items():
    ROW_CASES |= {
        f"{_what}, {_name}": (
            lambda _, convert=_convert, wanted=_wanted: select_rows(convert(FRAME), **wanted),
            _error,
            _fragments,
        )
        for _what, _wanted, _error, _fragments in (
            ("unknown key", {"key": "id", "keys": [7, 1]}, InvalidColumns, [*ONE_ROW, "1 keys were not found", "7"]),
            ("key twice", {"key": "id", "keys": [2]}, InvalidColumns, [*ONE_ROW, "several rows", "2"]),
            ("text for numbers", {"key": "id", "keys": ["1"]}, InvalidColumns, ["numbers", "'1'", "Pass numbers"]),
            ("no key column", {"key": "idd", "keys": [1]}, InvalidColumns, ["'idd'", "Did you mean 'id'", "key="]),
            ("position beyond", {"positions": [0, 3]}, InvalidInput, ["Position 3", "3 rows", "0"]),
        )
        if not (_name == "duckdb" and "positions" in _wanted)
    }

GROUPS = {"option": OPTION_CASES, "design": DESIGN_CASES, "adding": ADDING_CASES, "rows": ROW_CASES}
CASES = {f"{_what}: {_name}": _case for _what, _cases in GROUPS.items() for _name, _case in _cases.items()}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_refusal_says_what_was_expected_found_and_to_do(case: Case, tmp_path: Path) -> None:
    check_refusal(case, tmp_path)


def test_adding_something_else_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        _ = on_edges() + 1
    assert sum([on_edges(), on_edges()]).n_items == 6
