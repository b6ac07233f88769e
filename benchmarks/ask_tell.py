"""Microseconds per round on the paper's graph: the compiled loop, ask and tell, the oracle's share.

Processor time, so that neighbours on the machine disturb less.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import hedgerow as hr

RUNS = 9


def seconds(act: Callable[[], object]) -> float:
    """Processor time of one act."""
    begin = time.process_time()
    act()
    return time.process_time() - begin


def ask_and_tell(
    policy: hr.ConstrainedPolicy[hr.feedback.EvalGrad], rounds: list[tuple[hr.Linear, hr.Linear]]
) -> None:
    """Ask, evaluate cost and constraint, and tell."""
    for cost, constraint in rounds:
        x = policy.ask()
        policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))


def main() -> None:
    """Interleave the candidates and print medians."""
    problem = hr.ShortestPath.random_network(seed=0)
    X, rounds = problem.decision_set, list(problem)
    recorded, x = hr.RecordedProblem(X, rounds), X.start()
    workspace, direction = X.workspace(), problem.latency

    def evaluate() -> None:
        for cost, constraint in rounds:
            hr.first_order(cost, x), hr.first_order(constraint, x)

    def oracle() -> None:
        for _ in rounds:
            workspace.lmo(direction)

    acts: dict[str, Callable[[], object]] = {
        "simulate, rounds stacked from objects": lambda: hr.simulate(
            hr.projection_free_coco(X), recorded
        ),
        "simulate, rounds drawn on the way": lambda: hr.simulate(
            hr.projection_free_coco(X), problem
        ),
        "drawing the rounds": lambda: [None for _ in problem.chunks(54)],
        "ask, feedback and tell": lambda: ask_and_tell(hr.projection_free_coco(X), rounds),
        "feedback (two values, two gradients)": evaluate,
        "the oracle, called from Python": oracle,
    }
    times: dict[str, list[float]] = {name: [] for name in acts}
    for _ in range(RUNS):
        for name, act in acts.items():
            times[name].append(seconds(act))
    print(f"{X.nodes} nodes, {X.dim} edges, practical preset; median of {RUNS} interleaved runs")
    for name, runs in times.items():
        print(f"{name:<38} {1e6 * statistics.median(runs) / len(rounds):6.1f} us per round")


if __name__ == "__main__":
    main()
