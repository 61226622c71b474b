"""The loader of the real data: what it says when they are missing, what it refuses, and which traps it removes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reproduce import data

real_data = pytest.mark.skipif(
    not data.available(),
    reason=f"{data.VARIABLE} is not set to a folder of data sets; reproduce.data.HOMES lists their homes",
)

FRAMES = {
    "haberman": pl.DataFrame({"age": [30, 40, 50], "class": ["negative", "positive", "negative"]}),
    "newsgroups20": pl.DataFrame(
        {
            "id": ["7", "8"],
            "split": ["train", "test"],
            "text": ["From: a\nNewsgroups: rec.autos\n\nHello\n\nBye", "Path: b\n\nNo header here"],
            "class": ["rec.autos", "sci.med"],
        }
    ),
    "ozone_onehr": pl.DataFrame(
        {"Date": ["a", "b", "c"], "WSR0": [0.5, None, float("nan")], "class": [1, 0, 1]}, strict=False
    ),
    "kaist_pedestrian_scores": pl.DataFrame(
        {
            "detector": ["MLPD", "MLPD", "MBNet"],
            "image": [1, 2, 3],
            **{side: [0.0, 1.0, 2.0] for side in "xywh"},
            "score": [0.9, 0.2, 0.4],
            "label": [1, -1, 0],
        }
    ),
    "cover_scores": pl.DataFrame(
        {
            "f0": [1.0, 2.0, 3.0],
            **{score: [0.1, 0.2, 0.3] for score in ("iforest", "ecod", "pca_recon", "logreg_20pos")},
            "used_in_training": [True, False, False],
            "y": [1, 0, 1],
        }
    ),
}
LABELS = {"kaist_pedestrian_scores": "label", "cover_scores": "y"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as PAUCITY_DATA names it, with a few rows of a few sets."""
    for name, frame in FRAMES.items():
        frame.write_parquet(tmp_path / f"{name}.parquet")
    np.savez(tmp_path / "gcm_ramaswamy2001.npz", X=np.float32([[1.0, 10.0], [16.0, 64.0]]), y=np.array(["BR", "ME"]))
    files = sorted(path for path in tmp_path.iterdir())
    entries = [
        {
            "name": path.stem,
            "file": path.name,
            "label": "y" if path.suffix == ".npz" else LABELS.get(path.stem, "class"),
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in files
    ]
    (tmp_path / "MANIFEST.json").write_text(json.dumps({"sets": entries}))
    monkeypatch.setenv(data.VARIABLE, str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", data.HOMES)
def test_without_the_variable_the_message_says_where_a_set_has_its_home(name, monkeypatch):
    monkeypatch.delenv(data.VARIABLE, raising=False)
    assert data.available() == ()
    with pytest.raises(data.DataUnavailable) as refusal:
        data.load(name)
    assert isinstance(refusal.value, LookupError)
    assert "PAUCITY_DATA" in str(refusal.value) and "is not set" in str(refusal.value)
    assert data.HOMES[name] in str(refusal.value)


@pytest.mark.parametrize("home", data.HOMES.values(), ids=data.HOMES)
def test_homes_are_named_without_addresses_or_machine_paths(home):
    assert "://" not in home and not any(word.startswith("/") for word in home.split())


def test_every_problem_is_a_problem_of_a_known_set():
    asked = [*data.POSITIVES.values(), *data.SCORES.values()]
    assert {problem.file for problem in asked} <= set(data.HOMES)
    assert {*data.ABOUT, *data.CLEAN_FRAMES, *data.CLEAN_ARRAYS} <= set(data.HOMES)


def test_a_folder_without_a_manifest_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv(data.VARIABLE, str(tmp_path))
    assert data.available() == ()
    with pytest.raises(data.DataUnavailable, match=r"Expected a MANIFEST\.json .* found none"):
        data.load("car")


def test_a_set_that_is_not_in_the_folder_is_refused(folder):
    assert set(data.available()) == {*FRAMES, "gcm_ramaswamy2001"}
    with pytest.raises(data.DataUnavailable, match=r"Expected 'car' in the folder .* public home of 'car': PyPI"):
        data.load("car")
    (folder / "haberman.parquet").unlink()
    assert "haberman" not in data.available()
    with pytest.raises(data.DataUnavailable, match=r"Expected 'haberman' in the folder"):
        data.load("haberman")


def test_a_wrong_name_is_answered_with_near_ones(folder):
    with pytest.raises(data.DataUnavailable, match=r"found 'habermann'. Choose haberman"):
        data.load("habermann")
    with pytest.raises(data.DataUnavailable, match=r"found 'letter-B'. Choose letter-"):
        data.problem("letter-B")


def test_a_changed_file_is_refused(folder):
    FRAMES["haberman"].head(2).write_parquet(folder / "haberman.parquet")
    with pytest.raises(data.DataChanged, match=r"Expected haberman.parquet with the SHA-256 .* found .* Fetch it anew"):
        data.load("haberman")


def test_a_file_is_checked_once(folder, monkeypatch):
    data.load("haberman")
    monkeypatch.setattr(data.hashlib, "file_digest", None)  # a second check would call it
    assert len(data.load("haberman").label) == 3


def test_a_problem_has_two_classes(folder):
    loaded = data.problem("haberman")
    assert loaded.label.tolist() == [0, 1, 0] and loaded.label.dtype == np.int8
    assert loaded.features.columns == ["age"]


def test_newsgroups_lose_their_headers_and_nothing_else(folder):
    loaded = data.load("newsgroups20")
    assert loaded.features["text"].to_list() == ["Hello\n\nBye", "No header here"]
    assert loaded.features.columns == ["text"] and loaded.about.columns == ["id", "split"]
    assert loaded.label.tolist() == ["rec.autos", "sci.med"]


def test_ozone_days_with_missing_values_are_dropped(folder):
    loaded = data.problem("ozone")
    assert loaded.features.to_dict(as_series=False) == {"WSR0": [0.5]} and loaded.label.tolist() == [1]


def test_pedestrians_in_ignored_regions_are_dropped(folder):
    scores, truth = data.scored("kaist-pooled")
    assert scores.tolist() == [0.9, 0.4] and truth.tolist() == [1, 0]
    assert [column.tolist() for column in data.scored("kaist-MLPD")] == [[0.9], [1]]


def test_rows_used_in_training_do_not_judge_what_was_trained_on_them(folder):
    assert data.scored("cover-logreg_20pos")[1].tolist() == [0, 1]
    assert data.scored("cover-iforest")[1].tolist() == [1, 0, 1]
    assert data.load("cover_scores").features.columns == ["f0"]


def test_gene_expressions_are_floored_and_logged(folder):
    loaded = data.load("gcm_ramaswamy2001")
    np.testing.assert_allclose(loaded.features, np.log2([[10.0, 10.0], [16.0, 64.0]]))


PRINTED = {  # rows and share of positives: GEV paper, Table 2; Thresholding Method, section 5 (of ozone, the positives)
    "nursery": (12960, 0.025),
    "letter-A": (20000, 0.039),
    "car": (1728, 0.040),
    "glass": (214, 0.079),
    "ecoli": (336, 0.104),
    "letter-vowel": (20000, 0.194),
    "cmc": (1473, 0.226),
    "vehicle": (846, 0.251),
    "haberman": (306, 0.265),
    "yeast": (1484, 0.289),
    "german": (1000, 0.300),
    "pima": (768, 0.349),
    "ozone": (1848, 57 / 1848),
}

COUNTED = {  # rows and positives, counted in the files
    "ionosphere": (351, 126),
    **{f"optdigits-{digit}": (5620, n) for digit, n in enumerate((554, 571, 557, 572, 568, 558, 558, 566, 554, 562))},
    **{
        f"satimage-{soil}": (6435, n)
        for soil, n in zip((1, 2, 3, 4, 5, 7), (1533, 703, 1358, 626, 707, 1508), strict=True)
    },
}

SCORED = {  # rows and positives
    "cover-iforest": (286048, 2747),
    "cover-ecod": (286048, 2747),
    "cover-pca_recon": (286048, 2747),
    "cover-logreg_20pos": (284028, 2727),
    "kaist-MLPD": (2944, 1407),
    "kaist-MBNet": (7644, 1432),
    "kaist-MSDS-RCNN": (8977, 1372),
    "kaist-pooled": (19565, 4211),
}


def test_every_problem_has_its_numbers():
    assert {*PRINTED, *COUNTED} == set(data.POSITIVES) and set(SCORED) == set(data.SCORES)


@real_data
@pytest.mark.parametrize("name", PRINTED)
def test_problems_have_the_sizes_the_papers_print(name):
    loaded = data.problem(name)
    rows, share = PRINTED[name]
    assert loaded.features.shape[0] == len(loaded.label) == rows
    assert loaded.label.mean() == pytest.approx(share, abs=0.0005)


@real_data
@pytest.mark.parametrize("name", COUNTED)
def test_problems_have_the_sizes_counted(name):
    loaded = data.problem(name)
    assert (len(loaded.label), int(loaded.label.sum())) == COUNTED[name]


@real_data
@pytest.mark.parametrize("name", SCORED)
def test_scored_problems_have_the_sizes_counted_and_finite_scores(name):
    scores, truth = data.scored(name)
    assert (len(scores), int(truth.sum())) == SCORED[name]
    assert set(np.unique(truth)) == {0, 1} and np.isfinite(scores).all()


@real_data
@pytest.mark.parametrize("name", data.HOMES)
def test_every_set_loads_with_a_class_for_every_row_and_no_class_among_its_features(name):
    loaded = data.load(name)
    assert len(loaded.label) == loaded.features.shape[0] or loaded.features.shape[1:] == (0,)
    assert len(np.unique(loaded.label.astype(str))) >= 2
    if isinstance(loaded.features, pl.DataFrame):
        assert not set(loaded.features.columns) & {"class", "label", "y", "topics", "archive", "FraudFound_P"}


@real_data
def test_messages_of_the_newsgroups_do_not_begin_with_headers():
    begins_with_header = (
        pl.col("text").str.contains(r"\A(From|Subject|Path|Xref|Newsgroups|Organization|Lines): ").mean()
    )
    raw = pl.read_parquet(data.checked_file("newsgroups20")[0])
    assert raw.select(begins_with_header).item() > 0.99
    assert data.load("newsgroups20").features.select(begins_with_header).item() < 0.002  # those forward another message
