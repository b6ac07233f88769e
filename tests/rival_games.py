"""Small sets and linear rounds for the rivals' tests."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import hedgerow as hr

EDGES = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (2, 4), (5, 4)]
SETS: dict[str, Callable[[], hr.DecisionSet]] = {
    "simplex": lambda: hr.sets.Simplex(5),
    "l2ball": lambda: hr.sets.L2Ball(4, radius=3.0),
    "box": lambda: hr.sets.Box([-1.0, 0.0, 2.0], [1.0, 5.0, 2.0]),
    "dag": lambda: hr.sets.DagPaths(EDGES, 0, 4),
    "k-subsets": lambda: hr.sets.KSubsets(6, 2),
}

MARGIN = 0.02
"""By how much the origin satisfies each constraint."""


def random_rounds(X: hr.DecisionSet, rounds: int, seed: int) -> list[tuple[hr.Linear, hr.Linear]]:
    """Costs with a mean, constraints that the start keeps about every other round."""
    rng = np.random.default_rng(seed)
    centre, mean = X.start(), rng.standard_normal(X.dim)
    drawn = []
    for _ in range(rounds):
        a = mean + 0.5 * rng.standard_normal(X.dim)
        b = 0.6 * rng.standard_normal(X.dim) - mean
        drawn.append((hr.Linear(a), hr.Linear(b, -float(b @ centre) + rng.normal(0.0, 0.3))))
    return drawn


def plays_of(policy, rounds, feedback=hr.first_order):
    """Play the rounds and return the plays."""
    plays = []
    for cost, constraint in rounds:
        x = policy.ask()
        plays.append(x)
        policy.tell(feedback(cost, x), feedback(constraint, x))
    return np.array(plays)


def rescaled_plays(policy, rounds, a, b, feedback=hr.first_order):
    """Play the rounds with all costs times a and all constraints times b."""
    scaled = [
        (hr.Linear(a * f.coefficients, a * f.offset), hr.Linear(b * g.coefficients, b * g.offset))
        for f, g in rounds
    ]
    return plays_of(policy, scaled, feedback)


def fixed_limit(T, seed):
    """Noisy costs on Simplex(4), and at most half on the cheapest coordinate in every round."""
    rng = np.random.default_rng(seed)
    mean, limit = np.array([0.1, 0.4, 0.5, 0.6]), hr.Linear([1.0, 0.0, 0.0, 0.0], -0.5)
    return [(hr.Linear(mean + 0.1 * rng.standard_normal(4)), limit) for _ in range(T)]


def means(policy, rounds, feedback=hr.first_order):
    """Return the mean regret of the rounds, and the violation of each."""
    plays = plays_of(policy, rounds, feedback)
    paid = sum(f(x) for (f, _), x in zip(rounds, plays, strict=True))
    best = hr.hindsight(policy.decision_set, rounds).cost
    violation = [max(0.0, g(x)) for (_, g), x in zip(rounds, plays, strict=True)]
    return (paid - best) / len(rounds), np.array(violation)


def check_powers_of_two(make, seed, feedback=hr.first_order):
    """Rescaled by powers of two, costs and constraints leave the plays bit for bit."""
    X = SETS["dag"]()
    rounds = random_rounds(X, 40, seed)
    own = plays_of(make(X, 40), rounds, feedback)
    for i, j in ((30, -20), (-7, 41)):
        other = rescaled_plays(make(X, 40), rounds, 2.0**i, 2.0**j, feedback)
        np.testing.assert_array_equal(own, other)


def check_size_is_a_unit(make, seed, feedback=hr.first_order):
    """On a ball of twice the size, with constraints stretched alike, plays are twice as large."""
    small, large = hr.sets.L2Ball(4, radius=1.0), hr.sets.L2Ball(4, radius=2.0)
    rounds = random_rounds(small, 60, seed)
    stretched = [(f, hr.Linear(g.coefficients, 2.0 * g.offset)) for f, g in rounds]
    own = plays_of(make(small, 60), rounds, feedback)
    other = plays_of(make(large, 60), stretched, feedback)
    np.testing.assert_allclose(other, 2.0 * own, atol=1e-8)


def reacting_game(policy, T, feedback, seed):
    """Play rounds with gradients of norm 1 around the origin, which satisfies every constraint.

    Half of the constraints are violated by the present decision as much as their gradient allows,
    the others are random. Costs drift away from the origin and, in part, away from the decision.
    Returns the rounds and the decisions.
    """
    rng = np.random.default_rng(seed)
    dim = policy.decision_set.dim
    drift = unit(rng.standard_normal(dim))
    rounds, plays = [], []
    for _ in range(T):
        x = policy.ask()
        away = x if rng.uniform() < 0.5 and x @ x > 0.0 else rng.standard_normal(dim)
        constraint = hr.Linear(unit(away), -MARGIN)
        cost = hr.Linear(unit(0.5 * rng.standard_normal(dim) - drift))
        policy.tell(feedback(cost, x), feedback(constraint, x))
        rounds.append((cost, constraint))
        plays.append(x)
    return rounds, np.array(plays)


def unit(vector):
    """Return the vector divided by its norm."""
    return vector / np.linalg.norm(vector)
