"""What a certificate remembers of the rounds, whoever plays them.

ledger = [the play after the last round | sum of s_t |
          sum of <s_t, x_t>, sum of prices, rounds, sum of ||s_t||, sum of |prices|]
"""

from __future__ import annotations

import math
from typing import Any

from numba import types

from hedgerow.kernels.jit import kernel, nothing, number, read, write
from hedgerow.kernels.vectors import dot

Array = Any


@kernel(nothing, write, read, number, number, number)
def certificate_add(ledger: Array, s: Array, inner: float, norm2: float, price: float) -> None:
    """Add a round with loss s: <s, x> = inner, ||s||^2 = norm2."""
    n = len(s)
    total = ledger[n : 2 * n]
    for i in range(n):
        total[i] += s[i]
    ledger[2 * n] += inner
    ledger[2 * n + 1] += price
    ledger[2 * n + 2] += 1.0
    ledger[2 * n + 3] += math.sqrt(norm2)
    ledger[2 * n + 4] += abs(price)


@kernel(types.boolean, write, read)
def is_play_left(ledger: Array, x: Array) -> bool:
    """Whether x is the play that the last round left."""
    for i in range(len(x)):  # noqa: SIM110 - numba compiles no generators
        if x[i] != ledger[i]:
            return False
    return True


@kernel(nothing, write, read)
def leave_play(ledger: Array, x: Array) -> None:
    """Remember the play after a round."""
    for i in range(len(x)):
        ledger[i] = x[i]


@kernel(nothing, write, read, read, number)
def certificate_add_round(ledger: Array, s: Array, following: Array, price: float) -> None:
    """Add a round with loss s, played at the play that was left; `following` is the next play."""
    x = ledger[: len(s)]
    certificate_add(ledger, s, dot(s, x), dot(s, s), price)
    leave_play(ledger, following)
