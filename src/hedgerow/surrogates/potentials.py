"""Lyapunov potentials: how the weight on the constraint grows with the violation so far.

The paper's surrogate V f + Phi'(Q) g is divided by V throughout: f has coefficient 1 and the
weight is Phi'(Q)/V, so V, 1e46 or more in the paper's experiment, is never formed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from hedgerow._engine.kernel import kernel, number
from hedgerow._engine.signatures import SLOPE
from hedgerow.inputs import Vector, as_number, as_positive, freeze

__all__ = [
    "AnytimeExponential",
    "ExponentialPotential",
    "GrowingScale",
    "Potential",
    "PowerPotential",
    "Scale",
]

Array = Vector

LARGEST_EXPONENT = 700.0
"""exp of anything larger leaves float64; values stop there."""


Slope = tuple[Callable[..., Any], Vector]
"""The kernel `slope` of `_engine/signatures.py` and the potential's numbers."""


Height = Callable[..., float]
"""A kernel with the signature of `slope` that returns Phi_t(q)/V."""


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


@kernel(number, number, number, number, number)
def growing_scale(floor: float, factor: float, power: float, t: float) -> float:
    """Return max(floor, factor t^power)."""
    return max(floor, factor * t**power)


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
            freeze(self, **{name: as_positive(getattr(self, name), name)})

    def at(self, t: float) -> float:
        """Return the scale in round t."""
        return growing_scale(self.floor, self.factor, self.power, t)

    def numbers(self) -> tuple[float, float, float, float]:
        """Return floor, factor, power, and a budget of 0, for the compiled game."""
        return self.floor, self.factor, self.power, 0.0


@kernel(number, number, number, number, number)
def power_weight(p: float, cap: float, scale: float, q: float) -> float:
    """Return (p/scale) (q/scale)^(p-1), in logarithms, at most `cap`."""
    if q <= 0.0:
        return 1.0 / scale if p == 1.0 else 0.0
    logarithm = math.log(p / scale) + (p - 1.0) * (math.log(q) - math.log(scale))
    return cap if logarithm >= math.log(cap) else math.exp(logarithm)


@kernel(number, number, number, number)
def power_value(p: float, scale: float, q: float) -> float:
    """Return (q/scale)^p, in logarithms."""
    if q <= 0.0:
        return 0.0
    return math.exp(min(LARGEST_EXPONENT, p * (math.log(q) - math.log(scale))))


P, CAP, FLOOR, FACTOR, POWER, BUDGET = range(6)
"""The numbers of `power_slope` and `power_height`."""


@kernel(*SLOPE)
def power_height(potential: Array, q: float, t: float, unit: float, scale: float) -> float:
    """The power law's value, with the scale of `power_slope`."""
    k = growing_scale(potential[FLOOR], potential[FACTOR], potential[POWER], t)
    return power_value(potential[P], k + potential[BUDGET] / unit, q)


@kernel(*SLOPE)
def power_slope(potential: Array, q: float, t: float, unit: float, scale: float) -> float:
    """The power law, with the scale max(floor, factor t^power) + budget/unit."""
    k = growing_scale(potential[FLOOR], potential[FACTOR], potential[POWER], t)
    return power_weight(potential[P], potential[CAP], k + potential[BUDGET] / unit, q)


@dataclass(frozen=True)
class PowerPotential:
    """The power law, Phi(q)/V = (q/scale)^p, with weight (p/scale) (q/scale)^(p-1).

    With scale = 144 G D p^2 T^{3/4} and p = log T it is the paper's (Algorithm 2), where
    V = scale^p.

    Args:
        p: the exponent, at least 1.
        scale: V^(1/p), in the queue's unit; a number, or a `GrowingScale` for any
            horizon.
        cap: the largest weight. min(weight, cap) is the slope of a convex potential too, so the
            regret decomposition holds with that one; `value` has the formula without the cap,
            which is larger where the cap binds.

    >>> round(PowerPotential(p=2.0, scale=10.0).weight(5.0), 12)
    0.1

    """

    p: float
    scale: float | Scale
    cap: float = 1e12

    def __post_init__(self) -> None:
        freeze(self, p=as_number(self.p, "p"))
        if self.p < 1.0:
            raise ValueError(f"p must be at least 1 for a convex potential, got {self.p:g}")
        if not hasattr(self.scale, "at"):
            freeze(self, scale=as_positive(self.scale, "scale"))
        freeze(self, cap=as_positive(self.cap, "cap"))

    def _at(self, t: float) -> float:
        return self.scale if isinstance(self.scale, float) else self.scale.at(t)

    def weight(self, q: float, t: float = 1.0) -> float:
        """Return (p/scale)(q/scale)^(p-1), in logarithms, at most `cap`."""
        return power_weight(self.p, self.cap, self._at(t), q)

    def value(self, q: float, t: float = 1.0) -> float:
        """Return (q/scale)^p."""
        return power_value(self.p, self._at(t), q)

    def slope(self) -> Slope | None:
        """Return the weight as a kernel; None for a scale that has no numbers."""
        fixed = isinstance(self.scale, float)
        numbers = getattr(self.scale, "numbers", lambda: None)
        scale = (self.scale, 0.0, 1.0, 0.0) if fixed else numbers()
        if scale is None:
            return None
        return power_slope, np.array([self.p, self.cap, *scale])

    def height(self) -> Height:
        """Return the value as a kernel, which reads the numbers of `slope`."""
        return power_height


@kernel(number, number, number, number, number)
def exponential_weight(rate: float, factor: float, cap: float, q: float) -> float:
    """Return factor rate exp(rate q), at most `cap`."""
    logarithm = math.log(factor * rate) + rate * q
    return cap if logarithm >= math.log(cap) else math.exp(logarithm)


@kernel(number, number, number, number)
def exponential_value(rate: float, factor: float, q: float) -> float:
    """Return factor (exp(rate q) - 1)."""
    return factor * math.expm1(min(LARGEST_EXPONENT, rate * q))


@kernel(*SLOPE)
def exponential_height(potential: Array, q: float, t: float, unit: float, scale: float) -> float:
    """The exponential's value, the same in all rounds."""
    return exponential_value(potential[0], potential[1], q)


@kernel(*SLOPE)
def exponential_slope(potential: Array, q: float, t: float, unit: float, scale: float) -> float:
    """The exponential, the same in all rounds."""
    rate, factor, cap = potential[0], potential[1], potential[2]  # as `slope()` has them
    return exponential_weight(rate, factor, cap, q)


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
            freeze(self, **{name: as_positive(getattr(self, name), name)})

    def weight(self, q: float, t: float = 1.0) -> float:  # noqa: ARG002 - the same in all rounds
        """Return factor rate exp(rate q), at most `cap`."""
        return exponential_weight(self.rate, self.factor, self.cap, q)

    def value(self, q: float, t: float = 1.0) -> float:  # noqa: ARG002 - the same in all rounds
        """Return factor (exp(rate q) - 1)."""
        return exponential_value(self.rate, self.factor, q)

    def slope(self) -> Slope:
        """Return the weight as a kernel."""
        return exponential_slope, np.array([self.rate, self.factor, self.cap])

    def height(self) -> Height:
        """Return the value as a kernel, which reads the numbers of `slope`."""
        return exponential_height


@kernel(*SLOPE)
def anytime_slope(potential: Array, q: float, t: float, unit: float, scale: float) -> float:
    """The exponential whose rate is min(highest, rate / sqrt t)."""
    rate, highest, cap = potential[0], potential[1], potential[2]  # as `slope()` has them
    return exponential_weight(min(highest, rate / math.sqrt(t)), 1.0, cap, q)


@kernel(*SLOPE)
def anytime_height(potential: Array, q: float, t: float, unit: float, scale: float) -> float:
    """The value of the exponential whose rate falls."""
    return exponential_value(min(potential[1], potential[0] / math.sqrt(t)), 1.0, q)


@dataclass(frozen=True)
class AnytimeExponential:
    """The exponential for any horizon, Phi_t(q)/V = exp(lambda_t q) - 1, a rate that falls.

    lambda_t = min(highest, rate / sqrt t), so that the potential may only decrease over time; then
    the regret decomposition holds as for a fixed rate.

    Args:
        rate: lambda_t sqrt(t), in one over the queue's unit.
        highest: the largest lambda_t, in the same unit.
        cap: the largest weight, as for `PowerPotential`.

    Reference: Sarkar and Sinha (2025), rate 1/2.

    >>> AnytimeExponential(rate=2.0, highest=1.0).at(16.0)
    ExponentialPotential(rate=0.5, factor=1.0, cap=1000000000000.0)

    """

    rate: float
    highest: float
    cap: float = 1e12

    def __post_init__(self) -> None:
        for name in ("rate", "highest", "cap"):
            freeze(self, **{name: as_positive(getattr(self, name), name)})

    def at(self, t: float) -> ExponentialPotential:
        """Return the potential of round t."""
        return ExponentialPotential(min(self.highest, self.rate / math.sqrt(t)), 1.0, self.cap)

    def weight(self, q: float, t: float = 1.0) -> float:
        """Return lambda_t exp(lambda_t q), at most `cap`."""
        return self.at(t).weight(q)

    def value(self, q: float, t: float = 1.0) -> float:
        """Return exp(lambda_t q) - 1."""
        return self.at(t).value(q)

    def slope(self) -> Slope:
        """Return the weight as a kernel."""
        return anytime_slope, np.array([self.rate, self.highest, self.cap])

    def height(self) -> Height:
        """Return the value as a kernel, which reads the numbers of `slope`."""
        return anytime_height


def __dir__() -> list[str]:
    return __all__
