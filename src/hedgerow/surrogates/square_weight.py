"""Algorithm 2's weight with the potential q^2 in units that were seen, from sums alone.

The same weight as that of `CurrentSurrogate(PowerPotential(2.0, eagerness ** -0.5), 0.0,
ObservedRanges(learner))`, for rounds whose vectors lie elsewhere.
"""

from __future__ import annotations

import numpy as np

from hedgerow._engine.kernel import kernel, number, write
from hedgerow._engine.signatures import CONSTRAINT_GRAD2, SIZES
from hedgerow.inputs import Vector, as_positive
from hedgerow.kernels.path_rounds import COST2, FORCE2, PLAIN_COST2, PLAIN_FORCE2
from hedgerow.kernels.tangents import unless_rounding
from hedgerow.surrogates.current import observe, record
from hedgerow.surrogates.queue import PRICE
from hedgerow.surrogates.ranges import AS_SEEN, NUMBERS, Sizes, weight_unit

Array = Vector
QUEUE = 5
"""How many numbers a queue has, as `surrogates/queue.py` says; NUMBERS is that of ranges."""
UNITS = np.array([0.0, AS_SEEN, 0.0, 0.0])
"""Q(0) = 0 and ranges that are seen."""


@kernel(number, write, write, number, number, SIZES)
def weigh_square(
    queue: Array, ranges: Array, eagerness: float, value: float, sizes: Sizes
) -> float:
    """Take in a round of which the sizes are known; return w_t = 2 eagerness (Gf/Gg) Q(t)."""
    weight, q = 0.0, observe(queue, ranges, UNITS, value, sizes)
    if q == q and sizes[CONSTRAINT_GRAD2] > 0.0:  # not NaN
        weight = 2.0 * eagerness * weight_unit(ranges, UNITS) * q
    record(queue, ranges, UNITS, value, weight)
    return weight


class WeightOfSums:
    """The weight of a game in shards, told the sums of a round.

    Args:
        dim: the dimension of the game.
        eagerness: how eagerly the constraint is satisfied, as in `projection_free_coco`.

    """

    def __init__(self, dim: int, eagerness: float = 1.0):
        self.dim, self.eagerness = float(dim), as_positive(eagerness, "eagerness")
        self.queue, self.ranges = np.zeros(QUEUE), np.zeros(NUMBERS)
        self.inner = self.paid = 0.0
        """The sums of <s, x> and of prices."""

    def tell(self, value: float, sums: Vector) -> float:
        """Take in a round: the constraint's value, and `sums` of `path_rounds`.

        Return the weight of the constraint.
        """
        cost2 = unless_rounding(sums[COST2], sums[PLAIN_COST2], self.dim)
        force2 = unless_rounding(sums[FORCE2], sums[PLAIN_FORCE2], self.dim)
        sizes = cost2, force2, float(sums[PLAIN_FORCE2])
        return weigh_square(self.queue, self.ranges, self.eagerness, value, sizes)

    def settle(self, inner: float) -> None:
        """Add a round's <s, x>, and its price."""
        self.inner += inner
        self.paid += float(self.queue[PRICE])
