"""Two ways of doing the same, timed in turns: the minimum of several runs of each, and their ratio."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

RESULTS = Path(os.environ.get("PAUCITY_RESULTS", "results")) / "bench"


@dataclass(frozen=True)
class Row:
    """One line of the report: what was compared, what was measured, what it may be at most."""

    name: str
    measured: float
    bar: float
    detail: str
    unit: str = "x"

    @property
    def holds(self) -> bool:
        """Whether the bar is met."""
        return self.measured <= self.bar

    def __str__(self) -> str:
        verdict = "ok  " if self.holds else "MISS"
        measured, bar = f"{self.measured:.2f}{self.unit}", f"<= {self.bar:g}{self.unit}"
        return f"{verdict}  {self.name:<58}{measured:>10}  {bar:<10}  {self.detail}"


def interleaved(ours: Callable[[], object], theirs: Callable[[], object], *, runs: int) -> tuple[float, float]:
    """The shortest time of each in seconds, ours and theirs by turns."""
    best = [float("inf"), float("inf")]
    for _ in range(runs):
        for which, work in enumerate((theirs, ours)):
            start = time.perf_counter()
            work()
            best[which] = min(best[which], time.perf_counter() - start)
    return best[1], best[0]


def in_fresh_process(code: str) -> dict[str, float]:
    """What a fresh Python prints last, as JSON; with its own peak of memory in MB under ``peak``.

    The peak is the kernel's for the program that runs, not for the moment before it replaced its parent's image.
    """
    epilogue = (
        "\nimport json, re\n"
        "status = open('/proc/self/status').read()\n"
        "found['peak'] = int(re.search(r'VmHWM:\\s+(\\d+)', status)[1]) / 1000\n"
        "print(json.dumps(found))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", "found = {}\n" + code + epilogue], check=True, capture_output=True, text=True
    )
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))
