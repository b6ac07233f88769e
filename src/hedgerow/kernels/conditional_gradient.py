"""Algorithm 6: conditional gradient with exact line search, until the gap is small enough."""

from __future__ import annotations

import math
from typing import Any

from hedgerow._engine.kernel import kernel, nothing, number, read, whole, write
from hedgerow._engine.table import TableType
from hedgerow.kernels import frankwolfe
from hedgerow.kernels.policy_tables import minimise, set_table
from hedgerow.kernels.vectors import two

Array = Any
descent_table = TableType(
    "DescentTable",
    {
        "set": set_table,
        "S": read,  # F(x) = <S, x> + beta ||x - anchor||^2
        "anchor": read,
        "centre": read,  # x lies in share (X - centre)
        "share": number,
        "work": write,  # memory for two vectors
    },
)


@kernel(nothing, write, read, number)
def shrink(v: Array, centre: Array, share: float) -> None:
    """Write share (v - centre) to v."""
    for i in range(len(v)):
        v[i] = share * (v[i] - centre[i])


@kernel(two, descent_table, write, number, number, whole)
def conditional_gradient(
    table: Any, x: Array, beta: float, tolerance: float, cap: int
) -> tuple[float, float]:
    """Descend F from x in at most `cap` steps; return the last gap and the oracle calls.

    The last step is kept, though the paper returns the point before it: it is never worse.
    """
    n, gap, calls = len(x), math.inf, 0.0
    slope, v = table.work[:n], table.work[n : 2 * n]
    for _ in range(cap):
        frankwolfe.gradient(table.S, beta, table.anchor, x, slope)
        minimise(table.set, slope, v)
        shrink(v, table.centre, table.share)
        gap = frankwolfe.line_search(slope, beta, x, v, x)[0]
        calls += 1.0
        if gap <= tolerance:
            break
    return gap, calls
