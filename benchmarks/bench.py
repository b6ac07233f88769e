"""Rounds, runs, scale and threads: a table and figures in out/bench/.

    python benchmarks/bench.py            everything; some two minutes and 3 GB
    python benchmarks/bench.py --quick    up to 10^6 edges and 10^5 rounds; half a minute
    python benchmarks/bench.py --check    quick, and fails where a ratio misses its target 1.5 times

All candidates run in this process and take turns on the same rounds. Times are medians with
quartiles, wall or CPU time, whichever is less; only ratios are worth keeping.
"""

# ruff: noqa: E402
from __future__ import annotations

import os

for name in ("OPENBLAS", "MKL", "OMP", "NUMBA"):  # before NumPy is imported
    os.environ[f"{name}_NUM_THREADS"] = "1"

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bandits import bandits
from figure_three import figure_three
from loops import loops
from measure import Row, table, versions
from orders import orders
from scale import (
    SIZES,
    against_edges,
    against_horizon,
    bandwidth,
    exponent,
    projection_growth,
    threads,
)
from starts import starts
from tracking import tracking

from figures import draw
from parts import parts

SLACK = 1.5
"""A ratio may be this much worse than its target before the check fails."""


def say(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows as columns."""
    print(f"\n{title}")
    head = list(rows[0])
    lines = [head, *([_shown(row.get(key)) for key in head] for row in rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    for line in lines:
        print("  ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True)))


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)


def missed(rows: list[Row], others: dict[str, tuple[float, float]]) -> list[str]:
    """Return what misses its target by more than the slack."""
    bad = []
    for row in rows:
        if row.ratio is not None and row.target:
            least = float(row.target.rstrip("x"))
            if row.ratio * SLACK < least:
                bad.append(f"{row.name} against {row.peer}: {row.ratio:.3g}x, target {row.target}")
    for what, (value, least) in others.items():
        if value * SLACK < least:
            bad.append(f"{what}: {value:.3g}, target {least:g}")
    return bad


def main() -> None:
    """Measure, print, draw, and check if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="leave out the largest sizes")
    parser.add_argument("--check", action="store_true", help="quick, and fail on a regression")
    options = parser.parse_args()
    quick = options.quick or options.check
    begin = time.perf_counter()
    rows = loops()
    print(table(rows))
    results: dict[str, Any] = {
        "versions": versions(),
        "loops": [asdict(row) for row in rows],
        "parts": parts(),
        "orders": orders(),
        "tracking": tracking(),
        "bandits": bandits(),
        "figure_three": figure_three(3 if quick else 5),
        "projection": projection_growth(SIZES[:2] if quick else SIZES),
        "threads": threads(3 if quick else 5),
        "starts": starts(),
        "bandwidth_bytes_per_second": bandwidth(),
        "edges": against_edges(1_000_000 if quick else 10_000_000),
        "horizon": against_horizon(100_000 if quick else 10_000_000),
    }
    say("Parts of a round without tracking", results["parts"])
    say("One oracle call, nanoseconds an edge", results["orders"])
    say("The default against the same without tracking", results["tracking"])
    say("A bandit's round, microseconds", results["bandits"])
    say("One run of 1600 rounds at 1200 edges, seconds", results["figure_three"])
    say("One projection against one oracle call", results["projection"])
    say("Runs a second", results["threads"])
    say("Time to the first result, seconds", results["starts"])
    say("Against the number of edges", results["edges"])
    say("Against the horizon, 1200 edges", results["horizon"])
    slopes = exponent(results["edges"], "edges"), exponent(results["horizon"], "horizon")
    least = exponent(results["edges"], "edges", "floor_us_per_round")
    print(
        f"\ntime per round ~ edges^{slopes[0]:.2f} (the floor: {least:.2f}) and "
        f"~ horizon^{slopes[1]:.2f}, from 10^4 on"
    )
    results["exponents"] = {"edges": slopes[0], "floor": least, "horizon": slopes[1]}
    out = Path("out/bench")
    out.mkdir(parents=True, exist_ok=True)
    name = "bench-quick.json" if quick else "bench.json"
    (out / name).write_text(json.dumps(results, indent=1, default=float) + "\n")
    if not quick:
        draw(results, out)
    print(f"\n{time.perf_counter() - begin:.0f} s; {out}/{name}")
    timed = {row["method"]: row["seconds"] for row in results["figure_three"]}
    others = {
        "two threads, speed-up": (results["threads"][1]["speed_up"], 1.9),
        "fused run over projection-based run, x 20": (
            20.0 * timed["projection_free_coco"] / timed["sinha_vaze_2024"],
            1.0,
        ),
    }
    if options.check and (bad := missed(rows, others)):
        sys.exit("regressions:\n  " + "\n  ".join(bad))


if __name__ == "__main__":
    main()
