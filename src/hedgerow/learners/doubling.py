"""The doubling trick: a guess of the steepness, and a fresh start whenever it was too low."""

from __future__ import annotations

from abc import ABC, abstractmethod

from hedgerow.snapshot import State


def doubled(guess: float, need: float) -> float:
    """Return the guess, doubled until it covers the need.

    >>> doubled(1.5, 4.0)
    6.0
    """
    while guess < need:
        guess *= 2.0
    return guess


class Doubling(ABC):
    """A learner whose epochs each allow for losses up to a guess; 0 means none yet.

    The learner's state has the numbers `guess` and `restarts`.
    """

    _state: State

    @property
    def guess(self) -> float:
        """The steepness that the current epoch allows for; 0 while none was seen or given."""
        return float(self._state["guess"][0])

    @property
    def restarts(self) -> int:
        """How often it has started again."""
        return int(self._state["restarts"][0])

    def _test(self, need: float) -> None:
        """Take the first steepness for the guess; begin an epoch if the guess is below the need."""
        state = self._state
        if self.guess == 0.0:
            state["guess"][0] = need
        if self.guess < need:
            state["guess"][0] = doubled(self.guess, need)
            state["restarts"][0] += 1.0
            self._begin_epoch()

    @abstractmethod
    def _begin_epoch(self) -> None:
        """Forget what was learnt under the lower guess."""
