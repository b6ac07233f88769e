"""The choice of an eagerness: unit-free numbers on training seeds, and a rule.

With the best fixed action x*, the best blind action x' (that ignores the constraint) and their
costs C* and C', regret is measured in C* - C' (the price of the constraint) and CCV in that of x'.
Blind play so scores about -1 and 1.

    rule = "sum"      least mean over seeds of max(0, regret) / (C* - C') + CCV / CCV(x')
    rule = "target"   least mean of regret / (C* - C') among those whose mean CCV / CCV(x') is at
                      most `ccv_target`; if none is, least mean CCV / CCV(x')

Ties go to the eagerness nearest to 1.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from hedgerow.experiments.config import Experiment, Tuning
from hedgerow.experiments.record_checks import Record
from hedgerow.experiments.results import RunResult

BINDS = 1e-9
"""The constraint matters on a seed when its price is at least this share of the cost."""


class Tried(NamedTuple):
    """One eagerness of one method on one problem: unit-free means over the training seeds."""

    eagerness: float
    mean_regret: float
    mean_ccv: float
    mean_score: float


def check_binding(training: Experiment, benchmarks: Iterable[Record]) -> None:
    """Refuse a problem whose constraint costs nothing on any training seed."""
    bound = {
        (best["problem"], best["horizon"])
        for best in benchmarks
        if best["seed"] in training.seeds and _price(best) is not None
    }
    for problem in training.problems:
        for horizon in problem.horizons:
            if (problem.label, horizon) not in bound:
                raise ValueError(
                    f"the constraint does not bind on any training seed of {problem.label!r} with "
                    f"{horizon} rounds; nothing can be chosen"
                )


def select(experiment: Experiment, tuning: Tuning, runs: Iterable[RunResult]) -> dict[str, Any]:
    """Choose the eagerness of every method on every problem and horizon."""
    groups: dict[tuple[str, int, str], list[RunResult]] = defaultdict(list)
    for run in (run for run in runs if run.record["seed"] in tuning.seeds):
        groups[run.record["problem"], run.record["horizon"], run.record["method"]].append(run)
    rows = []
    for problem in experiment.problems:
        for horizon in problem.horizons:
            for method in experiment.methods:
                tried = _tried(groups[problem.label, horizon, method])
                chosen = choose(tried, tuning) if tried else None
                row = {"problem": problem.label, "horizon": horizon, "method": method}
                rows.append(
                    {**row, "eagerness": chosen, "tried": [entry._asdict() for entry in tried]}
                )
    return {
        "rule": tuning.rule,
        "ccv_target": tuning.ccv_target,
        "train_seeds": list(tuning.seeds),
        "held_out_seeds": list(experiment.seeds),
        "rows": rows,
    }


def choose(tried: list[Tried], tuning: Tuning) -> float:
    """Apply the rule.

    >>> tried = [Tried(0.5, 0.1, 0.4, 0.5), Tried(1.0, 0.2, 0.2, 0.4), Tried(2.0, 0.4, 0.1, 0.5)]
    >>> choose(tried, Tuning((0,), (0.5, 1.0, 2.0), "sum", None))
    1.0
    >>> choose(tried, Tuning((0,), (0.5, 1.0, 2.0), "target", 0.15))
    2.0
    """

    def nearest_to_one(entry: Tried) -> tuple[float, float]:
        return abs(math.log(entry.eagerness)), entry.eagerness

    if tuning.ccv_target is None:
        return min(tried, key=lambda e: (e.mean_score, *nearest_to_one(e))).eagerness
    kept = [entry for entry in tried if entry.mean_ccv <= tuning.ccv_target]
    if kept:
        return min(kept, key=lambda e: (e.mean_regret, *nearest_to_one(e))).eagerness
    return min(tried, key=lambda e: (e.mean_ccv, *nearest_to_one(e))).eagerness


def _tried(runs: list[RunResult]) -> list[Tried]:
    """Return the unit-free means of each eagerness, over the seeds where the constraint binds."""
    values: dict[float, list[tuple[float, float]]] = defaultdict(list)
    for run in runs:
        pair = _unit_free(run)
        if pair is not None:
            values[run.record["eagerness"]].append(pair)
    tried = []
    for eagerness in sorted(values):
        regret, ccv = np.array(values[eagerness]).T
        score = np.maximum(regret, 0.0) + ccv
        means = (float(part.mean()) for part in (regret, ccv, score))
        tried.append(Tried(eagerness, *means))
    return tried


def _unit_free(run: RunResult) -> tuple[float, float] | None:
    """Return regret and CCV in units of the constraint's price and of blind play's CCV."""
    if run.regret is None or run.benchmark is None:
        return None
    price = _price(run.benchmark)
    if price is None:
        return None
    return run.regret / price, run.record["ccv"] / run.benchmark["blind"]["ccv"]


def _price(benchmark: Record) -> float | None:
    """Return what keeping the constraint costs, or None where it does not bind."""
    cost, blind = benchmark["cost"], benchmark["blind"]
    if cost is None or blind is None:
        return None
    price = float(cost - blind["cost"])
    return price if price > BINDS * abs(cost) and blind["ccv"] > 0.0 else None
