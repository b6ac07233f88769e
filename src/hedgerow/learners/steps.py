"""Step rules for conditional gradient: how strongly to regularise, and how far to step.

F_t(x) = <S_t, x> + beta_t ||x - x_1||^2 with S_t the sum of the gradients and beta_t = 1/eta_t;
x_{t+1} = x_t + sigma_t (v_t - x_t).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hedgerow._engine.kernel import kernel, number, write
from hedgerow._engine.signatures import AFTER_STEP, REGULARISE, STEP_SIZE
from hedgerow.inputs import Vector, as_count, as_positive, freeze
from hedgerow.learners.growth import Growth
from hedgerow.learners.kernel_learner import StepKernels, learn_nothing

Array = Vector
Loss = tuple[float, float, float]
TANGENT2, PLAIN2 = range(2)
"""What a rule may know of a loss: its squared norm along the set, and its plain squared norm."""
D = 0
"""Every rule's first number is the diameter."""
HORIZON, STEEPEST = 1, 2
"""The others of `PaperSteps` and `WeibelSteps`; STEEPEST is the largest norm, seen or declared."""
KAPPA, SQUARES = 1, 2
"""The others of `RmsSteps`: kappa, and the sum of the squared norms."""


class StepRule(Protocol):
    """A frozen rule; its running numbers live in the learner's state."""

    @property
    def horizon(self) -> int | None:
        """The number of rounds it was made for, if it needs to know."""
        ...

    def begin(self, diameter: float) -> Vector:
        """Return the rule's numbers before the first round."""
        ...

    def kernels(self) -> StepKernels:
        """Return `regularise`, `step_size` and `after_step` of `_engine/signatures.py`."""
        ...


def as_steps(steps: StepRule) -> StepRule:
    """Return a step rule, or refuse what is none."""
    if not (callable(getattr(steps, "begin", None)) and callable(getattr(steps, "kernels", None))):
        raise TypeError(
            f"steps must be a step rule, such as CertificateSteps() or PaperSteps(horizon), "
            f"got {steps!r}"
        )
    return steps


@kernel(*STEP_SIZE)
def line_search(rule: Array, t: float, beta: float, gap: float, distance2: float) -> float:
    """sigma_t = clip(<grad F, x - v> / (2 beta ||v - x||^2), 0, 1), the exact minimiser."""
    if gap <= 0.0 or distance2 <= 0.0:
        return 0.0
    if gap >= 2.0 * beta * distance2:
        return 1.0
    return gap / (2.0 * beta * distance2)


@kernel(*REGULARISE)
def _paper_regularise(rule: Array, t: float, loss: Loss) -> float:
    """1/eta_t = 2 L_t T^{3/4} / D, L_t the running maximum of ||grad_t||."""
    rule[STEEPEST] = max(rule[STEEPEST], math.sqrt(loss[PLAIN2]))
    return 2.0 * rule[STEEPEST] * rule[HORIZON] ** 0.75 / rule[D]


@kernel(*STEP_SIZE)
def _paper_step_size(rule: Array, t: float, beta: float, gap: float, distance2: float) -> float:
    """sigma_t = min(1, 2/sqrt t); no move while no gradient has been seen."""
    if rule[STEEPEST] == 0.0:
        return 0.0
    return min(1.0, 2.0 / math.sqrt(t))


@dataclass(frozen=True)
class PaperSteps:
    """The paper's steps: eta_t = D / (2 L_t T^{3/4}), sigma_t = min(1, 2/sqrt t).

    L_t is the running maximum of the plain norms ||grad_t||, as Theorem 2.1 needs (the box's
    L_t = ||grad_t|| may fall, and divides by zero). A proved rate; slow in practice.

    Args:
        horizon: the number of rounds T.

    """

    horizon: int

    def __post_init__(self) -> None:
        freeze(self, horizon=as_count(self.horizon, "horizon"))

    def begin(self, diameter: float) -> Vector:
        """Return [D, T, L]."""
        return np.array([diameter, float(self.horizon), 0.0])

    def kernels(self) -> StepKernels:
        """Return the compiled arithmetic."""
        return StepKernels(_paper_regularise, _paper_step_size, learn_nothing)


@kernel(*REGULARISE)
def _weibel_regularise(rule: Array, t: float, loss: Loss) -> float:
    """1/(2 eta) = (M/D) (T/3)^{3/4}, with t for T where no horizon is known."""
    T = rule[HORIZON] if rule[HORIZON] > 0.0 else t
    return rule[STEEPEST] / rule[D] * (T / 3.0) ** 0.75


@kernel(*STEP_SIZE)
def _weibel_step_size(rule: Array, t: float, beta: float, gap: float, distance2: float) -> float:
    """Return sigma = min(1, sqrt(3/T)), with t for T where no horizon is known."""
    return min(1.0, math.sqrt(3.0 / (rule[HORIZON] if rule[HORIZON] > 0.0 else t)))


@dataclass(frozen=True)
class WeibelSteps:
    """Prescribed steps with the smallest proved constants, for losses with ||grad_t|| <= M.

    v_t minimises <(x_t - x_1) + eta sum of grad_tau up to t, x>, with eta = (D/(2M)) (3/T)^{3/4}
    and sigma = min(1, sqrt(3/T)); here beta = 1/(2 eta), because grad F_t has the factor 2. Then
    Regret_T <= 4/3^{3/4} M D T^{3/4} = 1.755 M D T^{3/4}, below the trivial M D T from T = 10 on.
    Without a horizon t stands for T, and Regret_T <= 5/3^{3/4} M D T^{3/4} = 2.194 M D T^{3/4} for
    every T. Found by computer search over worst cases, which also suggests that conditional
    gradient with one oracle call per round cannot do better than T^{3/4}.

    Args:
        horizon: the number of rounds T; None for any horizon.
        lipschitz: M, in units of loss per length.

    Reference: Weibel, Gaillard, Koolen and Taylor, arXiv 2506.05855 (2025), and AISTATS 2026 for
    the version without a horizon.

    """

    horizon: int | None
    lipschitz: float

    def __post_init__(self) -> None:
        if self.horizon is not None:
            freeze(self, horizon=as_count(self.horizon, "horizon"))
        freeze(self, lipschitz=as_positive(self.lipschitz, "lipschitz"))

    def begin(self, diameter: float) -> Vector:
        """Return [D, T, M], with T = 0 for any horizon."""
        return np.array([diameter, float(self.horizon or 0), self.lipschitz])

    def kernels(self) -> StepKernels:
        """Return the compiled arithmetic."""
        return StepKernels(_weibel_regularise, _weibel_step_size, learn_nothing)


@kernel(*REGULARISE)
def _rms_regularise(rule: Array, t: float, loss: Loss) -> float:
    """1/eta_t = 2 t^{1/4} sqrt(sum ||grad||^2) / (kappa D)."""
    rule[SQUARES] += loss[TANGENT2]
    return 2.0 * t**0.25 * math.sqrt(rule[SQUARES]) / (rule[KAPPA] * rule[D])


@dataclass(frozen=True)
class RmsSteps:
    """Root-mean-square steps for any horizon: eta_t = kappa D / (2 t^{1/4} sqrt(sum ||grad||^2)).

    sigma_t is the exact line search on F_t. Norms are tangent norms.

    Args:
        kappa: how much longer than the paper's the steps are; 8 is the more careful choice
            against adversaries that react, 16 the better one on graphs.

    """

    kappa: float = 16.0

    def __post_init__(self) -> None:
        freeze(self, kappa=as_positive(self.kappa, "kappa"))

    @property
    def horizon(self) -> None:
        """The round after which the guarantee ends: none, these steps fit any horizon."""

    def begin(self, diameter: float) -> Vector:
        """Return [D, kappa, sum of squares]."""
        return np.array([diameter, self.kappa, 0.0])

    def kernels(self) -> StepKernels:
        """Return the compiled arithmetic."""
        return StepKernels(_rms_regularise, line_search, learn_nothing)


C, FLOOR, CAP, P, BETA, M, UNIT, LEFT = range(1, 9)
"""The others of `CertificateSteps`. UNIT is the power of two above the first gradient, so that
multiplying all gradients by a power of two changes no bit; P is in that unit."""


@kernel(number, number)
def three_quarters(x: float) -> float:
    """Return x^{3/4}, by roots: a power takes twice the time."""
    root = math.sqrt(x)
    return root * math.sqrt(root)


@kernel(number, number, number)
def relative_size(norm2: float, unit: float) -> float:
    """Return (||grad||/unit)^{4/3}."""
    return (norm2 / (unit * unit)) ** (2.0 / 3.0) if norm2 > 0.0 else 0.0


@kernel(number, write, number)
def capped_regulariser(rule: Array, size: float) -> float:
    """beta_t = max(beta_{t-1}, floor P_t^{3/4}/D, min(M_{t-1}/(c D^2), cap P_t^{3/4}/D)).

    P_t = P_{t-1} + size, where size is that of `relative_size`, in its unit.
    """
    unit = rule[UNIT] * three_quarters(rule[P] + size) / rule[D]
    wanted = rule[M] / (rule[C] * rule[D] * rule[D])
    return max(rule[BETA], rule[FLOOR] * unit, min(wanted, rule[CAP] * unit))


@kernel(number, number)
def power_of_two_above(tangent2: float) -> float:
    """Return the power of two above the square root, 0 for 0."""
    return math.ldexp(1.0, math.frexp(math.sqrt(tangent2))[1]) if tangent2 > 0.0 else 0.0


@kernel(*REGULARISE)
def _certificate_regularise(rule: Array, t: float, loss: Loss) -> float:
    """The capped regulariser."""
    if rule[UNIT] == 0.0:
        rule[UNIT] = power_of_two_above(loss[TANGENT2])
    size = relative_size(loss[TANGENT2], rule[UNIT])
    rule[BETA] = capped_regulariser(rule, size) if rule[UNIT] > 0.0 else 0.0
    rule[P] += size
    return rule[BETA]


@kernel(*AFTER_STEP)
def _certificate_after_step(rule: Array, margin: float, left: float) -> None:
    """Remember M_t, and a bound of F_t(x_{t+1}) - min F_t."""
    rule[M], rule[LEFT] = margin, left


@dataclass(frozen=True)
class CertificateSteps:
    """The practical rule: the regulariser grows exactly when the certificate asks for it.

    beta_t = max(beta_{t-1}, floor P_t^{3/4}/D, min(M_{t-1}/(c D^2), cap P_t^{3/4}/D)) with
    P_t = sum ||grad_tau||^{4/3} and M_t = sum <grad_tau, x_tau> - F_t(x_{t+1}); sigma_t is the
    exact line search on F_t. It knows no horizon and no Lipschitz constant, and rounds without a
    gradient change nothing. Norms are tangent norms.

    Beforehand, Regret_T <= (4/3) (cap^{-1/3} + rho cap) D P_T^{3/4} + lower order (Theorem E of
    theory.md, `bounds.capped_regret`), rho = (R/D)^2, where R is the radius around x_1.
    P_T^{3/4} <= L T^{3/4} for gradients of norm at most L. After the fact,
    Regret_T <= (1 + c) beta_{T+1} D^2 + gap_T where the cap does not bind; gap_T is the
    Frank-Wolfe gap of F_T at x_{T+1}.

    Args:
        c: how much of beta D^2 the certificate may take up; flat between 0.01 and 0.1.
        floor: the lowest regulariser, in units of P_t^{3/4}/D.
        cap: the largest one, in the same unit. The theorem holds for
            (c + rho) cap^{4/3} <= 4/3, so for every set if cap = 1 and c <= 1/3.

    """

    c: float = 0.03
    floor: float = 1.0 / 32.0
    cap: float = 1.0

    def __post_init__(self) -> None:
        for name in ("c", "floor", "cap"):
            freeze(self, **{name: as_positive(getattr(self, name), name)})
        if self.floor > self.cap:
            raise ValueError(
                f"floor must be at most cap, got floor={self.floor:g} and cap={self.cap:g}"
            )

    @property
    def horizon(self) -> None:
        """The round after which the guarantee ends: none, these steps fit any horizon."""

    def begin(self, diameter: float) -> Vector:
        """Return D, c, floor and cap, and zeros."""
        return np.array([diameter, self.c, self.floor, self.cap, *[0.0] * 5])

    def kernels(self) -> StepKernels:
        """Return the compiled arithmetic."""
        return StepKernels(_certificate_regularise, line_search, _certificate_after_step)


DUAL, SCHEDULE, POWERS, SCHEDULE_UNIT = range(1, 5)
"""The others of `ScheduleSteps`: q', kappa/D, the sum of ||grad||^{q'} in the rule's unit, and that
unit, the power of two above the first gradient."""


@kernel(*REGULARISE)
def _schedule_regularise(rule: Array, t: float, loss: Loss) -> float:
    """1/eta_t = kappa P_t^{1/q'}/D."""
    if rule[SCHEDULE_UNIT] == 0.0:
        rule[SCHEDULE_UNIT] = power_of_two_above(loss[TANGENT2])
    unit = rule[SCHEDULE_UNIT]
    if loss[TANGENT2] > 0.0:
        rule[POWERS] += (loss[TANGENT2] / (unit * unit)) ** (0.5 * rule[DUAL])
    return rule[SCHEDULE] * unit * rule[POWERS] ** (1.0 / rule[DUAL])


@dataclass(frozen=True)
class ScheduleSteps:
    """The schedule that fits a growth: beta_t = kappa P_t^{1/q'}/D, P_t = sum ||grad_tau||^{q'}.

    Regret_T <= C D P_T^{1/q'} for every T, C = `growth.constant(rho)` (theory.md,
    `bounds.schedule_regret`): L T^{1/2} for q = 2, L T^{2/3} for q = 3, L T^{3/4} for q = 4. It
    knows no horizon and no Lipschitz constant. A proved rate; `CertificateSteps` are better in
    practice.

    Args:
        growth: what is proved of the learner's steps, one of `learner.growths`.
        rho: (R/D)^2, with R the radius around x_1; 1/4 for a ball, at most 1.

    """

    growth: Growth
    rho: float = 1.0

    def __post_init__(self) -> None:
        freeze(self, rho=as_positive(self.rho, "rho"))

    @property
    def horizon(self) -> None:
        """The round after which the guarantee ends: none, these steps fit any horizon."""

    def begin(self, diameter: float) -> Vector:
        """Return [D, q', kappa/D, 0, 0]."""
        kappa = self.growth.kappa(self.rho)
        return np.array([diameter, self.growth.dual, kappa / diameter, 0.0, 0.0])

    def kernels(self) -> StepKernels:
        """Return the compiled arithmetic."""
        return StepKernels(_schedule_regularise, line_search, learn_nothing)


CERTIFIED, LOWEST, LARGEST, UNIVERSAL_BETA, MARGIN = range(1, 6)
"""The others of `UniversalSteps`: c, k, the largest norm, beta and M."""


@kernel(*REGULARISE)
def _universal_regularise(rule: Array, t: float, loss: Loss) -> float:
    """beta_t = max(beta_{t-1}, k L_t/D, M_{t-1}/(c D^2))."""
    diameter = rule[D]
    rule[LARGEST] = max(rule[LARGEST], math.sqrt(loss[TANGENT2]))
    wanted = rule[MARGIN] / (rule[CERTIFIED] * diameter * diameter)
    lowest = rule[LOWEST] * rule[LARGEST] / diameter
    rule[UNIVERSAL_BETA] = max(rule[UNIVERSAL_BETA], lowest, wanted)
    return rule[UNIVERSAL_BETA]


@kernel(*AFTER_STEP)
def _universal_after_step(rule: Array, margin: float, left: float) -> None:
    """Remember M_t."""
    rule[MARGIN] = margin


@dataclass(frozen=True)
class UniversalSteps:
    """One rule for all sets: beta_t = max(beta_{t-1}, k L_t/D, M_{t-1}/(c D^2)).

    L_t is the largest ||grad|| so far, M_t = sum <grad_tau, x_tau> - F_t(x_{t+1}), and sigma_t is
    the exact line search. Nothing in it has the order of a rate, and so it has the rate of every
    `Growth` of the learner's steps, known or not: T^{1/2} by away steps on polytopes, T^{2/3} on
    strongly convex sets, T^{3/4} on all (Theorem U of theory.md, `bounds.universal_regret`).

    Args:
        c: how much of beta D^2 the certificate may take up. The bound has c = 1; games prefer less.
        k: the lowest regulariser, in units of L_t/D.

    """

    c: float = 1.0
    k: float = 0.05

    def __post_init__(self) -> None:
        freeze(self, c=as_positive(self.c, "c"), k=as_positive(self.k, "k"))

    @property
    def horizon(self) -> None:
        """The round after which the guarantee ends: none, these steps fit any horizon."""

    def begin(self, diameter: float) -> Vector:
        """Return D, c and k, and zeros."""
        return np.array([diameter, self.c, self.k, 0.0, 0.0, 0.0])

    def kernels(self) -> StepKernels:
        """Return the compiled arithmetic."""
        return StepKernels(_universal_regularise, line_search, _universal_after_step)
