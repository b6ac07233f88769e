"""Algorithm 4's shape: a bandit learner that plays the losses of a surrogate."""

from __future__ import annotations

from hedgerow.feedback import Eval
from hedgerow.policies.composition import Composition


class ConstrainedBandit(Composition[Eval, Eval]):
    """A policy that sees values alone, of cost and constraint, at the point it plays.

    Nothing can be certified afterwards: no gradient was seen. The guarantee is in expectation,
    against rounds that are fixed beforehand.

    Args:
        learner: plays one sequence of losses of which it sees values.
        surrogate: turns cost and constraint into the loss.

    """

    def tell(self, cost: Eval, constraint: Eval) -> None:
        """Make the loss of this round and pass it to the learner."""
        self._left()
        kept = [array.copy() for array in self._charged]
        try:
            self.learner.tell(self.surrogate.tell(cost, constraint))
        except Exception:
            for array, before in zip(self._charged, kept, strict=True):
                array[:] = before
            raise
        self._state["left"][:] = self.learner.ask()
