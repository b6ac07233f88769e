"""Steer against the rules of engineers on twenty traces: writes steer_replay.json.

`python evidence/steer_replay.py`; the folder of the measured files is named by HEDGEROW_DATA. Steer
is the policy that `hedgerow steer` runs, with its defaults: whole weights, at most 30 % of the
traffic moved per interval, 1 % of intervals may be bad. The rules may move as much as they like.
All of them give each backend its minimum share. The best fixed shares are chosen in hindsight.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from measured_files import DEVICES, MARKETS, measured_files
from steer_traces import Trace, generated, measured, min_share

import hedgerow as hr
from hedgerow.baselines.fixed_actions import fixed
from hedgerow.feedback import EvalGrad
from hedgerow.steer.policy import steering_policy

HERE = Path(__file__).parent
STEER = "steer"
BAD, CHANGE = 0.01, 0.3
Make = Callable[[hr.DecisionSet], Any]
RULES: dict[str, Make] = {
    "threshold rule": hr.baselines.threshold_rule,
    "threshold rule, mean of 5": lambda X: hr.baselines.threshold_rule(X, rounds=5),
    "PI control": hr.baselines.proportional_integral,
    "last interval, 1 % margin": lambda X: hr.policies.ViolatedShare(
        hr.baselines.last_round(X), BAD
    ),
    "equal shares": lambda X: fixed(X, np.full(X.dim, 1.0 / X.dim)),
}
MEASURES = ("price", "excess", "bad", "moved")


def replay(policy: Any, trace: Trace, least: float) -> dict[str, float]:
    """Play a trace with a policy on shares above the least; return means per interval.

    Args:
        policy: its decisions are shares of what is above the least.
        trace: prices and latencies.
        least: the minimum share of each backend; 0 where the policy itself gives it.

    """
    rest = 1.0 - least * trace.backends
    found, before = dict.fromkeys(MEASURES, 0.0), None
    for price, latency in zip(trace.prices, trace.latencies, strict=True):
        shares = least + rest * policy.ask()
        excess = float(latency @ shares) - trace.limit
        cost = float(price @ shares)
        moved = 0.0 if before is None else float(np.abs(shares - before).sum()) / 2.0
        for name, value in zip(
            MEASURES, (cost, max(0.0, excess), excess > 0.0, moved), strict=True
        ):
            found[name] += float(value) / len(trace.prices)
        before = shares
        policy.tell(EvalGrad(cost, rest * price), EvalGrad(excess, rest * latency))
    return found


def best_fixed(trace: Trace, least: float) -> Any:
    """Return the fixed shares of the least price whose mean latency is within the limit.

    They are chosen in hindsight, which nobody can do; single intervals may exceed the limit.
    """
    X = hr.sets.Simplex(trace.backends)
    rest = 1.0 - least * trace.backends
    offset = float(trace.latencies.mean(0).sum()) * least - trace.limit
    rounds = [
        (hr.Linear(rest * trace.prices.mean(0)), hr.Linear(rest * trace.latencies.mean(0), offset))
    ]
    best = hr.hindsight(hr.problems.RecordedProblem(X, rounds))
    return fixed(X, best.x)


def compared(trace: Trace) -> dict[str, Any]:
    """Return what each method reached on a trace."""
    least = min_share(trace.backends)
    methods: dict[str, Any] = {
        name: make(hr.sets.Simplex(trace.backends)) for name, make in RULES.items()
    }
    reached = {name: replay(policy, trace, least) for name, policy in methods.items()}
    with contextlib.suppress(ValueError):  # no fixed shares may be within the limit
        reached["best fixed, in hindsight"] = replay(best_fixed(trace, least), trace, least)
    shares = np.full(trace.backends, least)
    reached[STEER] = replay(steering_policy(shares, [BAD], CHANGE), trace, 0.0)
    return {
        "trace": trace.name,
        "backends": trace.backends,
        "intervals": len(trace.prices),
        "limit": trace.limit,
        "measured": trace.measured,
        "reached": {
            name: {k: round(v, 5) for k, v in row.items()} for name, row in reached.items()
        },
    }


def main() -> None:
    """Compare on all traces."""
    measured_files(DEVICES, *MARKETS.values())  # before the others
    found = []
    for trace in chain(generated(), measured()):
        found.append(compared(trace))
        sys.stderr.write(f"{trace.name}\n")
    (HERE / "steer_replay.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
