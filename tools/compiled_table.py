"""Which methods the compiled loop plays, found by playing a few rounds of each kind."""

from __future__ import annotations

import warnings

import numpy as np

import hedgerow as hr
from hedgerow.baselines.methods import METHODS
from hedgerow.policies.method import Constants
from hedgerow.problems import TrafficEngineering
from tables import table

ROUNDS = 8
CONSTANTS = Constants((100.0, 100.0), (1000.0, 1000.0))
EDGES = [("s", "a"), ("a", "t"), ("s", "t"), ("a", "s"), ("t", "a")]


def games() -> dict[str, hr.Problem]:
    """Return a short game of each kind of rounds."""
    rng = np.random.default_rng(0)
    shares = hr.sets.PathShares(EDGES, [("s", "t"), ("a", "t")], k=2)
    limits = [hr.Maximum([hr.Linear(a, -9.0) for a in rows]) for rows in rng.random((ROUNDS, 2, 5))]
    costs = [hr.Linear(a) for a in rng.random((ROUNDS, 5))]
    demands = rng.random((ROUNDS, 2))
    return {
        "linear, simplex": hr.problems.IidSimplex(n=5, horizon=ROUNDS),
        "linear, paths": hr.ShortestPath.atlas_like(nodes=8, edges=16, horizon=ROUNDS, seed=1),
        "quadratic, box": hr.problems.QuadraticBox(n=4, horizon=ROUNDS),
        "maxima, simplex": hr.Recorded(hr.sets.Simplex(5), zip(costs, limits, strict=True)),
        "traffic": TrafficEngineering(shares, demands, np.ones(5), np.ones(5), 0.8),
    }


def played(method: str, problem: hr.Problem) -> str:
    """Return how a method is played; a dash where it refuses the problem."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            X = problem.decision_set
            policy = METHODS[method].policy(X, ROUNDS, 3, "practical", CONSTANTS)
            trace = hr.simulate(policy, problem)
    except (ValueError, TypeError, NotImplementedError):
        return "-"
    return "compiled" if trace.compiled else "objects"


def compiled() -> str:
    """Return a table of all methods."""
    kinds = games()
    rows = [[f"`{name}`", *(played(name, game) for game in kinds.values())] for name in METHODS]
    return table(["method", *kinds], rows)
