"""Lyapunov potentials: how the weight on the constraint grows with the violation so far.

The paper's surrogate V f + Phi'(Q) g is divided by V throughout: f has coefficient 1 and the
weight is Phi'(Q)/V, so V, 1e46 or more in the paper's experiment, is never formed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from hedgerow.inputs import as_number, as_positive

LARGEST_EXPONENT = 700.0
"""exp of anything larger leaves float64; values stop there."""


class Potential(Protocol):
    """A convex nondecreasing Phi with Phi(0) >= 0, divided by V."""

    def weight(self, q: float, t: float = 1.0) -> float:
        """Return Phi_t'(q)/V."""
        ...

    def value(self, q: float, t: float = 1.0) -> float:
        """Return Phi_t(q)/V."""
        ...


class Scale(Protocol):
    """A scale that may grow with the rounds."""

    def at(self, t: float) -> float:
        """Return the scale in round t."""
        ...


@dataclass(frozen=True)
class GrowingScale:
    """A scale for any horizon: max(floor, factor t^power).

    The potential may only decrease over time, so the scale never falls; then the regret
    decomposition holds as for a fixed scale.
    """

    floor: float
    factor: float
    power: float = 0.5

    def __post_init__(self) -> None:
        for name in ("floor", "factor", "power"):
            object.__setattr__(self, name, as_positive(getattr(self, name), name))

    def at(self, t: float) -> float:
        """Return the scale in round t."""
        return float(max(self.floor, self.factor * t**self.power))


@dataclass(frozen=True)
class PowerPotential:
    """The power law, Phi(q)/V = (q/scale)^p, with weight (p/scale) (q/scale)^(p-1).

    With scale = 144 G D p^2 T^{3/4} and p = log T it is the paper's (Algorithm 2), where
    V = scale^p.

    Args:
        p: the exponent, at least 1.
        scale: V^(1/p), in the queue's unit; a number, or a `GrowingScale` for any
            horizon.
        cap: the largest weight. Where it binds the regret decomposition no longer holds; the
            certificate does.

    >>> round(PowerPotential(p=2.0, scale=10.0).weight(5.0), 12)
    0.1

    """

    p: float
    scale: float | Scale
    cap: float = 1e12

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", as_number(self.p, "p"))
        if self.p < 1.0:
            raise ValueError(f"p must be at least 1 for a convex potential, got {self.p:g}")
        if not hasattr(self.scale, "at"):
            object.__setattr__(self, "scale", as_positive(self.scale, "scale"))
        object.__setattr__(self, "cap", as_positive(self.cap, "cap"))

    def _at(self, t: float) -> float:
        return self.scale if isinstance(self.scale, float) else self.scale.at(t)

    def weight(self, q: float, t: float = 1.0) -> float:
        """Return (p/scale)(q/scale)^(p-1), in logarithms, at most `cap`."""
        scale = self._at(t)
        if q <= 0.0:
            return 1.0 / scale if self.p == 1.0 else 0.0
        logarithm = math.log(self.p / scale) + (self.p - 1.0) * (math.log(q) - math.log(scale))
        return self.cap if logarithm >= math.log(self.cap) else math.exp(logarithm)

    def value(self, q: float, t: float = 1.0) -> float:
        """Return (q/scale)^p."""
        if q <= 0.0:
            return 0.0
        return math.exp(min(LARGEST_EXPONENT, self.p * (math.log(q) - math.log(self._at(t)))))


@dataclass(frozen=True)
class ExponentialPotential:
    """The exponential, Phi(q)/V = factor (exp(rate q) - 1), with weight factor rate exp(rate q).

    Used by Sinha and Vaze (2024), rate 1/(2 sqrt T), and by Wang et al. (2025), rate
    1/(2 T^{3/4}).

    Args:
        rate: the growth rate, in one over the queue's unit.
        factor: 1/V.
        cap: the largest weight, as for `PowerPotential`.

    >>> ExponentialPotential(rate=0.5).weight(0.0)
    0.5

    """

    rate: float
    factor: float = 1.0
    cap: float = 1e12

    def __post_init__(self) -> None:
        for name in ("rate", "factor", "cap"):
            object.__setattr__(self, name, as_positive(getattr(self, name), name))

    def weight(self, q: float, t: float = 1.0) -> float:  # noqa: ARG002 - the same in all rounds
        """Return factor rate exp(rate q), at most `cap`."""
        logarithm = math.log(self.factor * self.rate) + self.rate * q
        return self.cap if logarithm >= math.log(self.cap) else math.exp(logarithm)

    def value(self, q: float, t: float = 1.0) -> float:  # noqa: ARG002 - the same in all rounds
        """Return factor (exp(rate q) - 1)."""
        return self.factor * math.expm1(min(LARGEST_EXPONENT, self.rate * q))
