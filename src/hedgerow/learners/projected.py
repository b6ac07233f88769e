"""What projected learners share: they step anywhere, then go to the nearest point of the set."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import kernels
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_gradient, as_number, as_vector
from hedgerow.sets.decision_set import DecisionSet, Projectable
from hedgerow.snapshot import Snapshot, State


class Projected(ABC):  # noqa: B024 - what it lacks, `tell`, is the algorithm
    """A point x_t of a set that can project, and the step rule's numbers.

    Gradients are taken along the set (`X.tangent`): the part across it moves no projection, and
    would only make steps shorter.

    Args:
        decision_set: where to play; it must be able to project.
        rule: the step rule's numbers before the first round.
        configuration: what else the learner was built from.
        start: x_1; the set's own start if left out.
        memory: the sizes of what else the learner remembers.

    """

    oblivious_only = False
    oracle_calls = 0

    def __init__(
        self,
        decision_set: DecisionSet,
        rule: Vector,
        configuration: tuple[object, ...],
        start: ArrayLike | None,
        **memory: int,
    ):
        X = self.decision_set = decision_set
        if not X.supports(Projectable):
            raise ValueError(
                f"{type(self).__name__} needs a set that can project; X.supports(Projectable) is "
                f"False for {type(X).__name__}; use AdaptiveOCG, which needs no projection"
            )
        x1 = X.start() if start is None else as_vector(start, "start", X.dim)
        if not X.contains(x1):
            raise ValueError(
                "start must lie in the decision set; leave it out to use the set's own start"
            )
        self._state = State(x=X.dim, rule=rule.size, t=1, projections=1, **memory)
        self._state["x"][:] = x1
        self._state["rule"][:] = rule
        self._configuration = (X, configuration, x1.copy())
        self._aim = np.empty(X.dim)
        self._workspace = X.workspace()

    @property
    def projections(self) -> int:
        """How many projections were asked for: one in each round that moves."""
        return int(self._state["projections"][0])

    def ask(self) -> Vector:
        """Return x_t."""
        return self._state["x"].copy()

    def _receive(self, loss: EvalGrad) -> tuple[Vector, float]:
        """Begin round t: return the gradient and t."""
        as_number(loss.value, "the value of the loss")
        s = as_gradient(loss.grad, "the gradient of the loss", self.decision_set.dim)
        self._state["t"][0] += 1.0
        return s, float(self._state["t"][0])

    def _land(self) -> None:
        """Move to the point of the set that is nearest to the aim."""
        self._state["x"][:] = self._workspace.project(self._aim)
        self._state["projections"][0] += 1.0

    def state(self) -> Snapshot:
        """Return a snapshot of the point and the rule's numbers."""
        self._workspace.clear()
        return self._state.snapshot(self, self._configuration)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot."""
        self._state.restore(self, snapshot, self._configuration)
        self._workspace.clear()


class ProjectedDescent(Projected):
    """Projected gradient descent, x_{t+1} = P_X(x_t - eta_t grad_t), for some eta_t.

    Args:
        decision_set: where to play; it must be able to project.
        rule: the numbers from which eta_t is made.
        eta: the kernel that makes it, one of `kernels.projected`.
        start: x_1; the set's own start if left out.

    """

    def __init__(
        self,
        decision_set: DecisionSet,
        rule: Vector,
        eta: Callable[..., float],
        start: ArrayLike | None,
    ):
        super().__init__(decision_set, rule, (rule,), start)
        self._eta = eta

    def tell(self, loss: EvalGrad) -> None:
        """Take the gradient at x_t and move to x_{t+1}."""
        s, t = self._receive(loss)
        X, state = self.decision_set, self._state
        norm = X.tangent_norm(s)
        eta = self._eta(state["rule"], t, norm * norm)
        if norm > 0.0 and eta > 0.0:  # else x_{t+1} = x_t
            kernels.projected.descend(self._aim, state["x"], X.tangent(s), eta)
            self._land()  # x_{t+1} = P_X(x_t - eta_t grad_t)
