"""Algorithm 2's shape: a learner that plays the losses of a surrogate."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Generic, TypeVar

import numpy as np

from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, squared_norm
from hedgerow.protocols.parts import Learner, Surrogate
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Snapshot, State, Stateful

Seen = TypeVar("Seen", bound=EvalGrad | Sequence[EvalGrad])


class Constrained(Generic[Seen]):
    """A policy for constrained games: the surrogate makes one loss a round, the learner plays it.

    The pair decides the guarantee; with `AdaptiveOCG` and `CurrentSurrogate` it is Algorithm 2.
    Whatever the pair, `certificate()` bounds the regret after the fact.

    Args:
        learner: plays one sequence of losses.
        surrogate: turns cost and constraint into the loss.

    """

    oblivious_only = False

    def __init__(self, learner: Learner[EvalGrad], surrogate: Surrogate[Seen]):
        self.learner = learner
        self.surrogate = surrogate
        self._state = State(
            s=learner.decision_set.dim, inner=1, price=1, rounds=1, size=1, reach=1, prices=1
        )

    @property
    def decision_set(self) -> DecisionSet:
        """The learner's."""
        return self.learner.decision_set

    @property
    def oracle_calls(self) -> int:
        """The learner's and the surrogate's; those of `certificate` are not counted."""
        return self.learner.oracle_calls + self.surrogate.oracle_calls

    def ask(self) -> Vector:
        """Return x_t."""
        return self.learner.ask()

    def tell(self, cost: EvalGrad, constraint: Seen) -> None:
        """Make the loss of this round and pass it to the learner."""
        seen = [constraint] if isinstance(constraint, EvalGrad) else list(constraint)
        for feedback in (cost, *seen):
            if np.shape(feedback.grad) != (self.decision_set.dim,):
                raise ValueError(
                    f"gradients must have shape ({self.decision_set.dim},) on this set, "
                    f"got {np.shape(feedback.grad)}; evaluate the functions at ask()"
                )
        x = self.learner.ask()
        loss = self.surrogate.tell(cost, constraint)  # lines 6 and 7
        self.learner.tell(loss)
        state = self._state
        state["s"][:] += loss.grad
        state["inner"][0] += loss.grad @ x
        state["price"][0] += self.surrogate.price
        state["rounds"][0] += 1.0
        state["size"][0] += math.sqrt(squared_norm(loss.grad))
        state["reach"][0] = max(state["reach"][0], math.sqrt(squared_norm(x)))
        state["prices"][0] += abs(self.surrogate.price)

    def certificate(self) -> float:
        """Bound the regret so far, by one oracle call, whatever the constants.

        Regret_T(x*) <= sum <s_t, x_t> - min over X of <sum s_t, x> - sum w_t g_t(x_t) for every
        x* that keeps the constraint in all rounds, where s_t = grad f_t + w_t grad g_t and the
        values are those that the surrogate used. A bound of the rounding errors is added, which is
        tiny unless weights became huge.
        """
        state = self._state
        lowest = self.decision_set.minimum(state["s"])
        bound = float(state["inner"][0] - lowest - state["price"][0])
        return bound + self._rounding()

    def _rounding(self) -> float:
        """Bound the rounding of sums over t rounds and dim entries: (t + dim) eps sum |terms|."""
        _, _, rounds, size, reach, prices = (float(v) for v in self._state.array[-6:])
        largest = 2.0 * reach + self.decision_set.diameter  # at least ||x_t|| + ||any vertex||
        steps = rounds + self.decision_set.dim
        return 2.0 * steps * sys.float_info.epsilon * (size * largest + prices)

    @property
    def _parts(self) -> dict[str, Stateful]:
        return {"learner": self.learner, "surrogate": self.surrogate}

    def state(self) -> Snapshot:
        """Return a snapshot."""
        return self._state.snapshot(self, parts=self._parts)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot; one that does not fit changes nothing."""
        self._state.restore(self, snapshot, parts=self._parts)
