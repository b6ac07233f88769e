"""A first-order learner that learns from values alone, by one-point estimates."""

from __future__ import annotations

from hedgerow.feedback import LARGEST_VALUE, Eval, EvalGrad, as_eval
from hedgerow.inputs import Vector
from hedgerow.learners.one_point_estimates import OnePointEstimates
from hedgerow.learners.shrunk_hull import ShrunkHull
from hedgerow.protocols.parts import Learner
from hedgerow.snapshot import Restorable


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
        """The learner's."""
        return self.learner.oracle_calls

    def ask(self) -> Vector:
        """Return z_t = x_t + delta u_t."""
        return self._around(self.learner.ask())

    def tell(self, loss: Eval) -> None:
        """Take the value at z_t and tell the estimate."""
        value = as_eval(loss, "loss", LARGEST_VALUE).value
        self.learner.tell(EvalGrad(value, self._estimate(value)))
        self._next(value)
