"""What learners and policies with a play of their own share: a state that must be a point."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Stateful

__all__ = [
    "StatefulPlayer",
]

OUTSIDE = 1e-6
"""A restored play further outside than this, in units of its size, was not played by anyone."""


class StatefulPlayer(Stateful, ABC):
    """A stateful part that plays points of a set; a state whose play lies outside is refused."""

    decision_set: DecisionSet

    @abstractmethod
    def ask(self) -> Vector:
        """Return the point to play now, as a fresh array."""

    def _restored(self) -> None:
        x = self.ask()
        if not self.decision_set.contains(x, OUTSIDE * max(1.0, float(np.abs(x).max()))):
            raise ValueError(
                f"the play of this snapshot of {type(self).__qualname__} lies outside of the "
                "decision set; use an undamaged snapshot"
            )


def __dir__() -> list[str]:
    return __all__
