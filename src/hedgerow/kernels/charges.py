"""Surrogates: take in a round's violation and return the weight on the constraint's gradient.

Two signatures for all of them. `heed(queue, units, value)` says, before anything changes, whether
the constraint's gradient is needed: not at all, for a weight, or for a weight and the ranges.
`charge(queue, ranges, units, potential, value, sizes, weigh)` does the round, where `value` is
g_t(x_t) and `sizes` are the squared tangent norm of grad f_t, and that of grad g_t with its plain
one.

queue = [t, violation, weight, price, largest weight]; ranges = [Mg, Gf, Gg, oracle calls];
units = [Q(0), 1 if the ranges are learnt, the given Mg or 0, the given Gf/Gg or 0].
"""

from __future__ import annotations

import math
from typing import Any

from numba import types

from hedgerow.kernels.jit import function, kernel, nothing, number, read, write
from hedgerow.kernels.weights import weighs

Array = Any
Sizes = tuple[float, float, float]
sizes3 = types.UniTuple(number, 3)
heeding = (number, write, read, number)
heeds = function(*heeding)
charging = (number, write, write, read, read, number, sizes3, weighs)
charges = function(*charging)

T, VIOLATION, WEIGHT, PRICE, LARGEST = range(5)
MG, GF, GG, CALLS = range(4)
START, LEARNT, GIVEN_MG, GIVEN_RATIO = range(4)
UNSEEN, WEIGHED, LEARNT_FROM = 0.0, 1.0, 2.0
INFINITESIMAL = 2.0**-300
"""Stands for the cost's size while every cost gradient was zero."""


@kernel(number, write, read)
def violation_unit(ranges: Array, units: Array) -> float:
    """Mg, as given or as learnt; 1 while none was seen."""
    if units[GIVEN_MG] > 0.0:
        return units[GIVEN_MG]
    return ranges[MG] if ranges[MG] > 0.0 else 1.0


@kernel(number, write, read)
def weight_unit(ranges: Array, units: Array) -> float:
    """Gf/Gg, as given or as learnt."""
    if units[GIVEN_RATIO] > 0.0:
        return units[GIVEN_RATIO]
    if ranges[GG] <= 0.0:
        return 0.0
    Gf = ranges[GF] if ranges[GF] > 0.0 else INFINITESIMAL
    return min(Gf / ranges[GG], 1e300)


@kernel(types.boolean, write, read, number, number, number)
def must_ask(ranges: Array, units: Array, value: float, heeded: float, force2: float) -> bool:
    """Whether Mg needs its one oracle call, at the first violation that is felt."""
    learns = units[LEARNT] > 0.0 and units[GIVEN_MG] == 0.0 and ranges[CALLS] == 0.0
    return learns and heeded == LEARNT_FROM and value > 0.0 and force2 > 0.0


@kernel(nothing, write, read, number, number, sizes3)
def learn(ranges: Array, units: Array, value: float, heeded: float, sizes: Sizes) -> None:
    """Take in the sizes of this round's gradients and violation."""
    if units[LEARNT] == 0.0:
        return
    ranges[GF] = max(ranges[GF], math.sqrt(sizes[0]))
    if heeded == LEARNT_FROM and sizes[1] > 0.0:
        ranges[GG] = max(ranges[GG], math.sqrt(sizes[1]))
        if value > 0.0 and units[GIVEN_MG] == 0.0:
            ranges[MG] = max(ranges[MG], value)


@kernel(number, write, write, read, read, sizes3, weighs)
def weight_of_queue(
    queue: Array, ranges: Array, units: Array, potential: Array, sizes: Sizes, weigh: Any
) -> float:
    """(Gf/Gg) Phi'(Q)/V, zero for a gradient that says nothing about where to go."""
    felt = sizes[1] if units[LEARNT] > 0.0 else sizes[2]
    if felt <= 0.0:
        return 0.0
    unit = violation_unit(ranges, units)
    q = units[START] + queue[VIOLATION] / unit
    return weight_unit(ranges, units) * weigh(potential, q, queue[T], unit)


@kernel(nothing, write, number, number)
def note(queue: Array, weight: float, value: float) -> None:
    """Remember this round's weight on the constraint and what it adds to the loss."""
    queue[WEIGHT] = weight
    queue[PRICE] = weight * value
    queue[LARGEST] = max(queue[LARGEST], weight)


@kernel(*heeding)
def current_heeds(queue: Array, units: Array, value: float) -> float:
    """Only a violation counts."""
    return LEARNT_FROM if value > 0.0 else UNSEEN


@kernel(*charging)
def current(
    queue: Array,
    ranges: Array,
    units: Array,
    potential: Array,
    value: float,
    sizes: Sizes,
    weigh: Any,
) -> float:
    """Algorithm 2: Q(t) = Q(t-1) + g_t(x_t)^+, and the weight is that of Q(t)."""
    queue[T] += 1.0
    learn(ranges, units, value, current_heeds(queue, units, value), sizes)
    if value <= 0.0:
        note(queue, 0.0, 0.0)
        return 0.0
    queue[VIOLATION] += value  # line 6
    note(queue, weight_of_queue(queue, ranges, units, potential, sizes, weigh), value)
    return queue[WEIGHT]


@kernel(*heeding)
def signed_heeds(queue: Array, units: Array, value: float) -> float:
    """The constraint is weighed in every round; ranges are learnt while the queue is not empty."""
    waiting = units[START] + queue[VIOLATION] > 0.0
    return LEARNT_FROM if waiting or value > 0.0 else WEIGHED


@kernel(*charging)
def signed(
    queue: Array,
    ranges: Array,
    units: Array,
    potential: Array,
    value: float,
    sizes: Sizes,
    weigh: Any,
) -> float:
    """Algorithm 7: the weight is that of Q(t-1), then Q(t) = (Q(t-1) + g_t(x_t))^+."""
    queue[T] += 1.0
    learn(ranges, units, value, signed_heeds(queue, units, value), sizes)
    note(queue, weight_of_queue(queue, ranges, units, potential, sizes, weigh), value)
    empty = -units[START] * violation_unit(ranges, units)
    queue[VIOLATION] = max(empty, queue[VIOLATION] + value)  # line 6
    return queue[WEIGHT]


@kernel(*heeding)
def cost_only_heeds(queue: Array, units: Array, value: float) -> float:
    """The constraint is ignored."""
    return UNSEEN


@kernel(*charging)
def cost_only(
    queue: Array,
    ranges: Array,
    units: Array,
    potential: Array,
    value: float,
    sizes: Sizes,
    weigh: Any,
) -> float:
    """The loss is the cost."""
    return 0.0
