"""Polytopes of submodular functions, for which the greedy method is an exact oracle."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.inputs import Vector, as_count, as_direction, as_vector
from hedgerow.sets.compositions.oracle_only import OracleOnly
from hedgerow.sets.matroids.set_functions import values_along
from hedgerow.sets.rising import rising
from hedgerow.sets.sizes import check_coordinates, check_width

ROUNDING = 1e-9
"""Inequalities of the function may fail by this much, relative to its largest value seen."""


class Submodular(OracleOnly):
    """What the polytopes of a submodular function share: its gains, and the width of each entry.

    Along an order of the elements the gain of each is f(those up to it) - f(those before it).
    """

    n: int
    function: Callable[[list[int]], float]

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
        along = self._seen([0.0, *values_along(self.function, order)])
        alone = self._seen([self.function([i]) for i in range(n)])
        others = self._seen([self.function(np.delete(order, i).tolist()) for i in range(n)])
        skipped = self._seen([self.function([*range(k), k + 1]) for k in range(n - 1)])
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
    def _seen(values: list[float]) -> Vector:
        """Return values of the function, or say what is wrong with their size."""
        seen = as_vector(values, "values of the function") if values else np.zeros(0)
        check_coordinates(seen, "values of the function")
        return seen


@dataclass(frozen=True, eq=False)
class BasePolytope(Submodular):
    """The base polytope {x(S) <= f(S) for all sets S, x_1 + ... + x_n = f(all)}, f submodular.

    Vertices are the gains along an order of the elements. That f is submodular is yours to see to;
    what fails along one order is noticed and refused.

    Oracle: greedy, the elements by increasing cost, one value of f each; ties go to the first.
    Projection, membership and submodular minimisation (`least_set`): the minimum-norm point by
    Fujishige and Wolfe's method, which is that of `OracleOnly`. Diameter: a bound, the diagonal of
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

    n: int
    function: Callable[[list[int]], float]
    _diameter: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", as_count(self.n, "n"))
        most, least = self._checked()
        width = math.hypot(*np.maximum(most - least, 0.0))
        check_width(width, "a base polytope")
        object.__setattr__(self, "_diameter", width)

    @property
    def diameter(self) -> float:
        """The diagonal of the bounding box."""
        return self._diameter

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the gains of the elements, the cheapest first."""
        return self._gains(rising(as_direction(c, self.n)))

    def start(self) -> Vector:
        """Return the mean of the gains along the natural order and along its reverse."""
        order = np.arange(self.n)
        return 0.5 * (self._gains(order) + self._gains(order[::-1]))

    def least_set(self) -> tuple[list[int], float]:
        """Return a set of the least value of f, and the value.

        The minimum-norm point z orders the elements; of the first ones in rising order of z the
        best are taken.
        """
        order = rising(self.project(np.zeros(self.n)))
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

    n: int
    function: Callable[[list[int]], float]
    _diameter: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", as_count(self.n, "n"))
        most, least = self._checked()
        if least.min() < -ROUNDING * np.abs(most).max():
            raise ValueError(
                f"the function of a polymatroid never falls, but element {int(np.argmin(least))} "
                f"gains {least.min():g} at the end; use BasePolytope for such a function"
            )
        width = math.hypot(*most)
        check_width(width, "a polymatroid")
        object.__setattr__(self, "_diameter", width)

    @property
    def diameter(self) -> float:
        """The diagonal of the box of all f({i})."""
        return self._diameter

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the gains of the elements of negative cost, the cheapest first."""
        c = as_direction(c, self.n)
        order = rising(c)
        return np.maximum(self._gains(order[: int((c < 0.0).sum())]), 0.0)

    def start(self) -> Vector:
        """Return half of the mean of the gains along the natural order and along its reverse."""
        order = np.arange(self.n)
        return np.maximum(0.25 * (self._gains(order) + self._gains(order[::-1])), 0.0)
