"""The sums of a policy's rounds, for certificates and summaries.

ledger = [the play after the last round | sum of s_t |
          sum of <s_t, x_t>, sum of prices, rounds, sum of ||s_t||, sum of |prices| |
          sum of costs, sum of violations, rounds with a violation |
          sum of violations of each constraint, for a policy with a queue for each |
          1 if constraints may have different units, else 0 |
          rounds, cost, violation and violated rounds of each adviser, for a policy that has some]
"""

from __future__ import annotations

import math
from typing import Any

from numba import types

from hedgerow._engine.kernel import kernel, nothing, number, read, write
from hedgerow.kernels.vectors import dot

Array = Any
ADVISER_TOTALS = 4
"""How many totals each adviser has."""


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


@kernel(nothing, write, read, read, number, read, number, read)
def add_advisers(
    totals: Array, advice: Array, a: Array, cost: float, c: Array, value: float, x: Array
) -> None:
    """Add what each adviser that spoke would have cost and violated, by tangents at x.

    `advice` has an entry for each voice, above 0 where it spoke, then the advisers' points.
    """
    n, K = len(x), len(totals) // ADVISER_TOTALS
    if K == 0:
        return
    cost -= dot(a, x)
    value -= dot(c, x)
    for k in range(K):
        if advice[k] > 0.0:
            point = advice[K + 1 + k * n : K + 1 + (k + 1) * n]
            own, violation = totals[ADVISER_TOTALS * k :], value + dot(c, point)
            own[0] += 1.0
            own[1] += cost + dot(a, point)
            if violation > 0.0:
                own[2] += violation
                own[3] += 1.0


@kernel(number, read, read)
def lost_against(ledger: Array, x: Array) -> float:
    """Return sum <s_tau, x_tau - x> - sum of prices: what was lost so far against x."""
    n = len(x)
    return ledger[2 * n] - dot(ledger[n : 2 * n], x) - ledger[2 * n + 1]


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
