"""Submodular functions of sets, and their polytopes, for which the greedy method is exact."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.inputs import Vector, as_count, as_direction, as_vector, freeze
from hedgerow.sets.decision_set import FlatSet
from hedgerow.sets.directions import ascending
from hedgerow.sets.paths.graph import Edges, Index, as_edges, number_undirected
from hedgerow.sets.validation import check_coordinates, check_width

ROUNDING = 1e-9
"""Inequalities of the function may fail by this much, relative to its largest value seen."""


class SetFunction(ABC):
    """A function of sets of elements 0 .. n - 1 that is zero on the empty set.

    Any function of a list of elements can be given where one is wanted; `along` is there to be
    quick.
    """

    n: int

    def __call__(self, chosen: Sequence[int]) -> float:
        """Return the value of a set."""
        return float(self.along(np.asarray(chosen, np.intp))[-1]) if len(chosen) else 0.0

    @abstractmethod
    def along(self, order: NDArray[np.intp]) -> Vector:
        """Return the values of the first 1, 2, ... elements of an order."""


def values_along(function: Callable[[list[int]], float], order: NDArray[np.intp]) -> Vector:
    """Return a set function's values on the first 1, 2, ... elements of an order."""
    if isinstance(function, SetFunction):
        return function.along(order)
    elements = order.tolist()
    return np.array([float(function(elements[: k + 1])) for k in range(len(elements))])


@dataclass(frozen=True, eq=False)
class Coverage(SetFunction):
    """The weight of what a set covers: things that several of its elements cover count once.

    Args:
        covers: for each element, what it covers: whole numbers from 0.
        weights: of what there is to cover, at least 0; one each unless given.

    >>> f = Coverage([[0, 1], [1, 2], [2]], weights=[1.0, 2.0, 4.0])
    >>> f([0]), f([0, 1]), f([0, 1, 2])
    (3.0, 7.0, 7.0)

    """

    covers: Sequence[Sequence[int]]
    weights: Vector
    _covers: tuple[NDArray[np.intp], ...] = field(init=False, repr=False)

    def __init__(self, covers: Sequence[Sequence[int]], weights: ArrayLike | None = None):
        if not len(covers):
            raise ValueError("a coverage needs at least one element, got none")
        lists = tuple(np.unique(np.asarray(part)) for part in covers)
        if any(part.size and (part.dtype.kind not in "iu" or part[0] < 0) for part in lists):
            raise ValueError("every element covers a list of whole numbers of at least 0")
        most = max(int(part[-1]) + 1 if part.size else 0 for part in lists)
        given = np.ones(most) if weights is None else as_vector(weights, "weights")
        if given.size < most or (given < 0.0).any():
            raise ValueError(
                f"weights must be {most} numbers of at least 0, one for each thing to cover, got "
                f"{given.size}{f' from {given.min():g}' if given.size else ''}"
            )
        freeze(
            self,
            covers=tuple(tuple(part.tolist()) for part in lists),
            weights=given,
            _covers=tuple(part.astype(np.intp) for part in lists),
        )

    @property
    def n(self) -> int:  # type: ignore[override]
        """The number of elements."""
        return len(self.covers)

    def along(self, order: NDArray[np.intp]) -> Vector:
        """Return the covered weight after each element, one pass over what they cover."""
        open_ones, gains = self.weights.copy(), np.empty(order.size)
        for k, element in enumerate(order.tolist()):
            new = self._covers[element]
            gains[k] = open_ones[new].sum()
            open_ones[new] = 0.0
        return np.cumsum(gains)


@dataclass(frozen=True, eq=False)
class Cut(SetFunction):
    """The weight of the edges that leave a set of nodes of an undirected graph.

    Elements are the nodes, numbered as they appear in the edges (sorted if these are an array).

    Args:
        edges: pairs of any hashable nodes, or an integer array of shape (m, 2); no loops.
        weights: of the edges, at least 0; one each unless given.

    >>> f = Cut([("a", "b"), ("b", "c")], weights=[1.0, 5.0])
    >>> f([0]), f([0, 1]), f([0, 1, 2])
    (1.0, 5.0, 0.0)

    """

    edges: Edges
    weights: Vector
    nodes: int = field(init=False, repr=False)
    _one: Index = field(init=False, repr=False)
    _two: Index = field(init=False, repr=False)

    def __init__(self, edges: Edges, weights: ArrayLike | None = None):
        one, two, nodes = number_undirected(edges)
        given = np.ones(one.size)
        if weights is not None:
            given = as_vector(weights, "weights", one.size)
        if (given < 0.0).any():
            raise ValueError(f"weights of edges must be at least 0, got {given.min():g}")
        freeze(self, edges=as_edges(edges), weights=given, nodes=nodes, _one=one, _two=two)

    @property
    def n(self) -> int:  # type: ignore[override]
        """The number of nodes."""
        return self.nodes

    def along(self, order: NDArray[np.intp]) -> Vector:
        """Return the cut after each node: an edge counts from its first end to its second."""
        place = np.full(self.nodes, order.size)
        place[order] = np.arange(order.size)
        ends = np.sort([place[self._one], place[self._two]], axis=0)
        cut = np.bincount(ends[0], self.weights, order.size + 1)
        cut -= np.bincount(ends[1], self.weights, order.size + 1)
        return np.cumsum(cut[: order.size])


@dataclass(frozen=True, eq=False)
class ConcaveOfSum(SetFunction):
    """A concave function of the sum of weights, g(w(S)) with g(0) = 0: a common capacity.

    Args:
        weights: of the elements, at least 0.
        concave: takes an array of sums, from 0, and returns as many values; that it is concave is
            not checked. The square root unless given.

    >>> f = ConcaveOfSum([1.0, 3.0, 5.0])
    >>> f([0, 1]), f([0, 1, 2])
    (2.0, 3.0)

    """

    weights: Vector
    concave: Callable[[Vector], Vector]

    def __init__(self, weights: ArrayLike, concave: Callable[[Vector], Vector] = np.sqrt):
        given = as_vector(weights, "weights")
        if not given.size or (given < 0.0).any():
            raise ValueError(
                f"weights must be numbers of at least 0, at least one of them, got {given.size}"
                f"{f' from {given.min():g}' if given.size else ''}"
            )
        if float(concave(np.zeros(1))[0]) != 0.0:
            raise ValueError("the concave function must be 0 at 0; subtract its value there")
        freeze(self, weights=given, concave=concave)

    @property
    def n(self) -> int:  # type: ignore[override]
        """The number of elements."""
        return self.weights.size

    def along(self, order: NDArray[np.intp]) -> Vector:
        """Return the function of the running sum."""
        return np.asarray(self.concave(np.cumsum(self.weights[order])), np.float64)


@dataclass(frozen=True, eq=False)
class Submodular(FlatSet):
    """What the polytopes of a submodular function share: its gains, and the width of each entry.

    Along an order of the elements the gain of each is f(those up to it) - f(those before it).
    """

    n: int
    function: Callable[[list[int]], float]
    _diagonal: float = field(init=False, repr=False)
    _what: ClassVar[str]

    def __post_init__(self) -> None:
        freeze(self, n=as_count(self.n, "n"))
        diagonal = math.hypot(*self._widths(*self._checked()))
        check_width(diagonal, self._what)
        freeze(self, _diagonal=diagonal)

    @abstractmethod
    def _widths(self, most: Vector, least: Vector) -> Vector:
        """Return the sides of the bounding box, from the largest and the least gains."""

    @property
    def _known_diameter(self) -> tuple[float, bool]:
        return self._diagonal, False

    @property
    def is_polytope(self) -> bool:
        """Yes, vertices are gains along orders."""
        return True

    @property
    def dim(self) -> int:
        """The number of elements."""
        return self.n

    def _gains(self, order: NDArray[np.intp]) -> Vector:
        """Return the gain of each element of an order, in the places of the elements."""
        v = np.zeros(self.n)
        if order.size:
            v[order] = np.diff(values_along(self.function, order), prepend=0.0)
        return v

    def _checked(self) -> tuple[Vector, Vector]:
        """Return the largest and the least gain of each element, or refuse the function.

        Along the natural order, the next two elements together must not gain more than one by one.
        """
        nothing = float(self.function([]))
        if nothing != 0.0:
            raise ValueError(
                f"the function must be 0 on the empty set, got {nothing:g}; subtract that"
            )
        n, order = self.n, np.arange(self.n)
        along = self._values([0.0, *values_along(self.function, order)])
        alone = self._values([self.function([i]) for i in range(n)])
        others = self._values([self.function(np.delete(order, i).tolist()) for i in range(n)])
        skipped = self._values([self.function([*range(k), k + 1]) for k in range(n - 1)])
        slack = ROUNDING * float(np.abs([along[1:], alone]).max())
        last = along[-1] - others
        excess = along[2:] + along[:-2] - along[1:-1] - skipped
        if excess.max(initial=0.0) > slack or (last - alone).max() > slack:
            raise ValueError(
                "the function must be submodular, but an element gains more in a larger set; "
                "check the function"
            )
        return alone, last

    @staticmethod
    def _values(values: list[float]) -> Vector:
        """Return values of the function, or refuse them by their size."""
        checked = as_vector(values, "values of the function") if values else np.zeros(0)
        check_coordinates(checked, "values of the function")
        return checked


@dataclass(frozen=True, eq=False)
class BasePolytope(Submodular):
    """The base polytope {x(S) <= f(S) for all sets S, x_1 + ... + x_n = f(all)}, f submodular.

    Vertices are the gains along an order of the elements. Whether f is submodular is checked
    along one order only.

    Oracle: greedy, the elements by increasing cost, one value of f each; ties go to the first.
    Projection, membership and submodular minimisation (`least_set`): the minimum-norm point by
    Fujishige and Wolfe's method, which is that of `DecisionSet`. Diameter: a bound, the diagonal of
    the bounding box, whose sides are known from 2n values of f.

    Args:
        n: the number of elements, 0 .. n - 1.
        function: takes a list of elements and returns its value, 0 for none: your own, or
            `Coverage`, `Cut`, `ConcaveOfSum`.

    Reference: Edmonds, Submodular functions, matroids, and certain polyhedra (1970); Fujishige and
    Isotani, A submodular function minimization algorithm based on the minimum-norm base (2011).

    >>> X = BasePolytope(3, lambda chosen: min(len(chosen), 2.0))
    >>> X.lmo([3.0, 1.0, 2.0]), X.project([0.9, 0.5, 0.0]).round(6)
    (array([0., 1., 1.]), array([1.  , 0.75, 0.25]))

    """

    _what = "a base polytope"

    def _widths(self, most: Vector, least: Vector) -> Vector:
        return np.maximum(most - least, 0.0)

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the gains of the elements, the cheapest first."""
        return self._gains(ascending(as_direction(c, self.n)))

    def start(self) -> Vector:
        """Return the mean of the gains along the natural order and along its reverse."""
        order = np.arange(self.n)
        return 0.5 * (self._gains(order) + self._gains(order[::-1]))

    def least_set(self) -> tuple[list[int], float]:
        """Return a set of the least value of f, and the value.

        The minimum-norm point z orders the elements; of the first ones in ascending order of z the
        best are taken.
        """
        order = ascending(self.project(np.zeros(self.n)))
        values = np.append(0.0, values_along(self.function, order))
        k = int(np.argmin(values))
        return sorted(order[:k].tolist()), float(values[k])


@dataclass(frozen=True, eq=False)
class Polymatroid(Submodular):
    """The polymatroid {x >= 0, x(S) <= f(S) for all sets S}, f submodular and monotone.

    Vertices are the gains along an order of some elements, zero for the others. A function that is
    not monotone is refused: by submodularity the gains of the last elements tell.

    Oracle: greedy, the elements of negative cost by increasing cost, one value of f each.
    Membership and projection: the minimum-norm point, by the oracle. Diameter: a bound, the
    diagonal of the box of all f({i}).

    Args:
        n: the number of elements, 0 .. n - 1.
        function: takes a list of elements and returns its value, 0 for none, never less for more.

    Reference: Edmonds, Submodular functions, matroids, and certain polyhedra (1970).

    >>> X = Polymatroid(3, lambda chosen: min(len(chosen), 2.0))
    >>> X.lmo([-3.0, 1.0, -2.0]), X.contains([0.9, 0.9, 0.1]), X.contains([0.9, 0.9, 0.3])
    (array([1., 0., 1.]), True, False)

    """

    _what = "a polymatroid"

    def _widths(self, most: Vector, least: Vector) -> Vector:
        if least.min() < -ROUNDING * np.abs(most).max():
            raise ValueError(
                f"the function of a polymatroid never falls, but element {int(np.argmin(least))} "
                f"gains {least.min():g} at the end; use BasePolytope for such a function"
            )
        return most

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the gains of the elements of negative cost, the cheapest first."""
        c = as_direction(c, self.n)
        order = ascending(c)
        return np.maximum(self._gains(order[: int((c < 0.0).sum())]), 0.0)

    def start(self) -> Vector:
        """Return half of the mean of the gains along the natural order and along its reverse."""
        order = np.arange(self.n)
        return np.maximum(0.25 * (self._gains(order) + self._gains(order[::-1])), 0.0)
