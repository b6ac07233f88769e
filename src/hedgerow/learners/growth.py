"""How much the steps of a round gain: what decides a learner's rate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hedgerow.inputs import as_positive, freeze
from hedgerow.sets.decision_set import DecisionSet

LEAST_RHO = 0.25
"""(R/D)^2 is at least this, because two points of the set are at most 2 R apart."""
REFERENCE = 1e5
"""The number of rounds for which the best of several growths is chosen."""


@dataclass(frozen=True)
class Growth:
    """The steps of every round gain Delta_t >= a beta_t D^{2-q} y_t^q.

    Delta_t = F_t(x_t) - F_t(x_{t+1}), and y_t is the distance of x_t to the minimiser of F_t. Then
    Z_t = A_t + h_t/(q - 1) rises by at most (D^{q-2}/(a beta_t))^{1/(q-1)} ||s_t||^{q'} plus
    delta_t R^2/(q - 1) per round, q' = q/(q - 1). With beta_t = kappa P_t^{1/q'}/D,
    P_t = sum ||s||^{q'}, regret is at most C D P_T^{1/q'} (theory.md): T^{1/2}, T^{2/3} and T^{3/4}
    for q = 2, 3, 4.

    Args:
        q: 2, 3 or 4.
        a: the constant, a number without unit.

    >>> Growth(4, 1.0).constant(0.25)  # of a ball or a box, around its centre
    1.654...

    """

    q: int
    a: float

    def __post_init__(self) -> None:
        if self.q not in (2, 3, 4):
            raise ValueError(f"q must be 2, 3 or 4, got {self.q!r}")
        freeze(self, a=as_positive(self.a, "a"))

    @property
    def dual(self) -> float:
        """Q' = q/(q - 1), the exponent of the gradients' norms."""
        return self.q / (self.q - 1.0)

    @property
    def rate(self) -> str:
        """The order of the regret."""
        return f"T^{{{self.q - 1}/{self.q}}}"

    def kappa(self, rho: float) -> float:
        """Return the schedule's best factor, for rho = (R/D)^2."""
        best = (self.q - 1.0) * max(rho, LEAST_RHO) * self.a ** (1.0 / (self.q - 1.0))
        return float(best ** (-1.0 / self.dual))

    def constant(self, rho: float) -> float:
        """Return C = q' ((a kappa)^{-1/(q-1)} + rho kappa), which is q q' rho kappa."""
        return self.q * self.dual * max(rho, LEAST_RHO) * self.kappa(rho)


def growths_of_one_step(decision_set: DecisionSet) -> tuple[Growth, ...]:
    """Return what one oracle call and an exact line search gain: q = 4, and 3 on curved sets."""
    curved = 0.5 * decision_set.strong_convexity * decision_set.diameter
    return (Growth(4, 1.0), *((Growth(3, min(1.0, curved)),) if curved > 0.0 else ()))


def growths_of_away_steps(decision_set: DecisionSet, vertices: int) -> tuple[Growth, ...]:
    """Return what away steps gain: q = 4, and 2 on polytopes of known pyramidal width.

    The latter needs room for n + 2 vertices, so that none are merged into a point that is no
    vertex.
    """
    width, D = decision_set.pyramidal_width, decision_set.diameter
    if width == 0.0 or vertices < decision_set.dim + 2:
        return (Growth(4, 0.25),)
    return Growth(4, 0.25), Growth(2, (0.5 * width / D) ** 2)


def best_growth(growths: Iterable[Growth], rho: float, horizon: float = REFERENCE) -> Growth:
    """Return the growth with the smallest bound of the regret after this many rounds."""
    return min(growths, key=lambda growth: growth.constant(rho) * horizon ** (1.0 / growth.dual))
