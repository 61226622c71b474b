"""Scores and labels, wherever they live, as one table of counts."""
