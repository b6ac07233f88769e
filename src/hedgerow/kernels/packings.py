"""Dynamic programmes: what fits into a bag of limited size, and intervals on one machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow._engine.kernel import kernel
from hedgerow.kernels.oracles import ORACLE

Index = Any


# index = [capacity | owner of each bundle | size of each bundle], numbers = [copies in each bundle]
@kernel(*ORACLE)
def packing(index: Index, numbers: Any, c: Any, links: Index, scratch: Any, v: Any) -> None:
    """Write the cheapest packing into v: bundles of copies of items of negative cost, each once.

    worth[w] is the most that bundles seen so far save within a load of w; at a tie the later
    bundle stays out.
    """
    capacity, bundles = int(index[0]), len(numbers)
    worth = np.zeros(capacity + 1)
    taken = np.zeros((bundles, capacity + 1), np.bool_)
    for b in range(bundles):
        i, size = index[1 + b], int(index[1 + bundles + b])
        gain = -c[i] * numbers[b]
        if gain > 0.0:
            for w in range(capacity, size - 1, -1):
                if worth[w - size] + gain > worth[w]:
                    worth[w] = worth[w - size] + gain
                    taken[b, w] = True
    v[:] = 0.0
    w = capacity
    for b in range(bundles - 1, -1, -1):
        if taken[b, w]:
            v[index[1 + b]] += numbers[b]
            w -= int(index[1 + bundles + b])


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
