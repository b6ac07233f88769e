"""The surrogate of Algorithm 7: slack in one round pays for violation in another."""

from __future__ import annotations

from hedgerow import kernels
from hedgerow.feedback import EvalGrad
from hedgerow.protocols.compiled import Kernel
from hedgerow.surrogates.queued import FirstOrder


class SignedSurrogate(FirstOrder):
    """The signed surrogate, f_t + (Phi'(Q(t-1))/V) g_t, divided by V.

    Q(t) = (Q(t-1) + g_t(x_t))^+. It keeps the sum of g_t small, as an average service level
    needs; it does not keep the CCV, the sum of g_t^+, small.

    >>> import numpy as np
    >>> from hedgerow.potentials import PowerPotential
    >>> surrogate = SignedSurrogate(PowerPotential(p=2.0, scale=1.0), queue=1.0)
    >>> surrogate.tell(EvalGrad(1.0, np.array([1.0])), EvalGrad(-0.5, np.array([-1.0])))
    EvalGrad(value=0.0, grad=array([-1.]), lipschitz=None)
    """

    def charge(self, cost: EvalGrad, constraint: EvalGrad) -> float:
        """Weigh with the queue as it was, then update it."""
        state = self._state
        state["t"][0] += 1.0
        waiting = self.initial + state["violation"][0] > 0.0
        self.ranges.observe(cost, constraint, weighed=waiting or constraint.value > 0.0)
        w = self.potential.weight(self.queue, float(state["t"][0]))  # Phi'(Q(t-1))/V
        felt = self.ranges.felt(constraint.grad)
        self._weigh(self.ranges.ratio * w if felt else 0.0, constraint.value)
        empty = -self.initial * self.ranges.violation
        state["violation"][0] = max(empty, state["violation"][0] + constraint.value)  # Q(t), line 6
        return self.weight

    @property
    def _kernels(self) -> tuple[Kernel, Kernel]:
        return kernels.charges.signed_heeds, kernels.charges.signed
