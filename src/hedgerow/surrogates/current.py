"""The surrogate of Algorithm 2: the weight counts the current round's violation too."""

from __future__ import annotations

from hedgerow import kernels
from hedgerow.feedback import EvalGrad
from hedgerow.protocols.compiled import Kernel
from hedgerow.surrogates.queued import FirstOrder


class CurrentSurrogate(FirstOrder):
    """The paper's surrogate, f_t + (Phi'(Q(t))/V) g_t^+, divided by V (eq. surr-cost).

    Q(t) = Q(t-1) + g_t(x_t)^+. Where g_t(x_t) <= 0 the subgradient of g_t^+ is 0. It keeps every
    round's violation small: CCV is the sum of g_t^+.

    >>> import numpy as np
    >>> from hedgerow.potentials import PowerPotential
    >>> surrogate = CurrentSurrogate(PowerPotential(p=2.0, scale=1.0))
    >>> surrogate.tell(EvalGrad(1.0, np.array([1.0])), EvalGrad(0.5, np.array([-1.0])))
    EvalGrad(value=1.5, grad=array([0.]), lipschitz=None)
    """

    def charge(self, cost: EvalGrad, constraint: EvalGrad) -> float:
        """Add the violation to the queue, then weigh it."""
        state = self._state
        state["t"][0] += 1.0
        self._weigh(0.0, 0.0)
        self.ranges.observe(cost, constraint, weighed=constraint.value > 0.0)
        if constraint.value > 0.0:
            state["violation"][0] += constraint.value  # Q(t) = Q(t-1) + g_t(x_t)^+, line 6
            if self.ranges.felt(constraint.grad):
                w = self.potential.weight(self.queue, float(state["t"][0]))  # Phi'(Q(t))/V
                self._weigh(self.ranges.ratio * w, constraint.value)
        return self.weight

    @property
    def _kernels(self) -> tuple[Kernel, Kernel]:
        return kernels.charges.current_heeds, kernels.charges.current
