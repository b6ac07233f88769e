"""One round of many demands: loads of links, gradients by path, and sums that a weight needs.

The paths of pair p are first[p] .. first[p + 1]; path i has the links hops[ptr[i] .. ptr[i + 1]]
and a latency. With demands d the cost is the mean latency, sum_i a_i x_i with
a_i = d_p latency_i / total, and the constraint's gradient is c_i = d_p (sum of its links' prices).
"""

from __future__ import annotations

from typing import Any

from hedgerow._engine.kernel import index, kernel, nothing, number, read, write
from hedgerow._engine.table import TableType
from hedgerow.kernels.vectors import two

Array = Any
COST, FORCE, COST2, FORCE2, PLAIN_COST2, PLAIN_FORCE2, SUMS = range(7)
"""Sums over all pairs, with x the split: <a, x>, <c, x>, ||a||^2 and ||c||^2 along the set, and in
all directions. SUMS is their count."""
paths_table = TableType(
    "PathsTable", {"first": index, "ptr": index, "hops": index, "latency": read}
)


@kernel(two, paths_table, read, read, write)
def add_loads(paths: Any, demand: Array, x: Array, loads: Array) -> tuple[float, float]:
    """Add the demands to the loads of their links; return all demand, and demand x latency."""
    first, ptr, hops, latency = paths.first, paths.ptr, paths.hops, paths.latency
    total = delay = 0.0
    for p in range(len(demand)):
        d, own = demand[p], 0.0
        for i in range(first[p], first[p + 1]):
            flow = d * x[i]
            own += flow * latency[i]
            if flow != 0.0:
                for h in range(ptr[i], ptr[i + 1]):
                    loads[hops[h]] += flow
        total += d
        delay += own
    return total, delay


@kernel(nothing, paths_table, read, read, read, number, write, write)
def gather(
    paths: Any, demand: Array, x: Array, prices: Array, total: float, c: Array, sums: Array
) -> None:
    """Write the constraint's gradient into c, and add to the sums."""
    first, ptr, hops, latency = paths.first, paths.ptr, paths.hops, paths.latency
    for p in range(len(demand)):
        i0, i1, d = first[p], first[p + 1], demand[p]
        per_ms = d / total
        mean_a = mean_c = cost = force = 0.0
        for i in range(i0, i1):
            price = 0.0
            for h in range(ptr[i], ptr[i + 1]):
                price += prices[hops[h]]
            c[i] = d * price
            mean_a += per_ms * latency[i]
            mean_c += c[i]
            sums[PLAIN_COST2] += per_ms * latency[i] * (per_ms * latency[i])
            sums[PLAIN_FORCE2] += c[i] * c[i]
            cost += per_ms * latency[i] * x[i]
            force += c[i] * x[i]
        mean_a, mean_c = mean_a / (i1 - i0), mean_c / (i1 - i0)
        if i1 - i0 > 1:  # a single path cannot move
            for i in range(i0, i1):
                a, b = per_ms * latency[i] - mean_a, c[i] - mean_c
                sums[COST2] += a * a
                sums[FORCE2] += b * b
        sums[COST] += cost
        sums[FORCE] += force


@kernel(nothing, paths_table, read, number, number, write)
def weigh(paths: Any, demand: Array, total: float, weight: float, c: Array) -> None:
    """Write the gradient of the loss, a + weight c, in the place of c."""
    first, latency = paths.first, paths.latency
    for p in range(len(demand)):
        per_ms = demand[p] / total
        for i in range(first[p], first[p + 1]):
            c[i] = per_ms * latency[i] + weight * c[i]


@kernel(number, index, read)
def lowest_sum(first: Array, S: Array) -> float:
    """Return the sum over all pairs of the least entry of S among their paths: min <S, x>."""
    total = 0.0
    for p in range(len(first) - 1):
        least = S[first[p]]
        for i in range(first[p] + 1, first[p + 1]):
            least = min(least, S[i])
        total += least
    return total
