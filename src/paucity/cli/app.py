"""The commands in one place."""

from __future__ import annotations

from typing import Annotated

import typer

import paucity
from paucity.cli.demo import demo

app = typer.Typer(
    name="paucity",
    help="Rare things, few labels, honest numbers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo)


def show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(f"paucity {paucity.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """Rare things, few labels, honest numbers."""
