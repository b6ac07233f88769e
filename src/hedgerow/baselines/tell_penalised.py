"""A penalised step on linear rounds, in one kernel: a search along one multiplier.

`penalty_step` is the same around a projection in Python, and says why.
"""

from __future__ import annotations

import math
from typing import Any

from numba import types

from hedgerow._engine.kernel import kernel, number, read
from hedgerow._engine.signatures import LABEL, MEMBERS
from hedgerow._engine.simd import WIDTH, broadcast, hsum, load, vabs
from hedgerow.baselines.weighed_step import (
    EAGERNESS,
    LARGEST_PART2,
    PROJECTIONS,
    step_rounds,
    take_part,
    weighed_table,
)
from hedgerow.inputs import Vector
from hedgerow.kernels.falling_root import AT, SEARCH, begin_search, goes_on
from hedgerow.kernels.rounds import SEEN_ROUND
from hedgerow.kernels.tangents import along
from hedgerow.kernels.units import add_told, in_units
from hedgerow.kernels.vectors import dot, three
from hedgerow.surrogates.queue import LARGEST_PART

Array = Vector
SETTLED = 1e-12
"""A value this near zero, relative to the sums in it, is zero."""
ROUNDING = 1e-14
"""The part of a slope along the set that is below this times the slope's norm is no part."""
WEIGHT, GAP = 3, 4
"""The numbers of the state after those of `weighed_step`."""
OWN = 5
VECTORS = 6
"""`work` is [point | answer | grad f | g's slope | that along the set | centre | kept | search]."""


def room(dim: int) -> int:
    """Return how many numbers `work` has."""
    return VECTORS * dim + OWN + SEARCH


@kernel(number, read, read)
def absolute(a: Array, b: Array) -> float:
    """Return the sum of |a_i b_i|."""
    lanes: Any = broadcast(0.0)
    rest, even = 0.0, len(a) - len(a) % WIDTH
    for i in range(0, even, WIDTH):
        lanes += vabs(load(a, i) * load(b, i))
    for i in range(even, len(a)):
        rest += abs(a[i] * b[i])
    return float(hsum(lanes) + rest)


@kernel(number, weighed_table, number)
def answer(table: Any, length: float) -> float:
    """Project centre - length slope, and return <slope, answer>."""
    work, n = table.work, (len(table.work) - OWN - SEARCH) // VECTORS
    index, numbers, links, scratch, _, _ = table.space
    slope, centre = work[4 * n : 5 * n], work[5 * n : 6 * n]
    for i in range(n):
        work[i] = centre[i] - length * slope[i]
    table.project(index, numbers, work[:n], links, scratch, work[n : 2 * n])
    return dot(slope, work[n : 2 * n])


@kernel(three, weighed_table, number, number, number)
def penalise(table: Any, offset: float, w: float, alpha: float) -> tuple[float, float, float]:
    """Minimise <., x> + w (<c, x> + offset)^+ + alpha ||x - y||^2, from its parts in `work`.

    Returns the violation that is left, a bound of what the objective misses, and how many
    projections it took; NaN for the first where a projection failed.
    """
    work, n = table.work, (len(table.work) - OWN - SEARCH) // VECTORS
    x, c, slope = work[n : 2 * n], work[3 * n : 4 * n], work[4 * n : 5 * n]
    search = work[VECTORS * n + OWN :]
    along(table.space[LABEL], table.space[MEMBERS], c, slope)
    steep2 = dot(slope, slope)
    if steep2 <= ROUNDING * ROUNDING * dot(c, c):
        for i in range(n):
            slope[i] = 0.0
        steep2 = 0.0
    inner, projections, mu = answer(table, 0.0), 1.0, 0.0
    value = dot(c, x) + offset
    constant = value - inner
    settled = SETTLED * (absolute(slope, x) + abs(constant))
    if value > settled:
        if steep2 == 0.0 or w == 0.0:  # nothing that the set feels: x stays
            mu = w
        else:
            begin_search(search, value, steep2 / (2.0 * alpha), w, settled)
            while True:
                mu = search[AT]
                value = answer(table, mu / (2.0 * alpha)) + constant
                projections += 1.0
                if value != value or not goes_on(search, value):
                    break
    left = max(0.0, dot(c, x) + offset) if value == value else math.nan
    return left, max(0.0, w * left - mu * value), projections


@kernel(types.boolean, step_rounds, *SEEN_ROUND)
def play_penalised(
    rounds: Any,
    a: Array,
    cost: float,
    c: Array,
    value: float,
    products: tuple[float, float, float, float],
    k: int,
) -> bool:
    """Take in a round by a penalised step, as `kernels/rounds.py` describes it.

    The constraint is linear, with the k-th of the table's offsets.
    """
    table, units, offset = rounds.step, rounds.units, rounds.offsets[k]
    cost2, force2 = products[2], products[3]
    n, state, work, rates = len(a), table.state, table.work, table.rates
    own, kept = state[n:], work[VECTORS * n : VECTORS * n + OWN]
    if not (cost2 <= LARGEST_PART2 and force2 <= LARGEST_PART2):
        return False
    if not (abs(cost) <= LARGEST_PART and abs(value) <= LARGEST_PART):
        return False
    Gf, Gg, p, q = in_units(table.measure, table.space, units, a, cost2, c, force2)
    first = take_part(table, a, cost2, cost, p, work[2 * n : 3 * n])
    for i in range(n):
        work[3 * n + i] = q * c[i]
    told2 = dot(work[3 * n : 4 * n], work[3 * n : 4 * n])
    if first != first or not told2 <= LARGEST_PART2:
        return False
    if not (abs(q * value) <= LARGEST_PART and abs(q * offset) <= LARGEST_PART):
        return False
    for i in range(OWN):
        kept[i] = own[i]
    w, alpha = table.weigh(own, rates, q * value)
    w *= rates[EAGERNESS]
    for i in range(n):
        work[5 * n + i] = state[i] - work[2 * n + i] / (2.0 * alpha)
    left, gap, projections = penalise(table, q * offset, w, alpha)
    if left != left:
        for i in range(OWN):
            own[i] = kept[i]
        return False
    own[WEIGHT], own[GAP] = w, max(own[GAP], gap)
    own[PROJECTIONS] += projections
    for i in range(n):
        state[i] = work[n + i]
    table.after_step(own, rates, q * value, left)
    add_told(units, Gf, Gg, cost, value)
    return True
