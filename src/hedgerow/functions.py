"""Convex functions of a round: anything with a value and a subgradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import kernels
from hedgerow.inputs import (
    Vector,
    as_array,
    as_named_vector,
    as_number,
    as_vector,
    fits,
    freeze,
    read_only,
)
from hedgerow.labels import (
    Coordinates,
    Labelled,
    Labels,
    labels_of,
    order_of,
    with_labels_of,
)

__all__ = [
    "Function",
    "HasParts",
    "Linear",
    "Maximum",
    "Quadratic",
    "ScaledFunction",
    "parts_of",
    "scaled",
]


@runtime_checkable
class Function(Protocol):
    """A convex function: `f(x)` is its value, `f.grad(x)` a subgradient at x."""

    def __call__(self, x: Vector, /) -> float:
        """Return the value at x."""
        ...

    def grad(self, x: Vector, /) -> Vector:
        """Return a subgradient at x."""
        ...


@runtime_checkable
class HasParts(Protocol):
    """A function that is the largest of several parts, each of which can be seen."""

    def evaluate_parts(self, x: Vector, /) -> Sequence[tuple[float, Vector]]:
        """Return value and subgradient of each part at x."""
        ...


class OfCoordinates(Labelled):
    """A function of a vector, whose coordinates may have names; then x must have them, too."""

    def in_order(self, labels: Labels, name: str) -> Any:
        """Return the function of arrays with coordinates in this order."""
        raise NotImplementedError

    def at(self, x: Any, dim: int) -> tuple[Any, Vector]:
        """Return the function of arrays in the order of x, and x as an array.

        Without labels all arrays have the order of the coordinates. A function with labels needs
        those of x: the order of an array may be another one.
        """
        if self._labels is None:
            return self, as_vector(x, "x", dim)
        labels = labels_of(x)
        if labels is None:
            raise TypeError(
                f"the function has labels, from {self._labels[0]!r} on, and x has none; evaluate "
                "it at a Series, such as X.series(policy.ask()), or make it from an array"
            )
        return self.in_order(labels, "x"), as_vector(x, "x", Coordinates(dim, labels))


@dataclass(frozen=True, eq=False)
class Linear(OfCoordinates):
    """A linear function with an offset, f(x) = <a, x> + b.

    Args:
        coefficients: the vector a. A Series or a mapping names the coordinates: it is matched with
            the labels of a set, or of the point at which the function is evaluated.
        offset: the number b; it moves the value, never the gradient.

    >>> f = Linear([1.0, 2.0], offset=-1.0)
    >>> f(np.array([0.5, 0.5])), f.grad(np.zeros(2))
    (0.5, array([1., 2.]))

    """

    coefficients: Vector
    offset: float = 0.0

    def __init__(self, coefficients: ArrayLike, offset: float = 0.0):
        vector, labels = as_named_vector(coefficients, "the coefficients")
        freeze(self, coefficients=read_only(vector), offset=as_number(offset, "the offset"))
        if labels is not None:
            freeze(self, _labels=labels)

    def __call__(self, x: Vector) -> float:
        """Return <a, x> + b, added up in the order of all kernels."""
        f, point = self, x
        if self._labels is not None or not fits(x, self.coefficients.size):
            f, point = self.at(x, self.coefficients.size)
        return kernels.vectors.dot(f.coefficients, point) + self.offset

    def grad(self, x: Vector) -> Vector:
        """Return the gradient, a, which is the same everywhere, in the order of x."""
        if self._labels is None:
            return self.coefficients
        found: Linear = self.at(x, self.coefficients.size)[0]
        return with_labels_of(x, found.coefficients)

    def in_order(self, labels: Labels, name: str) -> Linear:
        """Return the function of arrays with coordinates in this order."""
        if self._labels is None:
            return self
        return Linear(self.coefficients[order_of(self._labels, name, labels)], self.offset)


@dataclass(frozen=True, eq=False)
class Quadratic(OfCoordinates):
    """A convex quadratic, f(x) = <x, M x>/2 + <a, x> + b.

    Args:
        matrix: M, positive semidefinite: a number (times the identity), a vector (the diagonal)
            or a symmetric matrix; a frame such as `returns.cov()` is one.
        linear: the vector a; a Series names the coordinates.
        offset: the number b.

    >>> f = Quadratic.distance([1.0, 0.0], factor=2.0)  # ||x - c||^2
    >>> f(np.zeros(2)), f.grad(np.zeros(2))
    (1.0, array([-2.,  0.]))

    """

    matrix: Vector
    linear: Vector
    offset: float = 0.0

    def __init__(self, matrix: ArrayLike, linear: ArrayLike, offset: float = 0.0):
        a, labels = as_named_vector(linear, "the linear part")
        M = _as_matrix(matrix, Coordinates(a.size, labels))
        if M.ndim == 2 and (M.shape != (a.size, a.size) or not np.allclose(M, M.T)):
            raise ValueError(f"the matrix must be symmetric and {a.size} x {a.size}, got {M.shape}")
        least = float(np.linalg.eigvalsh(M)[0] if M.ndim == 2 else M.min(initial=0.0))
        if least < -1e-10 * float(np.abs(M).max(initial=0.0)):
            raise ValueError(
                f"the matrix must be positive semidefinite, its least eigenvalue is {least:g}; "
                "only convex functions are allowed"
            )
        freeze(self, matrix=read_only(M), linear=read_only(a))
        freeze(self, offset=as_number(offset, "the offset"))
        if labels is not None:
            freeze(self, _labels=labels)

    @classmethod
    def distance(cls, centre: ArrayLike, factor: float = 1.0, offset: float = 0.0) -> Quadratic:
        """Return factor/2 ||x - centre||^2 + offset."""
        c, labels = as_named_vector(centre, "the centre")
        a: Any = -factor * c if labels is None else dict(zip(labels, -factor * c, strict=True))
        return cls(factor, a, offset + 0.5 * factor * float(c @ c))

    def _evaluate(self, x: Vector) -> tuple[float, Vector]:
        f, point = self, x
        if self._labels is not None or not fits(x, self.linear.size):
            f, point = self.at(x, self.linear.size)
        grad, M = np.empty(self.linear.size), f.matrix.reshape(-1)
        return kernels.convex.quadratic(M, f.linear, self.offset, point, grad), grad

    def __call__(self, x: Vector) -> float:
        """Return <x, M x>/2 + <a, x> + b, added up in the order of all kernels."""
        return self._evaluate(x)[0]

    def grad(self, x: Vector) -> Vector:
        """Return M x + a."""
        return with_labels_of(x, self._evaluate(x)[1])

    def in_order(self, labels: Labels, name: str) -> Quadratic:
        """Return the function of arrays with coordinates in this order."""
        if self._labels is None:
            return self
        order = order_of(self._labels, name, labels)
        M = self.matrix if self.matrix.ndim == 0 else self.matrix[order]
        return Quadratic(M[:, order] if M.ndim == 2 else M, self.linear[order], self.offset)


def _as_matrix(given: Any, of: Coordinates) -> Vector:
    """Return the matrix of a quadratic, in the order of its linear part on both sides."""
    if not hasattr(given, "columns"):
        return as_array(given, "the matrix", of)
    M = as_array(given, "the matrix", of if labels_of(given) is not None else None)
    rows = labels_of(given.T)
    return M if rows is None or of.labels is None else M[order_of(rows, "the matrix", of.labels)]


@dataclass(frozen=True, eq=False)
class Maximum:
    """The maximum of several functions, which combines several constraints into one.

    max_i g_i(x) <= 0 if and only if every g_i(x) <= 0. The subgradient is that of the first
    largest part.

    >>> g = Maximum([Linear([1.0, 0.0]), Linear([0.0, 1.0])])
    >>> g(np.array([1.0, 3.0])), g.grad(np.array([1.0, 3.0]))
    (3.0, array([0., 1.]))
    """

    parts: tuple[Function, ...] = field()

    def __init__(self, parts: Sequence[Function]):
        if not parts:
            raise ValueError("a Maximum needs at least one function, got none")
        freeze(self, parts=tuple(parts))

    def in_order(self, labels: Labels, name: str) -> Maximum:
        """Return the function of arrays with coordinates in this order."""
        return Maximum([in_order(part, labels, name) for part in self.parts])

    def evaluate_parts(self, x: Vector) -> list[tuple[float, Vector]]:
        """Return value and subgradient of each part."""
        return [(part(x), part.grad(x)) for part in self.parts]

    def __call__(self, x: Vector) -> float:
        """Return the largest value."""
        return max(part(x) for part in self.parts)

    def grad(self, x: Vector) -> Vector:
        """Return a subgradient of the first largest part."""
        return max(self.parts, key=lambda part: part(x)).grad(x)


def labels_in(f: object) -> Labels | None:
    """Return the labels of a function, or of the first part that has some."""
    if isinstance(f, Maximum):
        return next((found for part in f.parts if (found := labels_in(part)) is not None), None)
    return f.labels if isinstance(f, OfCoordinates) else None


def in_order(f: Function, labels: Labels | None, name: str) -> Function:
    """Return a function of arrays with coordinates in the order of these labels.

    A function without labels is one already. Labels that the coordinates do not have are refused.
    """
    own = labels_in(f)
    if own is None:
        return f
    if labels is None:
        raise TypeError(
            f"{name} has labels, from {own[0]!r} on, and the coordinates here have none; name "
            "them, X = X.named([...]), or make it from an array in the order of the coordinates"
        )
    found: Function = f.in_order(labels, name)  # type: ignore[attr-defined]
    return found


def parts_of(f: Function) -> tuple[Function, ...]:
    """Return the constraints in a function: the parts of a `Maximum`, or the function itself."""
    return f.parts if isinstance(f, Maximum) else (f,)


@dataclass(frozen=True, eq=False)
class ScaledFunction:
    """A convex function times a factor, factor x f(x), factor >= 0."""

    function: Function
    factor: float

    def __call__(self, x: Vector) -> float:
        """Return factor x f(x)."""
        return self.factor * self.function(x)

    def grad(self, x: Vector) -> Vector:
        """Return factor x a subgradient of f."""
        product: Vector = self.factor * self.function.grad(x)
        return product


def scaled(f: Function, factor: float) -> Function:
    """Return factor x f for a factor >= 0; a linear function, or a maximum of such, stays one.

    >>> scaled(Linear([1.0, 2.0], offset=-1.0), 2.0)
    Linear(coefficients=array([2., 4.]), offset=-2.0)
    """
    if isinstance(f, Linear):
        return Linear(factor * f.coefficients, factor * f.offset)
    if isinstance(f, Maximum):
        return Maximum([scaled(part, factor) for part in f.parts])
    return ScaledFunction(f, factor)


def __dir__() -> list[str]:
    return __all__
