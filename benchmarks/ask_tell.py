"""Microseconds a round of ask and tell on the paper's graph, and the oracle's share of them."""

from __future__ import annotations

import statistics
import time

import numpy as np

import hedgerow as hr


def per_round(
    policy: hr.Constrained[hr.EvalGrad], rounds: list[tuple[hr.Linear, hr.Linear]]
) -> float:
    """Seconds a round of ask, two first-order looks and tell."""
    begin = time.perf_counter()
    for cost, constraint in rounds:
        x = policy.ask()
        policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
    return (time.perf_counter() - begin) / len(rounds)


def main() -> None:
    """Interleave the candidates and print medians."""
    problem = hr.ShortestPath.atlas_like(seed=0)
    X, rounds = problem.decision_set, list(problem)
    workspace, direction = X.workspace(), np.random.default_rng(0).standard_normal(X.dim)
    totals, looks, oracles = [], [], []
    for _ in range(9):
        totals.append(per_round(hr.projection_free_coco(X), rounds))
        begin = time.perf_counter()
        for _ in range(2000):
            workspace.lmo(direction)
        oracles.append((time.perf_counter() - begin) / 2000)
        x = X.start()
        begin = time.perf_counter()
        for cost, constraint in rounds:
            hr.first_order(cost, x), hr.first_order(constraint, x)
        looks.append((time.perf_counter() - begin) / len(rounds))
    total, look, oracle = (1e6 * statistics.median(times) for times in (totals, looks, oracles))
    print(f"{X.nodes} nodes, {X.dim} edges, practical preset; median of 9 interleaved runs")
    print(f"ask, look and tell  {total:6.1f} us a round")
    print(f"  looking           {look:6.1f} us (two values, two gradients)")
    print(f"  ask and tell      {total - look:6.1f} us")
    print(f"  of it the oracle  {oracle:6.1f} us, {100 * oracle / (total - look):.0f} %")


if __name__ == "__main__":
    main()
