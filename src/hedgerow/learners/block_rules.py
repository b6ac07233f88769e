"""Step rules of learners that move once in a block: block bandits and blocked descent."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from hedgerow._engine.kernel import kernel, number, read
from hedgerow.inputs import Vector, as_count, as_positive, freeze


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
        freeze(self, horizon=as_count(self.horizon, "horizon", least=3))

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
    the cap of K oracle calls per block allows.

    Args:
        horizon: the number of rounds T.
        kappa: the step's length.

    """

    horizon: int
    kappa: float = 0.5

    def __post_init__(self) -> None:
        freeze(
            self,
            horizon=as_count(self.horizon, "horizon", least=3),
            kappa=as_positive(self.kappa, "kappa"),
        )

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


class LooBlock(NamedTuple):
    """What is fixed for a whole game."""

    length: int  # K, rounds in a block
    eps: float  # the approximate projection's tolerance, a squared length


class LooRule(Protocol):
    """A frozen rule; running numbers live in the learner's state."""

    @property
    def horizon(self) -> int:
        """The number of rounds it is made for."""
        ...

    def begin(self, radius: float) -> LooBlock:
        """Return the constants of a game in a set of this radius."""
        ...

    def eta(self, radius: float, squares: float) -> float:
        """Return the step, where `squares` sums the blocks' squared gradients up to now."""
        ...


@dataclass(frozen=True)
class FixedLooBlocks:
    """A theorem's constants: K = ceil(a sqrt T), eps = c R^2 / sqrt T, eta = (R/G) T^{-3/4}.

    a = 5 and c = 60 are those of Garber and Kretzu (2022): regret on every interval at most
    20 G R (T^{1/2} + T^{3/4}). At most T oracle calls, by the bounds of the projection of 2023 up
    to T = 1.8e6. Up to T = 32400 they make 3 eps >= R^2, and from x_1 no point of the ball of
    radius R is far enough to follow: the play never moves.

    Args:
        horizon: the number of rounds T.
        lipschitz: G, a bound of all gradients' norms.
        length: a, how long a block is.
        tolerance: c, how near the play has to be to the point it follows.

    """

    horizon: int
    lipschitz: float
    length: float = 5.0
    tolerance: float = 60.0

    def __post_init__(self) -> None:
        freeze(self, horizon=as_count(self.horizon, "horizon"))
        for name in ("lipschitz", "length", "tolerance"):
            freeze(self, **{name: as_positive(getattr(self, name), name)})

    def begin(self, radius: float) -> LooBlock:
        """Return K and eps."""
        root = math.sqrt(self.horizon)
        return LooBlock(math.ceil(self.length * root), self.tolerance * radius**2 / root)

    def eta(self, radius: float, squares: float) -> float:  # noqa: ARG002
        """Return (R/G) T^{-3/4}."""
        return float(radius / self.lipschitz * self.horizon**-0.75)


@dataclass(frozen=True)
class PracticalLooBlocks:
    """Larger steps: K = ceil(sqrt T), eps = 0.1 R^2 / sqrt T, and a step size without constants.

    eta_m = kappa R / sqrt(sum of ||p_j||^2 up to block m) with p_j the sum of block j's gradients
    along the set. No unit, and never below kappa (R/G) T^{-3/4} where T is a square: the value at
    the end if all gradients have norm G and never turn. While every gradient was zero it is
    kappa R T^{-3/4}, for gradients of norm 1.

    Args:
        horizon: the number of rounds T.
        kappa: the step's length.
        tolerance: c in eps = c R^2 / sqrt T. With 0.1 the oracle was asked 0.1 to 0.4 times a
            round on simplices and paths; that is measured, not promised.

    """

    horizon: int
    kappa: float = 1.0
    tolerance: float = 0.1

    def __post_init__(self) -> None:
        freeze(self, horizon=as_count(self.horizon, "horizon"))
        for name in ("kappa", "tolerance"):
            freeze(self, **{name: as_positive(getattr(self, name), name)})

    def begin(self, radius: float) -> LooBlock:
        """Return K and eps."""
        root = math.sqrt(self.horizon)
        return LooBlock(math.ceil(root), self.tolerance * radius**2 / root)

    def eta(self, radius: float, squares: float) -> float:
        """Return kappa R / sqrt(squares), or kappa R T^{-3/4} while every gradient was zero."""
        size = math.sqrt(squares) if squares > 0.0 else self.horizon**0.75
        return self.kappa * radius / size
