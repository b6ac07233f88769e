"""Linear minimisation over norm balls."""

from __future__ import annotations

import math
from typing import Any

from hedgerow.kernels.jit import kernel
from hedgerow.kernels.oracles import answering
from hedgerow.kernels.vectors import dot

Array = Any


# numbers = [radius]
@kernel(*answering)
def against_largest(
    index: Array, numbers: Array, c: Array, links: Array, scratch: Array, v: Array
) -> None:
    """Go against the largest entry of |c|, the first one if several."""
    best = 0
    for i in range(len(c)):
        v[i] = 0.0
        if abs(c[i]) > abs(c[best]):
            best = i
    v[best] = numbers[0] if c[best] < 0.0 else -numbers[0]


# numbers = [radius]
@kernel(*answering)
def against(index: Array, numbers: Array, c: Array, links: Array, scratch: Array, v: Array) -> None:
    """Return -radius c / ||c||, against the first axis if c = 0."""
    largest = 0.0
    for i in range(len(c)):
        largest = max(largest, abs(c[i]))
    if largest == 0.0:
        for i in range(len(c)):
            v[i] = 0.0
        v[0] = -numbers[0]
        return
    for i in range(len(c)):
        v[i] = c[i] / largest  # so that squares neither overflow nor vanish
    factor = -numbers[0] / math.sqrt(dot(v, v))
    for i in range(len(c)):
        v[i] *= factor
