"""The decision set: one required method, the oracle, and optional capabilities."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.display import ShortRepr, data_series
from hedgerow.inputs import Vector, as_point, as_vector, length, squared_norm
from hedgerow.labels import Labelled, Labels, as_labels, label_text
from hedgerow.sets import derived
from hedgerow.sets.compiled import Compiled, KernelWorkspace, kernel_matches
from hedgerow.snapshot import Stateful

if TYPE_CHECKING:
    import pandas as pd
    from scipy import sparse

    from hedgerow.sets.actions import Actions


@dataclass(frozen=True)
class Capability:
    """An optional capability of a set besides its oracle; test with `X.supports(capability)`."""

    name: str
    method: str
    meaning: str


Projectable = Capability("Projectable", "project", "the nearest point of the set")
"""The capability of `project`: the nearest point of the set."""
Decomposable = Capability("Decomposable", "decompose", "a point as a mixture of vertices")
"""The capability of `decompose`: a point as a mixture of vertices."""
HasSampling = Capability("HasSampling", "sample", "a random vertex with a given mean")
"""The capability of `sample`: a random vertex with a given mean."""
HasAffineHull = Capability("HasAffineHull", "hull", "the affine hull, with an orthonormal basis")
"""The capability of `hull`: the affine hull, with an orthonormal basis."""
HasInnerBall = Capability("HasInnerBall", "ball", "a ball inside the set, relative to its hull")
"""The capability of `ball`: a ball inside the set, relative to its hull."""
HasLinearDescription = Capability(
    "HasLinearDescription", "rows", "a linear description of polynomial size"
)
"""The capability of `rows`: a linear description of polynomial size."""
HasSeparation = Capability("HasSeparation", "separate", "a hyperplane between a point and the set")
"""The capability of `separate`: a hyperplane between a point and the set."""

CAPABILITIES = (
    Projectable,
    Decomposable,
    HasSampling,
    HasAffineHull,
    HasInnerBall,
    HasLinearDescription,
    HasSeparation,
)
"""All capabilities, in the order of the catalogue."""


@dataclass(frozen=True, eq=False)
class Rows:
    """A polyhedron for an LP solver, {lift z + shift : A_ub z <= b_ub, A_eq z = b_eq, l <= z <= u}.

    `lift` and `shift` are None where the set is described in its own coordinates, x = z.
    """

    lower: Vector
    upper: Vector
    A_eq: sparse.csr_array | None = None
    b_eq: Vector | None = None
    A_ub: sparse.csr_array | None = None
    b_ub: Vector | None = None
    lift: sparse.csr_array | None = None
    shift: Vector | None = None


class DecisionSet(ShortRepr, Labelled, ABC):
    """A compact convex set known through its linear minimisation oracle.

    Every point is a vector of length `dim`. Sets are immutable and may be shared between threads;
    scratch memory and warm starts live in a `workspace()`, which belongs to one learner.

    A set of your own needs `dim` and `lmo`. The rest is found through the oracle: projection,
    decomposition, sampling, membership and separation by Wolfe's method, exact up to rounding on
    polytopes, to 1e-10 of the diameter on other sets unless `oracle_cap` calls end it first, and
    `projection_error` bounds what is left; the affine hull by at most 2 dim + 1 calls, once; the
    diameter as a bound, the diagonal of the bounding box, by 2 dim calls, once. Override what has
    a better answer. Only `rows` has no default.

    >>> from dataclasses import dataclass
    >>> from hedgerow.inputs import as_direction
    >>> @dataclass(frozen=True, eq=False)
    ... class Intervals(DecisionSet):
    ...     '''0/1 vectors of length n whose ones are consecutive, and their mixtures.'''
    ...
    ...     n: int
    ...
    ...     @property
    ...     def dim(self):
    ...         return self.n
    ...
    ...     def lmo(self, c):
    ...         sums = np.concatenate([[0.0], np.cumsum(as_direction(c, self))])
    ...         gain = sums - np.maximum.accumulate(sums)  # the best interval that ends here
    ...         last = int(np.argmin(gain))
    ...         v = np.zeros(self.n)
    ...         v[np.argmax(sums[: last + 1]) : last] = 1.0
    ...         return v
    >>> X = Intervals(4)
    >>> X.lmo([1.0, -2.0, 1.0, -3.0]), X.contains([0.5, 0.0, 0.5, 0.0])
    (array([0., 1., 1., 1.]), True)
    >>> X.project([0.9, 0.1, 0.9, 0.3]).round(6)
    array([0.666667, 0.333333, 0.666667, 0.3     ])
    >>> weights, vertices = X.decompose([0.5, 1.0, 1.0, 0.25])
    >>> weights, vertices
    (array([0.25, 0.5 , 0.25]), array([[1., 1., 1., 1.],
           [0., 1., 1., 0.],
           [1., 1., 1., 0.]]))
    """

    zero_one: ClassVar[bool] = False
    """Whether every vertex has entries 0 and 1 alone."""

    @property
    @abstractmethod
    def dim(self) -> int:
        """The number of coordinates."""

    @property
    def labels(self) -> Labels | None:
        """The names of the coordinates, given by `named`; those of edges are "a - b".

        A Series, a mapping or the columns of a frame are matched with them, wherever a vector is
        taken. An array is in the order of the coordinates.
        """
        return self._own_labels if self._labels is None else self._labels

    @cached_property
    def _own_labels(self) -> Labels | None:
        """The names that it has by itself: those of edges, or of the set inside it."""
        edges = getattr(self, "edges", None)
        if edges is not None and len(edges) == self.dim:
            names = tuple(map(label_text, (tuple(edge) for edge in edges)))
            return names if len(set(names)) == len(names) else None
        inner = getattr(self, "inner", None)  # of a set that is scaled, moved or cut
        return inner.labels if isinstance(inner, DecisionSet) else None

    def named(self, labels: Iterable[object]) -> Self:
        """Return the same set with names for its coordinates, such as the columns of a frame.

        >>> from hedgerow.sets.simplices.simplex import Simplex
        >>> X = Simplex(3).named(["rail", "road", "sea"])
        >>> X.lmo({"sea": 1.0, "road": 2.0, "rail": 3.0})
        array([0., 0., 1.])

        """
        twin = object.__new__(type(self))
        vars(twin).update(self.__getstate__(), _labels=as_labels(labels, self.dim))
        return twin

    def series(self, x: ArrayLike) -> pd.Series:
        """Return a point as a Series with the labels of the coordinates; it needs pandas."""
        return data_series(as_vector(x, "x", self), self.labels)

    @property
    def shape(self) -> tuple[int, ...]:
        """The natural shape of a point; `x.reshape(X.shape)` gives a matrix set's matrix."""
        return (self.dim,)

    @property
    def diameter(self) -> float:
        """The largest Euclidean distance between two points, or a proved upper bound of it."""
        return self._known_diameter[0]

    @property
    def diameter_is_exact(self) -> bool:
        """Whether `diameter` is attained by two points of the set."""
        return type(self).diameter is not DecisionSet.diameter or self._known_diameter[1]

    @cached_property
    def _known_diameter(self) -> tuple[float, bool]:
        """The diameter or a bound of it, and whether it is attained."""
        return derived.bounding_diagonal(self), False

    @property
    def oracle_cap(self) -> int:
        """The most oracle calls of one projection, decomposition or test through the oracle."""
        return 1000 + 20 * self.dim

    def radius_around(self, x: ArrayLike) -> float:
        """Return the largest distance of a point of the set to x, a point of it, or a bound.

        Exact for vertices of zeros and ones, by one oracle call: ||v - x||^2 =
        ||x||^2 + <1 - 2 x, v>. Otherwise the diameter, unless the set knows better.
        """
        if not self.zero_one:
            return self.diameter
        x = as_vector(x, "x", self)
        farthest = self.lmo(2.0 * x - 1.0) - x
        return min(self.diameter, math.sqrt(squared_norm(farthest)))

    @property
    def is_polytope(self) -> bool:
        """Whether the set is known to be the hull of finitely many vertices."""
        return self.zero_one

    @property
    def strong_convexity(self) -> float:
        """A proved alpha for which the set is alpha-strongly convex, 0 where none is known.

        For x, y in the set and s in [0, 1] it contains the ball of radius
        (alpha / 2) s (1 - s) ||x - y||^2 around s x + (1 - s) y. The same is: for each unit vector
        u and the point v with the largest <u, v>, the ball of radius 1 / alpha around
        v - u / alpha contains the set. alpha is in units of 1 / length, at most 2 / diameter.

        Reference: D. Garber and E. Hazan, Faster rates for the Frank-Wolfe method over
        strongly-convex sets, ICML 2015.
        """
        return 0.0

    @property
    def pyramidal_width(self) -> float:
        """A proved lower bound of the pyramidal width, 0 where none is known and for a point.

        The pyramidal width of a polytope is its facial distance: the least distance of a face F,
        not the whole set, to the hull of the vertices outside of F. The bound must hold for the
        affine hull of F in place of F, too, which is what `Product` needs. Where F is the part of
        the set on which some slacks of a linear description vanish, and each of them is 0 or at
        least 1 at every vertex, their sum g is 0 on the affine hull of F and at least 1 at the
        vertices outside: they are at least 1 / ||gradient of g|| away.

        Reference: S. Lacoste-Julien and M. Jaggi, On the global linear convergence of Frank-Wolfe
        optimization variants, NIPS 2015; J. Pena and D. Rodriguez, Polytope conditioning and
        linear convergence of the Frank-Wolfe algorithm, Math. Oper. Res. 44 (2019).
        """
        return 0.0

    @abstractmethod
    def lmo(self, c: ArrayLike) -> Vector:
        """Return a vertex that minimises <c, x>, as a fresh array, for c of any sign and scale.

        NaN, infinities and other shapes are refused; `inputs.as_direction(c, self)` does it.
        """

    def minimum(self, c: ArrayLike) -> float:
        """Return a proved lower bound of <c, x>; the least value itself if `lmo` is exact."""
        return float(as_vector(c, "the direction", self) @ self.lmo(c))

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether x lies in the set, up to `tol` in each defining inequality.

        Through the oracle: whether its distance to the set is at most tol, relative to entries
        above 1.
        """
        return derived.contains(self, as_vector(x, "x", self), tol)

    def start(self) -> Vector:
        """Return a deterministic first point, x_1."""
        return self.lmo(np.zeros(self.dim))

    @cached_property
    def checked_start(self) -> Vector:
        """`start()`, asked for once, and to be copied; refused if the set does not contain it."""
        start = self.start()
        if not self.contains(start):
            raise ValueError(
                f"{self!r} does not contain its own start; correct its start() or contains(), or "
                "give the first decision to the learner, as start"
            )
        return start

    def tangent(self, c: ArrayLike) -> Vector:
        """Return the component of c along the set; the oracle's answer does not change.

        Unless the set knows its flat directions that is c: finding them takes oracle calls.
        """
        return as_vector(c, "the direction", self)

    @cached_property
    def _hull(self) -> tuple[Vector, Vector, Vector]:
        """Affinely independent vertices (d + 1, dim), the basis (dim, d) and its complement."""
        return derived.find_hull(self)

    def tangent_norm(self, c: ArrayLike) -> float:
        """Return the norm of `tangent(c)`, or zero if it is below the rounding error of ||c||."""
        return math.sqrt(self.tangent_norm2(as_vector(c, "the direction", self))[0])

    def tangent_norm2(self, c: Vector) -> tuple[float, float]:
        """Return (`tangent_norm(c)` squared, ||c||^2); c is trusted."""
        if (compiled := self.compiled) is not None:
            return compiled.tangent_norm2(c)
        tangent2, plain2 = squared_norm(self.tangent(c)), squared_norm(c)
        rounding = 4.0 * sys.float_info.epsilon * self.dim
        return tangent2 if tangent2 > rounding**2 * plain2 else 0.0, plain2

    @property
    def compiled(self) -> Compiled | None:
        """The oracle and the tangent norm as kernels, for the sets that have them."""
        return None

    def workspace(self) -> Workspace:
        """Return fresh scratch memory for one learner."""
        return Workspace(self)

    def supports(self, capability: Capability) -> bool:
        """Whether this set has the capability; all but `rows` are found through the oracle."""
        if capability is not HasLinearDescription:
            return True
        return type(self).rows is not DecisionSet.rows and self._has_rows

    def project(self, y: ArrayLike) -> Vector:
        """Return the point of the set nearest to y."""
        return derived.project(self, as_point(y, "y", self))

    def projection_error(self, y: ArrayLike, x: ArrayLike) -> float:
        """Bound the distance of x, a point of the set, to the projection of y, by one oracle call.

        ||x - P(y)||^2 <= <x - y, x - v> with v = lmo(x - y), because P(y) is nearest.
        """
        point = as_vector(x, "x", self)
        residual = point - as_vector(y, "y", self)
        return math.sqrt(max(0.0, float(residual @ point) - self.minimum(residual)))

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Return weights (k,) and vertices (k, dim) whose mixture is x, with k <= dim + 1."""
        return derived.decompose(self, as_vector(x, "x", self))

    def describe(self, x: ArrayLike) -> Actions:
        """Return a point as shares of named vertices; `print` shows one per line.

        For sets that decompose points. Routes, trees, matchings and assignments have the names of
        their nodes; vertices of other sets those of their coordinates.
        """
        from hedgerow.sets.actions import actions_of

        return actions_of(self, x)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Vector:
        """Return a random vertex whose mean is x: one of its decomposition, drawn by weight."""
        weights, vertices = self.decompose(x)
        vertex: Vector = vertices[rng.choice(weights.size, p=weights)].copy()
        return vertex

    def hull(self) -> tuple[Vector, Vector]:
        """Return an offset (dim,) and an orthonormal basis (dim, d) of the affine hull."""
        vertices, basis, _ = self._hull
        return vertices[0].copy(), basis.copy()

    def ball(self) -> tuple[Vector, float]:
        """Return a centre and a radius r: the ball in the affine hull lies in the set."""
        vertices, basis, _ = self._hull
        return derived.inner_ball(vertices, basis)

    def rows(self) -> Rows:
        """Return a linear description for an LP solver."""
        self._refuse(HasLinearDescription)

    def separate(self, y: ArrayLike) -> Vector | None:
        """Return a with <a, y> > max over the set of <a, x>, or None if y is inside."""
        return derived.separate(self, as_vector(y, "y", self))

    def __copy__(self) -> Self:
        return self  # immutable: a copy may share it

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is computed when first needed: it is computed alike again."""
        return {k: v for k, v in vars(self).items() if not _is_cached(type(self), k)}

    def _in_short(self) -> str:
        return f"{self.dim} coordinates"

    @property
    def _has_rows(self) -> bool:
        """Whether this very set has a linear description, if its class has `rows`."""
        return True

    def _require(self, capability: Capability) -> None:
        if not self.supports(capability):
            self._refuse(capability)

    def _refuse(self, capability: Capability) -> NoReturn:
        raise NotImplementedError(
            f"{type(self).__name__} has no {capability.method}() ({capability.meaning}); "
            f"ask X.supports({capability.name}) first"
        )


def _is_cached(kind: type, name: str) -> bool:
    return isinstance(getattr(kind, name, None), cached_property)


class Workspace(Stateful):
    """Scratch memory and warm starts for one learner; answers are those of the set itself.

    Warm starts are its state, so that a restored learner goes on bit for bit.
    """

    space: KernelWorkspace | None = None  # the memory of a compiled oracle
    parts: Sequence[Workspace] = ()  # the workspaces of the sets that the set is made of

    def __init__(self, decision_set: DecisionSet, parts: Sequence[Workspace] = ()):
        self.decision_set, self.parts = decision_set, parts
        compiled = decision_set.compiled
        if compiled is not None and kernel_matches(decision_set, "lmo"):
            self.space = KernelWorkspace(compiled)

    def lmo(self, c: Vector) -> Vector:
        """Return what `decision_set.lmo(c)` returns; c is trusted to be finite."""
        return self.decision_set.lmo(c) if self.space is None else self.space.lmo(c)

    def project(self, y: Vector) -> Vector:
        """Return what `decision_set.project(y)` returns, perhaps sooner; y is trusted."""
        return self.decision_set.project(y)

    def clear(self) -> None:
        """Forget all warm starts."""
        self._state.array[:] = 0.0
        for part in self._parts.values():
            part.clear()

    @property
    def _parts(self) -> Mapping[str, Workspace]:
        return {str(i): part for i, part in enumerate(self.parts)}

    @property
    def _configuration(self) -> object:
        return ()  # the learner's own snapshot knows the set


class FullDimensional(DecisionSet):
    """A set with interior points: its affine hull is the whole space."""

    def tangent(self, c: ArrayLike) -> Vector:
        """Return c: no direction is flat."""
        return as_vector(c, "the direction", self)

    def hull(self) -> tuple[Vector, Vector]:
        """Return the whole space."""
        return np.zeros(self.dim), np.eye(self.dim)


class FlatSet(DecisionSet):
    """A set that may be flat: its oracle is called 2 dim + 1 times, once, to find where."""

    @property
    def _flat(self) -> Vector:
        """An orthonormal basis (dim, dim - d) of the directions in which the set is flat."""
        return self._hull[2]

    def tangent(self, c: ArrayLike) -> Vector:
        """Remove the flat directions; above 1000 dimensions return c as it is."""
        c = as_vector(c, "the direction", self)
        if self.dim > derived.LARGEST_HULL or not self._flat.size:
            return c
        return c - self._flat @ (self._flat.T @ c)


class ProjectableSet(DecisionSet):
    """A set with an exact projection."""

    @abstractmethod
    def project(self, y: ArrayLike) -> Vector:
        """Return the point of the set nearest to y."""

    def separate(self, y: ArrayLike) -> Vector | None:
        """Return y minus its projection, or None if `contains(y)`."""
        if self.contains(y):
            return None
        y = as_vector(y, "y", self)
        return y - self.project(y)

    def _inside(self, x: ArrayLike) -> Vector:
        x = as_vector(x, "x", self)
        if not self.contains(x):
            raise ValueError(
                "only a point of the set is a mixture of its vertices, got one at distance "
                f"{length(x - self.project(x)):g}; project it first"
            )
        return x
