"""What can go wrong, as a tree: every refusal says what was expected, what was found and what to do.

PaucityError
├── InvalidInput (a ValueError)
│   ├── InvalidScores       scores that are not finite numbers
│   ├── InvalidLabels       labels that are not 0, 1 or unknown
│   ├── InvalidColumns      a column that is missing, given twice, or of the wrong length
│   ├── InvalidSource       data of a kind that is not read, or files that are not there
│   ├── InvalidDesign       a label design that does not fit the labels
│   │   └── AmbiguousDesign how the labels were chosen cannot be told from the labels
│   └── UnequalTables       two tables that cannot be added
└── MissingExtra (an ImportError)   an optional package is needed; the line to type is in the message
"""

from __future__ import annotations


class PaucityError(Exception):
    """Root of all errors that paucity raises on purpose."""


class InvalidInput(PaucityError, ValueError):
    """Something that was passed in cannot be used as it is."""


class InvalidScores(InvalidInput):
    """Scores that are not finite numbers, or none at all."""


class InvalidLabels(InvalidInput):
    """Labels that are not 0, 1 or unknown."""


class InvalidColumns(InvalidInput):
    """A column that is missing, given twice, or of the wrong length."""


class InvalidSource(InvalidInput):
    """Data of a kind that is not read, or files that are not there."""


class InvalidDesign(InvalidInput):
    """A label design that does not fit the labels, or is not complete."""


class AmbiguousDesign(InvalidDesign):
    """How the labels were chosen cannot be told from the labels alone."""


class UnequalTables(InvalidInput):
    """Two tables that cannot be added."""


class MissingExtra(PaucityError, ImportError):
    """An optional package is needed; the message holds the line to type."""
