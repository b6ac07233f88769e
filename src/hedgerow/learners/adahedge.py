"""AdaHedge: weights for experts, with a learning rate that pays for itself."""

from __future__ import annotations

import math

from hedgerow import kernels
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_count, as_gradient, as_number
from hedgerow.protocols.player import StatefulPlayer
from hedgerow.sets.simplices.simplex import Simplex
from hedgerow.snapshot import State


class AdaHedge(StatefulPlayer):
    """Exponential weights on K experts; the loss of round t is <p_t, l_t>.

    p_t ~ exp(-eta_t L_{t-1}), eta_t = ln K / Delta_{t-1}, where Delta adds up the mixability gaps
    delta_t = <p_t, l_t> + ln(sum of p_{t,k} exp(-eta_t l_{t,k})) / eta_t. While Delta is 0 it
    follows the leaders. No unit, no origin, any horizon. With v_t the variance of l_t under p_t and
    S the largest range of the losses in one round, against every expert
    Regret_T <= 2 Delta_T <= 2 sqrt(sum v_t ln K) + S (4/3 ln K + 2).

    All sums are taken in logarithms relative to the leader: nothing overflows, and weights that
    underflow do not matter. No oracle call.

    Args:
        experts: how many, K; it plays on their simplex.

    Reference: de Rooij, van Erven, Grunwald and Koolen, Follow the leader if you can, hedge if you
    must (JMLR 2014), section 2.

    >>> import numpy as np
    >>> hedge = AdaHedge(2)
    >>> hedge.tell(EvalGrad(0.5, np.array([0.0, 1.0])))
    >>> hedge.ask()
    array([0.8, 0.2])

    """

    oblivious_only = False
    oracle_calls = 0

    def __init__(self, experts: int):
        self.decision_set = Simplex(as_count(experts, "experts"))
        K = self.decision_set.dim
        self._state = State(L=K, p=K, Delta=1)
        self._state["p"][:] = 1.0 / K

    @property
    def eta(self) -> float:
        """The learning rate of this round; infinite while the leaders are followed."""
        Delta = float(self._state["Delta"][0])
        return math.log(self.decision_set.dim) / Delta if Delta > 0.0 else math.inf

    def ask(self) -> Vector:
        """Return p_t."""
        return self._state["p"].copy()

    def tell(self, loss: EvalGrad) -> None:
        """Take the experts' losses l_t, as the gradient of <l_t, p>."""
        as_number(loss.value, "the value of the loss")
        losses = as_gradient(loss.grad, "the losses of the experts", self.decision_set)
        L, p = self._state["L"], self._state["p"]  # L relative to the leader
        self._state["Delta"][0] += kernels.hedge.lose(L, p, losses, self.eta)
        kernels.hedge.weigh(p, L, self.eta)
