"""Every oracle and every projection against the best available peer, in one process.

    python benchmarks/sets.py            all three sizes
    python benchmarks/sets.py --quick    the smallest size only

Candidates take turns; times are medians of seven passes with their quartiles, for one call. The
ratio is the peer's time over ours, so above 1 means that we are faster; it is the median of the
seven ratios of neighbouring passes. `differs` compares results: values for oracles, points for
projections. A time is wall or CPU time of this process, whichever is less, so that neighbours on
a shared machine count less. BLAS has one thread. A ratio below 1 as a target means that a floor may
be missed by that factor. The table goes to the screen and to out/bench-sets.json
(out/bench-sets-part.json with --quick or --only).
"""

# ruff: noqa: E402
from __future__ import annotations

import os

for name in ("OPENBLAS", "MKL", "OMP", "NUMBA"):  # before NumPy is imported
    os.environ[f"{name}_NUM_THREADS"] = "1"

import argparse
import platform
import sys
import time
from pathlib import Path

import combinatorial
import norms
import oracles
import projection_run
import projections
from measure import Row, hold, save, table, versions


def main() -> None:
    """Hold all contests and show what came out."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="the smallest size only")
    parser.add_argument("--only", default="", help="contests whose name contains this")
    options = parser.parse_args()
    begin, rows = time.perf_counter(), list[Row]()
    for module in (oracles, combinatorial, norms, projections):
        for k in range(1 if options.quick else 3):
            for contest in module.contests(k):
                if options.only.lower() in contest.name.lower():
                    print(f"  {contest.name}, {contest.size}", file=sys.stderr, flush=True)
                    rows += hold(contest)
    rows.sort(key=lambda row: row.name)  # stable: sizes stay in order
    print(table(rows))
    about = {"versions": versions(), "machine": platform.processor() or platform.machine()}
    if not options.only:
        game = projection_run.compare(400 if options.quick else 1600)
        print("\n" + projection_run.report(game))
        about["game"] = game
    judged = [row for row in rows if row.met is not None]
    met = sum(bool(row.met) for row in judged)
    seconds = time.perf_counter() - begin
    print(f"\n{met} of {len(judged)} targets met; {seconds:.0f} s")
    part = "-part" if options.quick or options.only else ""  # a part never replaces the whole
    save(Path(f"out/bench-sets{part}.json"), rows, about | {"seconds": seconds})


if __name__ == "__main__":
    main()
