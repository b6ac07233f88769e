"""Whole weights: what proxies take in place of shares."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.inputs import Vector
from hedgerow.sets.actions import Action, Actions

WHOLE = 256
"""What the weights of all backends sum to: the largest weight that HAProxy takes."""

Weights = NDArray[np.int64]


def least_weights(min_shares: ArrayLike) -> Weights:
    """Return the least weight of each backend, its minimum share rounded up.

    >>> least_weights([0.02, 0.0])
    array([6, 0])
    """
    return np.ceil(np.asarray(min_shares) * WHOLE * (1.0 - 1e-12)).astype(np.int64)


def whole_weights(shares: Vector, least: Weights) -> Weights:
    """Return weights that sum to 256, each the share rounded up or down, and at least the least.

    What is above the least weights is rounded by largest remainder, as `Actions.weights` does.

    >>> whole_weights(np.array([0.5, 0.3, 0.2]), np.array([1, 1, 1]))
    array([128,  77,  51])
    """
    above = np.maximum(shares * WHOLE - least, 0.0)
    rest, found = WHOLE - int(least.sum()), least.copy()
    total = float(above.sum())
    if rest == 0 or total == 0.0:
        found[0] += rest
        return found
    parts = tuple(
        Action(share, str(i), np.zeros(0)) for i, share in enumerate((above / total).tolist())
    )
    for name, weight in Actions(parts).weights(rest).items():
        found[int(name)] += weight
    return found


def shares_of(weights: Weights) -> Vector:
    """Return the shares that weights stand for; equal ones where all are 0."""
    total = int(weights.sum())
    if total == 0:
        return np.full(weights.size, 1.0 / weights.size)
    return np.asarray(weights / total)


def without_down(weights: Weights, up: NDArray[np.bool_], least: Weights) -> Weights:
    """Return weights with the least for backends that are down; the others share the rest.

    >>> without_down(np.array([128, 64, 64]), np.array([True, True, False]), np.array([2, 2, 2]))
    array([169,  85,   2])
    """
    if up.all() or not up.any():
        return weights
    shares = np.where(up, weights, least).astype(np.float64)
    shares[up] *= (WHOLE - float(shares[~up].sum())) / max(1.0, float(shares[up].sum()))
    return whole_weights(shares / WHOLE, least)


def step_towards(found: Weights, wanted: Weights, most: int, least: Weights) -> Weights:
    """Return weights on the straight line from those found to those wanted.

    No weight changes by more than `most`, except where one below its least weight is raised.

    Args:
        found: weights that sum to 256.
        wanted: weights that sum to 256.
        most: the largest change of a weight.
        least: the least weight of each.

    >>> step_towards(np.array([256, 0]), np.array([0, 256]), 26, np.array([0, 0]))
    array([230,  26])

    """
    change = wanted - found
    largest = int(np.abs(change).max())
    if largest <= most:
        return wanted.copy()
    return whole_weights((found + change * (most / largest)) / WHOLE, least)
