"""A proximal step over a ball by a general solver, to check the library's against."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize


def sq(v):
    """Return ||v||^2."""
    return float(v @ v)


def prox_by_scipy(c, pieces, weight, eta, z0, radius):
    """The same step with slack variables, by sequential quadratic programming."""
    A, v, begin = pieces
    n, groups = z0.size, begin.size - 1
    group = np.repeat(np.eye(groups), np.diff(begin), axis=0)
    zeros = np.zeros(groups)
    found = minimize(
        lambda s: c @ s[:n] + weight * s[n:].sum() + sq(s[:n] - z0) / (2 * eta),
        np.concatenate([0.5 * z0, np.maximum(pieces(0.5 * z0), 0.0) + 0.1]),
        jac=lambda s: np.concatenate([c + (s[:n] - z0) / eta, weight + zeros]),
        bounds=[(None, None)] * n + [(0.0, None)] * groups,
        constraints=[
            {
                "type": "ineq",
                "fun": lambda s: group @ s[n:] - A @ s[:n] - v,
                "jac": lambda _: np.hstack([-A, group]),
            },
            {
                "type": "ineq",
                "fun": lambda s: radius**2 - sq(s[:n]),
                "jac": lambda s: np.concatenate([-2.0 * s[:n], zeros]),
            },
        ],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return found.x[:n]
