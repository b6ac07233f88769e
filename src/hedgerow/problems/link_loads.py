"""Loads of links as sparse linear maps of a split, and convex functions of them.

A round is a vector of demands. The load of link e is the sum of the demands that cross it,
load_e(x) = sum_i A_ei d_pair(i) x_i, and its utilisation is the load over the capacity.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow import kernels
from hedgerow.functions import Linear, Maximum
from hedgerow.inputs import Vector, as_number, as_vector, fits, freeze
from hedgerow.sets.compiled import Index, pack_uint32

if TYPE_CHECKING:
    from scipy import sparse


MOST_PART_NUMBERS = 2**22
"""How many numbers the gradients of all links may have in a round, 32 MiB."""


@dataclass(frozen=True, eq=False)
class SplitLoads:
    """Which coordinates of a split load which links.

    Args:
        incidence: links x coordinates, entries of at least 0.
        pair_of: which demand each coordinate carries a share of.
        capacity: of each link, above 0.

    """

    incidence: sparse.csr_array
    pair_of: NDArray[np.intp]
    capacity: Vector

    def __post_init__(self) -> None:
        links = self.incidence.shape[0]
        capacity = as_vector(self.capacity, "capacity", links)
        if not capacity.min() > 0.0:
            raise ValueError(
                f"capacities must be above 0, got {capacity.min():g} on link "
                f"{int(np.argmin(capacity))}; give a failed link a small one"
            )
        freeze(self, capacity=capacity)

    @cached_property
    def pairs(self) -> int:
        """How many demands there are."""
        return int(self.pair_of.max()) + 1

    @cached_property
    def sparse_map(self) -> tuple[Index, Index, Vector, Index]:
        """The incidence by rows and the pair of each coordinate, for the kernels."""
        A = self.incidence
        ptr, at, pair_of = (pack_uint32(part) for part in (A.indptr, A.indices, self.pair_of))
        return ptr, at, np.ascontiguousarray(A.data, np.float64), pair_of

    @cached_property
    def transposed(self) -> sparse.csr_array:
        """Coordinates x links."""
        from scipy import sparse

        return sparse.csr_array(self.incidence.T)

    @cached_property
    def gathering(self) -> sparse.csr_array:
        """Coordinates x pairs: 1 where a coordinate carries a pair."""
        from scipy import sparse

        n = self.pair_of.size
        places = np.ones(n), self.pair_of, np.arange(n + 1)
        return sparse.csr_array(places, shape=(n, self.pairs))

    def utilisation(self, x: Vector, demand: Vector) -> Vector:
        """Return the utilisation of each link; `demand` by pair, or by round and pair.

        With demands by round the answer has one row for each round.
        """
        if demand.ndim == 1:
            x, demand = self._checked(x, demand)
            used, carried = np.empty(self.capacity.size), np.empty(x.size)
            ptr, at, data, pair_of = self.sparse_map
            kernels.loads.carry(pair_of, demand, x, carried)
            kernels.loads.utilisation(ptr, at, data, self.capacity, carried, used)
            return used
        by_pair = self.incidence.multiply(x[None, :]) @ self.gathering  # links x pairs
        many: Vector = np.asarray((by_pair @ demand.T).T)
        return many / self.capacity

    def utilisation_of(self, link: int, x: Vector, demand: Vector) -> float:
        """Return the utilisation of one link."""
        x, demand = self._checked(x, demand)
        return kernels.loads.utilisation_of(*self.sparse_map, self.capacity, demand, x, link)

    def with_capacity(self, capacity: Vector) -> SplitLoads:
        """Return the same links with other capacities."""
        loads = SplitLoads(self.incidence, self.pair_of, capacity)
        for name in ("pairs", "sparse_map", "transposed", "gathering"):  # made once
            vars(loads)[name] = getattr(self, name)
        return loads

    def _checked(self, x: Vector, demand: Vector) -> tuple[Vector, Vector]:
        """Return a split and its demands as the kernels read them, or refuse them."""
        n, pairs = self.pair_of.size, self.pairs
        return (
            x if fits(x, n) else as_vector(x, "x", n),
            demand if fits(demand, pairs) else as_vector(demand, "demand", pairs),
        )

    def row(self, link: int, demand: Vector) -> Vector:
        """Return the gradient of a link's utilisation."""
        out = np.empty(self.pair_of.size)
        _, demand = self._checked(out, demand)
        kernels.loads.row(*self.sparse_map, self.capacity, demand, link, out)
        return out


@dataclass(frozen=True, eq=False)
class LargestUtilisation:
    """The largest utilisation of a link less the limit; the gradient is that of the first largest.

    A policy that sees the parts of a constraint sees every link, up to MOST_PART_NUMBERS numbers.

    Args:
        loads: the links.
        demand: of each pair, at least 0.
        limit: the largest utilisation allowed.

    """

    loads: SplitLoads
    demand: Vector
    limit: float

    def __call__(self, x: Vector) -> float:
        """Return max_e load_e(x)/capacity_e - limit."""
        return float(self.loads.utilisation(x, self.demand).max()) - self.limit

    def evaluate_parts(self, x: Vector) -> list[tuple[float, Vector]]:
        """Return value and gradient of each link; of the most used one where there are too many."""
        if not shows_links(self.loads):
            return [(self(x), self.grad(x))]
        return each_link(self.loads, self.demand, self.limit).evaluate_parts(x)

    def grad(self, x: Vector) -> Vector:
        """Return the gradient of the most used link."""
        return self.loads.row(int(self.loads.utilisation(x, self.demand).argmax()), self.demand)


@dataclass(frozen=True, eq=False)
class LinkUtilisation:
    """The utilisation of one link less the limit: linear, and evaluated without a dense row.

    Args:
        loads: the links.
        demand: of each pair.
        limit: the largest utilisation allowed.
        link: its number.

    """

    loads: SplitLoads
    demand: Vector
    limit: float
    link: int

    def __call__(self, x: Vector) -> float:
        """Return load_e(x)/capacity_e - limit."""
        return self.loads.utilisation_of(self.link, x, self.demand) - self.limit

    def grad(self, x: Vector) -> Vector:  # noqa: ARG002 - the same everywhere
        """Return the gradient, the same everywhere."""
        return self.loads.row(self.link, self.demand)


def shows_links(loads: SplitLoads) -> bool:
    """Whether gradients of all links are few enough numbers to be seen in each round."""
    return loads.capacity.size * loads.pair_of.size <= MOST_PART_NUMBERS


def each_link(loads: SplitLoads, demand: Vector, limit: float) -> Maximum:
    """Return one constraint for each link, as the parts of a `Maximum`."""
    links = range(loads.capacity.size)
    return Maximum([LinkUtilisation(loads, demand, limit, link) for link in links])


def mean_latency(loads: SplitLoads, latency: Vector, demand: Vector) -> Linear:
    """Return the latency of the average unit of traffic, linear in the split; 0 without demand."""
    return average(loads, loads.transposed @ latency, demand)


def average(loads: SplitLoads, of_coordinate: Vector, demand: Vector) -> Linear:
    """Return what the average unit of traffic pays, where coordinate i costs `of_coordinate[i]`."""
    slopes, (_, demand) = np.empty(loads.pair_of.size), loads._checked(of_coordinate, demand)
    kernels.loads.average(loads.sparse_map[-1], of_coordinate, demand, slopes)
    return Linear(slopes)


class Congestion(Protocol):
    """What a link costs at a utilisation: convex and nondecreasing, for whole arrays."""

    by_capacity: bool
    """Whether the cost is in units of the link's capacity."""

    def value(self, u: Vector) -> Vector:
        """Return the cost at each utilisation."""
        ...

    def slope(self, u: Vector) -> Vector:
        """Return a slope there."""
        ...


class _KernelCongestion:
    """Base of costs that the kernel `congestion` knows, by their knee."""

    knee: float

    def value(self, u: Vector) -> Vector:
        """Return the cost at each utilisation."""
        return self._evaluate(u)[0]

    def slope(self, u: Vector) -> Vector:
        """Return the slope there, on the right of a knee."""
        return self._evaluate(u)[1]

    def _evaluate(self, u: Vector) -> tuple[Vector, Vector]:
        values, slopes = np.empty((2, u.size))
        kernels.loads.congestion(u, self.knee, values, slopes)
        return values, slopes


@dataclass(frozen=True)
class FortzThorup(_KernelCongestion):
    """Fortz and Thorup's piecewise linear cost: slopes 1, 3, 10, 70, 500 and 5000.

    Reference: Fortz and Thorup, Internet traffic engineering by optimizing OSPF weights (2000).

    >>> FortzThorup().value(np.array([0.0, 1 / 3, 1.0])).round(3)
    array([ 0.   ,  0.333, 10.667])

    """

    by_capacity = True
    knee = 0.0
    """It has knees of its own; for the kernels."""


@dataclass(frozen=True)
class QueueingDelay(_KernelCongestion):
    """The mean number waiting in an M/M/1 queue, u/(1 - u), continued linearly beyond a knee.

    Divided by the total demand it is the mean delay. At the knee value and slope agree.

    Args:
        knee: the utilisation from which the cost is linear, between 0 and 1.

    >>> QueueingDelay(0.5).value(np.array([0.25, 0.5, 1.5])).round(3)
    array([0.333, 1.   , 5.   ])

    """

    knee: float = 0.95
    by_capacity = False

    def __post_init__(self) -> None:
        if not 0.0 < as_number(self.knee, "knee") < 1.0:
            raise ValueError(f"knee must lie between 0 and 1, got {self.knee:g}")


@dataclass(frozen=True, eq=False)
class CongestionCost:
    """The sum of a congestion cost over all links, for the average unit of traffic.

    Args:
        loads: the links.
        demand: of each pair.
        congestion: what a link costs.

    """

    loads: SplitLoads
    demand: Vector
    congestion: Congestion

    @cached_property
    def _unit(self) -> Vector:
        """What a cost of 1 on each link counts."""
        total = kernels.loads.total_of(self.demand)
        by_capacity = self.congestion.by_capacity
        return (self.loads.capacity if by_capacity else np.ones(self.loads.capacity.size)) / total

    def __call__(self, x: Vector) -> float:
        """Return the sum over all links, divided by the total demand."""
        u = self.loads.utilisation(x, self.demand)
        return kernels.vectors.dot(self._unit, self.congestion.value(u))

    def grad(self, x: Vector) -> Vector:
        """Return the gradient, a subgradient at knees."""
        loads = self.loads
        slopes = self._unit * self.congestion.slope(loads.utilisation(x, self.demand))
        gradient = np.empty(loads.pair_of.size)
        kernels.loads.gather(*loads.sparse_map, slopes / loads.capacity, self.demand, gradient)
        return gradient
