"""One-point gradient estimates: a first-order learner that learns from values alone."""

from __future__ import annotations

import numpy as np

from hedgerow.feedback import LARGEST_VALUE, Eval, EvalGrad, as_eval
from hedgerow.inputs import Vector, as_count
from hedgerow.learners.shrunk_hull import ShrunkHull
from hedgerow.protocols.parts import Learner
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Snapshot, State


class OnePoint:
    """Plays x + delta u with u uniform on the sphere and tells x's learner (n/delta) f u.

    The estimate is unbiased for the gradient of f smoothed over a ball of radius delta, if f was
    fixed before the play: oblivious games only. From each value the mean of the last full window
    of values is subtracted, which changes no expectation and lowers the variance; a window of 0
    subtracts nothing, as the papers do.

    Args:
        learner: plays on a `ShrunkHull` of the set, told first-order feedback.
        seed: fixes the perturbations.
        window: how many rounds a mean is taken over.

    Reference: A. Flaxman, A. Kalai and B. McMahan, Online convex optimization in the bandit
    setting, SODA 2005.

    """

    oblivious_only = True

    def __init__(self, learner: Learner[EvalGrad], seed: int, window: int = 0):
        if not isinstance(learner.decision_set, ShrunkHull):
            raise TypeError(
                f"one-point play needs a learner on a ShrunkHull, got one on a "
                f"{type(learner.decision_set).__name__}; build it on "
                "ShrunkHull(decision_set, delta)"
            )
        self.learner, self._room = learner, learner.decision_set
        self.window = as_count(window, "window", least=0)
        self._configuration = (as_count(seed, "seed", least=0), self._room.delta, self.window)
        self._rng = np.random.default_rng(seed)
        self._state = State(u=self._room.dim, t=1, sum=1, mean=1)
        self._draw()

    def _draw(self) -> None:
        u = self._rng.standard_normal(self._room.dim)
        self._state["u"][:] = u / np.linalg.norm(u)  # u_t

    @property
    def decision_set(self) -> DecisionSet:
        """The whole set, in its own coordinates."""
        return self._room.whole

    @property
    def oracle_calls(self) -> int:
        """The learner's."""
        return self.learner.oracle_calls

    def ask(self) -> Vector:
        """Return z_t = x_t + delta u_t."""
        return self._room.inside.point(self.learner.ask() + self._room.delta * self._state["u"])

    def tell(self, loss: Eval) -> None:
        """Take the value at z_t and tell the estimate."""
        value = as_eval(loss, "loss", LARGEST_VALUE).value
        state = self._state
        scale = self._room.dim / self._room.delta * (value - float(state["mean"][0]))
        self.learner.tell(EvalGrad(value, scale * state["u"]))
        state["t"][0] += 1.0
        if self.window:
            state["sum"][0] += value
            if state["t"][0] % self.window == 0.0:
                state["mean"][0], state["sum"][0] = state["sum"][0] / self.window, 0.0
        self._draw()

    def state(self) -> Snapshot:
        """Return a snapshot, with the random stream."""
        parts = {"learner": self.learner}
        return self._state.snapshot(self, self._configuration, rng=self._rng, parts=parts)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot."""
        parts = {"learner": self.learner}
        self._state.restore(self, snapshot, self._configuration, parts, self._rng)
