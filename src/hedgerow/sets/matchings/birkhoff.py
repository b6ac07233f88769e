"""Assignments: the Birkhoff polytope."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import Vector, as_count, as_direction, as_point, as_vector, freeze
from hedgerow.sets.decision_set import Rows
from hedgerow.sets.edge_sets import MatchingPolytope
from hedgerow.sets.matchings.bipartite import Bipartite


@dataclass(frozen=True, eq=False)
class Birkhoff(MatchingPolytope):
    """Doubly stochastic matrices {x >= 0, rows and columns sum to 1}: mixtures of assignments.

    Vertices are exactly the permutation matrices; a point is the matrix row by row, so
    `x.reshape(X.shape)` has worker i's share of job j at [i, j].

    Oracle: the assignment problem by SciPy's Jonker-Volgenant method, O(n^3). Diameter: sqrt(2n),
    two permutations that never agree, exact. Projection: a semismooth Newton method on 2n prices,
    about ten solves of an n x n system. Sampling: dependent rounding, without a decomposition.

    Args:
        n: the number of workers, and of jobs.

    Reference: Birkhoff, Tres observaciones sobre el algebra lineal (1946); for the projection
    Li, Sun, Toh, On the efficient computation of a generalized Jacobian of the projector over the
    Birkhoff polytope, Math. Program. 179 (2020).

    >>> X = Birkhoff(2)
    >>> X.lmo([1.0, 0.0, 0.0, 2.0]).reshape(X.shape)
    array([[0., 1.],
           [1., 0.]])
    >>> X.project([0.9, 0.4, 0.3, 0.6])
    array([0.7, 0.3, 0.3, 0.7])

    """

    zero_one = True

    n: int

    def __post_init__(self) -> None:
        freeze(self, n=as_count(self.n, "n"))

    @property
    def dim(self) -> int:
        """The number of pairs, n^2."""
        return self.n * self.n

    @property
    def shape(self) -> tuple[int, ...]:
        """Workers by jobs."""
        return (self.n, self.n)

    @cached_property
    def _graph(self) -> Bipartite:
        workers = np.repeat(np.arange(self.n), self.n)
        jobs = self.n + np.tile(np.arange(self.n), self.n)
        return Bipartite(workers, jobs, self.n, self.n, perfect=True)

    @cached_property
    def _known_diameter(self) -> tuple[float, bool]:
        """The distance of two permutations that agree nowhere."""
        return math.sqrt(2.0 * self.n) if self.n > 1 else 0.0, True

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the assignment of least total cost."""
        from scipy.optimize import linear_sum_assignment

        c = as_direction(c, self)
        v = np.zeros(self.shape)
        v[linear_sum_assignment(c.reshape(self.shape))] = 1.0
        return v.ravel()

    def start(self) -> Vector:
        """Return the centre: every worker has the same share of every job."""
        return np.full(self.dim, 1.0 / self.n)

    def tangent(self, c: ArrayLike) -> Vector:
        """Subtract row and column means: constants on a row or a column change nothing."""
        matrix = as_vector(c, "the direction", self).reshape(self.shape)
        matrix = matrix - matrix.mean(axis=1, keepdims=True)
        centred: Vector = (matrix - matrix.mean(axis=0)).ravel()
        return centred

    def project(self, y: ArrayLike) -> Vector:
        """Return the nearest doubly stochastic matrix, row and column sums exact to 1e-10."""
        near = self._graph.near(as_point(y, "y", self))
        in_hull = self.tangent(near) + 1.0 / self.n
        return self._graph.project(in_hull, super().project)

    def hull(self) -> tuple[Vector, Vector]:
        """Return the centre and the products of zero-sum vectors."""
        from scipy.linalg import helmert

        zero_sum = helmert(self.n).T
        return self.start(), np.kron(zero_sum, zero_sum).astype(np.float64, copy=False)

    def ball(self) -> tuple[Vector, float]:
        """Return the centre and its distance 1 / (n - 1) to each face x_ij = 0, the largest ball.

        The part of e_ij in the hull has norm (n - 1) / n, and x_ij = 1/n at the centre.
        """
        return self.start(), 1.0 / (self.n - 1) if self.n > 1 else 0.0

    def rows(self) -> Rows:
        """Return row and column sums, the last one left out because the others imply it."""
        graph = self._graph
        sums = graph.incidence()[:-1]
        return Rows(np.zeros(self.dim), np.ones(self.dim), A_eq=sums, b_eq=np.ones(sums.shape[0]))
