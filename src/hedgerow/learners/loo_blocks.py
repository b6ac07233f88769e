"""Step rules for blocked gradient descent with a linear oracle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from hedgerow.inputs import as_count, as_positive


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
        object.__setattr__(self, "horizon", as_count(self.horizon, "horizon"))
        for name in ("lipschitz", "length", "tolerance"):
            object.__setattr__(self, name, as_positive(getattr(self, name), name))

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
        object.__setattr__(self, "horizon", as_count(self.horizon, "horizon"))
        for name in ("kappa", "tolerance"):
            object.__setattr__(self, name, as_positive(getattr(self, name), name))

    def begin(self, radius: float) -> LooBlock:
        """Return K and eps."""
        root = math.sqrt(self.horizon)
        return LooBlock(math.ceil(root), self.tolerance * radius**2 / root)

    def eta(self, radius: float, squares: float) -> float:
        """Return kappa R / sqrt(squares), or kappa R T^{-3/4} while every gradient was zero."""
        size = math.sqrt(squares) if squares > 0.0 else self.horizon**0.75
        return self.kappa * radius / size
