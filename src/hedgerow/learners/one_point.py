"""A first-order learner that learns from values alone, by one-point estimates."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from hedgerow import kernels
from hedgerow._engine.kernel import kernel, nothing, number, read, rows, write
from hedgerow.feedback import LARGEST_VALUE, Eval, EvalGrad, as_eval
from hedgerow.inputs import RNG, Vector, as_count
from hedgerow.kernels.hulls import place
from hedgerow.learners.hull_coordinates import ShrunkHull
from hedgerow.protocols.parts import Learner
from hedgerow.protocols.player import StatefulPlayer
from hedgerow.snapshot import Restorable, State

Array = Any
ROUND, SUM, MEAN = range(3)
"""The numbers of the state after u."""
DELTA, FACTOR, WINDOW = range(3)
"""The constants: delta, n/delta, and how many values a mean is taken over."""


@kernel(nothing, read, read, read, rows, read, write, write)
def play_near(
    state: Array,
    constants: Array,
    centre: Array,
    basis: Array,
    x: Array,
    near: Array,
    y: Array,
) -> None:
    """Write x + delta u to `near`, and this point in the set's own coordinates to y."""
    for j in range(len(x)):
        near[j] = x[j] + constants[DELTA] * state[j]
    place(centre, basis, near, y)


@kernel(nothing, write, read, number)
def learn_mean(own: Array, constants: Array, value: float) -> None:
    """Count the round, and let its value count for the mean."""
    own[ROUND] += 1.0
    if constants[WINDOW] > 0.0:
        own[SUM] += value
        if own[ROUND] % constants[WINDOW] == 0.0:
            own[MEAN] = own[SUM] / constants[WINDOW]
            own[SUM] = 0.0


class OnePointEstimates(StatefulPlayer):
    """Plays x + delta u with u uniform on the sphere and estimates the gradient by (n/delta) f u.

    The estimate is unbiased for the gradient of f smoothed over a ball of radius delta, if f was
    fixed before the play: oblivious games only. From each value the mean of the last full window
    of values is subtracted, which changes no expectation and lowers the variance; a window of 0
    subtracts nothing, as the papers do.

    Args:
        hull: where x lies; delta around each of its points lies in the decision set.
        seed: fixes the perturbations.
        window: how many rounds a mean is taken over.
        numbers: the names and sizes of what else it remembers.

    Reference: A. Flaxman, A. Kalai and B. McMahan, Online convex optimization in the bandit
    setting, SODA 2005.

    """

    oblivious_only = True

    def __init__(
        self,
        hull: ShrunkHull,
        seed: int,
        window: int,
        numbers: dict[str, int],
    ):
        self.decision_set, self._shrunk = hull.whole, hull
        self.window = as_count(window, "window", least=0)
        self._rng = np.random.default_rng(as_count(seed, "seed", least=0))
        self._state = State(u=hull.dim, t=1, sum=1, mean=1, **numbers)
        self._centre, basis = hull.inside.centre, hull.inside.basis
        self._basis = np.ascontiguousarray(basis, np.float64)
        self._constants = np.array([hull.delta, hull.dim / hull.delta, self.window])
        self._draw()

    def draw(self, rounds: int) -> Vector:
        """Return u of the next rounds, one row each, uniform on the sphere."""
        self._drawn = rounds, self._rng.bit_generator.state
        units = self._rng.standard_normal((rounds, self._shrunk.dim))
        kernels.frankwolfe.project_onto(units, units[:0])
        return units

    def give_back(self, rounds: int) -> None:
        """Take back what was drawn for rounds that were not played."""
        drawn, before = self._drawn
        if rounds < drawn:
            self._rng.bit_generator.state = before
            self._rng.standard_normal((rounds, self._shrunk.dim))

    def _draw(self) -> None:
        self._state["u"][:] = self.draw(1)[0]  # u_t

    @abstractmethod
    def tell(self, loss: Eval) -> None:
        """Take the value at the play: what is done with its estimate is the algorithm."""

    def _around(self, x: Vector) -> Vector:
        """Return the play y_t = x + delta u_t, in the set's own coordinates."""
        n, d = self._basis.shape
        near, y = np.empty(d), np.empty(n)
        play_near(self._state.array, self._constants, self._centre, self._basis, x, near, y)
        return y

    def _estimate(self, value: float) -> Vector:
        """Return the gradient (n/delta) (f_t(y_t) - mean) u_t, in coordinates of the hull."""
        scale = self._constants[FACTOR] * (value - float(self._state["mean"][0]))
        return np.asarray(scale * self._state["u"])

    def _next(self, value: float) -> None:
        """End round t: let its value count for the mean, and draw u_{t+1}."""
        learn_mean(self._state.array[self._shrunk.dim :], self._constants, value)
        self._draw()


class OnePoint(OnePointEstimates):
    """Plays around x_t, the play of a first-order learner, and passes it one-point estimates.

    Args:
        learner: plays on a `ShrunkHull` of the set, with first-order feedback.
        seed: fixes the perturbations.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.
        window: how many rounds a mean is taken over, to be subtracted; 0 subtracts nothing.

    """

    def __init__(
        self,
        learner: Learner[EvalGrad],
        seed: int | None = None,
        window: int = 0,
        *,
        rng: RNG | None = None,
    ):
        if not isinstance(learner.decision_set, ShrunkHull):
            raise TypeError(
                f"one-point play needs a learner on a ShrunkHull, got one on a "
                f"{type(learner.decision_set).__name__}; build it on "
                "ShrunkHull(decision_set, delta)"
            )
        super().__init__(learner.decision_set, self._seed(seed, rng), window, {})
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
