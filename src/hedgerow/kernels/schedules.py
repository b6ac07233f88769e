"""The intervals that are worth most on one machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow._engine.kernel import kernel
from hedgerow.kernels.oracles import ORACLE

Index = Any


# index = [intervals by their ends | how many of them end before each of these begins]
@kernel(*ORACLE)
def one_machine(index: Index, numbers: Any, c: Any, links: Index, scratch: Any, v: Any) -> None:
    """Write the cheapest set of disjoint intervals into v; what costs nothing stays out."""
    n = len(c)
    worth = np.zeros(n + 1)  # the least cost of the first k intervals
    for k in range(n):
        worth[k + 1] = min(worth[k], c[index[k]] + worth[index[n + k]])
    v[:] = 0.0
    k = n
    while k > 0:
        if worth[k] < worth[k - 1]:
            v[index[k - 1]] = 1.0
            k = int(index[n + k - 1])
        else:
            k -= 1
