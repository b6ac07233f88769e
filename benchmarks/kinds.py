"""Rounds of other kinds than linear, several constraints and bandits: the loop against objects.

`python kinds.py [ROUNDS]` prints microseconds per round by `simulate` and by `play`, which take
turns on the same rounds: medians, and the quartiles of their ratios.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import hedgerow as hr
from hedgerow.learners.block_ocg import BlockOCG
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.problems import FortzThorup, QueueingDelay, TrafficEngineering
from hedgerow.surrogates import CurrentSurrogate
from hedgerow.surrogates.potentials import PowerPotential

TURNS = 5
Game = tuple[Callable[[], Any], hr.Problem]


def traffic(T: int, **options: Any) -> TrafficEngineering:
    """Return a ring of 12 nodes with chords, 30 links, and a demand for each of its 132 pairs."""
    rng, nodes = np.random.default_rng(0), 12
    pairs = [(i, j) for i in range(nodes) for j in range(nodes) if i != j]
    ring = [(i, (i + 1) % nodes) for i in range(nodes)]
    chords = [(0, 6), (2, 9), (4, 10)]
    edges = [edge for i, j in (*ring, *chords) for edge in ((i, j), (j, i))]
    latency = rng.uniform(1.0, 10.0, len(edges))
    X = hr.sets.PathShares(edges, pairs, 4, latency)
    demands = rng.gamma(2.0, 1.0, (T, len(pairs)))
    return TrafficEngineering(X, demands, latency, np.full(len(edges), 70.0), 0.8, **options)


def many_blocks(T: int, blocks: int = 10_000) -> hr.RecordedProblem:
    """Return linear rounds on a product of many simplices of four entries."""
    rng = np.random.default_rng(1)
    X = hr.sets.Product(*[hr.sets.Simplex(4)] * blocks)
    pairs = rng.random((T, 2, X.dim))
    return hr.RecordedProblem(X, [(hr.Linear(a), hr.Linear(c, -0.5 * blocks)) for a, c in pairs])


def games(T: int) -> dict[str, Game]:
    """Return who plays what."""
    rng = np.random.default_rng(2)
    plain, each = traffic(T), traffic(T, per_link=True)
    kinds = {"Fortz and Thorup": FortzThorup(), "M/M/1 delay": QueueingDelay()}
    congested = {name: traffic(T, cost=cost) for name, cost in kinds.items()}
    S, B, box = hr.sets.Simplex(50), hr.sets.L2Ball(50), hr.problems.QuadraticBox(50, T)
    limits = rng.uniform(-1.0, 1.0, (T, 6, 50))
    maxima = hr.RecordedProblem(
        S, [(hr.Linear(a[0]), hr.Maximum([hr.Linear(c, -0.2) for c in a[1:]])) for a in limits]
    )
    curved = [(hr.Quadratic.distance(a[0]), hr.Quadratic.distance(a[1], 1.0, -8.0)) for a in limits]
    ball = hr.RecordedProblem(B, curved)
    iid = hr.problems.IidSimplex(n=10, horizon=T)
    graph = hr.ShortestPath.random_network(nodes=60, edges=300, horizon=T, seed=0)
    hard = hr.problems.HardBox(n=100, halfspaces=30, horizon=T)
    product = many_blocks(min(T, 40))

    def coco(problem: hr.Problem, **options: Any) -> Game:
        return lambda: hr.projection_free_coco(problem.decision_set, **options), problem

    def blocks(problem: hr.Problem) -> Game:
        def make() -> ConstrainedPolicy[Any]:
            learner = BlockOCG(problem.decision_set)  # type: ignore[arg-type]
            return ConstrainedPolicy(learner, CurrentSurrogate(PowerPotential(2.0, 1.0)))

        return make, problem

    def bandit(build: Callable[..., Any], problem: hr.Problem) -> Game:
        X = problem.decision_set
        return lambda: build(X, T, 0, lipschitz=1e3, bound=5e3), problem

    def rival(build: Callable[..., Any], problem: hr.Problem) -> Game:
        return lambda: build(problem.decision_set, T), problem

    return {
        "traffic, mean latency, largest utilisation": coco(plain),
        **{f"traffic, {name}": coco(problem) for name, problem in congested.items()},
        "traffic, each link a constraint, one queue": coco(each),
        "traffic, each link a constraint, 30 queues": coco(each, constraints=30),
        "traffic, `BlockOCG` on 132 blocks": blocks(plain),
        "linear, `BlockOCG` on 10^4 blocks": blocks(product),
        "maximum of 5, simplex of 50": coco(maxima),
        "maximum of 5, simplex of 50, 5 queues": coco(maxima, constraints=5),
        "quadratic, ball of 50, `sinha_vaze_2024`": rival(hr.baselines.sinha_vaze_2024, ball),
        "quadratic, box of 50, drawn one by one": coco(box),
        "rule that reacts, box of 100, `sinha_vaze_2024`": rival(
            hr.baselines.sinha_vaze_2024, hard
        ),
        "quadratic, ball of 50, `mahdavi_2012`": rival(hr.baselines.mahdavi_2012, ball),
        "traffic, `yu_neely_2020`": rival(hr.baselines.yu_neely_2020, plain),
        "linear, 300 edges, `guo_recoo`": rival(hr.baselines.guo_recoo, graph),
        "linear, 300 edges, `garber_kretzu_2024_dpp`": rival(
            hr.baselines.garber_kretzu_2024_dpp, graph
        ),
        "linear, simplex of 10, `lu_bagel`": rival(hr.baselines.lu_bagel, iid),
        "`garber_kretzu_2024_bandit`, simplex of 10": bandit(
            hr.baselines.garber_kretzu_2024_bandit, iid
        ),
        "`projection_free_bandit`, simplex of 10": bandit(hr.projection_free_bandit, iid),
        "`wang_2025_bandit`, simplex of 10": bandit(hr.baselines.wang_2025_bandit, iid),
        "`projection_free_bandit`, 300 edges": bandit(hr.projection_free_bandit, graph),
    }


def played(policy: Any, problem: hr.Problem) -> hr.Trace:
    """Play by the objects alone."""
    return hr.Trace.of(hr.play(policy, problem))


def seconds(act: Callable[[], Any]) -> float:
    """Return the processor time that a call takes: a busy machine does not change it much."""
    begin = time.thread_time()
    act()
    return time.thread_time() - begin


def main() -> None:
    """Let both speeds take turns."""
    T = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    print(f"{'microseconds per round':<50} simulate     play   ratio (quartiles)")
    for name, (make, problem) in games(T).items():
        compiled = hr.simulate(make(), problem).compiled
        times = np.empty((TURNS, 2))
        for turn in range(TURNS):
            policies = make(), make()  # outside of the clock
            times[turn, 0] = seconds(partial(hr.simulate, policies[0], problem))
            times[turn, 1] = seconds(partial(played, policies[1], problem))
        fast, slow = np.median(times, axis=0) / problem.horizon * 1e6
        low, middle, high = np.quantile(times[:, 1] / times[:, 0], (0.25, 0.5, 0.75))
        how = "" if compiled else "  (not compiled)"
        print(f"{name:<50} {fast:8.1f} {slow:8.1f} {middle:7.1f} ({low:.1f}-{high:.1f}){how}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
