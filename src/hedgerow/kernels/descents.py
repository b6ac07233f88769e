"""Projected gradient descent, as `kernels/advances.py` has learners."""

from __future__ import annotations

from typing import Any

from hedgerow.kernels.advances import advancing
from hedgerow.kernels.jit import kernel
from hedgerow.kernels.projected import descend
from hedgerow.kernels.tangents import along

Array = Any


# state = [x | t, projections | rule]; work = [aim | s]
@kernel(*advancing)
def projected_descent(
    state: Array,
    work: Array,
    s: Array,
    p: Array,
    inner: float,
    sizes: tuple[float, float],
    space: Any,
    project: Any,
    size: Any,
    relax: Any,
    settle: Any,
) -> None:
    """x_{t+1} = P_X(x_t - eta_t s), as `ProjectedDescent.tell`; `size` makes eta_t."""
    n = len(s)
    x, rule, aim = state[:n], state[n + 2 :], work[:n]
    t = state[n] = state[n] + 1.0
    eta = size(rule, t, sizes[0])
    if sizes[0] > 0.0 and eta > 0.0:
        along(space[4], space[5], s, aim)
        descend(aim, x, aim, eta)
        project(space[0], space[1], aim, space[2], space[3], x)
        state[n + 1] += 1.0
