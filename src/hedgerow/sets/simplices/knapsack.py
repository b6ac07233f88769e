"""Packings: items with sizes in a bag of limited size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow import kernels
from hedgerow.inputs import Vector, as_count, as_direction, freeze, read_only
from hedgerow.sets.compiled import Compiled, KernelWorkspace, free_mask, pack_uint32
from hedgerow.sets.compositions.oracle_only import ContainsUnitVectors
from hedgerow.sets.decision_set import HasLinearDescription, Rows

CELLS = 10**8
"""The most cells of the dynamic programme, one byte each."""
DESCRIBED = 20_000
"""The most variables of the rows: an LP solver takes them in seconds."""

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Knapsack(ContainsUnitVectors):
    """The hull of all packings {x whole, 0 <= x <= most, <sizes, x> <= capacity}.

    x_i is the mean number of copies of item i: of a cache, the share of time in which an object of
    that size is kept. The hull is smaller than the set of fractional packings, which
    `Polytope([sizes], [capacity], upper=most)` is.

    Oracle: dynamic programming over loads, exact, O(capacity x sum of log most); all sizes are
    divided by their common divisor first. Diameter: a bound, by a fractional packing of twice the
    capacity. Membership, projection and decomposition: by the oracle alone.

    Args:
        sizes: of the items, whole numbers of at least 1.
        capacity: what fits, a whole number of at least 0.
        most: the most copies of an item, one whole number or one for each; 1 unless given.

    Reference: Bellman, Dynamic Programming (1957); Martello and Toth, Knapsack Problems (1990).

    >>> X = Knapsack([3, 4, 5], 8)
    >>> X.lmo([-3.0, -4.0, -6.0]), X.contains([0.9, 0.5, 0.5]), X.contains([0.0, 0.6, 0.6])
    (array([1., 0., 1.]), True, False)
    >>> Knapsack([3, 4, 5], 8, most=2).lmo([-3.0, -5.0, -6.0])
    array([0., 2., 0.])

    """

    sizes: Whole
    capacity: int
    most: Whole
    _reduced: tuple[Whole, int] = field(init=False, repr=False)

    def __init__(
        self, sizes: Sequence[int] | NDArray[np.integer], capacity: int, most: ArrayLike = 1
    ):
        given = np.asarray(sizes)
        if given.ndim != 1 or not given.size or given.dtype.kind not in "iu" or given.min() < 1:
            raise ValueError(
                "sizes must be whole numbers of at least 1, one for each item; count in a unit of "
                "which all of them are multiples, and leave out items without size"
            )
        held = as_count(capacity, "the capacity", least=0)
        copies = np.asarray(most)
        if (
            copies.dtype.kind not in "iu"
            or copies.shape not in ((), given.shape)
            or copies.min() < 0
        ):
            raise ValueError(
                f"most must be one whole number of at least 0, or {given.size} of them, got "
                f"{most!r}"
            )
        wide = given.astype(np.int64)
        unit = int(np.gcd.reduce(wide))
        fits = min(held // unit, 2**62)
        reduced = wide // unit
        limit = np.minimum(np.broadcast_to(copies, wide.shape).astype(np.int64), fits // reduced)
        fits = min(fits, sum(int(k) * int(size) for k, size in zip(limit, reduced, strict=True)))
        cells = (fits + 1) * sum(int(k).bit_length() for k in limit)
        if cells > CELLS:
            raise ValueError(
                f"the dynamic programme would have {cells:.2g} cells, at most {CELLS:g} are "
                "allowed; round the sizes up to a coarser unit"
            )
        freeze(self, sizes=wide, capacity=held, most=limit, _reduced=(read_only(reduced), fits))

    def _in_short(self) -> str:
        return f"{self.dim} items, capacity {self.capacity}"

    @property
    def dim(self) -> int:
        """The number of items."""
        return self.sizes.size

    @property
    def _free(self) -> NDArray[np.bool_]:
        return self.most > 0

    @property
    def _known_diameter(self) -> tuple[float, bool]:
        """The square root of the most that sum of most_i u_i can be, <sizes, u> <= 2 capacity.

        With u = |x - y| the sum of u_i^2 is at most that; where no copies repeat it is whole.
        """
        sizes, capacity = self._reduced
        worth = self.most.astype(np.float64)
        order = np.argsort(sizes / np.maximum(worth, 1e-9), kind="stable")
        loads = np.minimum(np.cumsum((sizes * self.most)[order]), 2 * capacity)
        units = np.diff(loads, prepend=0) / sizes[order]
        return math.sqrt(math.floor(float(worth[order] @ units) + 1e-9)), False

    @property
    def is_polytope(self) -> bool:
        """Yes, the hull of the packings."""
        return True

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the cheapest packing; items of cost zero or more stay out."""
        return KernelWorkspace(self.compiled).lmo(as_direction(c, self))

    @cached_property
    def compiled(self) -> Compiled:
        """The dynamic programme, over bundles of 1, 2, 4, ... copies."""
        sizes, capacity = self._reduced
        bundles = [(i, k) for i, most in enumerate(self.most) for k in _bundles(int(most))]
        owner = np.array([i for i, _ in bundles], np.int64)
        copies = np.array([k for _, k in bundles], np.int64)
        return Compiled(
            kernels.packings.packing,
            kernels.tangents.unfixed,
            pack_uint32(capacity, owner, sizes[owner] * copies),
            numbers=copies.astype(np.float64),
            label=free_mask(self._free),
        )

    @property
    def _has_rows(self) -> bool:
        """Whether the dynamic programme has few arcs."""
        return (self._reduced[1] + 1) * int((self.most + 1).sum()) <= DESCRIBED

    def rows(self) -> Rows:
        """Return the paths through the dynamic programme, (capacity + 1) sum(most + 1) variables.

        From (i, load) an arc for each number of copies of item i leads to (i + 1, new load).
        """
        self._require(HasLinearDescription)
        from scipy import sparse

        sizes, capacity = self._reduced
        loads, layer = np.arange(capacity + 1), capacity + 1
        tails, heads, items, copies = [], [], [], []
        for i, (size, most) in enumerate(zip(sizes, self.most, strict=True)):
            for k in range(int(most) + 1):
                begin = loads[: max(0, layer - k * int(size))]
                tails.append(i * layer + begin)
                heads.append((i + 1) * layer + begin + k * int(size))
                items.append(np.full(begin.size, i))
                copies.append(np.full(begin.size, float(k)))
        tail, head = np.concatenate(tails), np.concatenate(heads)
        item, arc = np.concatenate(items), np.arange(tail.size)
        states, inner = (self.dim + 1) * layer, self.dim * layer
        shape, ones = (states, tail.size), np.ones(tail.size)
        out = sparse.csr_array((ones, (tail, arc)), shape=shape)
        into = sparse.csr_array((ones, (head, arc)), shape=shape)
        supply = np.zeros(inner)
        supply[0] = 1.0
        lift = (np.concatenate(copies), (item, arc))
        return Rows(
            np.zeros(tail.size),
            ones,
            A_eq=sparse.csr_array((out - into)[:inner]),
            b_eq=supply,
            lift=sparse.csr_array(lift, shape=(self.dim, tail.size)),
        )


def _bundles(most: int) -> list[int]:
    """Return 1, 2, 4, ... and a rest, which sum to `most` and whose sums are all of 0 .. most."""
    bundles, left, size = [], most, 1
    while left > 0:
        bundles.append(min(size, left))
        left -= bundles[-1]
        size *= 2
    return bundles
