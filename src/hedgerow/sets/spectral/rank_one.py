"""What sets of matrices with vertices of rank one share: an oracle by one leading eigenvector."""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import kernels
from hedgerow.inputs import Vector, as_direction, as_vector, squared_norm
from hedgerow.sets.decision_set import DecisionSet, Workspace
from hedgerow.sets.directions import moderate
from hedgerow.snapshot import State

SMALL = 50
"""Up to this order a full eigen-decomposition is as fast as the Lanczos method."""
RESIDUAL = 1e-11
"""The Lanczos residual at the end, in units of the spectrum's width."""
FRESH = 0.3
"""Share of the fixed vector in a warm start: the last answer alone could be an eigenvector that
no longer leads, and then nothing would lead away from it."""
INSIDE = 1e-9
"""What counts as inside where no tolerance is given, in units of the set's size."""
EPS = float(np.finfo(np.float64).eps)
ITSELF, INNER, OUTER = 0, 1, 2
"""The symmetric matrix that the oracle needs: C, -C'C or -CC', numbered as the kernel does."""


class RankOneVertices(DecisionSet):
    """A set of matrices whose vertices are u v', found by one leading eigenvector.

    The oracle is a full eigen-decomposition up to order 50. Above, it is the Lanczos method with
    full reorthogonalisation, ended at a residual of 1e-11 of the spectrum's width, and LAPACK
    where that takes too many steps. `workspace()` starts from its last answer. Answers of the
    set and of its workspaces agree in value: <c, x> within 1e-8 of the set's size times the width
    of c's spectrum. The vertices themselves agree only where the leading eigenvalue stands alone.
    This rests on a fixed start vector that is not nearly orthogonal to the answer: measured, not
    proved; eigenvalues that tie to 1e-8 with an unlucky start came out 2e-8 off. `minimum` rests
    on nothing but LAPACK's extreme eigenvalue, less its rounding error.
    """

    @property
    def dim(self) -> int:
        """The number of entries, row by row."""
        return math.prod(self.shape)

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the vertex of a leading eigenvector, sought from a fixed start."""
        return self.workspace().lmo(as_direction(c, self))

    def workspace(self) -> Workspace:
        """Return the memory of the Lanczos method, which starts from its last answer."""
        return _LanczosWorkspace(self)

    def _farthest(self, x: ArrayLike, norm: float) -> float:
        """Return the distance of x to the farthest vertex, where all have one norm.

        ||v - x||^2 = norm^2 + ||x||^2 - 2 <x, v>, and `minimum` bounds <x, v> from below.
        """
        x = as_vector(x, "x", self)
        distance2 = norm * norm + squared_norm(x) - 2.0 * self.minimum(x)
        return min(self.diameter, math.sqrt(max(0.0, distance2)))

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Return one vertex per positive eigenvalue or singular value, and at most one more."""
        weights, left, right = self._mixture(as_vector(x, "x", self))
        return weights, (left[:, :, None] * right[:, None, :]).reshape(weights.size, self.dim)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Vector:
        """Draw one vertex of the decomposition by its weight."""
        weights, left, right = self._mixture(as_vector(x, "x", self))
        i = rng.choice(weights.size, p=weights)
        return np.outer(left[i], right[i]).ravel()

    @property
    @abstractmethod
    def _kind(self) -> int:
        """Which symmetric matrix has the leading vector: `ITSELF`, `INNER` or `OUTER`."""

    @abstractmethod
    def _operand(self, c: Vector, scratch: Vector | None = None) -> Vector:
        """Return the matrix C of a direction, in `scratch` if it must be computed."""

    @abstractmethod
    def _vertex(self, C: Vector, v: Vector) -> Vector:
        """Return the vertex of the leading unit vector v."""

    @abstractmethod
    def _mixture(self, x: Vector) -> tuple[Vector, Vector, Vector]:
        """Return weights and rows of left and right factors; x = sum of weight x left x right'."""

    def _symmetric_part(self, c: Vector, scratch: Vector | None = None) -> Vector:
        C = c.reshape(self.shape)
        part = np.add(C, C.T, out=scratch)
        part *= 0.5
        return part

    @staticmethod
    def _refuse_outside(by: float, size: float) -> None:
        if by > INSIDE * max(1.0, size):
            raise ValueError(
                f"only a point of the set is a mixture of vertices, got one outside by {by:g}; "
                "project it first"
            )


class _LanczosWorkspace(Workspace):
    """The Lanczos basis and the last leading vector."""

    def __init__(self, rank_one: RankOneVertices):
        super().__init__(rank_one)
        self._set = rank_one
        self._order = min(rank_one.shape)
        self._scratch = np.empty(rank_one.shape) if rank_one._kind == ITSELF else None
        self._state = State(last=self._order, warm=1)

    def lmo(self, c: Vector) -> Vector:
        C = self._set._operand(moderate(c)[0], self._scratch)
        return self._set._vertex(C, self._leading(C))

    def _leading(self, C: Vector) -> Vector:
        kind = self._set._kind
        if self._order <= SMALL:
            return np.asarray(np.linalg.eigh(_symmetric(C, kind))[1][:, 0], np.float64)
        v = np.zeros(self._order)
        if not C.any():
            v[0] = 1.0
            return v
        last, warm = self._state["last"], self._state["warm"]
        start = last + FRESH * self._fixed if warm[0] else self._fixed
        if not kernels.spectral.least_eigenvector(C, kind, start, RESIDUAL, self._basis, v):
            from scipy.linalg import eigh

            v[:] = eigh(_symmetric(C, kind), subset_by_index=(0, 0))[1][:, 0]
        last[:], warm[0] = v, 1.0
        return v

    @cached_property
    def _fixed(self) -> Vector:
        chirp: Vector = np.sin(np.arange(1.0, self._order + 1.0) ** 2)  # like noise, but the same
        chirp /= np.linalg.norm(chirp)
        return chirp

    @cached_property
    def _basis(self) -> Vector:
        # More steps than this would cost more than LAPACK.
        return np.empty((min(self._order, 48 + self._order // 4), self._order))


def _symmetric(C: Vector, kind: int) -> Vector:
    if kind == ITSELF:
        return C
    return -(C.T @ C) if kind == INNER else -(C @ C.T)
