"""Log wealth without a constraint: `python evidence/log_wealth.py` writes log_wealth.json.

How much a follower that is only noise costs: three measured markets, whose files lie in the folder
that HEDGEROW_DATA names, and prices drawn alike every day, which chose nothing. The limit of
`LogPortfolio` is 1, which every action satisfies, and minus the cost is the log of final wealth.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from measured_files import MARKETS, measured_files

import hedgerow as hr
from hedgerow.learners.corrective_omd import CorrectiveOMD
from hedgerow.problems.portfolios import LogPortfolio

DAYS, SEEDS = 1000, range(500, 510)


def games() -> Iterator[tuple[str, list[LogPortfolio]]]:
    """Yield the measured series, of at most 1000 days, and ten drawn ones."""
    data = measured_files(*MARKETS.values())
    for name, path in MARKETS.items():
        relatives = hr.problems.portfolios.price_relatives(data / path)[:DAYS]
        yield name, [LogPortfolio(relatives, limit=1.0)]
    drawn = (np.random.default_rng(seed).normal(3e-4, 0.015, (DAYS, 25)) for seed in SEEDS)
    yield "drawn", [LogPortfolio(np.exp(logs), limit=1.0) for logs in drawn]


def wealth(problem: LogPortfolio) -> dict[str, float]:
    """Return the log of final wealth of each policy."""
    X = problem.decision_set
    free = hr.unconstrained(X)
    policies = {
        "default": hr.projection_free_coco(X),
        "tracking=False": hr.projection_free_coco(X, tracking=False),
        "follower": hr.ConstrainedPolicy(CorrectiveOMD(X), free.surrogate),
    }
    logs = {name: -hr.simulate(policy, problem).cost for name, policy in policies.items()}
    return {**logs, "equal weights": float(np.log(problem.relatives.mean(axis=1)).sum())}


def mean_wealth(problems: list[LogPortfolio]) -> dict[str, float]:
    """Return the mean over series."""
    rows = [wealth(problem) for problem in problems]
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


def main() -> None:
    """Play all series."""
    rows: list[dict[str, Any]] = [
        {"series": name, "days": problems[0].horizon, "assets": problems[0].decision_set.dim}
        | mean_wealth(problems)
        for name, problems in games()
    ]
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(rows, indent=1) + "\n")
    sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
