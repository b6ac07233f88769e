"""How large a vector is along a set: ||tangent(c)||^2, zero where it is rounding beside ||c||^2.

One signature for all sets, `measure(label, members, c, plain2)` with plain2 = ||c||^2. A label of 0
marks a coordinate that cannot move; coordinates of one label k > 0, members[k] of them, have a
fixed sum. Without labels all coordinates move, and have one fixed sum if there are members.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow._engine.kernel import function, index, kernel, nothing, number, read, write
from hedgerow.kernels.vectors import mean_of, spread_of

Array = Any
signature = (number, index, read, read, number)
measures = function(*signature)
along_signature = (nothing, index, read, read, write)
along_type = function(*along_signature)
EPS = 2.0**-52


@kernel(number, number, number, number)
def unless_rounding(tangent2: float, plain2: float, n: float) -> float:
    """Return tangent2, or 0 where it is rounding beside plain2 in n dimensions."""
    return tangent2 if tangent2 > (4.0 * EPS * n) ** 2 * plain2 else 0.0


@kernel(*signature)
def everywhere(label: Array, members: Array, c: Array, plain2: float) -> float:
    """All coordinates move freely; no labels."""
    return plain2


@kernel(*signature)
def unfixed(label: Array, members: Array, c: Array, plain2: float) -> float:
    """Coordinates with a label above 0 move freely."""
    tangent2 = 0.0
    for i in range(len(c)):
        if label[i] > 0:
            tangent2 += c[i] * c[i]
    return unless_rounding(tangent2, plain2, len(c))


@kernel(*signature)
def balanced(label: Array, members: Array, c: Array, plain2: float) -> float:
    """All coordinates move and have one fixed sum; no labels."""
    return unless_rounding(spread_of(c)[1], plain2, len(c))


@kernel(write, index, read, read)
def means(label: Array, members: Array, c: Array) -> Array:
    """Return the mean of each label."""
    mean = np.zeros(len(members))
    for i in range(len(c)):
        mean[label[i]] += c[i]
    for k in range(1, len(members)):
        mean[k] /= max(1.0, members[k])
    return mean


@kernel(*signature)
def grouped(label: Array, members: Array, c: Array, plain2: float) -> float:
    """Coordinates of one label above 0 have a fixed sum."""
    mean = means(label, members, c)
    tangent2 = 0.0
    for i in range(len(c)):
        if label[i] > 0:
            tangent2 += (c[i] - mean[label[i]]) * (c[i] - mean[label[i]])
    return unless_rounding(tangent2, plain2, len(c))


@kernel(*along_signature)
def unused(label: Array, members: Array, c: Array, t: Array) -> None:
    """Stands in a table of a learner that does not want its losses along the set."""


@kernel(*along_signature)
def along(label: Array, members: Array, c: Array, t: Array) -> None:
    """Write tangent(c) into t: the part of c along the set."""
    if len(label) == 0:
        mean = mean_of(c) if len(members) > 0 else 0.0
        for i in range(len(c)):
            t[i] = c[i] - mean
        return
    if len(members) == 0:
        for i in range(len(c)):
            t[i] = c[i] if label[i] > 0 else 0.0
        return
    mean_of_label = means(label, members, c)
    for i in range(len(c)):
        t[i] = c[i] - mean_of_label[label[i]] if label[i] > 0 else 0.0
