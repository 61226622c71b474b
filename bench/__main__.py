"""Run the benchmarks, all or those that are named: ``python -m bench [import array parquet]``."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from bench.tables import BENCHMARKS
from bench.timing import RESULTS


def main(names: list[str]) -> int:
    """Print a line a comparison; 1 where a bar is missed."""
    unknown = set(names) - set(BENCHMARKS)
    if unknown:
        print(f"There is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}.")
        return 2
    rows = []
    for name in names or list(BENCHMARKS):
        for row in BENCHMARKS[name]():
            print(row, flush=True)
            rows.append(row)
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "latest.json").write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    return int(not all(row.holds for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
