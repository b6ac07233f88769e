"""Convex functions as rows of numbers: one kernel returns value and subgradient at a point.

A row begins with its kind. [LINEAR, b | a] is <a, x> + b. [QUADRATIC, b | a | M] adds <x, M x>/2,
with M one number, a diagonal or all rows. [MAXIMUM, m | where its parts begin, and the end | parts]
is the largest of m such functions.
"""

from __future__ import annotations

import math
from typing import Any

from hedgerow._engine.kernel import index, kernel, number, read, whole, write
from hedgerow.kernels.vectors import dot

Array = Any
LINEAR, QUADRATIC, MAXIMUM = 0.0, 1.0, 2.0
KIND, OFFSET, PARTS, BEGIN = 0, 1, 1, 2
"""Where a row has its numbers; vectors follow from BEGIN on."""


@kernel(number, read, read, number, read, write)
def quadratic(M: Array, a: Array, b: float, x: Array, grad: Array) -> float:
    """Write M x + a to grad and return <x, M x>/2 + <a, x> + b."""
    n = len(a)
    if len(M) > n:
        for i in range(n):
            grad[i] = dot(M[i * n : (i + 1) * n], x)
    elif len(M) == n:
        for i in range(n):
            grad[i] = M[i] * x[i]
    else:
        for i in range(n):
            grad[i] = M[0] * x[i]
    value = 0.5 * dot(x, grad) + dot(a, x) + b
    for i in range(n):
        grad[i] += a[i]
    return value


@kernel(number, index, read, read, whole, read, write, write)
def evaluate(
    index: Array, numbers: Array, own: Array, part: int, x: Array, scratch: Array, grad: Array
) -> float:
    """Evaluate a function, or the given part of a maximum."""
    n = len(x)
    row = own
    if own[KIND] == MAXIMUM:
        row = own[int(own[BEGIN + part]) : int(own[BEGIN + part + 1])]
    a = row[BEGIN : BEGIN + n]
    if row[KIND] == QUADRATIC:
        return quadratic(row[BEGIN + n :], a, row[OFFSET], x, grad)
    for i in range(n):
        grad[i] = a[i]
    return dot(a, x) + row[OFFSET]


@kernel(whole, read, read)
def worst_of(halfspaces: Array, x: Array) -> int:
    """Return the first halfspace that x violates most; each is its offset, then its normal."""
    width, worst, most = len(x) + 1, 0, -math.inf
    for j in range(len(halfspaces) // width):
        value = dot(halfspaces[j * width + 1 : (j + 1) * width], x) + halfspaces[j * width]
        if value > most:
            worst, most = j, value
    return worst


@kernel(number, index, read, read, whole, read, write, write)
def look_at_worst(
    index: Array, numbers: Array, own: Array, part: int, x: Array, scratch: Array, grad: Array
) -> float:
    """Evaluate the halfspace that the play violates most, of those in `numbers`."""
    j = worst_of(numbers, x) * (len(x) + 1)
    for i in range(len(x)):
        grad[i] = numbers[j + 1 + i]
    return dot(grad, x) + numbers[j]


@kernel(number, index, read, read, whole, read, write, write)
def eval_against_worst(
    index: Array, numbers: Array, own: Array, part: int, x: Array, scratch: Array, grad: Array
) -> float:
    """Evaluate <a, x> with a = own - push x the worst normal; numbers = [push | halfspaces]."""
    halfspaces = numbers[1:]
    j = worst_of(halfspaces, x) * (len(x) + 1)
    for i in range(len(x)):
        grad[i] = -numbers[0] * halfspaces[j + 1 + i] + own[i]
    return dot(grad, x) + 0.0
