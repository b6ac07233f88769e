"""Which bound or balance a point breaks that is no flow."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow._engine.kernel import kernel
from hedgerow.kernels.oracles import ORACLE

Array = Any
KEPT = 1e-9
"""What is broken by less than this is kept."""


# index = [nodes | begin | tail | edge], as for `kernels/paths.py`; the flow is 1 from first to last
@kernel(*ORACLE)
def most_broken(
    index: Array, numbers: Array, c: Array, links: Array, scratch: Array, v: Array
) -> None:
    """Write the bound or balance that c breaks most into v, as a direction; 0 if it keeps all."""
    nodes = np.int64(index[0])
    edges = (len(index) - 2 - nodes) // 2
    begin, tail = index[1 : nodes + 2], index[nodes + 2 : nodes + 2 + edges]
    edge, excess = index[nodes + 2 + edges :], np.zeros(nodes)
    excess[0], excess[nodes - 1] = 1.0, -1.0
    for i in range(len(c)):
        v[i] = c[i]  # an edge that no path uses
    for w in range(nodes):
        for k in range(begin[w], begin[w + 1]):
            flow = c[edge[k]]
            v[edge[k]] = min(flow, 0.0)
            excess[w] += flow
            excess[tail[k]] -= flow
    bound, node = 0, 0
    for i in range(len(c)):
        if abs(v[i]) > abs(v[bound]):
            bound = i
    for w in range(nodes):
        if abs(excess[w]) > abs(excess[node]):
            node = w
    off, unbalanced = v[bound], excess[node]
    for i in range(len(c)):
        v[i] = 0.0
    if max(abs(off), abs(unbalanced)) <= KEPT:
        return
    if abs(off) >= abs(unbalanced):
        v[bound] = 1.0 if off > 0.0 else -1.0
        return
    sign = 1.0 if unbalanced > 0.0 else -1.0
    for w in range(nodes):
        for k in range(begin[w], begin[w + 1]):
            if w == node:
                v[edge[k]] = sign
            elif tail[k] == node:
                v[edge[k]] = -sign
