"""Worlds with known truth: scores of two classes, and every way of choosing which items get a label."""

from paucity.simulate.demo import DEMO_AUDITS, DEMO_LINE, DEMO_WORLD, demo_scores
from paucity.simulate.labelling import LABELLERS, Labelling
from paucity.simulate.worlds import DEFAULTS, Sample, World, poem_world, world

__all__ = [
    "DEFAULTS",
    "DEMO_AUDITS",
    "DEMO_LINE",
    "DEMO_WORLD",
    "LABELLERS",
    "Labelling",
    "Sample",
    "World",
    "demo_scores",
    "poem_world",
    "world",
]
