"""What simulations take: counts, shapes and their parameters, refused with advice where they cannot be used."""

from __future__ import annotations

import difflib

import numpy as np

from paucity.exceptions import InvalidInput
from paucity.mixture.families import FAMILIES, Family

RandomState = int | np.random.Generator | None


def checked_count(n: int, what: str, *, at_least: int = 0, at_most: int | None = None) -> int:
    """The count, if it is an integer within reach."""
    if not isinstance(n, (int, np.integer)) or n < at_least:
        raise InvalidInput(f"The number of {what} must be an integer from {at_least} on, but is {n!r}: give a count.")
    if at_most is not None and n > at_most:
        raise InvalidInput(f"{n:,} {what} were asked for, but there are {at_most:,} to choose from: ask for fewer.")
    return int(n)


def checked_family(name: str) -> Family:
    """The shape of that name."""
    if name not in FAMILIES:
        near = difflib.get_close_matches(str(name), FAMILIES) or list(FAMILIES)
        raise InvalidInput(f"The shape of a class must be a key of FAMILIES, but is {name!r}: try {' or '.join(near)}.")
    return FAMILIES[name]


def checked_parameters(name: str, parameters: tuple[float, ...]) -> tuple[float, ...]:
    """The parameters as floats, if they are as many as the shape has and each is inside its bounds."""
    family = checked_family(name)
    expected = f"{name} has the parameters {', '.join(family.parameters)}"
    if len(parameters) != len(family.parameters):
        raise InvalidInput(f"{expected}, but the values {parameters!r} were given: give one for each.")
    for parameter, value, (low, high) in zip(family.parameters, parameters, family.bounds, strict=True):
        if not low < value < high:
            raise InvalidInput(f"{parameter} of {name} must lie between {low:g} and {high:g}, but is {value!r}.")
    quartiles = family.upper_quantile(np.log([0.25, 0.75]), parameters)
    if not np.isfinite(family.log_density(quartiles, parameters)).all():
        raise InvalidInput(f"{expected}, but {parameters!r} make no shape of it: choose others.")
    return tuple(float(value) for value in parameters)
