"""A first-order learner that learns from values alone, by one-point estimates."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from hedgerow.feedback import LARGEST_VALUE, Eval, EvalGrad, as_eval
from hedgerow.inputs import Vector, as_count
from hedgerow.learners.hull_coordinates import ShrunkHull
from hedgerow.player import StatefulPlayer
from hedgerow.protocols.parts import Learner
from hedgerow.snapshot import Restorable, State


class OnePointEstimates(StatefulPlayer):
    """Plays x + delta u with u uniform on the sphere and estimates the gradient by (n/delta) f u.

    The estimate is unbiased for the gradient of f smoothed over a ball of radius delta, if f was
    fixed before the play: oblivious games only. From each value the mean of the last full window
    of values is subtracted, which changes no expectation and lowers the variance; a window of 0
    subtracts nothing, as the papers do.

    Args:
        room: where x lies; delta around each of its points lies in the decision set.
        seed: fixes the perturbations.
        window: how many rounds a mean is taken over.
        numbers: the names and sizes of what else it remembers.

    Reference: A. Flaxman, A. Kalai and B. McMahan, Online convex optimization in the bandit
    setting, SODA 2005.

    """

    oblivious_only = True

    def __init__(
        self,
        room: ShrunkHull,
        seed: int,
        window: int,
        numbers: dict[str, int],
    ):
        self.decision_set, self._room = room.whole, room
        self.window = as_count(window, "window", least=0)
        self._rng = np.random.default_rng(as_count(seed, "seed", least=0))
        self._state = State(u=room.dim, t=1, sum=1, mean=1, **numbers)
        self._draw()

    def _draw(self) -> None:
        u = self._rng.standard_normal(self._room.dim)
        self._state["u"][:] = u / np.linalg.norm(u)  # u_t, uniform on the sphere

    @abstractmethod
    def tell(self, loss: Eval) -> None:
        """Take the value at the play: what is done with its estimate is the algorithm."""

    def _around(self, x: Vector) -> Vector:
        """Return the play y_t = x + delta u_t, in the set's own coordinates."""
        return self._room.inside.point(x + self._room.delta * self._state["u"])

    def _estimate(self, value: float) -> Vector:
        """Return the gradient (n/delta) (f_t(y_t) - mean) u_t, in coordinates of the hull."""
        n, delta, state = self._room.dim, self._room.delta, self._state
        return np.asarray(n / delta * (value - float(state["mean"][0])) * state["u"])

    def _next(self, value: float) -> None:
        """End round t: let its value count for the mean, and draw u_{t+1}."""
        state = self._state
        state["t"][0] += 1.0
        if self.window:
            state["sum"][0] += value
            if state["t"][0] % self.window == 0.0:
                state["mean"][0], state["sum"][0] = state["sum"][0] / self.window, 0.0
        self._draw()


class OnePoint(OnePointEstimates):
    """Plays around x_t, the play of a first-order learner, and tells it one-point estimates.

    Args:
        learner: plays on a `ShrunkHull` of the set, told first-order feedback.
        seed: fixes the perturbations.
        window: how many rounds a mean is taken over, to be subtracted; 0 subtracts nothing.

    """

    def __init__(self, learner: Learner[EvalGrad], seed: int, window: int = 0):
        if not isinstance(learner.decision_set, ShrunkHull):
            raise TypeError(
                f"one-point play needs a learner on a ShrunkHull, got one on a "
                f"{type(learner.decision_set).__name__}; build it on "
                "ShrunkHull(decision_set, delta)"
            )
        super().__init__(learner.decision_set, seed, window, {})
        self.learner = learner

    @property
    def _parts(self) -> dict[str, Restorable]:
        return {"learner": self.learner}

    @property
    def oracle_calls(self) -> int:
        """How many linear minimisations the wrapped learner has asked for."""
        return self.learner.oracle_calls

    def ask(self) -> Vector:
        """Return z_t = x_t + delta u_t."""
        return self._around(self.learner.ask())

    def tell(self, loss: Eval) -> None:
        """Take the value at z_t and tell the estimate."""
        value = as_eval(loss, "loss", LARGEST_VALUE).value
        self.learner.tell(EvalGrad(value, self._estimate(value)))
        self._next(value)
