"""Algorithm 2's shape: a learner that plays the losses of a surrogate."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from functools import cached_property
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from hedgerow import kernels
from hedgerow.feedback import EvalGrad, needs
from hedgerow.inputs import Vector, fits, squared_norm
from hedgerow.policies.composition import Composition
from hedgerow.policies.presets import as_budget
from hedgerow.protocols.compiled import CompiledGame, CompiledLearner, CompiledSurrogate
from hedgerow.protocols.parts import Learner, Surrogate
from hedgerow.sets.compiled import faithful
from hedgerow.snapshot import Snapshot, State

Seen = TypeVar("Seen", bound=EvalGrad | Sequence[EvalGrad])


@runtime_checkable
class Summing(Protocol):
    """A learner that keeps the sum of all losses it was told."""

    @property
    def losses(self) -> Vector:
        """The sum so far."""
        ...


class Constrained(Composition[EvalGrad, Seen]):
    """A policy for first-order feedback: a surrogate makes one loss a round, a learner plays it.

    The pair decides the guarantee; with `AdaptiveOCG` and `CurrentSurrogate` it is Algorithm 2.
    Whatever the pair, `certificate()` bounds the regret after the fact; its oracle calls are not
    counted.

    Args:
        learner: plays one sequence of losses.
        surrogate: turns cost and constraint into the loss.

    """

    def __init__(self, learner: Learner[EvalGrad], surrogate: Surrogate[EvalGrad, Seen]):
        super().__init__(learner, surrogate)
        fresh = isinstance(learner, Summing) and not learner.losses.any()
        own = 0 if fresh else learner.decision_set.dim  # a learner that sums losses does it for us
        self._state = State(s=own, inner=1, price=1, rounds=1, size=1, prices=1)

    def tell(self, cost: EvalGrad, constraint: Seen) -> None:
        """Make the loss of this round and pass it to the learner."""
        if isinstance(constraint, EvalGrad) and self._told(cost, constraint):
            return  # the compiled game did what follows
        several = isinstance(constraint, (list, tuple)) and not hasattr(constraint, "_fields")
        seen = list(constraint) if several else [constraint]
        for feedback in (cost, *seen):
            needs(EvalGrad, feedback, "this policy", "round")
            if np.shape(feedback.grad) != (self.decision_set.dim,):
                raise ValueError(
                    f"gradients must have shape ({self.decision_set.dim},) on this set, "
                    f"got {np.shape(feedback.grad)}; evaluate the functions at ask()"
                )
        x = self.learner.ask()
        loss = self.surrogate.tell(cost, constraint)  # lines 6 and 7
        self.learner.tell(loss)
        kernels.ledger.record(self._state.array, loss.grad, x, self.surrogate.price)

    def certificate(self, budget: float = 0.0) -> float:
        """Bound the regret so far, by one oracle call, whatever the constants.

        Regret_T(x*) <= sum <s_t, x_t> - min over X of <sum s_t, x> - sum w_t g_t(x_t) for every
        x* that keeps the constraint in all rounds, where s_t = grad f_t + w_t grad g_t and the
        values are those that the surrogate used. A bound of the rounding errors is added, which is
        tiny unless weights became huge. Where no x* keeps all rounds it says nothing.

        Args:
            budget: the benchmark's own total violation B, sum of g_t^+(x*) <= B; it adds B times
                the largest weight so far.

        """
        state = self._state
        learner, losses = self.learner, state["s"]
        if isinstance(learner, Summing) and not losses.size:
            losses = learner.losses
        lowest = self.decision_set.minimum(losses)
        bound = float(state["inner"][0] - lowest - state["price"][0])
        allowed = as_budget(budget) * self.surrogate.largest_weight
        return bound + allowed + self._rounding()

    def _rounding(self) -> float:
        """Bound the rounding of sums over t rounds and dim entries: (t + dim) eps sum |terms|."""
        _, _, rounds, size, prices = (float(v) for v in self._state.array[-5:])
        far = math.sqrt(squared_norm(self.ask())) + self.decision_set.diameter  # at least any ||x||
        largest = 2.0 * far
        steps = rounds + self.decision_set.dim
        return 2.0 * steps * sys.float_info.epsilon * (size * largest + prices)

    def _told(self, cost: EvalGrad, constraint: EvalGrad) -> bool:
        """Tell the compiled game, if there is one and it can take in this round."""
        dim = self.decision_set.dim
        if not (plain(cost, dim) and plain(constraint, dim)):
            return False
        return self.compiled is not None and self.compiled.tell(cost, constraint)

    @cached_property
    def compiled(self) -> CompiledGame | None:
        """The game in compiled code, if every part has kernels."""
        if not kernels.jit.COMPILED:
            return None
        learner, surrogate = self.learner, self.surrogate
        if not isinstance(learner, CompiledLearner) or not isinstance(surrogate, CompiledSurrogate):
            return None
        if not (faithful(learner, "tell") and faithful(surrogate, "tell")):
            return None
        advance, charge = learner.compiled(), surrogate.compiled()
        if advance is None or charge is None or charge.learner not in (None, learner):
            return None
        return CompiledGame(advance, charge, self._state.array)

    def state(self) -> Snapshot:
        """Return a snapshot."""
        return self._state.snapshot(self, parts=self._parts)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot; one that does not fit changes nothing."""
        self._state.restore(self, snapshot, parts=self._parts)


def plain(seen: object, dim: int) -> bool:
    """Whether this is feedback of a float and a float64 vector, as most is."""
    return (
        type(seen) is EvalGrad
        and type(seen.value) is float
        and seen.lipschitz is None
        and fits(seen.grad, dim)
    )
