"""Intervals on machines, of which each takes one at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import kernels
from hedgerow.inputs import (
    Vector,
    as_array,
    as_count,
    as_direction,
    as_vector,
    freeze,
    read_only,
)
from hedgerow.sets.compiled import Compiled, Index, KernelWorkspace, pack_uint32
from hedgerow.sets.decision_set import FullDimensional, Rows
from hedgerow.sets.paths.graph import slots


@dataclass(frozen=True, eq=False)
class IntervalSchedules(FullDimensional):
    """Which intervals to take on k machines: {0 <= x <= 1, at most k at any time}.

    x_i is the share of time in which interval i is taken. Vertices are the sets of intervals that k
    machines can do, as 0/1 vectors, because the rows have consecutive ones. Intervals are
    half-open: one may begin where another ends. The set is full-dimensional.

    Oracle: a dynamic programme over the ends on one machine, O(n) after one sort at construction;
    on k machines a cheapest flow of k units along the line of time. Diameter: exact, the most
    intervals on 2k machines. Projection and decomposition: by the oracle alone.

    Args:
        intervals: pairs (begin, end) with begin < end, shape (n, 2).
        machines: their number, k.

    Reference: Kleinberg and Tardos, Algorithm Design (2005), section 6.1; Arkin and Silverberg,
    Scheduling jobs with fixed start and end times (1987).

    >>> intervals, c = [[0, 3], [2, 5], [4, 7], [1, 6]], [-2.0, -3.0, -2.0, -3.5]
    >>> IntervalSchedules(intervals).lmo(c), IntervalSchedules(intervals, machines=2).lmo(c)
    (array([1., 0., 1., 0.]), array([1., 0., 1., 1.]))

    """

    intervals: Vector
    machines: int
    _times: Vector = field(init=False, repr=False)
    _ends: tuple[Index, Index] = field(init=False, repr=False)
    _cover: Vector = field(init=False, repr=False)

    def __init__(self, intervals: ArrayLike, machines: int = 1):
        given = as_array(intervals, "intervals")
        if given.ndim != 2 or given.shape[1] != 2 or not given.size:
            raise ValueError(
                f"intervals must be pairs (begin, end), shape (n, 2) with n >= 1, got shape "
                f"{given.shape}"
            )
        empty = np.flatnonzero(given[:, 0] >= given[:, 1])
        if empty.size:
            raise ValueError(
                f"an interval begins before it ends, got {given[empty[0]].tolist()} for number "
                f"{empty[0]}"
            )
        times, place = np.unique(given, return_inverse=True)
        place = place.reshape(given.shape)
        begins = np.unique(place[:, 0])  # the most intervals meet where one begins
        cover = (place[:, 0] <= begins[:, None]) & (begins[:, None] < place[:, 1])
        freeze(
            self,
            intervals=given,
            machines=as_count(machines, "machines"),
            _times=times,
            _ends=tuple(read_only(p.astype(np.uint32)) for p in place.T),
            _cover=cover.astype(np.float64),
        )

    def _in_short(self) -> str:
        return f"{self.dim} intervals, {self.machines} machines"

    @property
    def dim(self) -> int:
        """The number of intervals."""
        return len(self.intervals)

    @cached_property
    def _overlap(self) -> int:
        """The most intervals that meet in a point."""
        return int(self._cover.sum(axis=1).max())

    @cached_property
    def _known_diameter(self) -> tuple[float, bool]:
        """The square root of the most intervals on twice the machines.

        Two schedules differ in intervals that 2k machines can do, and these are coloured with 2k
        colours, k for each schedule.
        """
        most = float(self._cheapest(-np.ones(self.dim), 2 * self.machines).sum())
        return math.sqrt(most), True

    @property
    def is_polytope(self) -> bool:
        """Yes, vertices are sets of intervals."""
        return True

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the cheapest schedule."""
        return self._cheapest(as_direction(c, self.dim), self.machines)

    def _cheapest(self, c: Vector, machines: int) -> Vector:
        if machines >= self._overlap:
            return (c < 0.0).astype(np.float64)
        if machines == 1:
            return KernelWorkspace(self._on_one_machine).lmo(c)
        return self._by_flow(c, machines)

    @cached_property
    def _on_one_machine(self) -> Compiled:
        order = np.argsort(self._ends[1], kind="stable")
        ends, begins = self._ends[1][order], self._ends[0][order]
        before = np.searchsorted(ends, begins, side="right")
        index = pack_uint32(order, before)
        return Compiled(kernels.packings.one_machine, kernels.tangents.everywhere, index)

    @property
    def compiled(self) -> Compiled | None:
        """The dynamic programme, on one machine."""
        return self._on_one_machine if self.machines == 1 else None

    def _by_flow(self, c: Vector, machines: int) -> Vector:
        """Send one unit for each machine through time; an interval carries at most one."""
        network = self._network if machines == self.machines else self._line(machines)
        nodes, arcs = self._times.size, network[1].size // 2
        cost, flow = np.append(c, np.zeros(arcs - self.dim)), np.empty(arcs)
        supply, potential = np.zeros(nodes), np.empty(nodes)
        supply[0], supply[-1] = -machines, machines
        kernels.flows.cheapest_flow(*network, cost, supply, potential, flow)
        return flow[: self.dim].copy()

    @cached_property
    def _network(self) -> tuple[Index, Index, Index, Index]:
        return self._line(self.machines)

    def _line(self, machines: int) -> tuple[Index, Index, Index, Index]:
        """Return the network: the intervals, and idle machines from each time to the next."""
        nodes = self._times.size
        idle = np.repeat(np.arange(nodes - 1, dtype=np.uint32), machines)
        tail = np.concatenate([self._ends[0], idle])
        head = np.concatenate([self._ends[1], idle + np.uint32(1)])
        return slots(tail, head, nodes)

    def _off(self, x: Vector) -> tuple[Vector, Vector]:
        """Return by how much intervals are outside of [0, 1], and times above the machines."""
        return np.maximum(-x, x - 1.0), self._cover @ x - self.machines

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether 0 <= x <= 1 and no time has too much."""
        return all(bool(off.max() <= tol) for off in self._off(as_vector(x, "x", self.dim)))

    def separate(self, y: ArrayLike) -> Vector | None:
        """Return the normal of the inequality that y violates most, None if by at most 1e-9."""
        y = as_vector(y, "y", self.dim)
        away, excess = self._off(y)
        i, t = int(np.argmax(away)), int(np.argmax(excess))
        if max(away[i], excess[t]) <= 1e-9:
            return None
        if away[i] < excess[t]:
            row: Vector = self._cover[t].copy()
            return row
        a = np.zeros(self.dim)
        a[i] = 1.0 if y[i] > 0.5 else -1.0
        return a

    def ball(self) -> tuple[Vector, float]:
        """Return shares r and the radius r = min(1/2, k / (q + sqrt(q))), q the most that meet.

        A sum of at most q shares stays below k within r of the centre if r (q + sqrt(q)) <= k.
        """
        q = self._overlap
        radius = min(0.5, self.machines / (q + math.sqrt(q)))
        return np.full(self.dim, radius), (1.0 - 1e-12) * radius

    def start(self) -> Vector:
        """Return the centre of the inner ball."""
        return self.ball()[0]

    def rows(self) -> Rows:
        """Return one row for each time at which an interval begins, and the bounds."""
        from scipy import sparse

        machines = np.full(len(self._cover), float(self.machines))
        cover = sparse.csr_array(self._cover)
        return Rows(np.zeros(self.dim), np.ones(self.dim), A_ub=cover, b_ub=machines)
