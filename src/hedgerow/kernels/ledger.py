"""What a certificate needs to know of the rounds, whoever plays them.

ledger = [sum of s_t, unless the learner keeps it |
          sum of <s_t, x_t>, sum of prices, rounds, sum of ||s_t||, sum of |prices|]
"""

from __future__ import annotations

import math
from typing import Any

from hedgerow.kernels.jit import kernel, nothing, number, read, write
from hedgerow.kernels.vectors import dot

Array = Any


@kernel(nothing, write, read, number, number, number)
def enter(ledger: Array, s: Array, inner: float, norm2: float, price: float) -> None:
    """Add a round with loss s: <s, x> = inner, ||s||^2 = norm2."""
    n = len(ledger) - 5  # 0 where the learner itself keeps the sum of the losses
    for i in range(n):
        ledger[i] += s[i]
    ledger[n] += inner
    ledger[n + 1] += price
    ledger[n + 2] += 1.0
    ledger[n + 3] += math.sqrt(norm2)
    ledger[n + 4] += abs(price)


@kernel(nothing, write, read, read, number)
def record(ledger: Array, s: Array, x: Array, price: float) -> None:
    """Add a round with loss s, played at x."""
    enter(ledger, s, dot(s, x), dot(s, s), price)
