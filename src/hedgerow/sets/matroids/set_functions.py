"""Submodular functions of sets: coverage, cuts, and concave functions of a sum."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.inputs import Vector, as_vector, read_only
from hedgerow.sets.paths.edges import Edges, Index, frozen, number_undirected


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
        object.__setattr__(self, "covers", tuple(tuple(part.tolist()) for part in lists))
        object.__setattr__(self, "weights", read_only(given))
        object.__setattr__(self, "_covers", tuple(part.astype(np.intp) for part in lists))

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
        object.__setattr__(self, "edges", frozen(edges))
        object.__setattr__(self, "weights", read_only(given))
        object.__setattr__(self, "nodes", nodes)
        object.__setattr__(self, "_one", read_only(one))
        object.__setattr__(self, "_two", read_only(two))

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
            yours to see to. The square root unless given.

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
        object.__setattr__(self, "weights", read_only(given))
        object.__setattr__(self, "concave", concave)

    @property
    def n(self) -> int:  # type: ignore[override]
        """The number of elements."""
        return self.weights.size

    def along(self, order: NDArray[np.intp]) -> Vector:
        """Return the function of the running sum."""
        return np.asarray(self.concave(np.cumsum(self.weights[order])), np.float64)
