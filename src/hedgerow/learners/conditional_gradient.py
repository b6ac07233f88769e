"""What conditional gradients share: a point, a sum of gradients, one linear minimisation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import kernels
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_gradient, as_number
from hedgerow.learners.arguments import first_play
from hedgerow.player import StatefulPlayer
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Restorable, State


class ConditionalGradient(StatefulPlayer):
    """Plays x_{t+1} = x_t + sigma_t (v_t - x_t), v_t = argmin over X of <grad F_t(x_t), x>.

    F_t(x) = <S, x> + beta ||x - centre||^2 up to a constant; which sum S, which beta, which
    centre and which sigma_t is what makes the algorithm.

    Args:
        decision_set: where to play.
        start: x_1; the set's own start if left out.
        numbers: the names and sizes of what else it remembers.

    """

    oblivious_only = False

    def __init__(
        self,
        decision_set: DecisionSet,
        start: ArrayLike | None,
        numbers: dict[str, int],
    ):
        X = self.decision_set = decision_set
        self._state = State(x=X.dim, x1=X.dim, S=X.dim, t=1, **numbers)
        self._state["x"][:] = self._state["x1"][:] = first_play(X, start)
        self._direction = np.empty(X.dim)
        self._workspace = X.workspace()

    @property
    def oracle_calls(self) -> int:
        """How many linear minimisations it has asked for: one per round."""
        return int(self._state["t"][0])

    def ask(self) -> Vector:
        """Return x_t."""
        return self._state["x"].copy()

    def _checked(self, loss: EvalGrad) -> Vector:
        """Return the gradient, or refuse the loss."""
        as_number(loss.value, "the value of the loss")
        return as_gradient(loss.grad, "the gradient of the loss", self.decision_set.dim)

    def _step(self, beta: float, centre: Vector, relax: Callable[[float, float], float]) -> None:
        """Move towards the vertex; `relax` makes sigma_t of the gap and ||v - x||^2."""
        x, d = self._state["x"], self._direction
        kernels.ocg.gradient(d, self._state["S"], x, centre, beta)  # grad F_t(x_t)
        self._follow(relax)

    def _follow(self, relax: Callable[[float, float], float]) -> tuple[float, float, float]:
        """Move against the direction; return sigma_t, the gap and ||v - x||^2."""
        x, d = self._state["x"], self._direction
        v = self._workspace.lmo(d)  # v_t
        gap, distance2 = kernels.ocg.gap_and_distance(d, x, v)
        sigma = relax(gap, distance2)
        kernels.ocg.move(x, v, sigma)  # x_{t+1}
        return sigma, gap, distance2

    @property
    def _parts(self) -> dict[str, Restorable]:
        return {"workspace": self._workspace}
