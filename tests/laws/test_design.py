"""Label designs: they survive storage, and ``auto`` says what the labels prove and refuses the rest."""

from __future__ import annotations

import json
import math
import pickle
import re
from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paucity import AmbiguousDesign, InvalidDesign, LabelDesign, ScoreTable, score_table
from paucity.scores.design import KINDS

DESIGNS = {
    "auto": LabelDesign.auto(),
    "random": LabelDesign.random(),
    "random, looked at": LabelDesign.random(looks=5),
    "random, in stages": LabelDesign.random(stages=(100, 200)),
    "above": LabelDesign.above(0.8),
    "above a whole number": LabelDesign.above(3),
    "above a tiny number": LabelDesign.above(-5e-324),
    "above with audits": LabelDesign.above_with_audits(0.1 + 0.2, looks=2, stages=[10, 20]),
    "stratified by a column": LabelDesign.stratified("region"),
    "stratified by words": LabelDesign.stratified(np.array(["a", "b", "ä"])),
    "stratified by numbers": LabelDesign.stratified(np.array([1, 2, 2])),
    "stratified by a list": LabelDesign.stratified(["a", None]),
    "sampled by a column": LabelDesign.sampled("p"),
    "sampled by numbers": LabelDesign.sampled(np.array([0.1, 1 / 3, 1.0])),
    "adaptive": LabelDesign.adaptive(),
    "positives only": LabelDesign.positives_only(),
    "census": LabelDesign("census"),
    "unlabelled": LabelDesign("unlabelled"),
}


def columns_of(design: LabelDesign) -> list[object]:
    """The names of columns in a design, and strata that are missing: of no use beside arrays."""
    given = [value for value in (design.strata, design.inclusion) if value is not None]
    return [value for value in given if isinstance(value, str) or None in list(value)]


every_design = pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
few_scores = st.integers(-3, 3).map(lambda n: n / 4)
any_scores = st.floats(-1e100, 1e100) | st.sampled_from((0.0, -0.0, 5e-324, -5e-324, 0.1, math.nextafter(0.1, 1)))
arrays_of_scores = (
    st.lists(few_scores, min_size=1, max_size=40)
    | st.lists(any_scores, min_size=1, max_size=40)
    | st.builds(lambda seed: np.random.default_rng(seed).normal(size=400), st.integers(0, 2**32 - 1))
).map(lambda values: np.array(values) + 0.0)


def labels_for(scores: np.ndarray, kind: str, seed: int) -> np.ndarray:
    """Labels on none, all, some, the highest, or the highest and some; -1 where unknown."""
    rng = np.random.default_rng(seed)
    line = rng.choice(scores)
    chosen = {
        "none": np.zeros(len(scores), dtype=bool),
        "all": np.ones(len(scores), dtype=bool),
        "some": rng.random(len(scores)) < 0.3,
        "highest": scores >= line,
        "highest and some": (scores >= line) | (rng.random(len(scores)) < 0.1),
        "highest but one": (scores > line) | (np.arange(len(scores)) == rng.choice(np.flatnonzero(scores == line))),
    }[kind]
    return np.where(chosen, rng.integers(0, 2, len(scores)), -1)


labelled_scores = st.builds(
    lambda scores, kind, seed: (scores, labels_for(scores, kind, seed)),
    arrays_of_scores,
    st.sampled_from(("none", "all", "some", "highest", "highest and some", "highest but one")),
    st.integers(0, 2**32 - 1),
)


def proven(scores: np.ndarray, labels: np.ndarray) -> LabelDesign | None:
    """What the labels prove, item by item; None where they prove nothing."""
    known = labels >= 0
    if not known.any():
        return LabelDesign("unlabelled")
    if known.all():
        return LabelDesign("census")
    lowest = scores[known].min()
    return LabelDesign.above(lowest) if lowest > scores[~known].max() else None


def resolved(table: ScoreTable) -> LabelDesign | None:
    """What the table says; None where it refuses."""
    try:
        return table.resolve_design()
    except AmbiguousDesign:
        return None


def in_chunks(scores: np.ndarray, labels: np.ndarray, edges: Sequence[float], n: int, **options: Any) -> ScoreTable:
    """The sum of the tables of n chunks."""
    chunks = [rows for rows in np.array_split(np.arange(len(scores)), n) if len(rows)]
    return reduce(add, [score_table((scores[rows], labels[rows]), edges=edges, **options) for rows in chunks])


def test_every_kind_is_tried_here() -> None:
    assert {design.kind for design in DESIGNS.values()} == set(KINDS)


@every_design
def test_round_trips(design: LabelDesign) -> None:
    stored = json.loads(json.dumps(design.to_dict(), allow_nan=False))
    for copy in (LabelDesign.from_dict(stored), pickle.loads(pickle.dumps(design))):
        assert copy == design
        assert hash(copy) == hash(design)
        assert copy.to_dict() == design.to_dict()
        assert str(copy) == str(design)


def test_no_two_designs_are_equal() -> None:
    designs = list(DESIGNS.values())
    assert sum(one == other for one in designs for other in designs) == len(designs)
    assert LabelDesign.above(0.8) != 0.8


@every_design
def test_reads_as_a_phrase(design: LabelDesign) -> None:
    assert len(str(design).split()) > 3
    if design.threshold is not None:
        assert f"{design.threshold:g}" in str(design)
        assert "a threshold" not in str(design)


@pytest.mark.parametrize("design", [design for design in DESIGNS.values() if not columns_of(design)], ids=str)
def test_travels_with_the_table_and_its_file(design: LabelDesign, tmp_path: Path) -> None:
    table = score_table((np.linspace(0, 1, 3), [-1, 0, 1]), design=design)
    kept = table.design
    for name in ("kind", "threshold", "looks", "stages"):
        assert getattr(kept, name) == getattr(design, name)
    table.save(tmp_path / "table.npz")
    assert ScoreTable.load(tmp_path / "table.npz").design == kept


REFUSED: dict[str, tuple[Callable[[], object], list[str]]] = {
    "unknown kind": (lambda: LabelDesign("top"), ["'top'", "above_with_audits", "positives_only"]),
    "no threshold": (lambda: LabelDesign("above"), ["above", "LabelDesign.above(0.8)"]),
    "no looks": (lambda: LabelDesign.random(looks=0), ["looks=", "at least 1", "0"]),
    "half a look": (lambda: LabelDesign.random(looks=1.5), ["looks=", "whole number", "1.5"]),
    "looks in words": (lambda: LabelDesign.random(looks="often"), ["looks=", "'often'"]),
    "no stages": (lambda: LabelDesign.random(stages=()), ["stages=", "(100, 200)"]),
    "an empty stage": (lambda: LabelDesign.random(stages=(100, 0)), ["stages=", "(100, 0)"]),
    "stages in words": (lambda: LabelDesign.random(stages="two"), ["stages=", "'two'"]),
    "another schema": (lambda: LabelDesign.from_dict({"schema": 99, "kind": "random"}), ["schema 1", "99"]),
    "no schema": (lambda: LabelDesign.from_dict({"kind": "random"}), ["schema 1", "None"]),
    "a schema and nothing else": (lambda: LabelDesign.from_dict({"schema": 1}), ["kind"]),
}


@pytest.mark.parametrize(("make", "fragments"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_design_is_refused(make: Callable[[], object], fragments: list[str]) -> None:
    with pytest.raises(InvalidDesign) as refusal:
        make()
    for fragment in fragments:
        assert fragment in str(refusal.value)


@given(labelled_scores, st.sampled_from((8, 4096)))
def test_auto_says_what_labels_prove(data: tuple[np.ndarray, np.ndarray], n_bins: int) -> None:
    assert resolved(score_table(data, n_bins=n_bins)) == proven(*data)


@given(labelled_scores, st.sampled_from((8, 4096)))
def test_auto_where_low_scores_are_suspicious(data: tuple[np.ndarray, np.ndarray], n_bins: int) -> None:
    scores, labels = data
    assert resolved(score_table((0.0 - scores, labels), n_bins=n_bins, higher_is_positive=False)) == turned(
        proven(*data)
    )


def turned(design: LabelDesign | None) -> LabelDesign | None:
    """The same line for negated scores."""
    return LabelDesign.above(-design.threshold) if design is not None and design.threshold is not None else design


@given(labelled_scores, st.sampled_from(([-1.0, 0.0, 1.0], [0.0, 0.1], [0.25, 2.0], None)), st.integers(1, 5))
def test_auto_after_adding_chunks(data: tuple[np.ndarray, np.ndarray], edges: list[float] | None, n: int) -> None:
    scores, labels = data
    ends = score_table(scores[: max(len(scores) // n, 1)], n_bins=8).edges if edges is None else edges
    assert resolved(in_chunks(scores, labels, ends, n=n)) == proven(scores, labels)


@given(labelled_scores, st.sampled_from(([-1.0, 0.0, 0.1], None)))
def test_auto_where_labelled_items_are_not_kept(data: tuple[np.ndarray, np.ndarray], edges: list[float] | None) -> None:
    scores, labels = data
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paucity.scores.table.MAX_LABELLED", 3)
        patch.setattr("paucity.scores.binning.MAX_LABELLED", 3)
        table = score_table(data, edges=edges, n_bins=8)
        both = in_chunks(scores, labels, table.edges, n=2)
    assert (table.labelled_scores is None) == (np.count_nonzero(labels >= 0) > 3) == (both.labelled_scores is None)
    assert resolved(table) == proven(scores, labels) == resolved(both)


def test_a_tie_at_the_line_is_no_line() -> None:
    scores, labels = np.array([0.1, 0.5, 0.5, 0.9]), np.array([-1, -1, 0, 1])
    with pytest.raises(AmbiguousDesign):
        score_table((scores, labels)).resolve_design()
    labels[1] = 0
    assert score_table((scores, labels)).resolve_design() == LabelDesign.above(0.5)


def test_neighbouring_numbers_at_the_line_are_told_apart() -> None:
    scores = np.concatenate((np.random.default_rng(0).normal(size=20_000), [5.0, math.nextafter(5.0, 6.0)]))
    labels = np.full(len(scores), -1)
    labels[-1] = 1
    table = score_table((scores, labels), n_bins=8)
    assert table.resolve_design() == LabelDesign.above(math.nextafter(5.0, 6.0))
    labels[-2:] = 1, -1
    with pytest.raises(AmbiguousDesign):
        score_table((scores, labels), n_bins=8).resolve_design()


@given(labelled_scores, st.booleans())
def test_a_refusal_lists_the_choices_and_a_line_that_fits(data: tuple[np.ndarray, np.ndarray], up: bool) -> None:
    scores, labels = data if up else (0.0 - data[0], data[1])
    try:
        score_table((scores, labels), higher_is_positive=up).resolve_design()
    except AmbiguousDesign as refusal:
        message = str(refusal)
    else:
        return
    for choice in ("LabelDesign.random()", "LabelDesign.adaptive()", "LabelDesign.positives_only()"):
        assert choice in message, "labels drawn at random may include the highest score"
    line = re.search(r"above_with_audits\(([^)]+)\)", message)
    if line is None:
        assert "LabelDesign.stratified(" in message
        assert "LabelDesign.sampled(" in message
        return
    threshold = float(line[1])
    above = scores >= threshold if up else scores <= threshold
    assert (labels[above] >= 0).all()
    numbers = [int(number.replace(",", "")) for number in re.findall(r"(?:All|and) ([\d,]+) ", message)]
    assert numbers[:2] == [np.count_nonzero(above), np.count_nonzero(labels[~above] >= 0)]
    suggested = LabelDesign.above_with_audits(threshold)
    assert score_table((scores, labels), design=suggested, higher_is_positive=up).resolve_design() == suggested


FITTING = {
    "random": (LabelDesign.random(), [-1, 0, -1, 1]),
    "adaptive": (LabelDesign.adaptive(), [-1, 0, 1, -1]),
    "above": (LabelDesign.above(0.3), [-1, -1, 0, 1]),
    "above, between two scores": (LabelDesign.above(0.25), [-1, -1, 0, 1]),
    "above with audits": (LabelDesign.above_with_audits(0.3), [-1, 0, 0, 1]),
    "above with audits, none of which fell yet": (LabelDesign.above_with_audits(0.3), [-1, -1, 0, 1]),
    "positives only": (LabelDesign.positives_only(), [-1, 1, -1, 1]),
    "stratified": (LabelDesign.stratified(["a", "a", "b", "b"]), [-1, 0, -1, 1]),
    "sampled": (LabelDesign.sampled([0.1, 0.1, 1.0, 1.0]), [-1, 0, 1, 1]),
}
CONTRADICTED = {
    "unlabelled above": (LabelDesign.above(0.2), [-1, -1, 0, 1], ["0.2", "some are not", "stratified"]),
    "unlabelled at the line": (LabelDesign.above(0.3), [-1, -1, -1, 1], ["0.3", "some are not"]),
    "unlabelled above, with audits": (LabelDesign.above_with_audits(0.3), [0, 0, 1, -1], ["0.3", "some are not"]),
    "labelled below": (LabelDesign.above(0.3), [1, 0, -1, -1], ["0.3", "some are not"]),
    "one labelled below": (LabelDesign.above(0.3), [-1, 0, 0, 1], ["0.3", "1 items", "above_with_audits"]),
    "negatives among positives only": (LabelDesign.positives_only(), [-1, 0, -1, 1], ["positive", "1"]),
    "no census": (LabelDesign("census"), [-1, 0, 0, 1], ["all items", "3 of 4"]),
    "not unlabelled": (LabelDesign("unlabelled"), [-1, 0, 0, 1], ["no item", "3"]),
}
SCORES = np.array([0.1, 0.2, 0.3, 0.4])
directions = pytest.mark.parametrize("up", [True, False], ids=["high is positive", "low is positive"])


@directions
@pytest.mark.parametrize(("design", "labels"), FITTING.values(), ids=FITTING)
def test_a_declared_design_that_fits_is_kept(design: LabelDesign, labels: list[int], up: bool) -> None:
    table = declared(design, labels, up)
    assert table.resolve_design() == table.design
    assert table.resolve_design().kind == design.kind


@directions
@pytest.mark.parametrize(("design", "labels", "fragments"), CONTRADICTED.values(), ids=CONTRADICTED)
def test_a_declared_design_that_labels_contradict_is_refused(
    design: LabelDesign, labels: list[int], fragments: list[str], up: bool
) -> None:
    with pytest.raises(InvalidDesign) as refusal:
        declared(design, labels, up).resolve_design()
    assert not isinstance(refusal.value, AmbiguousDesign)
    for fragment in fragments:
        assert fragment.replace("0.", "0." if up else "-0.") in str(refusal.value)


def declared(design: LabelDesign, labels: list[int], up: bool) -> ScoreTable:
    """Four items with these labels; scores and line negated where low is positive."""
    if not up and design.threshold is not None:
        design = LabelDesign(design.kind, threshold=-design.threshold)
    return score_table((SCORES if up else -SCORES, labels), design=design, higher_is_positive=up)


@pytest.mark.parametrize(
    "design", [design for design in DESIGNS.values() if design.strata is None and design.inclusion is None], ids=str
)
def test_census_and_unlabelled_are_seen_whatever_was_declared(design: LabelDesign) -> None:
    assert score_table((SCORES, [1, 0, 0, 1]), design=design).resolve_design().kind == "census"
    assert score_table((SCORES, [-1, -1, -1, -1]), design=design).resolve_design().kind == "unlabelled"


@given(labelled_scores)
def test_a_declared_line_is_checked_in_chunks_as_in_one(data: tuple[np.ndarray, np.ndarray]) -> None:
    scores, labels = data
    line = float(np.median(scores))
    design = LabelDesign.above(line)
    whole = score_table(data, design=design, n_bins=8)
    total = in_chunks(scores, labels, whole.edges, n=2, design=design)
    known = labels >= 0
    fits = known[scores >= line].all() and not known[scores < line].any()
    for table in (whole, total):
        if not known.any() or known.all():
            assert table.resolve_design().kind in ("unlabelled", "census")
        elif fits:
            assert table.resolve_design() == design
        else:
            with pytest.raises(InvalidDesign):
                table.resolve_design()
