"""Sums, unions, images and cuts against hulls of all vertices, LP solvers and closed forms."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial import ConvexHull as Quickhull

from hedgerow.sets import (
    AffineImage,
    Box,
    CappedL1Ball,
    CappedSimplex,
    ConvexHull,
    ConvexHullOfUnion,
    Ellipsoid,
    HalfspaceCut,
    KSubsets,
    L1Ball,
    L2Ball,
    LinfBall,
    LpBall,
    MinkowskiSum,
    NonnegativeLpBall,
    OracleSet,
    OrderedWeightedBall,
    Permutahedron,
    Simplex,
    Spectrahedron,
    Translated,
    intersect,
)
from hedgerow.testing import check_set

CURVED = [
    (Simplex(3), L2Ball(3, radius=0.5)),
    (L2Ball(3), Ellipsoid([1.0, 2.0, 3.0]), LpBall(3, 4.0)),
    (Translated(L2Ball(2), [3.0, 0.0]), Box([0.0, 0.0], [1.0, 2.0])),
]


def directions(n: int, rng: np.random.Generator, count: int = 20) -> list[np.ndarray]:
    """Plain ones, and whole numbers, among which ties are common."""
    plain = [rng.standard_normal(n) for _ in range(count)]
    return [*plain, *(rng.integers(-1, 2, n) * 1.0 for _ in range(count)), np.zeros(n)]


def corners(points: np.ndarray) -> np.ndarray:
    """The vertices of the hull of points of full dimension, by Qhull."""
    if points.shape[1] == 1:
        return np.array([points.min(axis=0), points.max(axis=0)])
    return points[Quickhull(points).vertices]


@pytest.mark.parametrize("parts", CURVED, ids=str)
def test_support_functions_add_up_in_sums_and_compete_in_unions(parts):
    rng = np.random.default_rng(0)
    total, hull = MinkowskiSum(*parts), ConvexHullOfUnion(*parts)
    for c in directions(parts[0].dim, rng):
        least = [c @ X.lmo(c) for X in parts]
        assert c @ total.lmo(c) == pytest.approx(sum(least), rel=1e-12, abs=1e-12)
        assert c @ hull.lmo(c) == pytest.approx(min(least), rel=1e-12, abs=1e-12)
        assert total.contains(total.lmo(c))
        assert hull.contains(hull.lmo(c))
        assert total.minimum(c) <= c @ total.lmo(c) + 1e-12
    assert not total.contains(total.lmo(np.ones(total.dim)) - 1e-4)


def listed(X) -> np.ndarray:
    """All vertices of a simplex, a cross, a cube or subsets."""
    n = X.dim
    if isinstance(X, Simplex):
        return X.total * np.eye(n)
    if isinstance(X, L1Ball):
        return X.radius * np.vstack([np.eye(n), -np.eye(n)])
    return np.array(list(product(*zip(X.lower, X.upper, strict=True))))


POLYTOPES = [
    (Simplex(2), L1Ball(2)),
    (Simplex(3), L1Ball(3, radius=0.3), LinfBall(3, radius=0.2)),
    (Box([-1.0, 0.0, 2.0], [0.0, 3.0, 4.0]), L1Ball(3)),
]


@pytest.mark.parametrize("parts", POLYTOPES, ids=str)
def test_sums_and_unions_of_polytopes_are_hulls_of_all_combinations(parts):
    """Values and membership; and every answer is a vertex, ties or not."""
    rng = np.random.default_rng(1)
    sums = np.array([np.sum(choice, axis=0) for choice in product(*map(listed, parts))])
    for X, points in (
        (MinkowskiSum(*parts), sums),
        (ConvexHullOfUnion(*parts), np.vstack([listed(X) for X in parts])),
    ):
        vertices, hull = corners(points), ConvexHull(points)
        for c in directions(X.dim, rng):
            v = X.lmo(c)
            assert c @ v == pytest.approx((points @ c).min(), abs=1e-12)
            assert np.abs(vertices - v).max(axis=1).min() <= 1e-12, f"{v} is no vertex"
            y = c + 0.3 * rng.standard_normal(X.dim)
            np.testing.assert_allclose(X.project(y), hull.project(y), rtol=0.0, atol=1e-8)
        longest = max(np.linalg.norm(p - q) for p in vertices for q in vertices)
        assert X.diameter >= longest * (1.0 - 1e-12)


@pytest.mark.parametrize("shape", [(1, 3), (2, 4), (3, 3), (5, 3)])
def test_images_are_hulls_of_mapped_vertices(shape: tuple[int, int]):
    rng = np.random.default_rng(2)
    A, b = rng.standard_normal(shape), rng.standard_normal(shape[0])
    for inner in (Simplex(shape[1]), LinfBall(shape[1])):
        X, points = AffineImage(inner, A, b), listed(inner) @ A.T + b
        hull = ConvexHull(points)
        for c in directions(X.dim, rng):
            v = X.lmo(c)
            assert c @ v == pytest.approx((points @ c).min(), abs=1e-12)
            if shape[0] < shape[1]:
                assert np.abs(corners(points) - v).max(axis=1).min() <= 1e-12, f"{v} is no vertex"
            p = rng.dirichlet(np.ones(len(points))) @ points
            assert X.contains(p)
            assert X.contains(p + c) == hull.contains(p + c)
            np.testing.assert_allclose(X.project(p + c), hull.project(p + c), rtol=0.0, atol=1e-8)


def test_images_of_balls_are_ellipsoids():
    rng = np.random.default_rng(3)
    A, b = rng.standard_normal((4, 4)), rng.standard_normal(4)
    X, twin = AffineImage(L2Ball(4), A, b), Ellipsoid.from_matrix(np.linalg.inv(A @ A.T), b)
    assert X.diameter == pytest.approx(twin.diameter, rel=1e-9)
    for c in directions(4, rng)[:-1]:
        if c.any():
            np.testing.assert_allclose(X.lmo(c), twin.lmo(c), rtol=0.0, atol=1e-6)
            assert c @ X.lmo(c) == pytest.approx(c @ twin.lmo(c), rel=1e-10, abs=1e-10)
        assert X.contains(c) == twin.contains(c)


def test_an_image_knows_when_its_diameter_is_exact():
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    assert AffineImage(L1Ball(2), 3.0 * turn).diameter_is_exact
    assert AffineImage(L1Ball(2), 3.0 * turn).diameter == pytest.approx(6.0)
    assert not AffineImage(L1Ball(2), np.diag([1.0, 2.0])).diameter_is_exact
    assert not AffineImage(L1Ball(2), [[1.0, 0.0]]).diameter_is_exact


CUTS = [Simplex(5), Box(-np.ones(3), 2.0 * np.ones(3)), L1Ball(4), Permutahedron([1.0, 2.0, 3.0])]


@pytest.mark.parametrize("inner", CUTS, ids=str)
def test_a_cut_polytope_agrees_with_a_linear_programme(inner):
    """HiGHS on the inner set's rows and one more; many normals and bounds."""
    rng = np.random.default_rng(4)
    rows = inner.rows()
    lift = np.eye(inner.dim) if rows.lift is None else rows.lift.toarray()
    for _ in range(6):
        a = rng.integers(-2, 3, inner.dim) + rng.choice([0.0, 0.1]) * rng.standard_normal(inner.dim)
        low, high = a @ inner.lmo(a), a @ inner.lmo(-a)
        if high - low < 1e-6:
            continue
        X = HalfspaceCut(inner, a, low + rng.uniform(0.05, 0.95) * (high - low))
        old = np.zeros((0, lift.shape[1])) if rows.A_ub is None else rows.A_ub.toarray()
        A_ub = np.vstack([old, a @ lift])
        b_ub = np.append([] if rows.b_ub is None else rows.b_ub, X.bound)
        for c in directions(inner.dim, rng, 4):
            bounds = np.column_stack([rows.lower, rows.upper])
            best = linprog(c @ lift, A_ub, b_ub, rows.A_eq, rows.b_eq, bounds).fun
            v = X.lmo(c)
            assert c @ v == pytest.approx(best, abs=1e-7)
            assert X.minimum(c) == pytest.approx(c @ v, abs=1e-9)
            assert inner.contains(v)
            assert a @ v <= X.bound + 1e-12 * (1.0 + abs(X.bound))


def test_a_cut_ball_has_a_closed_form():
    """With c = s u + k w, u the normal and w orthogonal: the ball's answer, or one on the rim."""
    rng = np.random.default_rng(5)
    for _ in range(30):
        u = rng.standard_normal(4)
        u /= np.linalg.norm(u)
        level = rng.uniform(-0.9, 0.9)
        X, c = HalfspaceCut(L2Ball(4), 7.0 * u, 7.0 * level), rng.standard_normal(4)
        best = -c / np.linalg.norm(c)
        if u @ best > level:
            w = c - (c @ u) * u
            best = level * u - math.sqrt(1.0 - level**2) * w / np.linalg.norm(w)
        assert c @ X.lmo(c) == pytest.approx(c @ best, abs=1e-12)
        np.testing.assert_allclose(X.lmo(c), best, atol=1e-6)
        y = 3.0 * rng.standard_normal(4)
        x, nearest = X.project(y), L2Ball(4).project(y)
        if u @ nearest > level:
            flat = y - (y @ u) * u
            rim = math.sqrt(1.0 - level**2)
            nearest = level * u + flat * min(1.0, rim / np.linalg.norm(flat))
        np.testing.assert_allclose(x, nearest, atol=1e-8)


def test_a_cut_of_matrices_by_a_trace():
    """Over the spectrahedron with X_11 <= 1/4, minimise -X_11 + X_22: the other entries win."""
    corner = np.diag([1.0, 0.0, 0.0]).ravel()
    X = HalfspaceCut(Spectrahedron(3), corner, 0.25)
    v = X.lmo(-corner + np.diag([0.0, 1.0, 0.0]).ravel())
    assert v[0] == pytest.approx(0.25, abs=1e-9)
    assert v[4] == pytest.approx(0.0, abs=1e-7)


def test_intersections_with_boxes_are_known_sets():
    rng = np.random.default_rng(6)
    caps = np.array([0.5, 0.2, 0.9, 0.4])
    pairs = (
        (intersect(Simplex(4), upper=caps), CappedSimplex(4, caps)),
        (intersect(L1Ball(4, 1.5), lower=-0.6, upper=0.6), CappedL1Ball(4, 0.6, 1.5)),
        (intersect(Box(np.zeros(4), np.ones(4)), np.ones((1, 4)), [2.0], lower=0.0), None),
    )
    for X, twin in pairs:
        Y = HalfspaceCut(Box(np.zeros(4), np.ones(4)), np.ones(4), 2.0) if twin is None else twin
        for c in directions(4, rng, 4):
            assert c @ X.lmo(c) == pytest.approx(c @ Y.lmo(c), abs=1e-9)
            assert Y.contains(X.lmo(c), 1e-8)
            assert X.contains(Y.lmo(c), 1e-7)


def test_a_wrong_oracle_is_named_in_one_call():
    check_set(OracleSet(KSubsets(4, 2).lmo, 4), trials=5)
    for wrong in (
        lambda c: np.where(c < 0.0, -1.0, 1.0),  # the largest value
        lambda c: -c / (1.0 + np.abs(c).max()),  # inside the cube
        lambda c: np.where(c < 0.5, 1.0, -1.0),  # it depends on the scale
    ):
        with pytest.raises(AssertionError, match="OracleSet fails check_"):
            check_set(OracleSet(wrong, 3))


@pytest.mark.parametrize(
    ("build", "error", "sentence"),
    [
        (lambda: MinkowskiSum(), ValueError, "a sum needs at least one set"),
        (lambda: MinkowskiSum(Simplex(2), Simplex(3)), ValueError, r"one dimension, got \[2, 3\]"),
        (lambda: MinkowskiSum([Simplex(2)]), TypeError, r"write \(X, Y\), not \(\[X, Y\]\)"),
        (lambda: ConvexHullOfUnion(), ValueError, "a union needs at least one set"),
        (lambda: ConvexHullOfUnion(3), TypeError, "made of decision sets, got int"),
        (lambda: AffineImage(Simplex(3), np.eye(2)), ValueError, "each of the set's 3 coordinates"),
        (lambda: AffineImage(Simplex(2), [[1.0, np.nan]]), ValueError, "matrix must be finite"),
        (lambda: HalfspaceCut(Simplex(2), [0.0, 0.0], 1.0), ValueError, "must not be zero"),
        (lambda: HalfspaceCut(Simplex(2), [1.0, 0.0], -1.0), ValueError, "got the bound -1"),
        (lambda: HalfspaceCut(Simplex(2), [1.0, 0.0], 0.0), ValueError, "more than a face"),
        (lambda: intersect(L2Ball(2), upper=1.0), ValueError, "L2Ball has no rows"),
        (lambda: intersect(Simplex(2), np.ones((1, 3)), [1.0]), ValueError, "must have 2 columns"),
        (lambda: intersect(Simplex(2), np.ones((1, 2))), ValueError, "A_ub and b_ub belong"),
        (lambda: intersect(Simplex(2), upper=[1.0] * 3), ValueError, "one number or 2, got shape"),
        (lambda: intersect(Simplex(2), lower=np.nan), ValueError, "lower must be finite"),
        (lambda: intersect(3, upper=1.0), TypeError, "made of decision sets, got int"),
        (lambda: AffineImage([1.0], np.eye(1)), TypeError, "made of decision sets, got list"),
        (lambda: HalfspaceCut("X", [1.0], 1.0), TypeError, "made of decision sets, got str"),
        (lambda: intersect(Simplex(2), upper=0.4), ValueError, "no point satisfies all rows"),
    ],
)
def test_wrong_compositions_are_refused_in_a_sentence(build, error, sentence):
    with pytest.raises(error, match=sentence):
        build()


def test_sets_that_go_by_other_names_in_frankwolfe_jl_are_what_the_page_says():
    """Straight from the definitions there: all vertices, or the hull of two balls."""
    rng, n, K, t = np.random.default_rng(7), 4, 2, 0.7
    lower, upper = -rng.random(n), 1.0 + rng.random(n)
    signs = np.array(list(product((-1.0, 0.0, 1.0), repeat=n)))
    places = np.array(list(product((0.0, 1.0), repeat=n)))
    middle = 0.5 * (lower + upper)
    ends = [middle + s * e * 0.5 * (upper - lower) for e in np.eye(n) for s in (-1.0, 1.0)]
    for X, vertices in (
        (  # KNormBallLMO
            OrderedWeightedBall([1.0, 1.0, 0.0, 0.0], t),
            np.vstack([listed(L1Ball(n, t)), listed(LinfBall(n, t / K))]),
        ),
        (CappedL1Ball(n, t, K * t), t * signs[np.abs(signs).sum(axis=1) == K]),  # KSparseLMO
        (AffineImage(L1Ball(n), np.diag((upper - lower) / 2), middle), np.array(ends)),  # Diamond
        (NonnegativeLpBall(n, 1, t), t * np.vstack([np.eye(n), np.zeros(n)])),  # UnitSimplex
        (  # UnitHyperSimplexLMO
            HalfspaceCut(Box(np.zeros(n), np.full(n, t)), np.ones(n), K * t),
            t * places[places.sum(axis=1) <= K],
        ),
    ):
        for c in directions(n, rng):
            v = X.lmo(c)
            assert c @ v == pytest.approx((vertices @ c).min(), abs=1e-12)
            assert np.abs(vertices - v).max(axis=1).min() <= 1e-12
