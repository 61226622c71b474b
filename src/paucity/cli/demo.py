"""``paucity demo``: a million simulated payments become a table, with timings."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from paucity.scores.build import score_table
from paucity.scores.design import LabelDesign
from paucity.scores.files import write_parquet
from paucity.scores.table import ScoreTable
from paucity.simulate import DEMO_LINE, demo_scores

LINES = (40.0, DEMO_LINE, 60.0)


def demo(
    items: Annotated[int, typer.Option(min=1_000, help="How many payments to simulate.")] = 1_000_000,
    seed: Annotated[int, typer.Option(help="Where the draws start.")] = 2026,
    keep: Annotated[Path | None, typer.Option(help="Keep the simulated scores in this Parquet file.")] = None,
) -> None:
    """Simulate a million card payments, write them to Parquet, and show what their table holds."""
    console = Console(highlight=False)
    with tempfile.TemporaryDirectory() as folder:
        path = keep or Path(folder) / "payments.parquet"
        with timed(console, f"simulated {items:,} card payments, seed {seed}"):
            payments = demo_scores(items, random_state=seed)
        with timed(console, "written to Parquet"):
            write_parquet(payments, path)
        design = LabelDesign.above_with_audits(DEMO_LINE)
        with timed(console, "counted into a table"):
            table = score_table(path, key="id", design=design, thresholds=LINES)
    show(console, table)
    if keep is not None:
        console.print(f"The payments are in {keep}.", style="dim")


@contextmanager
def timed(console: Console, what: str) -> Iterator[None]:
    """A line that says what was done and how long it took."""
    start = time.perf_counter()
    yield
    console.print(f"{what:<48}{time.perf_counter() - start:6.2f} s", style="dim")


def show(console: Console, table: ScoreTable) -> None:
    """What the table holds: items, labels, and the alerts at a few thresholds."""
    n_positive, n_negative = int(table.positive.sum()), int(table.negative.sum())
    console.print()
    console.print(
        f"[bold]{table.n_items:,} items in {len(table):,} bins[/bold], scores {table.low:.3g} to {table.high:.3g}"
    )
    console.print(
        f"{table.n_labelled:,} of {table.n_items:,} are labelled: {n_positive:,} positive, {n_negative:,} negative"
    )
    console.print(f"how they were chosen: {table.resolve_design()}")
    console.print()
    console.print(alerts_table(table))
    line = table.alerts(DEMO_LINE)
    below = table.n_labelled - line.positive - line.negative
    hits_below = n_positive - line.positive
    console.print(
        f"At {DEMO_LINE:g}, {line.positive:,} of {line.positive + line.negative:,} alerts are hits. Below it, "
        f"{below:,} of {table.n_items - line.n_items:,} items were audited and {hits_below:,} of these are positive: "
        "how many were missed is what the labels below the line must tell."
    )


def alerts_table(table: ScoreTable) -> Table:
    """Alerts by label at each line."""
    grid = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("threshold", "alerts", "positive", "negative", "not labelled"):
        grid.add_column(name, justify="right")
    for threshold in LINES:
        found = table.alerts(threshold)
        counts = (found.n_items, found.positive, found.negative, found.unlabelled)
        grid.add_row(f"{threshold:g}", *(f"{n:,}" for n in counts))
    return grid
