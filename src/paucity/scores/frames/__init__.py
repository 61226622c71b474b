"""Scores in any dataframe; the only part of paucity that knows narwhals.

Frames in memory (pandas, Polars, Arrow) hand their columns to the arrays; lazy ones (Polars, DuckDB, Dask, Spark,
Ibis) count where they live, and only counts, extremes and the few labelled rows come to Python.
"""
