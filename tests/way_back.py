"""The retreat in NumPy: how it approaches the learner, and where the largest line is least."""

from __future__ import annotations

import numpy as np


def approached(y, x, lost, most, largest):
    """Return where the way back begins: x, or a point an eighth of the way there.

    Args:
        y, x: the last decision and the learner's.
        lost: what decisions have cost more than the learner's, and violated more.
        most: D (sum ||grad f_t||^2)^{1/2}.
        largest: the largest tangent at a point.

    """
    slow = y + (x - y) / 8.0
    paid = lost[0] <= most / 8.0 and (lost[1:] <= 0.0).all() and (lost[1:] < 0.0).any()
    return slow if paid and largest(slow) <= max(1e-12, largest(x)) else x


def candidates(at_x, at_z):
    """Return the ends of the way from x to z, and where two lines, or one and 0, meet."""
    at_x, at_z = np.append(at_x, 0.0), np.append(at_z, 0.0)
    rise = at_z - at_x
    with np.errstate(all="ignore"):
        meet = (at_x[:, None] - at_x) / (rise - rise[:, None])
    return np.unique(np.clip(np.append(meet[np.isfinite(meet)], [0.0, 1.0]), 0.0, 1.0))


def transcribed_share(at_x, at_z):
    """Return the first share of the way at which the largest line, or 0, is least."""
    shares = candidates(at_x, at_z)
    worst = np.maximum(0.0, (at_x + np.outer(shares, at_z - at_x)).max(axis=1))
    return shares[worst <= worst.min() + 1e-13][0]
