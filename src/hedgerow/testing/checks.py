"""What all contracts share: running checks, invalid inputs, and random points of a set."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import DecisionSet

Subject = TypeVar("Subject")
Check = Callable[[Subject, np.random.Generator], None]
LARGEST_GAP = 1e-6
"""An oracle with a `minimum` of its own may miss it by this much, in units of ||c|| x diameter."""


def copies(part: Any) -> Iterator[tuple[str, Any]]:
    """Yield a copy of the part by each of Python's ways, with its name.

    `pickle` is left out where it cannot find by name what the part is made of: a lambda, or a
    class that was defined inside a function.
    """
    yield "copy.copy", copy.copy(part)
    yield "copy.deepcopy", copy.deepcopy(part)
    try:
        text = pickle.dumps(part)
    except (AttributeError, pickle.PicklingError):
        return
    yield "pickle", pickle.loads(text)  # noqa: S301 - its own bytes


def run_checks(
    checks: Iterable[Check[Subject]], subject: Subject, name: str, seed: int, trials: int = 1
) -> None:
    """Run each check `trials` times with its own random numbers; say which one failed."""
    for check in checks:
        rng = np.random.default_rng(seed)
        for trial in range(trials):
            try:
                check(subject, rng)
            except Exception as failure:
                reason = str(failure)
                if not isinstance(failure, AssertionError):
                    reason = f"{type(failure).__name__}: {reason}"
                raise AssertionError(
                    f"{name} fails {check.__name__} (seed {seed}, trial {trial}): {reason}"
                ) from failure


def bad_vectors(dim: int) -> Iterator[tuple[str, Any]]:
    """Yield invalid values for a finite real vector of length `dim`, each with its name."""
    for value in (np.nan, np.inf, -np.inf) if dim else ():
        vector = np.zeros(dim)
        vector[-1] = value
        yield f"a vector with {value}", vector
    for shape in ((dim + 1,), (dim, 1), (1, dim), ()):
        yield f"an array of shape {shape}", np.zeros(shape)
    for kind in (complex, object, str):
        yield f"a vector of dtype {kind.__name__}", np.zeros(dim).astype(kind)


def bad_numbers() -> Iterator[tuple[str, Any]]:
    """Yield invalid values for a finite real number, each with its name."""
    for value in (np.nan, np.inf, -np.inf, 1j, "high", None):
        yield repr(value), value
    yield "an array", np.zeros(1)


def refuses(what: str, call: Callable[..., Any], *arguments: Any) -> None:
    """Assert that a call raises ValueError or TypeError with a sentence."""
    sentence = None
    try:
        call(*arguments)
    except (ValueError, TypeError) as refusal:
        sentence = str(refusal)
    assert sentence is not None, (
        f"{what} must be refused with ValueError or TypeError; as_direction, as_vector and "
        "as_number of hedgerow.inputs do"
    )
    assert " " in sentence, f"{what} must be refused in a sentence, got {sentence!r}"


def same(a: Vector, b: Vector) -> bool:
    """Whether two arrays are equal bit for bit, signs of zeros apart."""
    return a.shape == b.shape and bool(np.array_equal(a, b))


def direction(X: DecisionSet, rng: np.random.Generator) -> Vector:
    """Draw a direction: plain, with ties, along one axis, of one sign, or of many magnitudes."""
    n = X.dim
    kind = rng.integers(6)
    c = rng.standard_normal(n)
    if kind == 1:
        return rng.integers(-2, 3, n).astype(np.float64)
    if kind == 2:
        return np.where(np.arange(n) == rng.integers(n), c, 0.0)
    if kind in (3, 4):
        return np.abs(c) if kind == 3 else -np.abs(c)
    return c * 10.0 ** rng.uniform(-6.0, 6.0, n) if kind == 5 else c


def vertices(X: DecisionSet, rng: np.random.Generator, count: int = 4) -> Vector:
    """Ask the oracle for `count` vertices along plain random directions."""
    return np.array([X.lmo(rng.standard_normal(X.dim)) for _ in range(count)])


def mixture(X: DecisionSet, rng: np.random.Generator) -> Vector:
    """Draw a random convex mixture of vertices and the start."""
    points = np.vstack([vertices(X, rng), X.start()])
    weights = rng.dirichlet(np.full(len(points), 0.5))
    mixed: Vector = weights @ points
    return mixed


def size(*points: Vector) -> float:
    """Return the largest coordinate, at least 1: the unit of rounding errors of points."""
    return max(1.0, *(float(np.abs(point).max(initial=0.0)) for point in points))


def rounding(c: Vector, *points: Vector) -> float:
    """Bound what rounding may do to <c, x> for exact oracles, generously: 1e-10 sum |c_i x_i|."""
    return 1e-10 * float(np.abs(c) @ np.max(np.abs(points), axis=0)) + 1e-300


def oracle_gap(X: DecisionSet, c: Vector) -> float:
    """Return how far `lmo` may be from optimal: not at all, unless the set bounds `minimum`."""
    if type(X).minimum is DecisionSet.minimum:
        return 0.0
    return LARGEST_GAP * float(np.linalg.norm(c)) * X.diameter


def inside(X: DecisionSet, x: Vector, tol: float = 1e-9) -> bool:
    """Whether x is in the set, up to `tol` times its size."""
    return x.shape == (X.dim,) and X.contains(x, tol * size(x))


def assert_extreme(X: DecisionSet, v: Vector, others: Vector, what: str) -> None:
    """Assert that v does not lie between two points of the set.

    If it did, a point a little beyond v, seen from another point, would still be inside.
    """
    D = X.diameter
    for other in others:
        step = v - other
        if np.linalg.norm(step) >= 0.1 * D > 0.0:
            beyond = v + 0.1 * step
            assert not X.contains(beyond, 1e-9 * min(1.0, D)), (
                f"{what} must be a vertex, but it lies between two points of the set"
            )
