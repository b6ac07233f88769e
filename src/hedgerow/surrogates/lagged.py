"""The surrogate of Algorithm 4: the weight is fixed before the play."""

from __future__ import annotations

from hedgerow.feedback import Eval
from hedgerow.surrogates.values import Values


class LaggedSurrogate(Values):
    """The paper's bandit surrogate, f_t + (Phi'(Q(t-1) + overshoot)/V) g_t^+.

    The weight is taken at an overestimate of Q(t) that is known before the play (the paper's
    overshoot is G D, eq. bandit-surr-cost). Q(t) = Q(t-1) + g_t(y_t)^+ at the point played.

    >>> from hedgerow.potentials import PowerPotential
    >>> surrogate = LaggedSurrogate(PowerPotential(p=2.0, scale=1.0), overshoot=0.5)
    >>> surrogate.tell(Eval(1.0, 1.0, 3.0), Eval(0.25, 2.0, 4.0))
    Eval(value=1.25, lipschitz=3.0, bound=7.0)
    """

    def charge(self, constraint: Eval, t: float) -> Eval:
        """Weigh with the queue as it was, plus the overshoot; then update it."""
        w = self.ranges.ratio * self.potential.weight(self.queue + self.overshoot, t)
        violation = max(0.0, constraint.value)
        self._state["weight"][0] = w
        self._state["violation"][0] += violation  # Q(t); the paper's box has no such line
        return Eval(w * violation, w * constraint.lipschitz, w * constraint.bound)
