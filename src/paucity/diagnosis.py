"""What a table or a fit may say about itself: one sentence each, for estimator, terminal and report."""

from __future__ import annotations

SENTENCES = {
    "no_labels": "No item is labelled: scores alone say how many alerts a threshold gives, not how many are right.",
    "census": "Every item is labelled: counts are known, and intervals have no width.",
    "no_positives": "None of the {n_labelled:,} labelled items is positive.",
    "no_negatives": "All of the {n_labelled:,} labelled items are positive.",
    "one_score": "All {n_items:,} items have the same score, {score:g}: no threshold can tell them apart.",
    "two_scores": "The scores take two values only, {low:g} and {high:g}: there is one threshold between them.",
    "dropped": "Left out: items whose score is {dropped}.",
    "outside": "{n_outside:,} items lie beyond the edges they were counted on; they are in the outermost bins.",
    "labels_not_kept": (
        "More than {most:,} items are labelled: their own scores are not kept, the counts in the bins stand for them."
    ),
    "nearest_edge": (
        "Threshold {asked:g} lies inside a bin; the answer is for the nearest edge, {edge:g}. "
        "Pass thresholds=({asked!r},) to score_table for exact counts there."
    ),
}


def sentence(code: str, **facts: object) -> str:
    """The sentence for a code, with its facts filled in."""
    return SENTENCES[code].format(**facts)
