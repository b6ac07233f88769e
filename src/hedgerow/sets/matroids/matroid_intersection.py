"""Sets that are independent in two matroids at once."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.inputs import Vector, as_count, as_direction, as_vector, freeze
from hedgerow.sets.decision_set import FlatSet
from hedgerow.sets.directions import whole_costs
from hedgerow.sets.matroids.submodular import Polymatroid, SetFunction

Independent = Callable[[list[int]], bool]


@dataclass(frozen=True, eq=False)
class MatroidIntersection(FlatSet):
    """Mixtures of sets that are independent in two matroids; of one size, if that is given.

    Vertices are the common independent sets, as 0/1 vectors, the empty one among them unless a
    size is given. The largest size makes them the common bases, where both matroids have any.
    That both functions obey the axioms is not checked.

    Oracle: weighted matroid intersection by cheapest augmenting paths, exact because the costs
    become whole numbers; O(r^2 n) questions to each function, r the largest size, in Python.
    Membership: that of both matroids, and the size. Diameter: a bound. The rest goes through the
    oracle; the description has exponentially many rows.

    Args:
        n: the number of elements, 0 .. n - 1.
        first: takes a list of different elements and returns whether it is independent in the
            first matroid; `X.independent` of a `Matroid`, `PartitionMatroid`, `LaminarMatroid` or
            `SpanningTrees` is one.
        second: the same for the second matroid.
        size: how many elements all sets have; any number unless given.

    Reference: Edmonds, Matroid intersection (1979); Frank, A weighted matroid intersection
    algorithm, J. Algorithms 2 (1981); Schrijver, Combinatorial Optimization (2003), section 41.3.

    Pairs of (left, right), none of them twice: matchings.

    >>> pairs = [("a", "x"), ("a", "y"), ("b", "x")]
    >>> X = MatroidIntersection(
    ...     3,
    ...     lambda chosen: len({pairs[e][0] for e in chosen}) == len(chosen),
    ...     lambda chosen: len({pairs[e][1] for e in chosen}) == len(chosen),
    ... )
    >>> X.lmo([-3.0, -2.0, -2.0])
    array([0., 1., 1.])

    """

    n: int
    first: Independent
    second: Independent
    size: int | None = None
    _largest: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        freeze(self, n=as_count(self.n, "n"))
        for name in ("first", "second"):
            if not getattr(self, name)([]):
                raise ValueError(f"the empty set must be independent; check the function `{name}`")
        freeze(self, _largest=len(self._cheapest([-1] * self.n, None)))
        if self.size is not None:
            freeze(self, size=as_count(self.size, "size", least=0))
            if self.size > self._largest:
                raise ValueError(
                    f"the largest common independent set has {self._largest} elements, got size "
                    f"{self.size}; lower it"
                )

    def _in_short(self) -> str:
        return f"{self.n} elements, sets of {self.size or f'up to {self._largest}'}"

    @property
    def dim(self) -> int:
        """The number of elements."""
        return self.n

    @property
    def is_polytope(self) -> bool:
        """Yes, vertices are common independent sets."""
        return True

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the common independent set of least total cost."""
        v = np.zeros(self.n)
        v[sorted(self._cheapest(whole_costs(as_direction(c, self.n)), self.size))] = 1.0
        return v

    def _cheapest(self, cost: list[int], size: int | None) -> set[int]:
        """Augment along cheapest paths, so that each set is the cheapest of its size."""
        chosen: set[int] = set()
        while size is None or len(chosen) < size:
            path = self._path(chosen, cost)
            gain = sum(-cost[e] if e in chosen else cost[e] for e in path)
            if not path or (size is None and gain >= 0):
                break
            chosen ^= set(path)
        return chosen

    def _path(self, chosen: set[int], cost: list[int]) -> list[int]:
        """Return the cheapest augmenting path, of these one with the fewest elements; else none.

        From x outside to y inside if x can replace y in the second matroid, from y to x if it can
        in the first. Costs are weighed so that one more element decides only between ties.
        """
        base, outside = sorted(chosen), [e for e in range(self.n) if e not in chosen]
        weight = [(-cost[e] if e in chosen else cost[e]) * (self.n + 1) + 1 for e in range(self.n)]
        enters = {x: self.first([*base, x]) for x in outside}
        leaves = {x: self.second([*base, x]) for x in outside}
        onward: dict[int, list[int]] = {e: [] for e in range(self.n)}
        for y in base:
            rest = [e for e in base if e != y]
            for x in outside:
                if enters[x] or self.first([*rest, x]):
                    onward[y].append(x)
                if leaves[x] or self.second([*rest, x]):
                    onward[x].append(y)
        length: dict[int, int] = {x: weight[x] for x in outside if enters[x]}
        before: dict[int, int] = {}
        queue, queued = deque(length), set(length)
        while queue:  # Bellman and Ford: no cycle costs less than nothing
            u = queue.popleft()
            queued.discard(u)
            for v in onward[u]:
                if v not in length or length[u] + weight[v] < length[v]:
                    length[v], before[v] = length[u] + weight[v], u
                    if v not in queued:
                        queue.append(v)
                        queued.add(v)
        ends = [x for x in outside if leaves[x] and x in length]
        if not ends:
            return []
        path = [min(ends, key=lambda x: length[x])]
        while path[-1] in before:
            path.append(before[path[-1]])
        return path

    @cached_property
    def _matroids(self) -> tuple[Polymatroid, Polymatroid]:
        first, second = (_Rank(self.n, f) for f in (self.first, self.second))
        return Polymatroid(self.n, first), Polymatroid(self.n, second)

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether x is in the independence polytopes of both matroids, and sums to the size."""
        x = as_vector(x, "x", self.n)
        if self.size is not None and abs(float(x.sum()) - self.size) > tol:
            return False
        return all(matroid.contains(x, tol) for matroid in self._matroids)

    @cached_property
    def _known_diameter(self) -> tuple[float, bool]:
        """Bound how many elements two sets differ in: their own, and all that can be taken."""
        alone = [e for e in range(self.n) if self.first([e]) and self.second([e])]
        if self.size is None:
            return math.sqrt(min(2 * self._largest, len(alone))), False
        return math.sqrt(2 * min(self.size, len(alone) - self.size)), False


@dataclass(frozen=True, eq=False)
class _Rank(SetFunction):
    """The size of a largest independent subset."""

    n: int
    independent: Independent

    def along(self, order: NDArray[np.intp]) -> Vector:
        base: list[int] = []
        ranks = np.empty(order.size)
        for k, e in enumerate(order.tolist()):
            if self.independent([*base, e]):
                base.append(e)
            ranks[k] = len(base)
        return ranks
