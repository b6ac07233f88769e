"""Sets of matrices against norms of all eigenvalues or singular values, and against twins."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hedgerow.sets import (
    Fantope,
    L2Ball,
    NuclearBall,
    OperatorBall,
    SchattenBall,
    SolidSpectrahedron,
    Spectrahedron,
)

SHAPES = ((1, 1), (1, 3), (4, 2), (3, 3))


def matrices(m: int, n: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Plain, of low rank, with equal singular values, zero, and of extreme sizes."""
    A = rng.standard_normal((m, n))
    low = np.outer(A[:, 0], A[0])
    turned = np.linalg.svd(A, full_matrices=False)
    return [A, low, turned[0] @ turned[2], 0.0 * A, 1e300 * A / np.abs(A).max(), 1e-300 * A]


@pytest.mark.parametrize("p", [1.0, 1.3, 2.0, 3.0, math.inf])
def test_schatten_oracles_attain_the_dual_norm(p: float):
    rng = np.random.default_rng(0)
    q = math.inf if p == 1.0 else 1.0 if p == math.inf else p / (p - 1.0)
    for m, n in SHAPES:
        X = SchattenBall(m, n, p, radius=2.0)
        for C in matrices(m, n, rng):
            unit = C / (np.abs(C).max() or 1.0)
            s = np.linalg.svd(unit, compute_uv=False)
            v = X.lmo(C.ravel())
            assert unit.ravel() @ v == pytest.approx(-2.0 * np.linalg.norm(s, q), rel=1e-12)
            inner = np.linalg.svd(v.reshape(m, n), compute_uv=False)
            assert np.linalg.norm(inner, p) == pytest.approx(2.0, rel=1e-12)
            assert X.minimum(C.ravel()) <= C.ravel() @ v


def test_schatten_balls_with_known_names():
    rng = np.random.default_rng(1)
    for m, n in SHAPES:
        y = rng.standard_normal(m * n)
        nuclear, frobenius, operator = (SchattenBall(m, n, p, 0.7) for p in (1, 2, math.inf))
        for X, twin in (
            (nuclear, NuclearBall(m, n, 0.7)),
            (frobenius, L2Ball(m * n, 0.7)),
            (operator, OperatorBall(m, n, 0.7)),
        ):
            assert X.diameter == pytest.approx(twin.diameter, rel=1e-15)
            assert X.ball()[1] == pytest.approx(twin.ball()[1], rel=1e-15)
            np.testing.assert_allclose(X.lmo(y), twin.lmo(y), rtol=0.0, atol=1e-12)
            np.testing.assert_allclose(X.project(y), twin.project(y), rtol=0.0, atol=1e-12)


def test_the_vertices_of_the_operator_ball_are_isometries():
    """For matrices without full rank too, zero among them."""
    rng = np.random.default_rng(2)
    for m, n in SHAPES:
        X = OperatorBall(m, n, radius=3.0)
        for C in matrices(m, n, rng):
            V = X.lmo(C.ravel()).reshape(m, n) / 3.0
            gram = V @ V.T if m <= n else V.T @ V
            np.testing.assert_allclose(gram, np.eye(min(m, n)), atol=1e-12)


def test_the_fantope_oracle_attains_ky_fans_sum():
    """The sum of the k least eigenvalues, at a projection of rank k."""
    rng = np.random.default_rng(3)
    for n in (1, 2, 5):
        for k in range(1, n + 1):
            X = Fantope(n, k)
            for C in matrices(n, n, rng):
                unit = C / (np.abs(C).max() or 1.0)
                least = np.linalg.eigvalsh(0.5 * (unit + unit.T))[:k].sum()
                V = X.lmo(C.ravel()).reshape(n, n)
                assert unit.ravel() @ V.ravel() == pytest.approx(least, abs=1e-12)
                np.testing.assert_allclose(V @ V, V, atol=1e-12)
                assert np.trace(V) == pytest.approx(k, abs=1e-12)
                assert X.minimum(C.ravel()) <= C.ravel() @ V.ravel()


def test_the_diameter_of_a_fantope_is_attained():
    for n in (2, 3, 5):
        for k in range(1, n + 1):
            first, last = (
                np.diag((places < k) * 1.0) for places in (np.arange(n), n - 1 - np.arange(n))
            )
            apart = np.linalg.norm(first - last)
            assert Fantope(n, k).diameter == pytest.approx(apart, rel=1e-15, abs=1e-15)


def test_a_fantope_of_trace_one_is_the_spectrahedron():
    rng = np.random.default_rng(4)
    for n in (2, 4):
        X, twin = Fantope(n, 1), Spectrahedron(n)
        y = rng.standard_normal(n * n)
        np.testing.assert_allclose(X.lmo(y), twin.lmo(y), atol=1e-12)
        np.testing.assert_allclose(X.project(y), twin.project(y), atol=1e-12)


@pytest.mark.parametrize("n", [1, 4, 70])  # the last one by the Lanczos method
def test_the_solid_spectrahedron_goes_to_the_least_eigenvalue_or_stays_at_zero(n: int):
    rng = np.random.default_rng(5)
    X = SolidSpectrahedron(n, trace=3.0)
    A = rng.standard_normal((n, n))
    for C in (A, -A, A @ A.T, -(A @ A.T), 0.0 * A):
        least = np.linalg.eigvalsh(0.5 * (C + C.T))[0]
        v = X.lmo(C.ravel())
        assert C.ravel() @ v == pytest.approx(3.0 * min(least, 0.0), abs=1e-7 * n)
        assert X.contains(v)
        assert v.any() == (least < 0.0)


def test_the_solid_spectrahedron_projects_on_the_spectrahedron_or_the_cone():
    rng = np.random.default_rng(6)
    X = SolidSpectrahedron(4, trace=1.0)
    for _ in range(20):
        A = rng.standard_normal((4, 4)) * rng.choice([0.1, 1.0])
        values, vectors = np.linalg.eigh(0.5 * (A + A.T))
        cone = (vectors * np.maximum(values, 0.0)) @ vectors.T
        small = np.trace(cone) <= 1.0
        expected = cone.ravel() if small else Spectrahedron(4).project(A.ravel())
        np.testing.assert_allclose(X.project(A.ravel()), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: Fantope(3, 4), "k must be at most n = 3, got 4"),
        (lambda: Fantope(3, 0), "k must be at least 1, got 0"),
        (lambda: SolidSpectrahedron(0), "n must be at least 1, got 0"),
        (lambda: SolidSpectrahedron(2, trace=-1.0), "trace must be above 0, got -1"),
        (lambda: SchattenBall(2, 2, 0.5), "p must be at least 1"),
        (lambda: OperatorBall(2, 0), "n must be at least 1, got 0"),
        (lambda: OperatorBall(2, 2, radius=0.0), "radius must be above 0, got 0"),
    ],
)
def test_wrong_sets_of_matrices_are_refused_in_a_sentence(build, sentence):
    with pytest.raises(ValueError, match=sentence):
        build()
