"""A small game for every expression that docs/explanation/paper-to-code.md runs."""

from __future__ import annotations

import inspect

import numpy as np

import hedgerow as hr
from hedgerow.sets.projections.frank_wolfe import conditional_gradient

T = 60


def simplex_rounds(X: hr.DecisionSet) -> hr.RecordedProblem:
    """Return linear rounds whose constraint is violated at first and kept by some point."""
    rng, n = np.random.default_rng(0), X.dim
    wall = np.linspace(1.0, -1.0, n)
    return hr.RecordedProblem(
        X, [(hr.Linear(0.3 * rng.standard_normal(n)), hr.Linear(wall, 0.1)) for _ in range(T)]
    )


def play(expression: str) -> list[float]:
    """Build what the expression says, play it and return its last point; a routine is called."""
    values = any(word in expression for word in ("Block", "bandit"))
    X = hr.sets.L2Ball(2) if values else hr.sets.Simplex(11)  # 11: whole lanes and a rest
    x1, s = X.start(), np.linspace(-1.0, 1.0, X.dim)
    names: dict[str, object] = {}
    for module in (hr, hr.policies, hr.learners, hr.learners.steps):
        names |= {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}
    names |= {"X": X, "T": T, "K": 8, "x1": x1, "s": s, "beta": 1.0}
    names["conditional_gradient"] = conditional_gradient
    player = eval(expression, names)  # noqa: S307 - it stands in our own page
    if not hasattr(player, "tell"):
        return player.x.tolist()
    problem = simplex_rounds(X)
    if "constraint" in inspect.signature(player.tell).parameters:  # a policy, not a learner
        feedback = (lambda f, x: hr.bandit(f, x, 3.0, 3.0)) if values else hr.first_order
        hr.simulate(player, problem, feedback)
        if hasattr(player, "certificate"):
            player.certificate()
        return player.ask().tolist()
    for cost, _ in problem:
        x = player.ask()
        player.tell(hr.bandit(cost, x, 3.0, 3.0) if values else hr.first_order(cost, x))
    return player.ask().tolist()
