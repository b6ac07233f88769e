"""The loss of a round with several constraints, each weighed by a queue of its own, in one kernel.

The gradients of the constraints are the rows of an array, which are as long as the play.
"""

from __future__ import annotations

import math
from typing import Any

from hedgerow._engine.kernel import kernel, number, read, rows, write
from hedgerow.kernels.policy_tables import LARGEST_LOSS2, surrogate_tables
from hedgerow.kernels.vectors import dot, two
from hedgerow.surrogates.make_loss import take_back, weigh
from hedgerow.surrogates.queue import PRICE

Array = Any
NOT_MADE = (math.nan, math.nan)


@kernel(two, surrogate_tables, write, write, read, number, rows, read, read)
def make_each_loss(
    surrogates: Any,
    s: Array,
    scratch: Array,
    a: Array,
    cost: float,
    gradients: Array,
    values: Array,
    x: Array,
) -> tuple[float, float]:
    """Take in a round and write the loss's gradient a + the sum of weights times gradients to s.

    Return what the constraints add to the loss, and ||s||^2. Both are NaN, with nothing changed,
    for a round that is left to Python.
    """
    tables, cost2, price, refused = surrogates.tables, dot(a, a), 0.0, -1
    for i in range(len(s)):
        s[i] = a[i]
    for k in range(len(tables)):
        surrogate, c = tables[k], gradients[k]
        tangent2 = surrogate.measure(surrogate.label, surrogate.members, a, cost2)
        norms2 = (cost2, dot(c, c), tangent2)
        weight = weigh(surrogate, scratch, a, cost, c, values[k], x, x, norms2)
        if weight != weight:
            refused = k
            break
        if weight != 0.0:
            for i in range(len(s)):
                s[i] += weight * c[i]
        price += surrogate.queue[PRICE]
    norm2 = dot(s, s)
    if refused < 0:
        if norm2 <= LARGEST_LOSS2 and abs(price) < math.inf:
            return price, norm2
        refused = len(tables)
    for k in range(refused - 1, -1, -1):
        take_back(tables[k])
    return NOT_MADE
