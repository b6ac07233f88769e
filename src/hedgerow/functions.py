"""Convex functions of a round: anything with a value and a subgradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import kernels
from hedgerow.inputs import Vector, as_array, as_number, as_vector, fits, freeze, read_only

__all__ = [
    "Function",
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


@dataclass(frozen=True, eq=False)
class Linear:
    """A linear function with an offset, f(x) = <a, x> + b.

    Args:
        coefficients: the vector a.
        offset: the number b; it moves the value, never the gradient.

    >>> f = Linear([1.0, 2.0], offset=-1.0)
    >>> f(np.array([0.5, 0.5])), f.grad(np.zeros(2))
    (0.5, array([1., 2.]))

    """

    coefficients: Vector
    offset: float = 0.0

    def __init__(self, coefficients: ArrayLike, offset: float = 0.0):
        vector = as_vector(coefficients, "the coefficients")
        freeze(self, coefficients=read_only(vector), offset=as_number(offset, "the offset"))

    def __call__(self, x: Vector) -> float:
        """Return <a, x> + b, added up in the order of all kernels."""
        point = x if fits(x, self.coefficients.size) else as_vector(x, "x", self.coefficients.size)
        return kernels.vectors.dot(self.coefficients, point) + self.offset

    def grad(self, x: Vector) -> Vector:  # noqa: ARG002 - the same everywhere
        """Return the gradient, a, which is the same everywhere."""
        return self.coefficients


@dataclass(frozen=True, eq=False)
class Quadratic:
    """A convex quadratic, f(x) = <x, M x>/2 + <a, x> + b.

    Args:
        matrix: M, positive semidefinite: a number (times the identity), a vector (the diagonal)
            or a symmetric matrix.
        linear: the vector a.
        offset: the number b.

    >>> f = Quadratic.distance([1.0, 0.0], factor=2.0)  # ||x - c||^2
    >>> f(np.zeros(2)), f.grad(np.zeros(2))
    (1.0, array([-2.,  0.]))

    """

    matrix: Vector
    linear: Vector
    offset: float = 0.0

    def __init__(self, matrix: ArrayLike, linear: ArrayLike, offset: float = 0.0):
        a = as_vector(linear, "the linear part")
        M = as_array(matrix, "the matrix")
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

    @classmethod
    def distance(cls, centre: ArrayLike, factor: float = 1.0, offset: float = 0.0) -> Quadratic:
        """Return factor/2 ||x - centre||^2 + offset."""
        c = as_vector(centre, "the centre")
        return cls(factor, -factor * c, offset + 0.5 * factor * float(c @ c))

    def _evaluate(self, x: Vector) -> tuple[float, Vector]:
        point = x if fits(x, self.linear.size) else as_vector(x, "x", self.linear.size)
        grad, M = np.empty(self.linear.size), self.matrix.reshape(-1)
        return kernels.convex.quadratic(M, self.linear, self.offset, point, grad), grad

    def __call__(self, x: Vector) -> float:
        """Return <x, M x>/2 + <a, x> + b, added up in the order of all kernels."""
        return self._evaluate(x)[0]

    def grad(self, x: Vector) -> Vector:
        """Return M x + a."""
        return self._evaluate(x)[1]


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

    def __call__(self, x: Vector) -> float:
        """Return the largest value."""
        return max(part(x) for part in self.parts)

    def grad(self, x: Vector) -> Vector:
        """Return a subgradient of the first largest part."""
        return max(self.parts, key=lambda part: part(x)).grad(x)


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
