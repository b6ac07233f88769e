"""A regularised dual variable as the weight, fixed for a block of rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow._engine.kernel import kernel, number, read, write
from hedgerow.feedback import Constraints, Eval, EvalGrad, as_eval
from hedgerow.inputs import LARGEST_PART, Vector, as_count, as_positive, freeze
from hedgerow.learners.blocked_ogd import BlockedOGD
from hedgerow.learners.one_point import OnePoint
from hedgerow.protocols.rounds import CompiledRounds
from hedgerow.sets.compiled import not_overridden
from hedgerow.snapshot import State, Stateful
from hedgerow.surrogates.queued import checked, most_violated

Array = Any
LARGEST_WEIGHT = 1e12
"""The cap on the dual variable; beyond it losses could leave float64."""


ROUND, WEIGHT, VIOLATION, PRICE, LARGEST = range(5)
"""The numbers of the state."""
BLOCK, THETA, MU = range(3)
"""The numbers of `rates`."""


@kernel(number, read, number, number)
def next_weight(rates: Array, lam: float, violation: float) -> float:
    """Return lam_{m+1} from lam_m and S_m."""
    moved = lam + rates[MU] * (violation - rates[BLOCK] * rates[THETA] * lam)
    return min(max(0.0, moved), LARGEST_WEIGHT)


@kernel(number, write, read, number)
def charge_dual(state: Array, rates: Array, value: float) -> float:
    """Take in g_t(x_t) and return the weight of this round; at a block's end, move."""
    lam, violation = state[WEIGHT], max(0.0, value)
    state[ROUND] += 1.0
    state[VIOLATION] += violation  # S_m
    state[PRICE] = lam * violation
    if state[ROUND] % rates[BLOCK] == 0.0:
        state[WEIGHT] = next_weight(rates, lam, state[VIOLATION])
        state[LARGEST] = max(state[LARGEST], state[WEIGHT])
        state[VIOLATION] = 0.0
    return lam


@dataclass(frozen=True)
class DualSteps:
    """How the dual variable moves, lam <- max(0, lam + mu (S - K theta lam)), once a block.

    S is the violation of the block's K rounds, and theta the regulariser of the Lagrangian
    f_t + lam g_t^+ - (theta/2) lam^2.

    Args:
        block: K, the number of rounds in a block.
        theta: the regulariser, in units of violation squared per cost.
        mu: the dual step, in units of cost per violation squared.

    """

    block: int
    theta: float
    mu: float

    def __post_init__(self) -> None:
        freeze(self, block=as_count(self.block, "block"))
        for name in ("theta", "mu"):
            freeze(self, **{name: as_positive(getattr(self, name), name)})

    @property
    def rates(self) -> Vector:
        """What the kernels read: K, theta, mu."""
        return np.array([self.block, self.theta, self.mu])


class Dual(Stateful):
    """The dual variable lam_m: fixed in a block, moved by the block's violation after it.

    Args:
        steps: how it moves.

    """

    oracle_calls = 0

    def __init__(self, steps: DualSteps):
        if hasattr(steps, "next"):
            raise TypeError(
                f"{type(steps).__name__} has a rule next() of its own, and steps are numbers that "
                f"the kernel of {type(self).__name__} reads; replace _charge in a subclass of the "
                "surrogate instead"
            )
        self.steps, self.rates = steps, steps.rates
        self._state = State(t=1, weight=1, violation=1, price=1, largest=1)  # lam_1 = 0

    @property
    def weight(self) -> float:
        """lam_m, the weight on this block's violations."""
        return float(self._state["weight"][0])

    @property
    def largest_weight(self) -> float:
        """The largest weight so far."""
        return float(self._state["largest"][0])

    @property
    def price(self) -> float:
        """What the constraint added to the last loss."""
        return float(self._state["price"][0])

    def _charge(self, value: float) -> float:
        """Take in g_t(x_t) and return the weight of this round; at a block's end, move."""
        return charge_dual(self._state.array, self.rates, value)


class DualSurrogate(Dual):
    """The Lagrangian's loss f_t + lam_m g_t^+, seen to first order.

    >>> import numpy as np
    >>> surrogate = DualSurrogate(DualSteps(block=1, theta=1.0, mu=0.5))
    >>> for _ in range(2):
    ...     loss = surrogate.tell(EvalGrad(1.0, np.array([1.0])), EvalGrad(2.0, np.array([-1.0])))
    >>> loss, surrogate.weight
    (EvalGrad(value=3.0, grad=array([0.]), lipschitz=None), 1.5)
    """

    def compiled_rounds(self, learner: Any, ledger: Vector) -> CompiledRounds | None:
        """Return the rounds of a policy with this learner, for the compiled loops."""
        from hedgerow.surrogates.dual_rounds import DualRounds  # which imports this file

        if not isinstance(learner, BlockedOGD) or learner.workspace.space is None:
            return None
        written = not_overridden(learner, BlockedOGD, "ask", "tell", "_add") and not_overridden(
            self, DualSurrogate, "tell", "_charge"
        )
        return DualRounds(learner, self, ledger) if written else None

    def tell(self, cost: EvalGrad, constraint: Constraints) -> EvalGrad:
        """Return the loss of this round; where g_t(x_t) <= 0 the subgradient of g_t^+ is 0."""
        cost = checked(cost, "cost")
        constraint = most_violated(constraint, cost.grad.size)
        lam = self._charge(constraint.value)
        weighed = lam > 0.0 and constraint.value > 0.0
        grad = cost.grad + lam * constraint.grad if weighed else cost.grad
        return EvalGrad(cost.value + self.price, grad)


class DualValues(Dual):
    """The Lagrangian's loss f_t + lam_m g_t^+, of which only the value is seen.

    lam_m is known before the block begins, so an estimate of this loss's gradient is unbiased.
    """

    def compiled_rounds(self, learner: Any, totals: Vector, feedback: Any) -> CompiledRounds | None:
        """Return the rounds of a policy with this learner, for the compiled loops."""
        from hedgerow.surrogates.one_point_rounds import OnePointRounds  # which imports this file

        blocks = getattr(learner, "learner", None)
        if not isinstance(learner, OnePoint) or not isinstance(blocks, BlockedOGD):
            return None
        written = (
            not_overridden(blocks, BlockedOGD, "ask", "tell", "_add")
            and not_overridden(
                learner, OnePoint, "ask", "tell", "_draw", "_around", "_estimate", "_next"
            )
            and not_overridden(self, DualValues, "tell", "_charge")
        )
        fits = written and max(feedback.lipschitz, feedback.bound) <= LARGEST_PART
        return OnePointRounds(learner, self, totals, feedback) if fits else None

    def tell(self, cost: Eval, constraint: Eval) -> Eval:
        """Return the loss at the played point, with its Lipschitz constant and bound."""
        cost = as_eval(cost, "cost", LARGEST_PART)
        constraint = as_eval(constraint, "constraint", LARGEST_PART)
        lam = self._charge(constraint.value)
        return Eval(
            cost.value + self.price,
            cost.lipschitz + lam * constraint.lipschitz,
            cost.bound + lam * constraint.bound,
        )
