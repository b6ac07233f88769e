"""Norm balls against their dual norms, against sets that they equal, and against solvers."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from hedgerow.sets import Ellipsoid, L1Ball, L2Ball, LinfBall, LpBall, NonnegativeLpBall

Rng = np.random.Generator
EXPONENTS = (1.0, 1.0 + 1e-9, 1.1, 1.5, 2.0, 3.0, 7.5, 200.0, math.inf)


def dual(p: float) -> float:
    return math.inf if p == 1.0 else 1.0 if p == math.inf else p / (p - 1.0)


def norm(x: np.ndarray, p: float) -> float:
    """The p-norm by SciPy's logarithm of a sum, no code in common with the sets."""
    from scipy.special import logsumexp

    sizes = np.abs(x[x != 0.0])
    if p == math.inf or not sizes.size:
        return float(sizes.max(initial=0.0))
    return float(np.exp(logsumexp(p * np.log(sizes)) / p))


def directions(n: int, rng: Rng) -> list[np.ndarray]:
    """Plain, with ties, with zeros, and of all sizes that float64 has."""
    c = rng.standard_normal(n)
    spread = c * 10.0 ** rng.uniform(-150.0, 150.0, n)
    return [c, rng.integers(-1, 2, n) * 1.0, spread, 1e300 * c / np.abs(c).max(), 1e-300 * c]


@pytest.mark.parametrize("p", EXPONENTS)
def test_the_oracle_of_a_p_norm_attains_its_dual_norm(p: float):
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 30):
        ball, part = LpBall(n, p, radius=2.5), NonnegativeLpBall(n, p, radius=2.5)
        for c in directions(n, rng):
            unit = c / (np.abs(c).max() or 1.0)
            v, w = ball.lmo(c), part.lmo(c)
            assert unit @ v == pytest.approx(-2.5 * norm(unit, dual(p)), rel=1e-12, abs=1e-15)
            below = np.maximum(-unit, 0.0)
            assert unit @ w == pytest.approx(-2.5 * norm(below, dual(p)), rel=1e-12, abs=1e-15)
            assert norm(v, p) <= 2.5 * (1.0 + 1e-12)
            assert norm(w, p) <= 2.5 * (1.0 + 1e-12)
            assert w.min() >= 0.0


@pytest.mark.parametrize("twin", [L1Ball(4, 2.0), L2Ball(4, 2.0), LinfBall(4, 2.0)])
def test_three_p_norms_have_sets_of_their_own_and_agree_with_them(twin):
    X = LpBall(4, {L1Ball: 1, L2Ball: 2, LinfBall: math.inf}[type(twin)], radius=2.0)
    rng = np.random.default_rng(1)
    assert X.diameter == twin.diameter
    assert X.ball()[1] == twin.ball()[1]
    for _ in range(20):
        c = rng.integers(-2, 3, 4) * rng.choice([1.0, 0.3])
        np.testing.assert_array_equal(X.lmo(c), twin.lmo(c))
        np.testing.assert_array_equal(X.project(3.0 * c), twin.project(3.0 * c))
        assert X.contains(c) == twin.contains(c)
        x = twin.project(c)
        for mine, its in zip(X.decompose(x), twin.decompose(x), strict=True):
            np.testing.assert_array_equal(mine, its)


@pytest.mark.parametrize("p", EXPONENTS)
def test_diameter_and_inner_ball_of_p_norms_are_those_of_a_search(p: float):
    """Ascent of ||x - y|| by the oracle, which ends at pairs that no single step improves."""
    rng = np.random.default_rng(2)
    for n in (1, 2, 3, 4, 5):
        for X in (LpBall(n, p, radius=0.5), NonnegativeLpBall(n, p, radius=0.5)):
            longest = 0.0
            for signs in product((-1.0, 0.0, 1.0), repeat=n):
                d = np.array(signs) + 1e-3 * rng.standard_normal(n)
                for _ in range(20):
                    d = X.lmo(-d) - X.lmo(d)
                longest = max(longest, float(np.linalg.norm(d)))
            assert longest == pytest.approx(X.diameter, rel=1e-9)
    for n in (1, 4):
        X, r = LpBall(n, p), LpBall(n, p).ball()[1]
        shortest = min(1.0 / norm(u, p) for u in (np.eye(n)[0], np.full(n, n**-0.5)))
        assert r == pytest.approx(shortest, rel=1e-12)


@pytest.mark.parametrize("p", [1.0 + 1e-9, 1.1, 1.5, 3.0, 7.5, 200.0])
def test_the_projection_on_a_p_ball_goes_along_its_normal(p: float):
    """y - x is a multiple of the gradient of the norm, sign(x) |x|^(p - 1), and x has norm 1."""
    rng = np.random.default_rng(3)
    for n in (2, 6):
        for far in (1e-6, 0.1, 1.0, 1e3):
            y = rng.standard_normal(n)
            y *= (1.0 + far) / norm(y, p)
            x = LpBall(n, p).project(y)
            assert norm(x, p) == pytest.approx(1.0, rel=1e-12)
            some = np.abs(x) > 1e-300  # as p falls to 1, others vanish from float64
            normal, left = np.abs(x[some]) ** (p - 1.0), np.abs((y - x)[some])
            rest = left - normal * (left @ normal) / (normal @ normal)
            assert np.abs(rest).max() <= 1e-9 * (1.0 + far)
            np.testing.assert_array_equal(
                NonnegativeLpBall(n, p).project(y), LpBall(n, p).project(np.maximum(y, 0.0))
            )


@pytest.mark.parametrize("bad", [0.5, 0.0, -1.0, math.nan, -math.inf, True, "2"])
def test_exponents_below_one_are_refused(bad):
    for make in (LpBall, NonnegativeLpBall):
        with pytest.raises((ValueError, TypeError), match="p must be"):
            make(3, bad)


def test_the_oracle_of_an_ellipsoid_attains_its_dual_norm():
    """The least <c, x> is <c, centre> - sqrt(c' M^-1 c), at a point of the surface."""
    rng = np.random.default_rng(4)
    for n in (1, 2, 5, 12):
        A, centre = rng.standard_normal((n, n)), rng.standard_normal(n)
        M = A @ A.T + 0.1 * np.eye(n)
        X = Ellipsoid.from_matrix(M, centre, radius=3.0)
        for c in directions(n, rng):
            unit = c / (np.abs(c).max() or 1.0)
            v = X.lmo(c)
            least = unit @ centre - 3.0 * math.sqrt(unit @ np.linalg.solve(M, unit))
            assert unit @ v == pytest.approx(least, rel=1e-10, abs=1e-12)
            assert (v - centre) @ M @ (v - centre) == pytest.approx(9.0, rel=1e-10)
        values = np.linalg.eigvalsh(M)
        assert X.diameter == pytest.approx(6.0 / math.sqrt(values[0]), rel=1e-10)
        assert X.ball()[1] == pytest.approx(3.0 / math.sqrt(values[-1]), rel=1e-10)


def test_the_projection_on_an_ellipsoid_goes_along_its_normal():
    rng = np.random.default_rng(5)
    for n in (2, 6):
        a = np.geomspace(1e-4, 1.0, n)
        X = Ellipsoid(a, np.linalg.qr(rng.standard_normal((n, n)))[0], rng.standard_normal(n))
        for far in (1e-3, 1.0, 1e6):
            y = X.centre + far * rng.standard_normal(n)
            x = X.project(y)
            z = X.directions.T @ (x - X.centre)
            if (X.directions.T @ (y - X.centre) / a) @ (X.directions.T @ (y - X.centre) / a) <= 1.0:
                np.testing.assert_array_equal(x, y)
                continue
            assert (z / a) @ (z / a) == pytest.approx(1.0, rel=1e-6)  # z is rounded as x is
            normal = X.directions @ (z / a**2)
            left = y - x
            cosine = left @ normal / (np.linalg.norm(left) * np.linalg.norm(normal))
            assert cosine == pytest.approx(1.0, abs=1e-6)


def test_ellipsoids_along_the_coordinates_agree_with_slanted_ones():
    rng = np.random.default_rng(6)
    a, centre = np.array([3.0, 0.5, 1.0]), np.array([1.0, -2.0, 0.0])
    plain, same = Ellipsoid(a, centre=centre), Ellipsoid(a, np.eye(3), centre)
    for _ in range(10):
        c = rng.standard_normal(3)
        np.testing.assert_allclose(plain.lmo(c), same.lmo(c), rtol=1e-14)
        np.testing.assert_allclose(plain.project(9.0 * c), same.project(9.0 * c), rtol=1e-14)
    ball = Ellipsoid([2.0, 2.0, 2.0])
    np.testing.assert_allclose(ball.lmo([1.0, 2.0, 2.0]), L2Ball(3, 2.0).lmo([1.0, 2.0, 2.0]))


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: Ellipsoid([]), "at least one axis"),
        (lambda: Ellipsoid([1.0, 0.0]), r"axes\[1\] must be above 0, got 0"),
        (lambda: Ellipsoid([1.0, 1e-10]), r"at most 1e\+09 times the shortest"),
        (lambda: Ellipsoid([1.0], centre=[1e10]), r"at most 1e\+09 times its longest axis 1 away"),
        (lambda: Ellipsoid([1.0, 2.0], np.ones((2, 2))), "must be orthonormal"),
        (lambda: Ellipsoid([1.0, 2.0], np.eye(3)), r"shape \(2, 2\), a column each"),
        (lambda: Ellipsoid.from_matrix([[1.0, 2.0], [2.0, 1.0]]), "positive definite, got eigen"),
        (lambda: Ellipsoid.from_matrix([[1.0, 2.0], [0.0, 1.0]]), "must be symmetric"),
        (lambda: Ellipsoid.from_matrix([1.0, 2.0]), "must be square"),
    ],
)
def test_wrong_ellipsoids_are_refused_in_a_sentence(build, sentence):
    with pytest.raises(ValueError, match=sentence):
        build()
