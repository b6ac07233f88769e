"""Norm balls against their dual norms, against sets that they equal, and against solvers."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.sets import (
    CappedL1Ball,
    ConvexHull,
    Ellipsoid,
    GroupBall,
    KSparse,
    L1Ball,
    L2Ball,
    LatentGroupBall,
    LinfBall,
    LpBall,
    NonnegativeLpBall,
    OrderedWeightedBall,
)

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


def sign_vectors(n: int) -> np.ndarray:
    every = np.array(list(product((-1.0, 0.0, 1.0), repeat=n)))
    return every[every.any(axis=1)]


def owl(x: np.ndarray, w: np.ndarray) -> float:
    """The largest sum of |x_i| w_j over all assignments: the definition by permutations."""
    from scipy.optimize import linear_sum_assignment

    values = np.abs(x)[:, None] * w
    return float(values[linear_sum_assignment(values, maximize=True)].sum())


WEIGHTS = ([2.0], [1.0, 1.0], [1.0, 0.0], [3.0, 2.0, 1.0], [1.0, 1.0, 0.0], [2.0, 2.0, 1.0, 0.0])


@pytest.mark.parametrize("w", WEIGHTS, ids=str)
def test_ordered_weighted_balls_are_hulls_of_scaled_sign_vectors(w: list[float]):
    """All vertices by brute force: oracle, diameter and projection."""
    rng, n = np.random.default_rng(7), len(w)
    X = OrderedWeightedBall(w, radius=2.0)
    atoms = np.array([2.0 * s / owl(s, np.array(w)) for s in sign_vectors(n)])
    assert X.diameter == pytest.approx(2.0 * np.linalg.norm(atoms, axis=1).max(), rel=1e-12)
    hull = ConvexHull(atoms)
    for _ in range(25):
        c = rng.integers(-2, 3, n) * 1.0 if rng.random() < 0.4 else rng.standard_normal(n)
        assert c @ X.lmo(c) == pytest.approx((atoms @ c).min(), abs=1e-12)
        assert X.norm(c) == pytest.approx(owl(c, np.array(w)), rel=1e-12, abs=1e-15)
        y = 3.0 * rng.standard_normal(n)
        np.testing.assert_allclose(X.project(y), hull.project(y), rtol=0.0, atol=1e-9)


def test_ordered_weighted_balls_with_known_names():
    rng = np.random.default_rng(8)
    pairs = OrderedWeightedBall.oscar(5, 0.7, 0.2)
    for _ in range(20):
        x = rng.standard_normal(5)
        a = np.abs(x)
        largest = sum(max(a[i], a[j]) for i, j in combinations(range(5), 2))
        assert pairs.norm(x) == pytest.approx(0.7 * a.sum() + 0.2 * largest, rel=1e-12)
        for w, twin in ((np.ones(5), L1Ball(5)), (np.eye(5)[0], LinfBall(5))):
            X = OrderedWeightedBall(w)
            np.testing.assert_allclose(X.lmo(x), twin.lmo(x), rtol=1e-15)
            np.testing.assert_allclose(X.project(x), twin.project(x), rtol=0.0, atol=1e-14)


def test_projections_on_ordered_weighted_balls_keep_small_numbers_beside_large_ones():
    X = OrderedWeightedBall([1.0, 0.0, 0.0])
    for size in (1e8, 1e60, 1e299):
        x = X.project([size, 0.3, -0.7])
        np.testing.assert_allclose(x, [1.0, 0.3, -0.7], rtol=1e-12)


@pytest.mark.parametrize(("cap", "radius"), [(1.0, 1.0), (1.0, 2.0), (1.0, 2.5), (0.5, 9.0)])
def test_capped_l1_balls_are_hulls_of_filled_sign_vectors(cap: float, radius: float):
    rng, n = np.random.default_rng(9), 4
    X = CappedL1Ball(n, cap, radius)
    grid = np.array(list(product((-cap, 0.0, cap), repeat=n)))
    rest = radius - cap * int(radius / cap + 1e-9)
    moved = [g + s * rest * e for g in grid for e in np.eye(n) for s in (-1.0, 0.0, 1.0)]
    atoms = np.array(
        [v for v in moved if np.abs(v).max() <= cap and np.abs(v).sum() <= radius + 1e-12]
    )
    hull = ConvexHull(np.unique(atoms, axis=0))
    assert X.diameter == pytest.approx(2.0 * np.linalg.norm(atoms, axis=1).max(), rel=1e-12)
    for _ in range(25):
        c = rng.integers(-2, 3, n) * 1.0 if rng.random() < 0.4 else rng.standard_normal(n)
        assert c @ X.lmo(c) == pytest.approx((atoms @ c).min(), abs=1e-12)
        y = 2.0 * rng.standard_normal(n)
        np.testing.assert_allclose(X.project(y), hull.project(y), rtol=0.0, atol=1e-9)


def test_group_balls_attain_their_dual_norm_and_equal_known_balls():
    rng, groups = np.random.default_rng(10), [[4, 0], [1], [5, 2, 3]]
    X, singles, one = (
        GroupBall(groups, 2.0),
        GroupBall([[i] for i in range(6)]),
        GroupBall([range(6)]),
    )
    for c in [rng.standard_normal(6) for _ in range(20)] + directions(6, rng):
        unit = c / (np.abs(c).max() or 1.0)
        lengths = [np.linalg.norm(unit[g]) for g in groups]
        assert unit @ X.lmo(c) == pytest.approx(-2.0 * max(lengths), rel=1e-12, abs=1e-15)
        assert X.norm(unit) == pytest.approx(sum(lengths), rel=1e-12)
        np.testing.assert_allclose(singles.lmo(c), L1Ball(6).lmo(c), rtol=1e-14)
        np.testing.assert_allclose(singles.project(unit), L1Ball(6).project(unit), atol=1e-14)
        np.testing.assert_allclose(one.lmo(c), L2Ball(6).lmo(c), rtol=1e-14, atol=1e-300)
        np.testing.assert_allclose(one.project(unit), L2Ball(6).project(unit), atol=1e-14)


def test_latent_group_balls_of_all_subsets_are_k_support_balls():
    rng = np.random.default_rng(11)
    for n, k in ((4, 2), (5, 3), (4, 1), (4, 4)):
        X, Y = LatentGroupBall(list(combinations(range(n), k)), 2.0), KSparse(n, k, 2.0)
        for _ in range(10):
            x = rng.standard_normal(n) * 10.0 ** rng.uniform(-3.0, 3.0, n)
            x[rng.random(n) < 0.2] = 0.0
            assert X.norm(x) == pytest.approx(Y.norm(x), rel=1e-11)
            assert x @ X.lmo(x) == pytest.approx(x @ Y.lmo(x), rel=1e-12)


def test_a_latent_group_norm_is_the_largest_product_with_its_dual_ball():
    """By SciPy's general solver: maximise <a, x> subject to ||a_G|| <= 1 for every group."""
    from scipy.optimize import NonlinearConstraint, minimize

    rng, groups = np.random.default_rng(12), [[0, 1, 2], [2, 3], [3, 4, 0]]
    X = LatentGroupBall(groups)
    for _ in range(5):
        x = rng.standard_normal(5)
        inside = NonlinearConstraint(lambda a: [a[g] @ a[g] for g in groups], -np.inf, 1.0)
        best = minimize(lambda a, x=x: -(a @ x), 0.1 * x, constraints=inside, method="SLSQP")
        assert X.norm(x) == pytest.approx(-best.fun, rel=1e-5)


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: OrderedWeightedBall([]), "weights must be at least one number"),
        (lambda: OrderedWeightedBall([1.0, 2.0]), "none above the one before"),
        (lambda: OrderedWeightedBall([1.0, -1.0]), "none below 0"),
        (lambda: OrderedWeightedBall([0.0, 0.0]), "the largest of the weights must be above 0"),
        (lambda: OrderedWeightedBall.oscar(3, -1.0, 0.0), "each and pairs must be at least 0"),
        (lambda: CappedL1Ball(3, 0.0, 1.0), "cap must be above 0, got 0"),
        (lambda: CappedL1Ball(3, 1.0, -1.0), "radius must be above 0, got -1"),
        (lambda: GroupBall([[0, 1], [1, 2]]), "got 1 more than once; .* make a LatentGroupBall"),
        (lambda: GroupBall([[0, 2]]), "got 1 in none"),
        (lambda: GroupBall([[0], []]), "leave empty groups out"),
        (lambda: GroupBall([]), "at least one group"),
        (lambda: LatentGroupBall([[0, -1]]), "got the coordinate -1"),
        (lambda: LatentGroupBall([[0.5]]), "whole number"),
    ],
)
def test_wrong_norm_balls_are_refused_in_a_sentence(build, sentence):
    with pytest.raises(ValueError, match=sentence):
        build()


COMPILED = [
    LpBall(6, 1.3, 2.0),
    LpBall(6, math.inf),
    NonnegativeLpBall(6, 1.0, 3.0),
    NonnegativeLpBall(6, 2.5),
    Ellipsoid(np.arange(1.0, 7.0), centre=np.ones(6)),
    Ellipsoid.from_matrix(np.eye(6) + 0.3 * np.ones((6, 6))),
    OrderedWeightedBall([3.0, 3.0, 2.0, 1.0, 0.0, 0.0]),
    CappedL1Ball(6, 1.0, 2.5),
    GroupBall([[0, 5], [1, 2], [3, 4]]),
]


@pytest.mark.parametrize("X", COMPILED, ids=repr)
def test_kernels_answer_as_the_oracles_do(X):
    """The same vertex, ties among them, and whole games run in the compiled loop."""
    rng, space = np.random.default_rng(13), X.workspace()
    assert space.space is not None
    for c in [*(rng.integers(-2, 3, 6) * 1.0 for _ in range(30)), *directions(6, rng)]:
        if 1e-100 < np.abs(c).max() < 1e100 or not c.any():
            np.testing.assert_array_equal(space.lmo(c), X.lmo(c))
    rounds = [
        (hr.Linear(rng.standard_normal(6)), hr.Linear(rng.standard_normal(6), -1.0))
        for _ in range(30)
    ]
    problem = hr.RecordedProblem(X, rounds)
    trace = hr.simulate(hr.projection_free_coco(X), problem)
    assert trace.compiled
    played = [step.cost for step in hr.play(hr.projection_free_coco(X), problem)]
    np.testing.assert_array_equal(trace.costs, played)
