"""Loads of links under a split of demands, and what rounds of traffic say about them.

load_e(x) = sum_i A_ei d_pair(i) x_i, with A sparse: the entries of link e are `ptr[e]` to
`ptr[e + 1]` of `at`, their coordinates, and of `data`. A round's own numbers are its demands, then
the capacities of the links. `index` is [links, coordinates | ptr | at | pair of each coordinate],
`numbers` [data | numbers of the kind].
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from hedgerow._engine.kernel import index, kernel, nothing, number, read, whole, write
from hedgerow.kernels.vectors import dot, two

Array = Any
EVALUATE = (number, index, read, read, whole, read, write, write)
LINKS, COORDINATES, BEGIN = range(3)
SLOPES = np.array([1.0, 3.0, 10.0, 70.0, 500.0, 5000.0])
KNEES = np.array([0.0, 1 / 3, 2 / 3, 9 / 10, 1.0, 11 / 10])
"""Fortz and Thorup's slopes, and from where each of them holds."""
map_type = types.Tuple((index, index, read, index))
sparse_map = (index, index, read, index)


@kernel(number, read)
def total_of(demand: Array) -> float:
    """Return the sum of the demands, or 1 without any."""
    total = 0.0
    for i in range(len(demand)):
        total += demand[i]
    return total if total > 0.0 else 1.0


@kernel(number, *sparse_map, read, read, read, whole)
def utilisation_of(
    ptr: Array,
    at: Array,
    data: Array,
    pair_of: Array,
    capacity: Array,
    demand: Array,
    x: Array,
    link: int,
) -> float:
    """Return the utilisation of a link."""
    load = 0.0
    for k in range(ptr[link], ptr[link + 1]):
        i = at[k]
        load += data[k] * (demand[pair_of[i]] * x[i])
    return load / capacity[link]


@kernel(nothing, index, read, read, write)
def carry(pair_of: Array, demand: Array, x: Array, carried: Array) -> None:
    """Write what each coordinate carries."""
    for i in range(len(x)):
        carried[i] = demand[pair_of[i]] * x[i]


@kernel(nothing, index, index, read, read, read, write)
def utilisation(
    ptr: Array, at: Array, data: Array, capacity: Array, carried: Array, used: Array
) -> None:
    """Write the utilisation of each link, given what each coordinate carries."""
    for link in range(len(capacity)):
        load = 0.0
        for k in range(ptr[link], ptr[link + 1]):
            load += data[k] * carried[at[k]]
        used[link] = load / capacity[link]


@kernel(nothing, *sparse_map, read, read, whole, write)
def row(
    ptr: Array,
    at: Array,
    data: Array,
    pair_of: Array,
    capacity: Array,
    demand: Array,
    link: int,
    grad: Array,
) -> None:
    """Write the gradient of a link's utilisation."""
    for i in range(len(grad)):
        grad[i] = 0.0
    for k in range(ptr[link], ptr[link + 1]):
        grad[at[k]] = data[k] * demand[pair_of[at[k]]] / capacity[link]


@kernel(nothing, *sparse_map, read, read, write)
def gather(
    ptr: Array, at: Array, data: Array, pair_of: Array, prices: Array, demand: Array, grad: Array
) -> None:
    """Write the gradient of sum_e prices_e load_e(x)."""
    for i in range(len(grad)):
        grad[i] = 0.0
    for link in range(len(prices)):
        for k in range(ptr[link], ptr[link + 1]):
            grad[at[k]] += data[k] * prices[link]
    for i in range(len(grad)):
        grad[i] *= demand[pair_of[i]]


@kernel(nothing, index, read, read, write)
def average(pair_of: Array, of_coordinate: Array, demand: Array, grad: Array) -> None:
    """Write the slopes of the average over all demand of what each coordinate costs."""
    total = total_of(demand)
    for i in range(len(grad)):
        grad[i] = demand[pair_of[i]] * of_coordinate[i] / total


@kernel(two, number)
def fortz_thorup(u: float) -> tuple[float, float]:
    """Return the cost at a utilisation and its slope on the right."""
    value = 0.0
    for k in range(len(SLOPES) - 1):
        if u < KNEES[k + 1]:
            return value + SLOPES[k] * (u - KNEES[k]), SLOPES[k]
        value += SLOPES[k] * (KNEES[k + 1] - KNEES[k])
    return value + SLOPES[-1] * (u - KNEES[-1]), SLOPES[-1]


@kernel(two, number, number)
def queueing_delay(u: float, knee: float) -> tuple[float, float]:
    """Return u/(1 - u), continued linearly beyond the knee, and its slope."""
    below = min(u, knee)
    free = 1.0 - below
    beyond = max(0.0, u - knee) / ((1.0 - knee) * (1.0 - knee))
    return below / free + beyond, 1.0 / (free * free)


@kernel(nothing, read, number, write, write)
def congestion(used: Array, knee: float, values: Array, slopes: Array) -> None:
    """Write what each link costs, and the slope: queueing delay, or for a knee of 0 the other."""
    for e in range(len(used)):
        if knee > 0.0:
            values[e], slopes[e] = queueing_delay(used[e], knee)
        else:
            values[e], slopes[e] = fortz_thorup(used[e])


@kernel(map_type, index, read)
def unpacked(index: Array, numbers: Array) -> tuple[Array, Array, Array, Array]:
    """Return ptr, at, data and the pair of each coordinate."""
    links, n = int(index[LINKS]), int(index[COORDINATES])
    ptr = index[BEGIN : BEGIN + links + 1]
    entries, rest = int(ptr[links]), index[BEGIN + links + 1 :]
    return ptr, rest[:entries], numbers[:entries], rest[entries : entries + n]


@kernel(*EVALUATE)
def eval_largest(
    index: Array, numbers: Array, own: Array, part: int, x: Array, scratch: Array, grad: Array
) -> float:
    """Evaluate the largest utilisation less the limit; numbers = [data | limit]."""
    ptr, at, data, pair_of = unpacked(index, numbers)
    links = len(ptr) - 1
    demand, capacity, used = own[:-links], own[-links:], scratch[:links]
    carry(pair_of, demand, x, grad)
    utilisation(ptr, at, data, capacity, grad, used)
    link = 0
    for e in range(1, links):
        if used[e] > used[link]:
            link = e
    row(ptr, at, data, pair_of, capacity, demand, link, grad)
    return used[link] - numbers[-1]


@kernel(*EVALUATE)
def eval_link(
    index: Array, numbers: Array, own: Array, part: int, x: Array, scratch: Array, grad: Array
) -> float:
    """Evaluate the utilisation of the link `part` less the limit; numbers = [data | limit]."""
    ptr, at, data, pair_of = unpacked(index, numbers)
    links = len(ptr) - 1
    demand, capacity = own[:-links], own[-links:]
    row(ptr, at, data, pair_of, capacity, demand, part, grad)
    return utilisation_of(ptr, at, data, pair_of, capacity, demand, x, part) - numbers[-1]


@kernel(*EVALUATE)
def eval_latency(
    index: Array, numbers: Array, own: Array, part: int, x: Array, scratch: Array, grad: Array
) -> float:
    """Evaluate the mean latency per unit; numbers = [data | latency of each coordinate]."""
    ptr, _, data, pair_of = unpacked(index, numbers)
    average(pair_of, numbers[len(data) :], own[: len(own) + 1 - len(ptr)], grad)
    return dot(grad, x) + 0.0


@kernel(*EVALUATE)
def eval_congestion(
    index: Array, numbers: Array, own: Array, part: int, x: Array, scratch: Array, grad: Array
) -> float:
    """Evaluate the mean congestion per unit; numbers = [data | knee, or 0]."""
    ptr, at, data, pair_of = unpacked(index, numbers)
    links, knee = len(ptr) - 1, numbers[-1]
    demand, capacity = own[:-links], own[-links:]
    used, values = scratch[:links], scratch[links : 2 * links]
    prices, units = scratch[2 * links : 3 * links], scratch[3 * links : 4 * links]
    carry(pair_of, demand, x, grad)
    utilisation(ptr, at, data, capacity, grad, used)
    congestion(used, knee, values, prices)
    total = total_of(demand)
    for e in range(links):
        units[e] = (1.0 if knee > 0.0 else capacity[e]) / total
        prices[e] = units[e] * prices[e] / capacity[e]
    gather(ptr, at, data, pair_of, prices, demand, grad)
    return dot(units, values)
