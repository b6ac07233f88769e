"""The drift as a loss: known before the play, and no larger than it has to be."""

from __future__ import annotations

from hedgerow.feedback import Eval
from hedgerow.surrogates.values import Values


class DriftSurrogate(Values):
    """The drift itself, h_t(y) = f_t(y) + [Phi(Q(t-1) + g_t(y)^+) - Phi(Q(t-1))]/V.

    Four lines make it right for bandit feedback. (1) Given the past it is a fixed function of y,
    so a one-point estimate is unbiased for its smoothed gradient. (2) It is convex: Phi is convex
    and nondecreasing, g^+ is convex. (3) h_t(x*) = f_t(x*) for every feasible x*. (4) Summing,
    Phi(Q(T))/V - Phi(Q(0))/V + Regret_T = Regret'_T: the decomposition holds with equality. The
    overshoot enters the declared constants alone. Its gradient at the play is that of
    `CurrentSurrogate`.

    >>> from hedgerow.potentials import PowerPotential
    >>> surrogate = DriftSurrogate(PowerPotential(p=2.0, scale=1.0), overshoot=0.5)
    >>> surrogate.tell(Eval(1.0, 1.0, 3.0), Eval(0.25, 2.0, 4.0))
    Eval(value=1.0625, lipschitz=3.0, bound=3.25)
    """

    def charge(self, constraint: Eval, t: float) -> Eval:
        """Add the violation to the queue and return by how much the potential rose."""
        ranges, potential = self.ranges, self.potential
        unit = ranges.ratio * ranges.violation
        before, most = potential.value(self.queue, t), self.queue + self.overshoot
        steepest = ranges.ratio * potential.weight(most, t)
        highest = unit * (potential.value(most, t) - before)
        self._state["violation"][0] += max(0.0, constraint.value)  # Q(t)
        self._state["weight"][0] = ranges.ratio * potential.weight(self.queue, t)
        risen = unit * (potential.value(self.queue, t) - before)
        return Eval(risen, steepest * constraint.lipschitz, highest)
