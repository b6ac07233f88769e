"""Which methods the compiled loop plays: found out by playing."""

from __future__ import annotations

import warnings

import numpy as np

from hedgerow.functions import Linear
from hedgerow.games.simulation import simulate
from hedgerow.policies.method import Constants, Method
from hedgerow.problems.problem import Recorded
from hedgerow.sets.paths.dag_paths import DagPaths

EDGES = [(0, 1), (1, 3), (0, 2), (2, 3), (0, 3)]
HORIZON = 10**6
"""What the methods are built for; two rounds are played."""


def is_compiled(method: Method) -> bool | None:
    """Play two linear rounds on a small graph; None for a method that cannot be built for it.

    Whether a game is compiled depends on the set and the rounds, too: `Trace.compiled` tells.
    """
    X = DagPaths(EDGES, 0, 3)
    problem = Recorded(X, [(Linear(np.ones(X.dim)), Linear(np.ones(X.dim), -1.5))] * 2)
    known = Constants((3.0, 3.0), (3.0, 3.0))
    base = {"lengths": np.ones(X.dim), "prices": np.ones(X.dim)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            policy = method.policy(X, HORIZON, 0, "practical", known, edges=base)
        except (TypeError, ValueError):
            return None
        feedback = getattr(policy, "feedback", None) or method.feedback(known)
        return simulate(policy, problem, feedback).compiled
