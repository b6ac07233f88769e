"""Step rules for block bandits: how far to perturb, how long to wait, how to regularise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from hedgerow._engine.kernel import kernel, number, read
from hedgerow.inputs import Vector, as_count, as_positive


class Block(NamedTuple):
    """What is fixed for a whole game."""

    length: int  # K, rounds in a block
    delta: float  # how far a play is from its block's point
    epsilon: float  # the Frank-Wolfe gap that is good enough, times eta
    centred: bool  # whether the last block's mean value is subtracted


class Seen(NamedTuple):
    """What the losses were like so far, for the regulariser."""

    lipschitz: float  # the largest declared Lipschitz constant
    bound: float  # the largest declared bound
    squares: float  # the sum of the blocks' squared gradient estimates


class BlockRule(Protocol):
    """A frozen rule; running numbers live in the learner's state."""

    @property
    def horizon(self) -> int:
        """The number of rounds it is made for."""
        ...

    def begin(self, dim: int, radius: float, diameter: float) -> Block:
        """Return the constants of a game, or refuse a set in which they do not fit."""
        ...

    def beta(self, dim: int, diameter: float, seen: Seen) -> float:
        """Return 1/eta_m.

        For the compiled loop a rule also has `regulariser(dim, diameter)`, which returns a kernel
        with the signature `BLOCK_BETA` and its numbers.
        """
        ...


Regulariser = tuple[Callable[..., float], Vector]
BLOCK_BETA = (number, read, number, number, number)
"""A kernel that returns 1/eta_m of the rule's numbers and what was `Seen`."""


@kernel(*BLOCK_BETA)
def paper_beta(rule: Vector, lipschitz: float, bound: float, squares: float) -> float:
    """Return (sqrt(n) M + L) T^{3/4} / D; rule = [sqrt n, T^{3/4}, D]."""
    return (rule[0] * bound + lipschitz) * rule[1] / rule[2]


@kernel(*BLOCK_BETA)
def practical_beta(rule: Vector, lipschitz: float, bound: float, squares: float) -> float:
    """Return sqrt(sum ||grad_m||^2) / (kappa D); rule = [kappa D]."""
    return math.sqrt(squares) / rule[0]


@dataclass(frozen=True)
class PaperBlocks:
    """The paper's blocks (Theorem 4.1, after its errata).

    K = ceil(sqrt T), delta = sqrt(n) T^{-1/4}, eta_m = D / ((sqrt(n) M + L) T^{3/4}) with L and M
    the largest declared constants so far, and gap tolerance eps/eta_m with
    eps = 16 R^2 sqrt(log T / T). R is the radius of a ball around the set's inner centre that
    contains the set; the diameter is used, which is always large enough and for a set about its
    centre twice the paper's R, so that eps is four times the paper's.

    Args:
        horizon: the number of rounds T.

    """

    horizon: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "horizon", as_count(self.horizon, "horizon", least=3))

    def begin(self, dim: int, radius: float, diameter: float) -> Block:
        """Refuse a set whose inner ball is smaller than the perturbation."""
        T = self.horizon
        delta = math.sqrt(dim) * T**-0.25
        if delta >= radius:
            needed = math.floor(dim**2 * (1.0 + 1e-12) / radius**4) + 1
            raise ValueError(
                f"bandit play needs delta < inner radius, got {delta:.3g} >= {radius:.3g} at "
                f"T = {T}; the paper's steps need T >= {needed}, PracticalBlocks none"
            )
        epsilon = 16.0 * diameter**2 * math.sqrt(math.log(T) / T)
        return Block(math.ceil(math.sqrt(T)), delta, epsilon, centred=False)

    def beta(self, dim: int, diameter: float, seen: Seen) -> float:
        """Return (sqrt(n) M + L) T^{3/4} / D."""
        return called(self.regulariser(dim, diameter), seen)

    def regulariser(self, dim: int, diameter: float) -> Regulariser:
        """Return the kernel of beta and its numbers."""
        return paper_beta, np.array([math.sqrt(dim), self.horizon**0.75, diameter])


@dataclass(frozen=True)
class PracticalBlocks:
    """Larger steps for practical horizons: tested empirically, not proved.

    K = ceil(sqrt T), delta = r min(1/2, sqrt(n) T^{-1/4}) in units of the inner radius r, the
    last block's mean value subtracted from each value (which leaves the estimate unbiased),
    eta_m = kappa D / sqrt(sum ||grad_m||^2), and a hundredth of the paper's gap tolerance, which
    the cap of K oracle calls a block leaves room for.

    Args:
        horizon: the number of rounds T.
        kappa: the step's length.

    """

    horizon: int
    kappa: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "horizon", as_count(self.horizon, "horizon", least=3))
        object.__setattr__(self, "kappa", as_positive(self.kappa, "kappa"))

    def begin(self, dim: int, radius: float, diameter: float) -> Block:
        """Return a perturbation that fits every set."""
        T = self.horizon
        delta = radius * min(0.5, math.sqrt(dim) * T**-0.25)
        epsilon = 0.16 * diameter**2 * math.sqrt(math.log(T) / T)
        return Block(math.ceil(math.sqrt(T)), delta, epsilon, centred=True)

    def beta(self, dim: int, diameter: float, seen: Seen) -> float:
        """Return sqrt(sum ||grad_m||^2) / (kappa D)."""
        return called(self.regulariser(dim, diameter), seen)

    def regulariser(self, dim: int, diameter: float) -> Regulariser:  # noqa: ARG002
        """Return the kernel of beta and its numbers."""
        return practical_beta, np.array([self.kappa * diameter])


def called(regulariser: Regulariser, seen: Seen) -> float:
    """Return 1/eta_m by a rule's kernel."""
    kernel, numbers = regulariser
    return kernel(numbers, *seen)
