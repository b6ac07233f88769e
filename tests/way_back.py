"""The retreat in NumPy: how it approaches the learner, and where the largest line is least."""

from __future__ import annotations

import numpy as np


def approached(y, x, paid, largest):
    """Return where the way back begins: x, or a point an eighth of the way there.

    Args:
        y, x: the last decision and the learner's.
        paid: whether going slowly has paid so far.
        largest: the largest tangent at a point.

    """
    slow = y + (x - y) / 8.0
    return slow if paid and largest(slow) <= max(1e-12, largest(x)) else x


class Avoided:
    """The violation that decisions have avoided, at twice its weight, less what they cost.

    Args:
        learner: the policy whose losses weigh the violation.

    """

    def __init__(self, learner):
        self.learner, self.losses = learner, 0.0
        self.total = self.cost = self.costs2 = 0.0

    def add(self, a, y, x):
        """Add the round that the learner has just been told of; a is the gradient of its cost."""
        losses = self.learner.ledger[a.size : 2 * a.size].copy()
        s, self.losses = losses - self.losses, losses
        self.total += 2.0 * (s - a) @ (x - y) - a @ (y - x)
        self.cost += a @ (y - x)
        self.costs2 += a @ a

    @property
    def paid(self):
        """Whether that is above 0, and the cost is not too high."""
        most = self.learner.decision_set.diameter * np.sqrt(self.costs2) / 4.0
        return self.total > 0.0 and self.cost <= most


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
