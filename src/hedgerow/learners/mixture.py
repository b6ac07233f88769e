"""Several learners played as one, by the weights that AdaHedge gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_gradient, as_number
from hedgerow.learners.adahedge import AdaHedge
from hedgerow.protocols.parts import Learner
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Restorable, State, Stateful

EQUAL = 0.2
"""The part of the shared oracle calls that is dealt out equally; the rest goes by weight."""


@runtime_checkable
class SharesOracle(Learner[EvalGrad], Protocol):
    """A learner that can go on without its oracle call, so that others may have it."""

    def tell_without_oracle(self, loss: EvalGrad, /) -> None:
        """Learn as `tell` does, as far as that goes without an oracle call."""
        ...


class Mixture(Stateful):
    """Plays x_t = sum of p_{t,k} x_{t,k}; every learner k is told the same gradient s_t.

    p_t is `AdaHedge` on the losses <s_t, x_{t,k}>. So, for every learner k,
    sum <s_t, x_t - x_{t,k}> <= 2 sqrt(sum v_t ln K) + S (4/3 ln K + 2), where v_t and S are
    variances and the largest range of these losses: it is hardly worse than the best of them.

    Learners that can skip their oracle call (`SharesOracle`) take turns, and together cost one call
    a round: each round adds 0.8 p_k + 0.2/K to the credit of learner k, and the one with the most
    credit has the call and pays for it. So a learner that is hardly played still learns, at
    little cost to the best one. Every learner that cannot skip costs its own calls beside that.

    Args:
        learners: at least one, all on the same set. Hand each of them over: from now on only the
            mixture may tell them.

    Reference: de Rooij, van Erven, Grunwald and Koolen, Follow the leader if you can, hedge if you
    must (JMLR 2014).

    >>> import numpy as np
    >>> from hedgerow.learners.adaptive_ocg import AdaptiveOCG
    >>> from hedgerow.learners.corrective_omd import CorrectiveOMD
    >>> from hedgerow.learners.steps import CertificateSteps
    >>> from hedgerow.sets.simplices import Simplex
    >>> X = Simplex(2)
    >>> learner = Mixture([AdaptiveOCG(X, CertificateSteps()), CorrectiveOMD(X)])
    >>> for _ in range(3):
    ...     learner.tell(EvalGrad(0.0, np.array([2.0, 0.0])))
    >>> learner.oracle_calls
    3

    """

    def __init__(self, learners: Sequence[Learner[EvalGrad]]):
        if not learners:
            raise ValueError("a mixture needs at least one learner, got none")
        self.learners = tuple(learners)
        self.decision_set: DecisionSet = learners[0].decision_set
        dims = {learner.decision_set.dim for learner in learners}
        if len(dims) > 1:
            raise ValueError(
                f"all learners of a mixture play on one set, got dimensions {sorted(dims)}; "
                "build them on the same decision set"
            )
        self.hedge = AdaHedge(len(learners))
        self._sharing = {k: one for k, one in enumerate(learners) if isinstance(one, SharesOracle)}
        K, n = len(learners), self.decision_set.dim
        self._state = State(plays=K * n, credit=len(self._sharing))
        self._plays = self._state["plays"].reshape(K, n)
        self._gather()

    @property
    def oracle_calls(self) -> int:
        """How many linear minimisations all learners together have asked for."""
        return sum(learner.oracle_calls for learner in self.learners)

    @property
    def oblivious_only(self) -> bool:
        """Whether the guarantee of a learner fails against an adversary that reacts."""
        return any(learner.oblivious_only for learner in self.learners)

    @property
    def weights(self) -> Vector:
        """How much of each learner is played now, p_t."""
        return self.hedge.ask()

    def ask(self) -> Vector:
        """Return x_t."""
        mixed: Vector = self.hedge.ask() @ self._plays
        return mixed

    def tell(self, loss: EvalGrad) -> None:
        """Tell every learner the gradient at x_t, and weigh them by it."""
        as_number(loss.value, "the value of the loss")
        s = as_gradient(loss.grad, "the gradient of the loss", self.decision_set.dim)
        self.hedge.tell(EvalGrad(0.0, (self._plays - self.ask()) @ s))
        turn = self._turn() if self._sharing else None
        for k, learner in enumerate(self.learners):
            if k in self._sharing and k != turn:
                self._sharing[k].tell_without_oracle(loss)
            else:
                learner.tell(loss)
        self._gather()

    def _turn(self) -> int:
        """Deal out this round's credit; return the learner whose turn it is."""
        credit, sharing = self._state["credit"], list(self._sharing)
        dealt = (1.0 - EQUAL) * self.weights[sharing] + EQUAL / len(self.learners)
        credit += dealt
        first = int(credit.argmax())
        credit[first] -= dealt.sum()
        return sharing[first]

    def _gather(self) -> None:
        for play, learner in zip(self._plays, self.learners, strict=True):
            play[:] = learner.ask()

    @property
    def _parts(self) -> dict[str, Restorable]:
        learners = {f"learner {k}": learner for k, learner in enumerate(self.learners)}
        return {"hedge": self.hedge, **learners}
