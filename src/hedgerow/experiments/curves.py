"""Curves of a game, with as many points as a figure can show."""

from __future__ import annotations

import numpy as np

from hedgerow.inputs import Vector

POINTS = 400
"""At most so many."""


def sampled_rounds(horizon: int) -> Vector:
    """Return the rounds that curves show: evenly spaced ones, and more of the first.

    >>> sampled_rounds(5)
    array([1., 2., 3., 4., 5.])
    >>> t = sampled_rounds(100_000)
    >>> t.size <= POINTS, t[:3], t[-1]
    (True, array([1., 2., 3.]), np.float64(100000.0))
    """
    even = np.linspace(1, horizon, POINTS - POINTS // 4)
    early = np.geomspace(1, horizon, POINTS // 4)
    return np.unique(np.rint(np.concatenate((even, early))))


def curves(costs: Vector, violations: Vector) -> Vector:
    """Return rows t, cumulative cost, CCV and signed CCV at the sampled rounds."""
    t = sampled_rounds(len(costs))
    rows = costs, np.maximum(violations, 0.0), violations
    return np.stack((t, *(np.cumsum(row)[t.astype(np.intp) - 1] for row in rows)))
