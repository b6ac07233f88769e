"""The sums of a policy's rounds, for certificates and summaries.

ledger = [the play after the last round | sum of s_t |
          sum of <s_t, x_t>, sum of prices, rounds, sum of ||s_t||, sum of |prices| |
          sum of costs, sum of violations, rounds with a violation |
          sum of violations of each constraint, for a policy with a queue for each |
          1 if constraints may have different units, else 0]
"""

from __future__ import annotations

import math
from typing import Any

from numba import types

from hedgerow._engine.kernel import kernel, nothing, number, read, write

Array = Any


@kernel(nothing, write, read, number, number, number, number, number)
def certificate_add(
    ledger: Array,
    s: Array,
    inner: float,
    norm2: float,
    price: float,
    cost: float,
    value: float,
) -> None:
    """Add a round with loss s: <s, x> = inner, ||s||^2 = norm2; values of cost and constraint."""
    n = len(s)
    total = ledger[n : 2 * n]
    for i in range(n):
        total[i] += s[i]
    ledger[2 * n] += inner
    ledger[2 * n + 1] += price
    ledger[2 * n + 2] += 1.0
    ledger[2 * n + 3] += math.sqrt(norm2)
    ledger[2 * n + 4] += abs(price)
    ledger[2 * n + 5] += cost
    if value > 0.0:
        ledger[2 * n + 6] += value
        ledger[2 * n + 7] += 1.0


@kernel(nothing, write, read)
def add_each(each: Array, values: Array) -> None:
    """Add the violation of each constraint to the ledger's part for it."""
    for k in range(len(each)):
        each[k] += max(0.0, values[k])


@kernel(types.boolean, write, read)
def is_play_left(ledger: Array, x: Array) -> bool:
    """Whether x is the play that the last round left."""
    for i in range(len(x)):  # noqa: SIM110 - numba compiles no generators
        if x[i] != ledger[i]:
            return False
    return True


@kernel(nothing, write, read)
def store_play(ledger: Array, x: Array) -> None:
    """Remember the play after a round."""
    for i in range(len(x)):
        ledger[i] = x[i]
