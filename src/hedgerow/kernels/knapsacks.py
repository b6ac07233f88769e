"""What is worth most in a bag of limited size: the dynamic programme over loads."""

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
