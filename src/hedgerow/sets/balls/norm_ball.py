"""Balls of norms around the origin: what they share."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import Vector, as_count, as_point
from hedgerow.sets.projections.projectable import ProjectableSet
from hedgerow.sets.sizes import as_size


class NormBall(ProjectableSet):
    """The ball {norm(x) <= radius} of a norm that is at least the Euclidean one, equal on axes."""

    n: int
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", as_count(self.n, "n"))
        object.__setattr__(self, "radius", as_size(self.radius, "radius"))

    @property
    def dim(self) -> int:
        """The number of coordinates, n."""
        return self.n

    @property
    def diameter(self) -> float:
        """The distance of two opposite vertices on an axis."""
        return 2.0 * self.radius

    def radius_around(self, x: ArrayLike) -> float:
        """Return ||x|| + diameter/2, exact in the centre, or the diameter if that is less."""
        away = float(np.linalg.norm(as_point(x, "x", self.n)))
        return min(self.diameter, 0.5 * self.diameter + away)

    @abstractmethod
    def norm(self, x: ArrayLike) -> float:
        """Return the norm whose ball this is."""

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether the norm is at most the radius."""
        return bool(self.norm(x) <= self.radius + tol * max(1.0, self.radius))

    def start(self) -> Vector:
        """Return the centre."""
        return np.zeros(self.n)

    def project(self, y: ArrayLike) -> Vector:
        """Return the nearest point; a point inside stays as it is."""
        y = as_point(y, "y", self.n)
        return y.copy() if self.norm(y) <= self.radius else self._shrink(y)

    def hull(self) -> tuple[Vector, Vector]:
        """Return the whole space."""
        return np.zeros(self.n), np.eye(self.n)

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Return the vertices that mix to x radius / norm(x), and the first one's opposite.

        The missing weight goes half to the first vertex and half to its opposite: they cancel.
        """
        x = self._inside(x)
        share = min(1.0, self.norm(x) / self.radius)
        weights, vertices = self._surface(x)
        if share == 1.0:
            return weights, vertices
        weights = np.append(share * weights, 0.5 * (1.0 - share))
        weights[0] += weights[-1]
        return weights, np.vstack([vertices, -vertices[0]])

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Vector:
        """Draw a vertex with mean x radius / norm(x), and turn it round often enough for x."""
        x = self._inside(x)
        keep = 0.5 + 0.5 * self.norm(x) / self.radius
        v = self._draw(x, rng)
        return v if rng.random() < keep else -v

    @abstractmethod
    def _shrink(self, y: Vector) -> Vector:
        """Return the projection of y, which lies outside."""

    @abstractmethod
    def _surface(self, x: Vector) -> tuple[Vector, Vector]:
        """Return at most n vertices that mix to x radius / norm(x), any vertex if x = 0."""

    @abstractmethod
    def _draw(self, x: Vector, rng: np.random.Generator) -> Vector:
        """Return a random vertex with mean x radius / norm(x), any vertex if x = 0."""


def against(c: Vector, radius: float) -> Vector:
    """Return -radius c / ||c||, against the first axis if c = 0."""
    largest = float(np.abs(c).max())
    if largest == 0.0:
        v = np.zeros(c.size)
        v[0] = -radius
        return v
    unit = c / largest  # so that squares neither overflow nor vanish
    return unit * (-radius / math.sqrt(float(unit @ unit)))
