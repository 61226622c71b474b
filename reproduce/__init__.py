"""The papers' tables and figures, theirs beside ours, on real data."""
