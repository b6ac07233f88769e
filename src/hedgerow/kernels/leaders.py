"""The perturbed leader, as `kernels/advances.py` has learners."""

from __future__ import annotations

import math
from typing import Any

from hedgerow.kernels import ocg
from hedgerow.kernels.advances import advancing
from hedgerow.kernels.jit import kernel

Array = Any


# state = [x | L | squares, first, calls]; work = [d | offset or 0, factor]
@kernel(*advancing)
def perturbed_leader(
    state: Array,
    work: Array,
    s: Array,
    p: Array,
    inner: float,
    sizes: tuple[float, float],
    space: Any,
    oracle: Any,
    regularise: Any,
    relax: Any,
    settle: Any,
) -> None:
    """Algorithm 7's learner, as `FTPL.tell`."""
    n = len(s)
    x, L, d, tally = state[:n], state[n : 2 * n], work[:n], state[2 * n :]
    offset, factor = work[n], work[n + 1]
    ocg.add(L, s)
    size = sizes[1] if offset > 0.0 else sizes[0]
    tally[0] += size
    if tally[1] == 0.0:
        tally[1] = size
    eta = factor * math.sqrt(((offset if offset > 0.0 else tally[1]) + tally[0]) / n)
    ocg.perturb(d, L, p, eta if eta > 0.0 else 1.0)
    oracle(space[0], space[1], d, space[2], space[3], x)
    tally[2] += 1.0
