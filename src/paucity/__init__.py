"""Rare things, few labels, honest numbers."""

from paucity.exceptions import (
    AmbiguousDesign,
    InvalidColumns,
    InvalidDesign,
    InvalidInput,
    InvalidLabels,
    InvalidScores,
    InvalidSource,
    MissingExtra,
    PaucityError,
    UnequalTables,
)
from paucity.scores.build import score_table
from paucity.scores.design import LabelDesign
from paucity.scores.rows import select_rows
from paucity.scores.table import ScoreTable

__version__ = "0.1.0.dev0"

__all__ = [
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
