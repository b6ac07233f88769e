"""Which weights to use: those decided, those in force, or those to fall back to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.steer.settings import Settings
from hedgerow.steer.weights import WHOLE, Weights, shares_of, step_towards, whole_weights


@dataclass
class Safety:
    """Counts failed intervals and bounds every change of the weights.

    After `fallback_after` failed intervals in a row the weights go to those configured; before
    that, and without such weights, the last ones stay.
    """

    settings: Settings
    failed: int = 0

    @property
    def is_falling_back(self) -> bool:
        """Whether enough intervals failed for the configured weights."""
        enough = self.failed >= self.settings.safety.fallback_after
        return enough and self.settings.fallback is not None

    def step(self, found: Weights, wanted: Weights) -> Weights:
        """Return the weights to write now: at most one bounded step from those in force."""
        most = max(1, int(self.settings.safety.max_change * WHOLE))
        return step_towards(found, wanted, most, self.settings.least)


def as_whole(found: Weights) -> Weights:
    """Return weights that sum to 256 and stand for the same shares, up to rounding."""
    if int(found.sum()) == WHOLE:
        return found
    return whole_weights(shares_of(found), np.zeros(found.size, dtype=np.int64))
