"""Algorithm 4's shape: a bandit learner that plays the losses of a surrogate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from hedgerow.feedback import Eval, bandit
from hedgerow.functions import Function
from hedgerow.inputs import Vector
from hedgerow.policies.composition import Composition
from hedgerow.policies.summary import TOTALS, add_round
from hedgerow.policies.theorem import Theorem
from hedgerow.protocols.late_feedback import refuse_late
from hedgerow.protocols.parts import Feedback, Learner, Surrogate
from hedgerow.protocols.rounds import CompiledRounds
from hedgerow.sets.compiled import not_overridden


@dataclass(frozen=True)
class DeclaredValues:
    """Bandit feedback with the same declared constants in every round.

    Args:
        lipschitz: a Lipschitz constant of all costs and constraints.
        bound: a bound of their absolute values over the set.

    >>> from hedgerow.functions import Linear
    >>> DeclaredValues(lipschitz=2.0, bound=4.0)(Linear([2.0]), [1.5])
    Eval(value=3.0, lipschitz=2.0, bound=4.0)

    """

    lipschitz: float
    bound: float

    def __call__(self, f: Function, x: Vector) -> Eval:
        """Return the value of f at x alone."""
        return bandit(f, x, self.lipschitz, self.bound)


class ConstrainedBandit(Composition[Eval, Eval]):
    """A policy that observes only the values of cost and constraint at the point it plays.

    Nothing can be certified afterwards: no gradient was seen. The guarantee is in expectation,
    against rounds that are fixed beforehand.

    Args:
        learner: plays one sequence of losses of which it sees values.
        surrogate: turns cost and constraint into the loss.
        declared: the constants that its rounds keep, for `feedback`.
        theorems: what is proved of the pair, for `guarantees()`.

    """

    def __init__(
        self,
        learner: Learner[Eval],
        surrogate: Surrogate[Eval, Eval],
        declared: DeclaredValues | None = None,
        theorems: tuple[Theorem, ...] = (),
    ):
        super().__init__(learner, surrogate, theorems, dict.fromkeys((*TOTALS, "mixed_units"), 1))
        self._declared = declared

    @property
    def certificate(self) -> NoReturn:
        """There is none: this says why."""
        raise AttributeError(
            "a policy that sees values alone has no certificate: a certificate adds up what the "
            "gradients of each round prove, and none was seen; explain(policy) states the theorems "
            "that hold in expectation, and hindsight(problem) finds the regret of a recorded run"
        )

    @property
    def feedback(self) -> Feedback:
        """The value alone, with the constants that the policy was built with."""
        if self._declared is None:
            raise ValueError(
                "this ConstrainedBandit was built without declared constants; build it with "
                "declared=DeclaredValues(lipschitz, bound), or give play and simulate a feedback"
            )
        return self._declared

    def compiled_rounds(self, feedback: Feedback) -> CompiledRounds | None:
        """Return its rounds for the compiled loops, seen like this; None where a part has none."""
        make = getattr(self.surrogate, "compiled_rounds", None)
        written = not_overridden(self, ConstrainedBandit, "ask", "tell")
        if make is None or not written or type(feedback) is not DeclaredValues:
            return None
        rounds: CompiledRounds | None = make(self.learner, self._state.array, feedback)
        return rounds

    def tell(self, cost: Eval, constraint: Eval, *, at: Vector | None = None) -> None:
        """Make the loss of this round and pass it to the learner.

        Args:
            cost: what was seen of the cost.
            constraint: what was seen of the constraint.
            at: refused unless it is the present play: what a value says of the gradient depends on
                the draw that it was seen with.

        """
        refuse_late(self, at)
        self._check_left()
        with self._taken_back():
            self.learner.tell(self._make_loss(cost, constraint))
        self._state["left"][:] = self.learner.ask()
        add_round(self._state, cost.value, constraint.value)
