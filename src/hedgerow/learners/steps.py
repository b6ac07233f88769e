"""Step rules for conditional gradient: how strongly to regularise, and how far to step.

F_t(x) = <S_t, x> + beta_t ||x - x_1||^2 with S_t the sum of the gradients and beta_t = 1/eta_t;
x_{t+1} = x_t + sigma_t (v_t - x_t).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from hedgerow import kernels
from hedgerow.inputs import Vector, as_count, as_positive
from hedgerow.sets.decision_set import DecisionSet


class StepKernels(NamedTuple):
    """The rule's compiled arithmetic; `kernels/steps.py` says what each takes."""

    regularise: Callable[..., float]
    relax: Callable[..., float]
    settle: Callable[..., Any]


class StepRule(Protocol):
    """A frozen rule; its running numbers live in the learner's state."""

    plain_norms: ClassVar[bool]
    """Whether gradients are measured by their plain norm, not along the set."""

    @property
    def horizon(self) -> int | None:
        """The number of rounds it was made for, if it needs to know."""
        ...

    def begin(self, diameter: float) -> Vector:
        """Return the rule's numbers before the first round."""
        ...

    def norm2(self, decision_set: DecisionSet, s: Vector) -> float:
        """Return the squared size of a gradient."""
        ...

    def kernels(self) -> StepKernels:
        """Return the compiled arithmetic."""
        ...


@dataclass(frozen=True)
class PaperSteps:
    """The paper's steps: eta_t = D / (2 L_t T^{3/4}), sigma_t = min(1, 2/sqrt t).

    L_t is the running maximum of the plain norms ||grad_t||, as Theorem 2.1 needs (the box's
    L_t = ||grad_t|| may fall, and divides by zero). A proved rate; slow in practice.

    Args:
        horizon: the number of rounds T.

    """

    plain_norms: ClassVar[bool] = True
    horizon: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "horizon", as_count(self.horizon, "horizon"))

    def begin(self, diameter: float) -> Vector:
        """Return [D, T, L]."""
        return np.array([diameter, float(self.horizon), 0.0])

    def norm2(self, decision_set: DecisionSet, s: Vector) -> float:
        """Return the plain squared norm."""
        return decision_set.squares(s)[1]

    def kernels(self) -> StepKernels:
        """Return the compiled arithmetic."""
        k = kernels.steps
        return StepKernels(k.paper_regularise, k.paper_relax, k.nothing_to_settle)


@dataclass(frozen=True)
class WeibelSteps:
    """Constant steps with the smallest proved constant: Regret_T <= 1.755 M D T^{3/4}.

    v_t minimises <(x_t - x_1) + eta sum of grad_tau up to t, x>, with eta = (D/(2M)) (3/T)^{3/4}
    and sigma = min(1, sqrt(3/T)); here beta = 1/(2 eta), because grad F_t has the factor 2. The
    constant is 4/3^{3/4}, for losses with ||grad_t|| <= M; the bound is below the trivial M D T
    from T = 10 on. Found by computer search over worst cases, which also suggests that conditional
    gradient with one oracle call a round cannot do better than T^{3/4}.

    Args:
        horizon: the number of rounds T.
        lipschitz: M, in units of loss per length.

    Reference: Weibel, Gaillard, Koolen and Taylor, arXiv 2506.05855 (2025). Their version for any
    horizon (AISTATS 2026) is not here.

    """

    plain_norms: ClassVar[bool] = False
    horizon: int
    lipschitz: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "horizon", as_count(self.horizon, "horizon"))
        object.__setattr__(self, "lipschitz", as_positive(self.lipschitz, "lipschitz"))

    def begin(self, diameter: float) -> Vector:
        """Return [D, T, M]."""
        return np.array([diameter, float(self.horizon), self.lipschitz])

    def norm2(self, decision_set: DecisionSet, s: Vector) -> float:  # noqa: ARG002
        """Return 0: the bound M is known, no gradient is measured."""
        return 0.0

    def kernels(self) -> StepKernels:
        """Return the compiled arithmetic."""
        k = kernels.steps
        return StepKernels(k.weibel_regularise, k.weibel_relax, k.nothing_to_settle)


@dataclass(frozen=True)
class RmsSteps:
    """Root-mean-square steps for any horizon: eta_t = kappa D / (2 t^{1/4} sqrt(sum ||grad||^2)).

    sigma_t is the exact line search on F_t. Norms are tangent norms.

    Args:
        kappa: how much longer than the paper's the steps are; 8 is the more careful choice
            against adversaries that react, 16 the better one on graphs.

    """

    plain_norms: ClassVar[bool] = False
    kappa: float = 16.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "kappa", as_positive(self.kappa, "kappa"))

    @property
    def horizon(self) -> None:
        """Any."""

    def begin(self, diameter: float) -> Vector:
        """Return [D, kappa, sum of squares]."""
        return np.array([diameter, self.kappa, 0.0])

    def norm2(self, decision_set: DecisionSet, s: Vector) -> float:
        """Return the squared tangent norm."""
        return decision_set.squares(s)[0]

    def kernels(self) -> StepKernels:
        """Return the compiled arithmetic."""
        k = kernels.steps
        return StepKernels(k.rms_regularise, k.line_search, k.nothing_to_settle)


@dataclass(frozen=True)
class CertificateSteps:
    """The practical default: the regulariser grows exactly when the certificate asks for it.

    beta_t = max(beta_{t-1}, M_{t-1} / (c D^2), 2 t^{1/4} sqrt(sum ||grad||^2) / (floor D)) with
    M_t = sum <grad_tau, x_tau> - F_t(x_{t+1}); sigma_t is the exact line search on F_t. After the
    fact, Regret' <= (1 + c) beta_{T+1} D^2 + gap_T for every comparator, where gap_T is the
    Frank-Wolfe gap of F_T at x_{T+1}. Beforehand, Regret' is of order T^{3/4} with a large constant
    (docs/theory.md). Norms are tangent norms.

    Args:
        c: how much of beta D^2 the certificate may take up; flat between 0.01 and 0.1.
        floor: the lowest regulariser is that of `RmsSteps(kappa=floor)`, the paper's rate.

    """

    plain_norms: ClassVar[bool] = False
    c: float = 0.03
    floor: float = 64.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", as_positive(self.c, "c"))
        object.__setattr__(self, "floor", as_positive(self.floor, "floor"))

    @property
    def horizon(self) -> None:
        """Any."""

    def begin(self, diameter: float) -> Vector:
        """Return [D, c, floor, sum of squares, beta, M]."""
        return np.array([diameter, self.c, self.floor, 0.0, 0.0, 0.0])

    def norm2(self, decision_set: DecisionSet, s: Vector) -> float:
        """Return the squared tangent norm."""
        return decision_set.squares(s)[0]

    def kernels(self) -> StepKernels:
        """Return the compiled arithmetic."""
        k = kernels.steps
        return StepKernels(k.certificate_regularise, k.line_search, k.certificate_settle)
