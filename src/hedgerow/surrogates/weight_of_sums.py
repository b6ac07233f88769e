"""The weight of a constraint from sums alone, for a game whose vectors lie in several places.

A surrogate sees a round through products: the squares of the gradients a and c along the set, their
product, what the safest action v would change, and what was lost so far. Four coordinates have the
same products: a = (|a|, 0, <a, v - x>, 0) and c = (<a, c>/|a|, rest, 0, <c, v - x>), where the
first two are measured, x = 0, and the oracle answers (0, 0, 1, 1). So the surrogate's own kernels
weigh a round of any size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from hedgerow._engine.kernel import kernel
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_vector
from hedgerow.kernels.oracles import ORACLE
from hedgerow.kernels.path_rounds import (
    COST2,
    FORCE2,
    PAST,
    PLAIN_COST2,
    PLAIN_FORCE2,
    PRODUCT,
    SAFE_COST,
    SAFE_FORCE,
)
from hedgerow.kernels.tangents import signature, unless_rounding
from hedgerow.sets.compiled import Compiled
from hedgerow.sets.decision_set import FullDimensional
from hedgerow.surrogates.adaptive import AdaptiveSurrogate
from hedgerow.surrogates.ranges import ObservedRanges

Array = Any
DIM = 4
INNER, PRICE = 2 * DIM, 2 * DIM + 1
"""Where a ledger has the sum of <s, x> and of prices, as `kernels/certificate.py` says."""


@kernel(*signature)
def measure_first_two(label: Array, members: Array, c: Array, plain2: float) -> float:
    """Return the squared norm of the first two coordinates."""
    return c[0] * c[0] + c[1] * c[1]


@kernel(*ORACLE)
def safest(index: Array, numbers: Array, c: Array, links: Array, scratch: Array, v: Array) -> None:
    """Write (0, 0, 1, 1)."""
    v[0] = v[1] = 0.0
    v[2] = v[3] = 1.0


@dataclass(frozen=True, eq=False)
class _FourCoordinates(FullDimensional):
    """Stands for the set whose products are known. Oracle: the safest action, whatever c is."""

    diameter = 1.0
    dim = DIM

    @cached_property
    def compiled(self) -> Compiled:
        return Compiled(safest, measure_first_two)

    def lmo(self, c: ArrayLike) -> Vector:  # noqa: ARG002
        return np.array([0.0, 0.0, 1.0, 1.0])

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:  # noqa: ARG002
        return as_vector(x, "x", DIM).size == DIM


class WeightOfSums:
    """`AdaptiveSurrogate`, told the sums of a round in place of its gradients; without a guard.

    Args:
        dim: the dimension of the game.
        eagerness: how eagerly the constraint is satisfied, as in `projection_free_coco`.

    """

    def __init__(self, dim: int, eagerness: float = 1.0):
        self.dim = float(dim)
        X = _FourCoordinates()
        learner = SimpleNamespace(decision_set=X, ask=lambda: np.zeros(DIM))
        self.surrogate = AdaptiveSurrogate(ObservedRanges(cast(Any, learner)), eagerness)
        self.ledger = np.zeros(2 * DIM + 8)
        self.surrogate.read(self.ledger)

    def tell(self, cost: float, value: float, sums: Vector) -> tuple[float, float]:
        """Take in a round: values of cost and constraint, and `sums` of `path_rounds`.

        Return the weight of the constraint, and what it adds to the loss.
        """
        self.ledger[INNER] = self.inner - sums[PAST]
        cost2 = unless_rounding(sums[COST2], sums[PLAIN_COST2], self.dim)
        force2 = unless_rounding(sums[FORCE2], sums[PLAIN_FORCE2], self.dim)
        norm = math.sqrt(cost2)
        along = sums[PRODUCT] / norm if cost2 > 0.0 and force2 > 0.0 else 0.0
        rest = math.sqrt(max(0.0, force2 - along * along))
        a = np.array([norm, 0.0, sums[SAFE_COST], 0.0])
        c = np.array([along, rest, 0.0, sums[SAFE_FORCE]])
        self.surrogate.tell(EvalGrad(cost, a), EvalGrad(value, c))
        return self.surrogate.weight, self.surrogate.price

    inner = 0.0
    """The sum of <s, x> of earlier rounds."""

    @property
    def paid(self) -> float:
        """The sum of all prices so far."""
        return float(self.ledger[PRICE])

    def settle(self, inner: float, price: float) -> None:
        """Add a round's <s, x> and price to what was lost so far."""
        self.inner += inner
        self.ledger[PRICE] += price
