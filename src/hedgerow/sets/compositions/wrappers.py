"""Sets made from one set: scaled and moved."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import LARGEST_ENTRY, Vector, as_vector, freeze, read_only
from hedgerow.sets.decision_set import Capability, DecisionSet, Rows, Workspace
from hedgerow.sets.validation import as_size, check_coordinates, check_width

FARTHEST = 1e9
"""How far a set may be moved, in units of its diameter: half of the digits are left there."""
ROUNDING = 1e-12
"""What the coordinates of a moved set are off by after many operations, relative to the offset."""


class Affine(DecisionSet):
    """An image {a x + b : x in inner} with a > 0; it can do whatever the inner set can do."""

    inner: DecisionSet

    @property
    @abstractmethod
    def scale(self) -> float:
        """The factor a."""

    @property
    @abstractmethod
    def shift(self) -> Vector | float:
        """The offset b."""

    def _image(self, x: Vector) -> Vector:
        return self.scale * x + self.shift

    def _preimage(self, x: ArrayLike) -> Vector:
        """Return (x - b) / a, no further away than points to project may be."""
        away = as_vector(x, "the point", self) - self.shift
        largest, limit = float(np.abs(away).max()), 0.5 * LARGEST_ENTRY * min(1.0, self.scale)
        preimage: Vector = (away if largest <= limit else away * (limit / largest)) / self.scale
        return preimage

    @property
    def dim(self) -> int:
        """The inner set's dimension."""
        return self.inner.dim

    @property
    def shape(self) -> tuple[int, ...]:
        """The inner set's shape."""
        return self.inner.shape

    @property
    def diameter(self) -> float:
        """The inner set's diameter, scaled."""
        return self.scale * self.inner.diameter

    def radius_around(self, x: ArrayLike) -> float:
        """Return the inner set's radius, scaled."""
        return self.scale * self.inner.radius_around(self._preimage(x))

    @property
    def diameter_is_exact(self) -> bool:
        """Whether the inner set's diameter is."""
        return self.inner.diameter_is_exact

    @property
    def is_polytope(self) -> bool:
        """Whether the inner set is."""
        return self.inner.is_polytope

    @property
    def strong_convexity(self) -> float:
        """The inner set's, divided by the scale."""
        return self.inner.strong_convexity / self.scale

    @property
    def pyramidal_width(self) -> float:
        """The inner set's, scaled."""
        return self.scale * self.inner.pyramidal_width

    def supports(self, capability: Capability) -> bool:
        """Whether the inner set has the capability."""
        return self.inner.supports(capability)

    def lmo(self, c: ArrayLike) -> Vector:
        """Map the inner set's answer."""
        return self._image(self.inner.lmo(c))

    def minimum(self, c: ArrayLike) -> float:
        """Scale and move the inner set's lower bound."""
        c = as_vector(c, "the direction", self)
        return self.scale * self.inner.minimum(c) + float(np.sum(c * self.shift))

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether the preimage of x lies in the inner set, up to tol and rounding.

        As for other sets, tol is relative to sizes above 1, and x is rounded where it lies.
        """
        slack = tol * max(1.0, self.scale) + ROUNDING * float(np.abs(self.shift).max())
        return self.inner.contains(self._preimage(x), slack / self.scale)

    def start(self) -> Vector:
        """Map the inner set's start."""
        return self._image(self.inner.start())

    def tangent(self, c: ArrayLike) -> Vector:
        """Ask the inner set: the directions inside are the same."""
        return self.inner.tangent(c)

    def workspace(self) -> Workspace:
        """Wrap the inner set's workspace."""
        return _AffineWorkspace(self)

    def project(self, y: ArrayLike) -> Vector:
        """Map the projection of the preimage."""
        return self._image(self.inner.project(self._preimage(y)))

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Map the vertices of the preimage."""
        weights, vertices = self.inner.decompose(self._preimage(x))
        return weights, self._image(vertices)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Vector:
        """Map a random vertex for the preimage."""
        return self._image(self.inner.sample(self._preimage(x), rng))

    def hull(self) -> tuple[Vector, Vector]:
        """Map the inner hull's offset; its directions stay."""
        offset, basis = self.inner.hull()
        return self._image(offset), basis

    def ball(self) -> tuple[Vector, float]:
        """Map the inner ball."""
        centre, radius = self.inner.ball()
        return self._image(centre), self.scale * radius

    def rows(self) -> Rows:
        """Describe the inner set and map its points."""
        from scipy import sparse

        rows = self.inner.rows()
        lift = sparse.eye_array(self.dim) if rows.lift is None else rows.lift
        shift = np.zeros(self.dim) if rows.shift is None else rows.shift
        lift = sparse.csr_array(self.scale * lift)
        return replace(rows, lift=lift, shift=self._image(shift))

    def separate(self, y: ArrayLike) -> Vector | None:
        """Separate the preimage of y from the inner set, unless `contains(y)`."""
        a = self.inner.separate(self._preimage(y))
        return None if a is None or self.contains(y) else a


class _AffineWorkspace(Workspace):
    def __init__(self, outer: Affine):
        super().__init__(outer)
        self._outer = outer
        self._inner = outer.inner.workspace()

    def lmo(self, c: Vector) -> Vector:
        return self._outer._image(self._inner.lmo(c))

    def project(self, y: Vector) -> Vector:
        return self._outer._image(self._inner.project(self._outer._preimage(y)))

    @property
    def _parts(self) -> dict[str, Workspace]:
        return {"inner": self._inner}


@dataclass(frozen=True, eq=False)
class Scaled(Affine):
    """The set {factor x : x in inner}, shrunk or enlarged about the origin.

    Oracle: that of the inner set.

    >>> from hedgerow.sets.balls.l1_l2_balls import L2Ball
    >>> Scaled(L2Ball(2), 0.5).lmo([-1.0, 0.0])
    array([0.5, 0. ])
    """

    inner: DecisionSet
    factor: float

    def __post_init__(self) -> None:
        freeze(self, factor=as_size(self.factor, "factor"))
        check_width(self.diameter, "a scaled set")

    @property
    def scale(self) -> float:
        """The factor a."""
        return self.factor

    @property
    def shift(self) -> float:
        """The offset b, which is 0."""
        return 0.0


@dataclass(frozen=True, eq=False)
class Translated(Affine):
    """The set {x + offset : x in inner}.

    Oracle: that of the inner set.

    >>> from hedgerow.sets.balls.l1_l2_balls import L2Ball
    >>> Translated(L2Ball(2), [3.0, 0.0]).lmo([1.0, 0.0])
    array([2., 0.])
    """

    inner: DecisionSet
    offset: Vector

    def __init__(self, inner: DecisionSet, offset: ArrayLike):
        shift = read_only(as_vector(offset, "offset", inner))
        check_coordinates(shift, "offset")
        far, width = float(np.abs(shift).max()), inner.diameter
        if width > 0.0 and far > FARTHEST * width:
            raise ValueError(
                f"a set may be moved by at most {FARTHEST:g} times its diameter {width:g}, got an "
                f"offset of size {far:g}, beside which its points are hard to tell apart; measure "
                "from a point nearer to it"
            )
        freeze(self, inner=inner, offset=shift)

    @property
    def scale(self) -> float:
        """The factor a, which is 1."""
        return 1.0

    @property
    def shift(self) -> Vector:
        """The offset b."""
        return self.offset
