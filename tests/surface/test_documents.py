"""What the documents say: their examples run, and the tests that their claims name are there."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")


def test_the_examples_of_the_readme_run():
    results = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert results.attempted >= 8
    assert results.failed == 0


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_is_named_exists(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    paths = re.findall(r"`((?:tests|bench|src|reproduce|constraints|changes)/[\w/.]*)`?", text)
    assert paths
    for path in paths:
        assert (ROOT / path).exists(), path
    tests = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    for name in re.findall(r"`(test_\w+)`", text):
        assert f"def {name}(" in tests, name


def test_every_claim_of_the_readme_names_what_shows_it():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|")][2:]
    assert len(rows) >= 7
    for row in rows:
        assert re.search(r"`(tests|bench)/[\w/]+\.py`", row), row


def test_modules_are_short_and_begin_with_their_idea():
    for file in sorted((ROOT / "src").rglob("*.py")):
        lines = file.read_text(encoding="utf-8").splitlines()
        assert len(lines) <= 400, f"{file.name} has {len(lines)} lines"
        assert lines[0].startswith('"""'), file.name
        assert len(lines[0]) > 20, file.name


def test_no_document_names_a_machine_or_an_address_of_a_registry():
    for file in [*ROOT.glob("*.md"), *ROOT.glob("constraints/*.txt"), ROOT / "Makefile", ROOT / ".ci" / "run"]:
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"(?<!no-emit-)(index-url|find-links)|https?://", text), file.name
