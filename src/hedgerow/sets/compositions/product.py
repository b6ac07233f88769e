"""Several sets side by side."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow import kernels
from hedgerow.inputs import Vector, as_direction, as_point, as_vector, freeze
from hedgerow.labels import Labels
from hedgerow.sets.compiled import Compiled, KernelWorkspace, pack_uint32
from hedgerow.sets.decision_set import Capability, DecisionSet, Rows, Workspace
from hedgerow.sets.simplices.simplex import Simplex

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True, eq=False, init=False)
class Product(DecisionSet):
    """The product of sets: points (x_1, ..., x_k), one after the other, with x_i in the i-th set.

    It can do whatever all its factors can do. Oracle: that of each factor, once. Diameter:
    sqrt(D_1^2 + ... + D_k^2), exact if all of them are.

    Args:
        factors: the sets, at least one.

    >>> from hedgerow.sets.balls.boxes import Box
    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> Product(Simplex(2), Box([0.0], [3.0])).lmo([2.0, 1.0, -1.0])
    array([0., 1., 3.])

    """

    factors: tuple[DecisionSet, ...]

    def __init__(self, *factors: DecisionSet):
        if not factors:
            raise ValueError("a product needs at least one set, got none")
        for factor in factors:
            if not isinstance(factor, DecisionSet):
                raise TypeError(
                    f"a product is made of decision sets, got {type(factor).__name__}; "
                    "write Product(X, Y), not Product([X, Y])"
                )
        freeze(self, factors=factors)

    def parts(self, x: ArrayLike) -> list[Vector]:
        """Return the factors' parts of a point."""
        x = as_vector(x, "the point", self)
        return np.split(x, np.cumsum(self.sizes)[:-1])

    def _each(self, f: Callable[[DecisionSet, Vector], Vector], x: ArrayLike) -> Vector:
        return np.concatenate(
            [f(X, part) for X, part in zip(self.factors, self.parts(x), strict=True)]
        )

    def _in_short(self) -> str:
        return f"{len(self.factors)} factors, {self.dim} coordinates"

    @cached_property
    def _own_labels(self) -> Labels | None:
        """Those of the factors one after the other, where each has some and none comes twice."""
        if any(kind.labels is None for kind in self.kinds[0]):
            return None
        names = tuple(name for factor in self.factors for name in factor.labels or ())
        return names if len(set(names)) == self.dim else None

    @cached_property
    def kinds(self) -> tuple[tuple[DecisionSet, ...], NDArray[np.intp]]:
        """The factors that are different objects, and which of them each factor is."""
        place: dict[int, int] = {}
        which = np.fromiter(
            (place.setdefault(id(X), len(place)) for X in self.factors), np.intp, len(self.factors)
        )
        first = np.unique(which, return_index=True)[1]
        return tuple(self.factors[i] for i in first.tolist()), which

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The factors' dimensions."""
        kinds, which = self.kinds
        return np.array([X.dim for X in kinds])[which]

    @cached_property
    def dim(self) -> int:
        """The sum of the factors' dimensions."""
        return int(self.sizes.sum())

    @cached_property
    def diameter(self) -> float:
        """The root of the sum of the factors' squared diameters."""
        kinds, which = self.kinds
        return math.hypot(*np.array([X.diameter for X in kinds])[which].tolist())

    def radius_around(self, x: ArrayLike) -> float:
        """Return the root of the sum of the factors' squared radii."""
        parts = zip(self.factors, self.parts(x), strict=True)
        return math.hypot(*(X.radius_around(part) for X, part in parts))

    @property
    def diameter_is_exact(self) -> bool:
        """Whether all factors' diameters are."""
        return all(X.diameter_is_exact for X in self.factors)

    @property
    def is_polytope(self) -> bool:
        """Whether all factors are."""
        return all(X.is_polytope for X in self.factors)

    @cached_property
    def pyramidal_width(self) -> float:
        """1 / sqrt(sum of 1 / width^2) over the factors of more than one point, 0 if one is 0.

        A point of the hull of the vertices outside of a face F_1 x ... x F_k mixes vertices of
        which shares p_i, sum p_i >= 1, lie outside of F_i in the i-th part; its i-th part is at
        least p_i width_i away from the affine hull of F_i. Attained if all widths are exact, by
        p_i in proportion to 1 / width_i^2.
        """
        widths = [X.pyramidal_width for X in self.factors if X.diameter > 0.0]
        least = min(widths, default=0.0)
        return least / math.hypot(*(least / width for width in widths)) if least > 0.0 else 0.0

    def supports(self, capability: Capability) -> bool:
        """Whether every factor has the capability."""
        return all(X.supports(capability) for X in self.factors)

    def lmo(self, c: ArrayLike) -> Vector:
        """Ask every factor."""
        c = as_direction(c, self)
        if self.compiled is not None:
            return KernelWorkspace(self.compiled).lmo(c)
        return self._each(lambda X, part: X.lmo(part), c)

    def minimum(self, c: ArrayLike) -> float:
        """Add the factors' lower bounds."""
        if self.compiled is not None:
            return super().minimum(c)
        return sum(X.minimum(part) for X, part in zip(self.factors, self.parts(c), strict=True))

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether every part lies in its factor."""
        if self.compiled is not None:  # as each simplex checks it, without a Python loop
            x, total = as_vector(x, "the point", self), self.compiled.numbers
            begin = self.compiled.index[:-1]
            slack = tol * np.maximum(1.0, total)
            low, high = np.minimum.reduceat(x, begin), np.maximum.reduceat(x, begin)
            excess = np.abs(np.add.reduceat(x, begin) - total)
            inside = (low >= -slack) & (high <= total + slack) & (excess <= slack)
            return bool(inside.all())
        return all(
            X.contains(part, tol) for X, part in zip(self.factors, self.parts(x), strict=True)
        )

    def start(self) -> Vector:
        """Join the factors' starts."""
        if self.compiled is not None:
            sizes = np.diff(self.compiled.index)
            return np.repeat(self.compiled.numbers / sizes, sizes)
        return np.concatenate([X.start() for X in self.factors])

    def tangent(self, c: ArrayLike) -> Vector:
        """Ask every factor."""
        if self.compiled is not None:
            return self.compiled.tangent(as_vector(c, "the direction", self))
        return self._each(lambda X, part: X.tangent(part), c)

    @cached_property
    def compiled(self) -> Compiled | None:
        """All factors in one call, where each is a simplex: 10^4 of them cost no Python loop."""
        kinds, which = self.kinds
        if any(type(X) is not Simplex for X in kinds):
            return None
        sizes, totals = self.sizes, [X.total for X in kinds if isinstance(X, Simplex)]
        label = np.repeat(np.where(sizes > 1, np.arange(1, sizes.size + 1), 0), sizes)
        return Compiled(
            kernels.simplices.cheapest_each,
            kernels.tangents.grouped,
            index=pack_uint32(0, np.cumsum(sizes)),
            numbers=np.array(totals)[which],
            label=label.astype(np.uint32),
            members=np.bincount(label, minlength=sizes.size + 1).astype(np.float64),
            project=kernels.simplices.nearest_each,
        )

    def workspace(self) -> Workspace:
        """Join the factors' workspaces."""
        return _ProductWorkspace(self) if self.compiled is None else _CompiledWorkspace(self)

    def project(self, y: ArrayLike) -> Vector:
        """Project every part."""
        if self.compiled is not None:
            return KernelWorkspace(self.compiled).project(as_point(y, "y", self))
        return self._each(lambda X, part: X.project(part), y)

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Lay the factors' weights side by side along [0, 1] and cut wherever one of them ends."""
        mixtures = [X.decompose(part) for X, part in zip(self.factors, self.parts(x), strict=True)]
        ends = [np.append(np.cumsum(w)[:-1].clip(0.0, 1.0), 1.0) for w, _ in mixtures]
        cuts = np.unique(np.concatenate(ends))
        middles = cuts - 0.5 * np.diff(cuts, prepend=0.0)
        vertices = np.hstack(
            [
                mixture[1][np.searchsorted(end, middles)]
                for mixture, end in zip(mixtures, ends, strict=True)
            ]
        )
        return np.diff(cuts, prepend=0.0), vertices

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Vector:
        """Draw every part on its own."""
        return self._each(lambda X, part: X.sample(part, rng), x)

    def hull(self) -> tuple[Vector, Vector]:
        """Join the factors' offsets; the bases are blocks."""
        from scipy import linalg

        hulls = [X.hull() for X in self.factors]
        basis: Vector = linalg.block_diag(*(basis for _, basis in hulls))
        return np.concatenate([offset for offset, _ in hulls]), basis

    def ball(self) -> tuple[Vector, float]:
        """Join the centres; the smallest radius, factors of one point left aside."""
        balls = [X.ball() for X in self.factors]
        radii = [
            r for X, (_, r) in zip(self.factors, balls, strict=True) if r > 0.0 or X.hull()[1].size
        ]
        return np.concatenate([centre for centre, _ in balls]), min(radii, default=0.0)

    def rows(self) -> Rows:
        """Put the factors' descriptions side by side."""
        from scipy import sparse

        rows = [X.rows() for X in self.factors]
        lifts = [sparse.eye_array(r.lower.size) if r.lift is None else r.lift for r in rows]
        shifts = [
            np.zeros(X.dim) if r.shift is None else r.shift
            for X, r in zip(self.factors, rows, strict=True)
        ]
        plain = all(r.lift is None and r.shift is None for r in rows)
        A_eq, b_eq = _blocks([(r.A_eq, r.b_eq, r.lower.size) for r in rows])
        A_ub, b_ub = _blocks([(r.A_ub, r.b_ub, r.lower.size) for r in rows])
        return Rows(
            np.concatenate([r.lower for r in rows]),
            np.concatenate([r.upper for r in rows]),
            A_eq,
            b_eq,
            A_ub,
            b_ub,
            None if plain else sparse.csr_array(sparse.block_diag(lifts)),
            None if plain else np.concatenate(shifts),
        )

    def separate(self, y: ArrayLike) -> Vector | None:
        """Separate the first part that lies outside of its factor."""
        parts = self.parts(y)
        for i, X in enumerate(self.factors):
            a = X.separate(parts[i])
            if a is not None:
                zeros = [np.zeros(part.size) for part in parts]
                return np.concatenate([*zeros[:i], a, *zeros[i + 1 :]])
        return None


class _CompiledWorkspace(Workspace):
    def project(self, y: Vector) -> Vector:
        assert self.space is not None
        return self.space.project(y)


class _ProductWorkspace(Workspace):
    def __init__(self, product: Product):
        super().__init__(product, [X.workspace() for X in product.factors])
        self._cuts = np.cumsum(product.sizes)[:-1]

    def _each(self, f: Callable[[Workspace, Vector], Vector], x: Vector) -> Vector:
        pieces = np.split(x, self._cuts)
        return np.concatenate([f(W, piece) for W, piece in zip(self.parts, pieces, strict=True)])

    def lmo(self, c: Vector) -> Vector:
        return self._each(lambda W, piece: W.lmo(piece), c)

    def project(self, y: Vector) -> Vector:
        return self._each(lambda W, piece: W.project(piece), y)


def _blocks(
    parts: list[tuple[sparse.csr_array | None, Vector | None, int]],
) -> tuple[sparse.csr_array | None, Vector | None]:
    """Return the block-diagonal matrix and the joined right-hand sides, None if all are."""
    from scipy import sparse

    if all(A is None for A, _, _ in parts):
        return None, None
    matrices = [sparse.csr_array((0, n)) if A is None else A for A, _, n in parts]
    return (
        sparse.csr_array(sparse.block_diag(matrices)),
        np.concatenate([b for _, b, _ in parts if b is not None]),
    )
