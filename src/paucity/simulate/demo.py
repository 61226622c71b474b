"""The data set of `make demo`: a million card payments, scored by a fraud detector, few of them looked into."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paucity.simulate.arguments import RandomState
from paucity.simulate.labelling import label_above_with_audits
from paucity.simulate.worlds import World
from paucity.validation import random_generator

DEMO_WORLD = World("lognormal", (2.7, 0.42), "truncated_normal", (55.0, 14.0), prevalence=0.005)
DEMO_LINE = 50.0
DEMO_AUDITS = 300


def demo_scores(n: int = 1_000_000, *, random_state: RandomState = 2026) -> dict[str, NDArray[Any]]:
    """Simulate card payments and what was found out about a few of them; the seed is 2026.

    One payment in 200 is a fraud. All alerts (scores of 50 and more) were investigated, and 300 payments below the line
    were audited, drawn at random; of the others nobody knows. The truth is ``DEMO_WORLD.recall(DEMO_LINE)``.

    Parameters
    ----------
    n : int
        Number of payments.
    random_state : int, numpy.random.Generator or None
        Where the draws start.

    Returns
    -------
    dict of str to array
        ``id`` (int64, from 1), ``score`` (float64) and ``label`` (int8: 1 fraud, 0 none, -1 unknown).

    Examples
    --------
    >>> payments = demo_scores(100_000)
    >>> {name: column.dtype.name for name, column in payments.items()}
    {'id': 'int64', 'score': 'float64', 'label': 'int8'}
    """
    rng = random_generator(random_state)
    sample = DEMO_WORLD.sample(n, random_state=rng)
    labelled = label_above_with_audits(sample, threshold=DEMO_LINE, n_audits=DEMO_AUDITS, random_state=rng)
    return {"id": np.arange(1, n + 1, dtype=np.int64), "score": sample.scores, "label": labelled.labels}
