"""Growth of wealth, close to an index: curved costs and curved constraints on real prices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import Vector, as_count, as_number, as_vector, read_only
from hedgerow.problems.portfolio import checked_relatives, price_relatives
from hedgerow.problems.problem import Problem, Round
from hedgerow.protocols.parts import Policy
from hedgerow.sets.simplices import Simplex


@dataclass(frozen=True, eq=False)
class NegativeLog:
    """The negative logarithm of a linear function, f(x) = -log <a, x>, for a > 0 and x >= 0.

    >>> f = NegativeLog([1.0, 2.0])
    >>> f(np.array([1.0, 0.0])), f.grad(np.array([1.0, 0.0]))
    (0.0, array([-1., -2.]))
    """

    coefficients: Vector

    def __init__(self, coefficients: ArrayLike):
        a = as_vector(coefficients, "the coefficients")
        if not a.size or a.min() <= 0.0:
            raise ValueError("the coefficients of a NegativeLog must be above 0")
        object.__setattr__(self, "coefficients", read_only(a))

    def __call__(self, x: Vector) -> float:
        """Return -log <a, x>."""
        return 0.0 - math.log(float(self.coefficients @ x))

    def grad(self, x: Vector) -> Vector:
        """Return -a / <a, x>."""
        return -self.coefficients / float(self.coefficients @ x)


@dataclass(frozen=True, eq=False)
class ActiveShare:
    """How much of a portfolio differs from an index, g(x) = ||x - b||_1 / 2 - limit.

    >>> g = ActiveShare([0.5, 0.5], limit=0.2)
    >>> g(np.array([1.0, 0.0])), g.grad(np.array([1.0, 0.0]))
    (0.3, array([ 0.5, -0.5]))
    """

    index: Vector
    limit: float

    def __init__(self, index: ArrayLike, limit: float):
        object.__setattr__(self, "index", read_only(as_vector(index, "the index")))
        object.__setattr__(self, "limit", as_number(limit, "the limit"))

    def __call__(self, x: Vector) -> float:
        """Return ||x - b||_1 / 2 - limit."""
        return 0.5 * float(np.abs(x - self.index).sum()) - self.limit

    def grad(self, x: Vector) -> Vector:
        """Return half the signs of x - b."""
        return 0.5 * np.sign(x - self.index)


@dataclass(frozen=True, eq=False)
class LogPortfolio(Problem):
    """An index fund that may differ a little from its index, for the sake of growth.

    f_t(x) = -log <r_t, x>, so that the sum of costs is minus the log of final wealth, and
    g_t(x) = ||x - b_t||_1 / 2 - limit: the trades that would turn the fund into the index b_t, the
    "active share", are limited. The index starts from equal weights, drifts with the prices and
    returns to equal weights every `rebalance` days. Equal weights themselves keep every round's
    constraint; a limit that they would exceed is refused.

    Args:
        relatives: price relatives, days x assets, above 0.
        limit: the largest active share, between 0 and 1.
        rebalance: the number of days between two resets of the index.

    >>> relatives = np.random.default_rng(0).lognormal(0.0, 0.01, (500, 6))
    >>> problem = LogPortfolio(relatives, limit=0.3)
    >>> cost, constraint = next(iter(problem))
    >>> round(constraint(problem.decision_set.lmo([0, 0, 1, 1, 1, 1])), 3)
    0.533

    """

    relatives: Vector
    limit: float = 0.2
    rebalance: int = 21
    decision_set: Simplex = field(init=False)
    horizon: int = field(init=False)
    feasible: Vector = field(init=False)
    _index: Vector = field(init=False, repr=False)

    def __init__(self, relatives: ArrayLike, limit: float = 0.2, rebalance: int = 21):
        r = checked_relatives(relatives)
        equal = np.full(r.shape[1], 1.0 / r.shape[1])
        index = _drifting(r, as_count(rebalance, "rebalance"))
        farthest = 0.5 * float(np.abs(index - equal).sum(axis=1).max())
        if not farthest < as_number(limit, "limit") <= 1.0:
            raise ValueError(
                f"the index moves {farthest:.3g} away from equal weights, so the limit must be "
                f"above that and at most 1, got {limit:g}; raise it or rebalance more often"
            )
        for name, value in (
            ("relatives", read_only(r)),
            ("limit", float(limit)),
            ("rebalance", rebalance),
            ("decision_set", Simplex(r.shape[1])),
            ("horizon", len(r)),
            ("feasible", read_only(equal)),
            ("_index", read_only(index)),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def from_csv(
        cls, path: str | Path, limit: float = 0.2, rebalance: int = 21, horizon: int | None = None
    ) -> LogPortfolio:
        """Read price relatives by `price_relatives`; `horizon` takes the first days only."""
        return cls(checked_relatives(price_relatives(path), 0, horizon), limit, rebalance)

    @property
    def cost_lipschitz(self) -> float:
        """No cost has a longer gradient: ||r_t|| over the day's least relative."""
        r = self.relatives
        return float((np.linalg.norm(r, axis=1) / r.min(axis=1)).max())

    @property
    def constraint_lipschitz(self) -> float:
        """No constraint has a longer gradient: half the square root of the number of assets."""
        return 0.5 * math.sqrt(self.decision_set.dim)

    @property
    def cost_range(self) -> tuple[float, float]:
        """Every cost lies between these two, at every point of the set."""
        return -math.log(float(self.relatives.max())), -math.log(float(self.relatives.min()))

    @property
    def violation_range(self) -> float:
        """No constraint has a larger value: all wealth in the asset of least weight."""
        return 1.0 - float(self._index.min()) - self.limit

    def rounds(self, policy: Policy[Any, Any] | None = None) -> Iterator[Round]:  # noqa: ARG002
        """Yield the rounds."""
        for r, b in zip(self.relatives, self._index, strict=True):
            yield NegativeLog(r), ActiveShare(b, self.limit)


def _drifting(relatives: Vector, rebalance: int) -> Vector:
    """Return the index's weights at the beginning of each day."""
    days, assets = relatives.shape
    index = np.empty((days, assets))
    for t in range(days):
        if t % rebalance == 0:
            index[t] = 1.0 / assets
        else:
            held = index[t - 1] * relatives[t - 1]
            index[t] = held / held.sum()
    return index
