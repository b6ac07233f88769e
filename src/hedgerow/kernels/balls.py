"""Linear minimisation over balls and boxes, and projection."""

from __future__ import annotations

import math
from typing import Any

from hedgerow._engine.kernel import kernel, nothing, number, read, write
from hedgerow.kernels.oracles import ORACLE
from hedgerow.kernels.simplices import project
from hedgerow.kernels.vectors import dot, two

Array = Any


# numbers = [radius]
@kernel(*ORACLE)
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


@kernel(two, read, write)
def length(y: Array, unit: Array) -> tuple[float, float]:
    """Write y / max |y_i|; return max |y_i| and the norm of that, 1 or more unless y = 0."""
    largest = 0.0
    for i in range(len(y)):
        largest = max(largest, abs(y[i]))
    for i in range(len(y)):  # so that squares neither overflow nor vanish
        unit[i] = y[i] / largest if largest > 0.0 else 0.0
    return largest, math.sqrt(dot(unit, unit))


# numbers = [radius]
@kernel(*ORACLE)
def against(index: Array, numbers: Array, c: Array, links: Array, scratch: Array, v: Array) -> None:
    """Return -radius c / ||c||, against the first axis if c = 0."""
    norm = length(c, v)[1]
    if norm == 0.0:
        v[0] = -numbers[0]
        return
    factor = -numbers[0] / norm
    for i in range(len(c)):
        v[i] *= factor


@kernel(number, read, write)
def sum_of_sizes(y: Array, sizes: Array) -> float:
    """Write |y| and return its sum."""
    total = 0.0
    for i in range(len(y)):
        sizes[i] = abs(y[i])
        total += sizes[i]
    return total


# numbers = [radius]
@kernel(*ORACLE)
def nearest_in_cross(
    index: Array, numbers: Array, y: Array, links: Array, scratch: Array, x: Array
) -> None:
    """Project y on the ball of the sum of absolute values; scratch = [|y|]."""
    inside = sum_of_sizes(y, scratch) <= numbers[0]
    if not inside:
        project(scratch, numbers[0], x)
    for i in range(len(y)):
        x[i] = y[i] if inside else math.copysign(x[i], y[i])


# numbers = [radius]
@kernel(*ORACLE)
def nearest(index: Array, numbers: Array, y: Array, links: Array, scratch: Array, x: Array) -> None:
    """Project y on the Euclidean ball."""
    largest, norm = length(y, x)
    inside, factor = largest * norm <= numbers[0], numbers[0] / max(norm, 1.0)
    for i in range(len(y)):
        x[i] = y[i] if inside else x[i] * factor


CURVED = 1.001
"""From this exponent on, u^q may be had from u^(q - 1): q is so small that rounding stays small."""


@kernel(nothing, number, number, number, write)
def powers(p: float, radius: float, largest: float, v: Array) -> None:
    """Turn sizes v >= 0 into v^(q - 1), 1/p + 1/q = 1, and scale it to the p-norm `radius`."""
    power, total = 1.0 / (p - 1.0), 0.0
    for i in range(len(v)):
        unit = v[i] / largest
        v[i] = unit**power
        total += unit * v[i] if p >= CURVED else v[i] ** p
    factor = radius / total ** (1.0 / p)
    for i in range(len(v)):
        v[i] *= factor


# numbers = [radius, p] with 1 < p < infinity
@kernel(*ORACLE)
def against_power(
    index: Array, numbers: Array, c: Array, links: Array, scratch: Array, v: Array
) -> None:
    """Go against c on the ball of the p-norm, against the first axis if c = 0."""
    largest = 0.0
    for i in range(len(c)):
        v[i] = abs(c[i])
        largest = max(largest, v[i])
    if largest == 0.0:
        v[0] = -numbers[0]
        return
    powers(numbers[1], numbers[0], largest, v)
    for i in range(len(c)):
        v[i] = math.copysign(v[i], -c[i])


# numbers = [radius, p] with 1 <= p <= infinity
@kernel(*ORACLE)
def against_power_above_zero(
    index: Array, numbers: Array, c: Array, links: Array, scratch: Array, v: Array
) -> None:
    """Go against c on the part x >= 0 of the ball of the p-norm; zero if no entry of c is below."""
    radius, p, best = numbers[0], numbers[1], 0
    for i in range(len(c)):
        v[i] = max(-c[i], 0.0)
        if v[i] > v[best]:
            best = i
    largest = v[best]
    if largest == 0.0:
        return
    if 1.0 < p < math.inf:
        powers(p, radius, largest, v)
        return
    for i in range(len(c)):
        v[i] = radius if (v[i] > 0.0 and p > 1.0) or i == best else 0.0


# numbers = [longest axis, centre, axes / longest, and unless they lie along the coordinates the
# matrix A whose columns are the axes / longest, column by column and then row by row];
# scratch = 2 n numbers
@kernel(*ORACLE)
def against_in_ellipsoid(
    index: Array, numbers: Array, c: Array, links: Array, scratch: Array, v: Array
) -> None:
    """Return centre - longest A u / ||u|| with u = A' c, A the axes; the first axis if c = 0."""
    n = len(c)
    columns = 1 + 2 * n
    rows = columns + n * n
    slanted, u, unit = len(numbers) > columns, scratch[:n], scratch[n:]
    for i in range(n):
        if slanted:
            u[i] = dot(numbers[columns + i * n : columns + (i + 1) * n], c)
        else:
            u[i] = numbers[1 + n + i] * c[i]
    norm = length(u, unit)[1]
    if norm == 0.0:
        unit[0], norm = 1.0, 1.0
    for i in range(n):
        if slanted:
            step = dot(numbers[rows + i * n : rows + (i + 1) * n], unit)
        else:
            step = numbers[1 + n + i] * unit[i]
        v[i] = numbers[1 + i] - numbers[0] * (step / norm)


# index = [the group of each coordinate], numbers = [radius], scratch = [squares of groups]
@kernel(*ORACLE)
def against_largest_group(
    index: Array, numbers: Array, c: Array, links: Array, scratch: Array, v: Array
) -> None:
    """Go against c within the group where it is longest, the first one if several."""
    largest = length(c, v)[0]
    for g in range(len(scratch)):
        scratch[g] = 0.0
    for i in range(len(c)):
        scratch[index[i]] += v[i] * v[i]
    best, first = 0, True
    for g in range(len(scratch)):
        if scratch[g] > scratch[best]:
            best = g
    factor = numbers[0] / math.sqrt(scratch[best]) if largest > 0.0 else 0.0
    for i in range(len(c)):
        v[i] = -factor * v[i] if index[i] == best else 0.0
        if largest == 0.0 and index[i] == best and first:
            v[i], first = -numbers[0], False


# numbers = [lower | upper]
@kernel(*ORACLE)
def corner(index: Array, numbers: Array, c: Array, links: Array, scratch: Array, v: Array) -> None:
    """Take each coordinate's better bound, the lower one if they are equal."""
    n = len(c)
    for i in range(n):
        v[i] = numbers[n + i] if c[i] < 0.0 else numbers[i]


# numbers = [lower | upper]
@kernel(*ORACLE)
def nearest_in_box(
    index: Array, numbers: Array, y: Array, links: Array, scratch: Array, x: Array
) -> None:
    """Cut every coordinate at its bounds."""
    n = len(y)
    for i in range(n):
        x[i] = min(max(y[i], numbers[i]), numbers[n + i])
