"""Projected gradient descent, for some step size."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from hedgerow._engine.kernel import kernel
from hedgerow._engine.signatures import AFTER_ORACLE, BEFORE_ORACLE
from hedgerow.inputs import Vector
from hedgerow.kernels.projected import descend
from hedgerow.learners.arguments import first_play
from hedgerow.learners.kernel_learner import NO_RULE, Kernel, KernelLearner
from hedgerow.learners.projected_point import check_projection
from hedgerow.learners.steps import TANGENT2
from hedgerow.sets.decision_set import DecisionSet

Array = Vector
Loss = tuple[float, float, float]
ROUND, PROJECTIONS, RULE = range(3)
"""The numbers of the state [x | t, projections | rule], after the play."""


@kernel(*BEFORE_ORACLE)
def before_projection(
    state: Array, work: Array, s: Array, inner: float, loss: Loss, steps: Any
) -> bool:
    """Aim at x_t - eta_t grad_t, with the gradient along the set; stay where it is not felt."""
    n = len(s)
    x, own, tangent = state[:n], state[n:], work[3 * n : 4 * n]
    own[ROUND] += 1.0
    eta = steps.regularise(own[RULE:], own[ROUND], loss)
    if loss[TANGENT2] <= 0.0 or eta <= 0.0:
        return False
    descend(work[:n], x, tangent, eta)
    return True


@kernel(*AFTER_ORACLE)
def after_projection(state: Array, work: Array, n: int, ones: Any, steps: Any) -> None:
    """x_{t+1} = P_X(x_t - eta_t grad_t)."""
    for i in range(n):
        state[i] = work[n + i]
    state[n + PROJECTIONS] += 1.0


class ProjectedDescent(KernelLearner):
    """Projected gradient descent, x_{t+1} = P_X(x_t - eta_t grad_t), for some eta_t.

    Gradients are taken along the set (`X.tangent`): the part across it moves no projection, and
    would only make steps shorter.

    Args:
        decision_set: where to play; it must be able to project.
        rule: the numbers from which eta_t is made.
        eta: the kernel that makes it, with the signature of `regularise`.
        start: x_1; the set's own start if left out.

    """

    before_oracle, after_oracle, projects = before_projection, after_projection, True
    oracle_calls = 0
    """It asks for projections, never for a linear minimisation."""

    def __init__(
        self, decision_set: DecisionSet, rule: Vector, eta: Kernel, start: ArrayLike | None
    ):
        check_projection(decision_set, type(self).__name__)
        numbers = {"t": 1, "projections": 1, "rule": rule.size}
        kernels = NO_RULE._replace(regularise=eta)
        super().__init__(decision_set, numbers, kernels, first_play(decision_set, start))
        self._state["rule"][:] = rule

    @property
    def projections(self) -> int:
        """How many Euclidean projections it has asked for."""
        return int(self._state["projections"][0])
