"""Compile what the default policies need, before the first game."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hedgerow.functions import Linear, Quadratic
from hedgerow.games.comparators.hindsight import hindsight
from hedgerow.games.simulation import play, simulate
from hedgerow.policies.bandit import projection_free_bandit
from hedgerow.policies.paper import projection_free_coco, projection_free_long_term
from hedgerow.policies.without_constraint import unconstrained
from hedgerow.problems.problem import Problem, RecordedProblem
from hedgerow.problems.shortest_path import ShortestPath
from hedgerow.sets.balls.boxes import Box
from hedgerow.sets.balls.l1_l2_balls import L2Ball
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.simplices.simplex import Simplex

ROUNDS = 12
"""Rounds of a game; a few violate their constraint, so that all parts of a round run."""


class WarmUp(NamedTuple):
    """One short game that compiles what it needs."""

    name: str
    play: Callable[[], None]


def warm_ups() -> Iterator[WarmUp]:
    """Yield the games: each default policy on paths, a simplex, a box and a ball."""
    problems: dict[str, Callable[[], Problem]] = {
        "paths": partial(ShortestPath.random_network, nodes=10, edges=24, horizon=ROUNDS, seed=0),
        "simplex": partial(_rounds, Simplex(3)),
        "box": partial(_rounds, Box(np.zeros(3), np.ones(3))),
        "ball": partial(_rounds, L2Ball(3)),
        "simplex, curved costs": partial(_rounds, Simplex(3), curved=True),
    }
    policies: dict[str, Callable[[DecisionSet], Any]] = {
        "projection_free_coco": projection_free_coco,
        "projection_free_long_term": projection_free_long_term,
        "unconstrained": unconstrained,
    }
    for place, make in problems.items():
        for name, build in policies.items():
            yield WarmUp(f"{name}, {place}", partial(_play, build, make))
        yield WarmUp(f"hindsight, {place}", partial(_hindsight, make))
    yield WarmUp(
        "several constraints", partial(_play, _two_queues, partial(_rounds, Simplex(3), limits=2))
    )
    yield WarmUp("projection_free_bandit, box", _bandit)


def _rounds(X: DecisionSet, *, curved: bool = False, limits: int = 1) -> RecordedProblem:
    rng = np.random.default_rng(0)
    draws = rng.random((ROUNDS, 1 + limits, 3))
    return RecordedProblem(
        X,
        [
            (Quadratic.distance(c) if curved else Linear(c), [Linear(g - 0.2, -0.3) for g in caps])
            for c, *caps in draws
        ],
    )


def _play(build: Callable[[DecisionSet], Any], make: Callable[[], Problem]) -> None:
    """Play in the compiled loop, then round by round."""
    problem = make()
    X = problem.decision_set
    policy = build(X)
    simulate(policy, problem)
    policy.certificate()
    for _ in play(build(X), problem):
        pass


def _two_queues(X: DecisionSet) -> Any:
    return projection_free_coco(X, constraints=2)


def _hindsight(make: Callable[[], Problem]) -> None:
    hindsight(make(), budget="minimum")


def _bandit() -> None:
    problem = _rounds(Box(-np.ones(3), np.ones(3)))
    policy = projection_free_bandit(problem.decision_set, ROUNDS, 0, lipschitz=2.0, bound=4.0)
    simulate(policy, problem)
