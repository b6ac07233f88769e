"""The retreat's way back, in NumPy: where the largest of several lines is least."""

from __future__ import annotations

import numpy as np


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
