"""What people import: few names, sorted, documented with a runnable example, and light to import."""

import doctest
import inspect
import json
import subprocess
import sys

import pytest

import paucity
from paucity import InvalidInput, PaucityError

NAMES = [
    "AmbiguousDesign",
    "InvalidColumns",
    "InvalidDesign",
    "InvalidInput",
    "InvalidLabels",
    "InvalidScores",
    "InvalidSource",
    "LabelDesign",
    "MissingExtra",
    "PaucityError",
    "ScoreTable",
    "UnequalTables",
    "score_table",
    "select_rows",
]
NOT_AT_IMPORT = (
    "duckdb",
    "typer",
    "rich",
    "jinja2",
    "starlette",
    "uvicorn",
    "dask",
    "pyspark",
    "polars",
    "pandas",
    "pyarrow",
)


def test_the_public_names_are_these():
    assert sorted(paucity.__all__) == NAMES
    assert paucity.__all__ == sorted(paucity.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_is_documented(name):
    thing = getattr(paucity, name)
    documentation = inspect.getdoc(thing)
    assert documentation
    assert documentation.splitlines()[0].endswith(".")
    if not (inspect.isclass(thing) and issubclass(thing, Exception)):
        assert doctest.DocTestFinder(recurse=False).find(thing)[0].examples, "a runnable example"


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("Invalid") or name == "UnequalTables"])
def test_refusals_of_input_are_value_errors(name):
    assert issubclass(getattr(paucity, name), InvalidInput)
    assert issubclass(InvalidInput, ValueError)
    assert issubclass(InvalidInput, PaucityError)


def test_arguments_of_public_functions_are_keyword_only():
    for function in (paucity.score_table, paucity.select_rows):
        first, *others = inspect.signature(function).parameters.values()
        assert first.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert {parameter.kind for parameter in others} == {inspect.Parameter.KEYWORD_ONLY}


def loaded(code):
    """The top-level packages that a fresh Python has loaded after this code, and the seconds it took."""
    program = (
        "import json, sys, time\nstart = time.perf_counter()\n"
        f"{code}\n"
        "took = time.perf_counter() - start\n"
        "print(json.dumps([sorted({name.partition('.')[0] for name in sys.modules}), took]))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def test_importing_paucity_imports_nothing_optional():
    packages, _ = loaded("import paucity")
    assert "paucity" in packages
    assert not set(packages) & set(NOT_AT_IMPORT)


def test_importing_paucity_costs_no_more_than_scikit_learn():
    ours = min(loaded("import paucity")[1] for _ in range(3))
    theirs = min(loaded("import sklearn.linear_model")[1] for _ in range(3))
    assert ours <= 1.3 * theirs
