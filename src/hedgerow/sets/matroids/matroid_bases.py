"""Matroids: mixtures of bases, for which the greedy method is an exact oracle."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.inputs import Vector, as_count, as_direction, as_vector, freeze, read_only
from hedgerow.sets.compositions.product import Product
from hedgerow.sets.decision_set import FlatSet, Rows
from hedgerow.sets.simplices.simplex import KSubsets

Label = NDArray[np.integer[Any]]


def diameter_bound(
    lmo: Callable[[Vector], Vector], vertex: Vector, most: float
) -> tuple[float, bool]:
    """Bound the diameter of a set of 0/1 vertices of one size, and check whether it is attained.

    `most` bounds in how many entries two vertices differ; they differ in at most twice what one of
    them and the vertex furthest from it do. From a given vertex each step goes to that one.
    """
    found = -1.0
    while True:
        other = lmo(vertex)  # the vertex that has least in common with this one
        apart = float(np.abs(vertex - other).sum())
        most = min(most, 2.0 * apart)
        if apart == most or apart <= found:
            return math.sqrt(most), max(apart, found) == most
        vertex, found = other, apart


class Bases(FlatSet):
    """The base polytope of a matroid: subclasses give `dim`, `lmo` and the connected components.

    All points have one sum on each component, and nothing else is fixed.
    """

    zero_one = True

    @property
    @abstractmethod
    def component(self) -> Label:
        """The number of each element's connected component, counted from 0."""

    def tangent(self, c: ArrayLike) -> Vector:
        """Subtract the mean of each component: all bases have as many elements there."""
        c, label = as_vector(c, "the direction", self.dim), self.component
        return c - (np.bincount(label, c) / np.bincount(label))[label]

    def hull(self) -> tuple[Vector, Vector]:
        """Return a base and, for each component, the vectors that sum to zero on it."""
        from scipy.linalg import helmert

        basis, done = np.zeros((self.dim, self.dim)), 0
        for k in range(int(self.component.max()) + 1):
            members = np.flatnonzero(self.component == k)
            basis[members, done : done + members.size - 1] = helmert(members.size).T
            done += members.size - 1
        return self.lmo(np.zeros(self.dim)), basis[:, :done].copy()

    @cached_property
    def _known_diameter(self) -> tuple[float, bool]:
        """Bound the distance of two bases, and check whether two bases attain the bound.

        On a component of n elements and rank r two bases differ in at most 2 min(r, n - r).
        """
        label, base = self.component, self.lmo(np.zeros(self.dim))
        rank, size = np.bincount(label, base), np.bincount(label)
        most = 2.0 * float(np.minimum(rank, size - rank).sum())
        return diameter_bound(self.lmo, base, most)

    @property
    def pyramidal_width(self) -> float:
        """At least 1 / sqrt(sum of n (n^2 - 1) / 12) over the components, n the elements of one.

        A face of one component is where slacks rank(S_j) - x(S_j) of nested sets vanish. They are
        whole at the bases, and the gradient of their sum has its longest part along the hull,
        that of (1, ..., n), if there is a set of every size. Components form a product.
        """
        sizes = np.bincount(self.component).astype(np.float64)
        squares = float((sizes * (sizes**2 - 1.0)).sum()) / 12.0
        return 1.0 / math.sqrt(squares) if squares > 0.0 else 0.0


@dataclass(frozen=True, eq=False)
class Matroid(Bases):
    """The bases of a matroid that is given by a function, which tests independence.

    Vertices are the bases, the largest independent sets, as 0/1 vectors. That the function obeys
    the axioms is not checked; bases of different sizes are noticed and refused.

    Oracle: greedy, the elements by increasing cost, n questions; ties go to the first element.
    Components: rank (n - rank) questions, once. Diameter: a bound, exact if two bases attain it.

    Args:
        n: the number of elements, 0 .. n - 1.
        independent: takes a list of different elements and returns whether it is independent.

    Reference: Edmonds, Submodular functions, matroids, and certain polyhedra (1970).

    Two of three vectors in the plane, the first two of them parallel:

    >>> vectors = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    >>> def independent(chosen):
    ...     return not len(chosen) or np.linalg.matrix_rank(vectors[chosen]) == len(chosen)
    >>> X = Matroid(3, independent)
    >>> X.lmo([3.0, 2.0, 5.0]), X.component
    (array([0., 1., 1.]), array([0, 0, 1]))

    """

    n: int
    independent: Callable[[list[int]], bool]
    rank: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        freeze(self, n=as_count(self.n, "n"))
        if not self.independent([]):
            raise ValueError("the empty set must be independent; check the function `independent`")
        freeze(self, rank=len(self._greedy(range(self.n))))
        self._base(range(self.n - 1, -1, -1))

    def _greedy(self, order: Sequence[int]) -> list[int]:
        base: list[int] = []
        for e in order:
            if self.independent([*base, e]):
                base.append(e)
        return base

    def _base(self, order: Sequence[int]) -> list[int]:
        base = self._greedy(order)
        if len(base) != self.rank:
            raise ValueError(
                f"all bases of a matroid have one size, got bases of {self.rank} and of "
                f"{len(base)} elements; check the function `independent`"
            )
        return base

    @property
    def dim(self) -> int:
        """The number of elements."""
        return self.n

    @cached_property
    def component(self) -> Label:
        """The connected components: those of the exchanges between a base and the rest."""
        from scipy import sparse
        from scipy.sparse.csgraph import connected_components

        base = self._base(range(self.n))
        swaps = [
            (e, b)
            for e in sorted(set(range(self.n)) - set(base))
            for b in base
            if self.independent([*(a for a in base if a != b), e])
        ]
        outs, ins = zip(*swaps, strict=True) if swaps else ((), ())
        graph = sparse.csr_array((np.ones(len(swaps)), (outs, ins)), shape=(self.n, self.n))
        return connected_components(graph, directed=False)[1].astype(np.intp)

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the base of least total cost."""
        c = as_direction(c, self.n)
        v = np.zeros(self.n)
        v[self._base(np.argsort(c, kind="stable").tolist())] = 1.0
        return v


@dataclass(frozen=True, eq=False)
class PartitionMatroid(Bases):
    """A given number of elements of each group: {0 <= x <= 1, x sums to capacity on each group}.

    Vertices are the choices, as 0/1 vectors. Everything is done group by group as for `KSubsets`.
    Oracle: the cheapest of each group by one sort, O(n log n). Diameter: the square root of
    2 sum min(k, size - k) over the groups, exact.

    Args:
        groups: for each group its elements; each of 0 .. n - 1 is in exactly one group.
        capacities: how many elements of each group to take, 0 to all of them.

    >>> X = PartitionMatroid([[0, 1, 2], [3, 4]], [2, 1])
    >>> X.lmo([3.0, 1.0, 2.0, -1.0, -2.0])
    array([0., 1., 1., 0., 1.])
    >>> X.project([0.9, 0.9, 0.8, 0.0, 0.4]).round(6)
    array([0.7, 0.7, 0.6, 0.3, 0.7])

    """

    groups: Sequence[Sequence[int]]
    capacities: Sequence[int]
    _members: tuple[NDArray[np.intp], ...] = field(init=False, repr=False)
    _subsets: tuple[KSubsets, ...] = field(init=False, repr=False)
    _label: NDArray[np.intp] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if len(self.groups) != len(self.capacities) or not len(self.groups):
            raise ValueError(
                "every group needs a capacity, and there must be at least one group; "
                f"got {len(self.groups)} groups and {len(self.capacities)} capacities"
            )
        members = tuple(read_only(np.asarray(group)) for group in self.groups)
        if any(m.size == 0 or m.ndim != 1 or m.dtype.kind not in "iu" for m in members):
            raise ValueError(
                "every group must be a list of at least one whole number; leave empty groups out"
            )
        every = np.concatenate(members).astype(np.intp)
        if not np.array_equal(np.sort(every), np.arange(every.size)):
            raise ValueError(
                f"the groups must hold each of 0 .. {every.size - 1} exactly once, got "
                f"{every.size} elements from {every.min()} to {every.max()}"
            )
        subsets = [KSubsets(m.size, k) for m, k in zip(members, self.capacities, strict=True)]
        label = np.empty(every.size, np.intp)
        label[every] = np.repeat(np.arange(len(members)), [m.size for m in members])
        freeze(self, _members=members, _subsets=tuple(subsets), _label=label)

    @property
    def dim(self) -> int:
        """The number of elements."""
        return self._label.size

    @cached_property
    def component(self) -> Label:
        """The groups; an element that is always or never taken is a component of its own."""
        fixed = np.array([s.k in (0, s.n) for s in self._subsets])
        key = np.where(fixed[self._label], len(fixed) + np.arange(self.dim), self._label)
        labels: Label = np.unique(key, return_inverse=True)[1]
        return labels

    @property
    def pyramidal_width(self) -> float:
        """That of the product of the groups' `KSubsets`, exact."""
        return Product(*self._subsets).pyramidal_width

    def independent(self, chosen: list[int]) -> bool:
        """Whether no group has more of the chosen elements than its capacity."""
        counts = np.bincount(self._label[chosen], minlength=len(self._members))
        return bool((counts <= self.capacities).all())

    @property
    def _share(self) -> Vector:
        return np.array([s.k / s.n for s in self._subsets])

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the cheapest elements of each group, the first ones if several are equal."""
        c = as_direction(c, self.dim)
        order = np.lexsort((c, self._label))
        sizes = [s.n for s in self._subsets]
        place = np.arange(self.dim) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        v = np.zeros(self.dim)
        v[order] = place < np.repeat(self.capacities, sizes)
        return v

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether 0 <= x <= 1 and every group sums to its capacity."""
        x = as_vector(x, "x", self.dim)
        excess = np.bincount(self._label, x) - np.asarray(self.capacities)
        return bool(x.min() >= -tol and x.max() <= 1.0 + tol and np.abs(excess).max() <= tol)

    def start(self) -> Vector:
        """Return the centre: the same share of every element of a group."""
        return self._share[self._label]

    def _by_group(self, act: Callable[[KSubsets, Vector], Vector], x: ArrayLike) -> Vector:
        given = as_vector(x, "the point", self.dim)
        result = np.empty(self.dim)
        for members, subsets in zip(self._members, self._subsets, strict=True):
            result[members] = act(subsets, given[members])
        return result

    def project(self, y: ArrayLike) -> Vector:
        """Return the nearest point, group by group."""
        return self._by_group(lambda subsets, part: subsets.project(part), y)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Vector:
        """Draw every group on its own by systematic sampling."""
        return self._by_group(lambda subsets, part: subsets.sample(part, rng), x)

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Return at most n choices: the groups' mixtures laid side by side along [0, 1]."""
        x = as_vector(x, "x", self.dim)
        parts = [s.decompose(x[m]) for m, s in zip(self._members, self._subsets, strict=True)]
        ends = [np.minimum(np.cumsum(weights), 1.0) for weights, _ in parts]
        cuts = np.unique(np.concatenate([*(end[:-1] for end in ends), [1.0]]))
        vertices = np.empty((cuts.size, self.dim))
        for members, end, (_, choices) in zip(self._members, ends, parts, strict=True):
            vertices[:, members] = choices[np.searchsorted(end[:-1], cuts)]
        return np.diff(cuts, prepend=0.0), vertices

    def ball(self) -> tuple[Vector, float]:
        """Return the groups' centres and their smallest radius, fixed groups left out."""
        balls = [s.ball() for s in self._subsets]
        centre = np.empty(self.dim)
        for members, (part, _) in zip(self._members, balls, strict=True):
            centre[members] = part
        return centre, min((r for _, r in balls if r > 0.0), default=0.0)

    def rows(self) -> Rows:
        """Return one equation for each group, and the bounds."""
        from scipy import sparse

        entries = (np.ones(self.dim), (self._label, np.arange(self.dim)))
        sums = sparse.csr_array(entries, shape=(len(self._members), self.dim))
        capacity = np.asarray(self.capacities, dtype=np.float64)
        return Rows(np.zeros(self.dim), np.ones(self.dim), A_eq=sums, b_eq=capacity)

    def separate(self, y: ArrayLike) -> Vector | None:
        """Return y minus its projection, or None if `contains(y)`."""
        y = as_vector(y, "y", self.dim)
        return None if self.contains(y) else y - self.project(y)
