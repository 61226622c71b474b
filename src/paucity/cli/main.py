"""``paucity``: the commands, and what they share."""

from __future__ import annotations

import sys

from paucity.exceptions import MissingExtra, PaucityError


def main() -> None:
    """Run a command; a refusal of the library is one message and exit code 1, never a traceback."""
    try:
        from paucity.cli.app import app
    except ImportError as error:
        sys.exit(f'The command line needs a few packages ({error.name}). Type: pip install "paucity[cli]"')
    try:
        app()
    except MissingExtra as error:
        sys.exit(str(error))
    except PaucityError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)
