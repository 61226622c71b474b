"""How the items that carry labels were chosen: what may be said depends on it, so it travels with the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from paucity.exceptions import AmbiguousDesign, InvalidDesign
from paucity.validation import finite_numbers

KINDS = {
    "auto": "to be told from the labels, when something is estimated",
    "random": "drawn at random from all items",
    "above": "all items at or above a threshold, none below",
    "above_with_audits": "all items at or above a threshold, and a random sample of those below",
    "stratified": "drawn at random inside each stratum",
    "sampled": "drawn with a known probability for each item",
    "adaptive": "chosen by score, step by step",
    "positives_only": "chosen because they are positive",
    "census": "all items are labelled",
    "unlabelled": "no item is labelled",
}
WITH_THRESHOLD = ("above", "above_with_audits")
SCHEMA = 1


@dataclass(frozen=True, eq=False)
class LabelDesign:
    """How the items that carry labels were chosen.

    Use one of the constructors rather than the class itself. Every estimate takes a design, because the same
    labels mean different things: twenty random labels say how many positives there are, twenty alerts do not.

    Parameters
    ----------
    kind : str
        The name of the constructor.
    threshold : float, optional
        The alert line of ``above`` and ``above_with_audits``, in the units of your scores.
    strata : array-like or str, optional
        A stratum for every item, or the column that holds it.
    inclusion : array-like or str, optional
        The probability with which each item could be chosen, or the column that holds it.
    looks : int, optional
        How often the labels are looked at before the last one is in; intervals that are looked at early
        must be wider.
    stages : sequence of int, optional
        The number of labels planned for each stage.

    Examples
    --------
    >>> from paucity import LabelDesign
    >>> design = LabelDesign.above_with_audits(0.8)
    >>> print(design)
    all items at or above 0.8, and a random sample of those below
    >>> LabelDesign.from_dict(design.to_dict()) == design
    True
    """

    kind: str
    threshold: float | None = None
    strata: Any = None
    inclusion: Any = None
    looks: int | None = None
    stages: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InvalidDesign(f"There is no label design {self.kind!r}; choose one of {', '.join(KINDS)}.")
        if self.kind in WITH_THRESHOLD:
            if self.threshold is None:
                raise InvalidDesign(f"The design {self.kind!r} needs the alert line: LabelDesign.{self.kind}(0.8).")
            object.__setattr__(self, "threshold", finite_numbers((self.threshold,), "threshold")[0])
        if self.looks is not None and (not isinstance(self.looks, int) or self.looks < 1):
            raise InvalidDesign(f"looks= must be a whole number of at least 1, not {self.looks!r}.")
        if self.stages is not None:
            object.__setattr__(self, "stages", checked_stages(self.stages))

    @classmethod
    def auto(cls) -> LabelDesign:
        """To be told from the labels when something is estimated; refused where it cannot be told."""
        return cls("auto")

    @classmethod
    def random(cls, **planned: Any) -> LabelDesign:
        """Drawn at random from all items."""
        return cls("random", **planned)

    @classmethod
    def above(cls, threshold: float, **planned: Any) -> LabelDesign:
        """All items at or above the threshold, none below: the alerts, all investigated."""
        return cls("above", threshold=threshold, **planned)

    @classmethod
    def above_with_audits(cls, threshold: float, **planned: Any) -> LabelDesign:
        """All items at or above the threshold, and a random sample of those below."""
        return cls("above_with_audits", threshold=threshold, **planned)

    @classmethod
    def stratified(cls, strata: Any, **planned: Any) -> LabelDesign:
        """Drawn at random inside each stratum; a stratum for every item, or the column that holds it."""
        return cls("stratified", strata=strata, **planned)

    @classmethod
    def sampled(cls, inclusion: Any, **planned: Any) -> LabelDesign:
        """Drawn with a known probability for each item, or the column that holds it."""
        return cls("sampled", inclusion=inclusion, **planned)

    @classmethod
    def adaptive(cls, **planned: Any) -> LabelDesign:
        """Chosen by score, step by step: the most uncertain first, say."""
        return cls("adaptive", **planned)

    @classmethod
    def positives_only(cls, **planned: Any) -> LabelDesign:
        """Chosen because they are positive: case files, known cases."""
        return cls("positives_only", **planned)

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> LabelDesign:
        """The design that ``to_dict`` wrote."""
        if state.get("schema") != SCHEMA:
            raise InvalidDesign(
                f"Expected a label design of schema {SCHEMA}, found {state.get('schema')!r}. "
                "Use the version of paucity that wrote it, or build the design anew."
            )
        if "kind" not in state:
            raise InvalidDesign(f"A label design needs a kind, one of {', '.join(KINDS)}; found none. Build it anew.")
        stages = state.get("stages")
        return cls(
            state["kind"],
            threshold=state.get("threshold"),
            strata=state.get("strata"),
            inclusion=state.get("inclusion"),
            looks=state.get("looks"),
            stages=None if stages is None else tuple(stages),
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; arrays become lists."""
        fields = ("kind", "threshold", "strata", "inclusion", "looks", "stages")
        return {"schema": SCHEMA} | {name: listable(getattr(self, name)) for name in fields}

    def without_arrays(self) -> LabelDesign:
        """The design as a table keeps it: the table itself holds strata and inclusion probabilities."""
        kept = {name: value for name in ("strata", "inclusion") if isinstance(value := getattr(self, name), str)}
        return replace(self, strata=kept.get("strata"), inclusion=kept.get("inclusion"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LabelDesign) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.kind, self.threshold, self.looks, self.stages))

    def __str__(self) -> str:
        return KINDS[self.kind].replace("a threshold", f"{self.threshold:g}" if self.threshold is not None else "")


def checked_stages(stages: Any) -> tuple[int, ...]:
    """Whole numbers above 0."""
    try:
        numbers = tuple(int(stage) for stage in stages)
    except (TypeError, ValueError):
        numbers = ()
    if not numbers or min(numbers) < 1:
        raise InvalidDesign(f"stages= must be whole numbers above 0, one a stage, such as (100, 200), not {stages!r}.")
    return numbers


def listable(value: Any) -> Any:
    """Arrays and tuples as lists, the rest as it is."""
    if value is None or isinstance(value, str | int | float):
        return value
    return [item.item() if isinstance(item, np.generic) else item for item in list(value)]


def as_design(design: Any) -> LabelDesign:
    """A design, or the name of one that needs nothing else."""
    if isinstance(design, LabelDesign):
        return design
    plain = [kind for kind in KINDS if kind not in (*WITH_THRESHOLD, "stratified", "sampled", "census", "unlabelled")]
    if isinstance(design, str) and design in plain:
        return LabelDesign(design)
    raise InvalidDesign(
        f"design= must be a LabelDesign or one of {', '.join(plain)}, not {design!r}. "
        "With a line or strata, for example: design=LabelDesign.above(0.8)."
    )


@dataclass(frozen=True)
class LabelPattern:
    """What the labels themselves show of their design: the facts on which ``auto`` decides."""

    n_items: int
    n_labelled: int
    lowest_labelled: float
    highest_unlabelled: float
    line: float | None = None
    n_above_line: int = 0
    n_below_line: int = 0
    n_negative: int = 0
    thresholds: tuple[float, ...] = ()  # those that were pinned, one of which may be the alert line
    turned: bool = False  # low scores are suspicious: the table's line is minus the user's

    def in_user_units(self, threshold: float) -> float:
        """A threshold of the table as the user would write it."""
        return -threshold if self.turned else threshold


def resolved(design: LabelDesign, pattern: LabelPattern) -> LabelDesign:
    """``auto`` told from the labels, or refused; a declared design checked against them.

    Raises
    ------
    AmbiguousDesign
        Where labels chosen at random and labels chosen by score would look alike.
    """
    if pattern.n_labelled == 0:
        return LabelDesign("unlabelled")
    if pattern.n_labelled == pattern.n_items:
        return LabelDesign("census")
    if design.kind == "auto":
        return told_from(pattern)
    if design.kind in WITH_THRESHOLD and pattern.line is not None:
        check_line(design, pattern)
    check_kind(design, pattern)
    return design


def check_kind(design: LabelDesign, pattern: LabelPattern) -> None:
    """A declared census has no gaps, no labels means none, and positives only are positive."""
    if design.kind in ("census", "unlabelled"):
        raise InvalidDesign(
            f"The design says: {design}; but {pattern.n_labelled:,} of {pattern.n_items:,} items are labelled. "
            "Leave design= out, or describe how these were chosen, for example LabelDesign.random()."
        )
    if design.kind == "positives_only" and pattern.n_negative:
        raise InvalidDesign(
            f"The design says that items were labelled because they are positive, but {pattern.n_negative:,} of "
            f"{pattern.n_labelled:,} labels are negative. Make these unknown, or describe how both were chosen."
        )


def told_from(pattern: LabelPattern) -> LabelDesign:
    """All above some score and none below: ``above``. Anything else could be several designs."""
    if pattern.lowest_labelled > pattern.highest_unlabelled:
        named = [line for line in pattern.thresholds if pattern.highest_unlabelled < line <= pattern.lowest_labelled]
        return LabelDesign.above(pattern.in_user_units(named[-1] if named else pattern.lowest_labelled))
    if pattern.line is not None:
        line, side = (
            pattern.in_user_units(pattern.line),
            ("at or below", "above") if pattern.turned else ("at or above", "below"),
        )
        raise AmbiguousDesign(
            f"All {pattern.n_above_line:,} items {side[0]} {line:g} are labelled, and "
            f"{pattern.n_below_line:,} of those {side[1]}. How were these chosen? "
            f"Those {side[0]} the line all, and those {side[1]} it at random: "
            f"design=LabelDesign.above_with_audits({line!r}). "
            "All at random, whatever their score: LabelDesign.random(). By their score: "
            "LabelDesign.adaptive(). Because they were positive: LabelDesign.positives_only()."
        )
    raise AmbiguousDesign(
        f"{pattern.n_labelled:,} of {pattern.n_items:,} items are labelled, at scores high and low. "
        "How were they chosen? At random: design=LabelDesign.random(). At random inside strata: "
        "LabelDesign.stratified(column). With known probabilities: LabelDesign.sampled(column). "
        "By their score: LabelDesign.adaptive(). Because they were positive: LabelDesign.positives_only()."
    )


def check_line(design: LabelDesign, pattern: LabelPattern) -> None:
    """A declared line: everything above it is labelled, and with ``above`` nothing below."""
    if pattern.highest_unlabelled >= (pattern.line or 0.0):
        raise InvalidDesign(
            f"The design says that all items at or above {design.threshold:g} are labelled, but some are not. "
            "Give the line that was really used, or describe how labels were chosen above it: "
            "LabelDesign.stratified(column)."
        )
    if design.kind == "above" and pattern.n_below_line:
        raise InvalidDesign(
            f"The design says that nothing below {design.threshold:g} is labelled, but {pattern.n_below_line:,} items "
            "are. If these were drawn at random: LabelDesign.above_with_audits(line)."
        )
