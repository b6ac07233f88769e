"""Spectrahedron and nuclear ball against full decompositions, small and above the Lanczos size."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow import kernels
from hedgerow.sets.spectral.rank_one import SMALL, RankOneVertices
from hedgerow.sets.spectral.spectrahedra import NuclearBall, Spectrahedron

AGREE = 1e-8  # of size x width of the spectrum: what `RankOneVertices` states

SETS = [
    Spectrahedron(1),
    Spectrahedron(2, trace=3.0),
    Spectrahedron(5),
    NuclearBall(1, 1),
    NuclearBall(1, 4, radius=2.0),
    NuclearBall(4, 3),
    NuclearBall(3, 5, radius=0.5),
]


def name(X: RankOneVertices) -> str:
    return repr(X)


def direction(X: RankOneVertices, rng: np.random.Generator, kind: int) -> np.ndarray:
    """Plain, of low rank, with repeated extreme eigenvalues, a multiple of the identity, or 0."""
    m, n = X.shape
    if kind == 0:
        return rng.standard_normal(X.dim)
    if kind == 1:
        return np.outer(rng.standard_normal(m), rng.standard_normal(n)).ravel()
    if kind == 2:
        k = min(m, n)
        left = np.linalg.qr(rng.standard_normal((m, k)))[0]
        right = left if m == n else np.linalg.qr(rng.standard_normal((n, k)))[0]
        return ((left * rng.choice([-1.0, 1.0, 2.0], k)) @ right.T).ravel()
    if kind == 3:
        return rng.normal() * np.eye(m, n).ravel()
    return np.zeros(X.dim)


def exact(X: RankOneVertices, c: np.ndarray) -> tuple[float, float]:
    """Return the least value and the unit of its error: size x width of the spectrum."""
    C = c.reshape(X.shape)
    if isinstance(X, Spectrahedron):
        values = np.linalg.eigvalsh((C + C.T) / 2)
        return X.trace * values[0], X.trace * (values[-1] - values[0])
    assert isinstance(X, NuclearBall)
    largest = np.linalg.norm(C, 2)
    return -X.radius * largest, X.radius * largest


def points(X: RankOneVertices, rng: np.random.Generator, count: int) -> np.ndarray:
    """Mixtures of a few vertices: mostly rank-deficient points."""
    vertices = np.array([X.lmo(rng.standard_normal(X.dim)) for _ in range(3)])
    return rng.dirichlet(np.ones(3), count) @ vertices


@pytest.mark.parametrize("X", SETS, ids=name)
def test_oracle_attains_the_exact_minimum(X):
    rng = np.random.default_rng(0)
    for trial in range(200):
        c = direction(X, rng, trial % 5)
        v = X.lmo(c)
        least, _ = exact(X, c)
        assert abs(c @ v - least) <= 1e-13 * (np.linalg.norm(c) + 1e-300) * X.dim
        assert X.contains(v, 1e-12)
        assert np.linalg.matrix_rank(v.reshape(X.shape), tol=1e-9) == 1
        assert X.minimum(c) <= least + 1e-300
        assert X.minimum(c) >= least - 1e-13 * X.dim * np.linalg.norm(c)


@pytest.mark.parametrize("X", [Spectrahedron(60), NuclearBall(55, 80), NuclearBall(80, 55)])
def test_lanczos_agrees_with_full_decomposition(X):
    rng = np.random.default_rng(1)
    for trial in range(25):
        c = direction(X, rng, trial % 5)
        v = X.lmo(c)
        least, unit = exact(X, c)
        assert -1e-12 * (1 + abs(least)) <= c @ v - least <= AGREE * unit + 1e-13 * abs(least)
        assert X.minimum(c) <= least <= c @ v + 1e-12 * abs(least)


@pytest.mark.parametrize("X", [Spectrahedron(80), NuclearBall(70, 90)])
def test_warm_workspace_follows_a_drifting_direction(X):
    rng = np.random.default_rng(2)
    work = X.workspace()
    c = rng.standard_normal(X.dim)
    for _ in range(40):
        c = c + 0.05 * rng.standard_normal(X.dim)
        warm, cold = c @ work.lmo(c), c @ X.lmo(c)
        least, unit = exact(X, c)
        assert abs(warm - least) <= AGREE * unit
        assert abs(cold - least) <= AGREE * unit
    work.clear()
    assert np.array_equal(work.lmo(c), X.lmo(c))


@pytest.mark.parametrize("gap", [1.0, 1e-2, 1e-4, 1e-6, 1e-7, 3e-8])
def test_warm_start_leaves_an_eigenvector_that_no_longer_leads(gap):
    """The last answer is an exact eigenvector of the next matrix, but the wrong one."""
    n = 100
    X = Spectrahedron(n)
    work = X.workspace()
    first = np.linspace(0.0, 1.0, n)
    first[7] = -1.0
    work.lmo(np.diag(first).ravel())
    second = first.copy()
    second[40] = -1.0 - gap
    c = np.diag(second).ravel()
    assert c @ work.lmo(c) == pytest.approx(-1.0 - gap, abs=AGREE * (2.0 + gap))


def test_warm_start_saves_steps_and_lapack_takes_over_when_lanczos_stalls():
    rng = np.random.default_rng(3)
    n = 300
    A = rng.standard_normal((n, n))
    A = A + A.T
    fixed, v, basis = np.sin(np.arange(1.0, n + 1.0) ** 2), np.empty(n), np.empty((n, n))
    cold = kernels.spectral.least_eigenvector(A, 0, fixed, 1e-10, basis, v)
    assert np.linalg.norm(A @ v - (v @ A @ v) * v) <= 1e-9 * np.linalg.norm(A, 2)
    start = v + 1e-3 * fixed / np.linalg.norm(fixed)
    assert 0 < kernels.spectral.least_eigenvector(A, 0, start, 1e-10, basis, v) < cold
    # Eigenvalues crowded at the lower end: the residual stays large until the basis is full.
    crowd = np.diag(np.linspace(0.0, 1.0, n) ** 8)
    rotation = np.linalg.qr(A)[0]
    C = rotation @ crowd @ rotation.T
    short = np.empty((48 + n // 4, n))
    assert kernels.spectral.least_eigenvector(C, 0, fixed, 1e-10, short, v) == 0
    x = Spectrahedron(n).lmo(C.ravel())
    assert C.ravel() @ x == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("X", [Spectrahedron(4), Spectrahedron(60), NuclearBall(60, 60)])
@pytest.mark.parametrize("exponent", [-1040, -600, 600, 1000])
def test_scale_of_the_direction_does_not_matter(X, exponent):
    c = np.random.default_rng(4).integers(-9, 10, X.dim).astype(np.float64)
    scaled = np.ldexp(c, exponent)
    assert np.allclose(X.lmo(scaled), X.lmo(c), atol=1e-7)
    assert np.allclose(X.workspace().lmo(scaled), X.lmo(c), atol=1e-7)
    if exponent != -1040:
        assert X.minimum(scaled) == pytest.approx(np.ldexp(X.minimum(c), exponent), rel=1e-12)


def test_a_multiple_of_the_identity_changes_nothing():
    X = Spectrahedron(60)
    c = np.random.default_rng(11).integers(-9, 10, X.dim).astype(np.float64)
    shifted = c + 1e12 * np.eye(60).ravel()
    assert c @ X.lmo(shifted) == pytest.approx(c @ X.lmo(c), rel=1e-8)
    assert np.array_equal(X.lmo(7.0 * np.eye(60).ravel()), X.lmo(np.zeros(X.dim)))


def test_tangent_keeps_only_what_the_spectrahedron_feels():
    rng = np.random.default_rng(5)
    X = Spectrahedron(4, trace=2.0)
    _, basis = X.hull()
    for _ in range(20):
        c = rng.standard_normal(X.dim)
        assert np.allclose(X.tangent(c), basis @ (basis.T @ c), atol=1e-14)
    assert np.array_equal(Spectrahedron(1).tangent([3.0]), [0.0])


@pytest.mark.parametrize("X", [*SETS, Spectrahedron(60), NuclearBall(52, 55)], ids=name)
def test_projection_satisfies_its_variational_inequality(X):
    rng = np.random.default_rng(6)
    for trial in range(40 if X.dim < 100 else 4):
        y = direction(X, rng, trial % 5) * 10.0 ** rng.uniform(-2, 2)
        p = X.project(y)
        assert X.contains(p)
        # max over the set of <y - p, v - p>, with v exact
        assert (p - y) @ p - exact(X, p - y)[0] <= 1e-7
        assert np.allclose(X.project(p), p, atol=1e-12)


def test_projection_in_known_cases():
    X = Spectrahedron(3)
    diagonal = np.diag([0.9, 0.5, -4.0])
    assert np.allclose(X.project(diagonal.ravel()), np.diag([0.7, 0.3, 0.0]).ravel(), atol=1e-15)
    skew = np.array([[0.0, 5.0, 0.0], [-5.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    assert np.allclose(X.project(skew.ravel()), X.start(), atol=1e-15)
    Y = NuclearBall(2, 3, radius=2.0)
    wide = np.array([[3.0, 0.0, 0.0], [0.0, -2.0, 0.0]])
    shrunk = np.array([[1.5, 0.0, 0.0], [0.0, -0.5, 0.0]])
    assert np.allclose(Y.project(wide.ravel()), shrunk.ravel(), atol=1e-15)
    inside = 0.2 * wide.ravel()
    assert np.array_equal(Y.project(inside), inside)


@pytest.mark.parametrize("X", SETS, ids=name)
def test_decomposition_and_samples(X):
    rng = np.random.default_rng(7)
    size = X.trace if isinstance(X, Spectrahedron) else X.radius
    for x in [X.start(), X.lmo(rng.standard_normal(X.dim)), *points(X, rng, 10)]:
        weights, vertices = X.decompose(x)
        assert weights.size <= min(X.shape) + 1
        assert (weights > 0).all()
        assert abs(weights.sum() - 1.0) <= 1e-12
        assert np.abs(weights @ vertices - x).max() <= 1e-9
        for vertex in vertices:
            assert X.contains(vertex, 1e-12)
            assert np.linalg.matrix_rank(vertex.reshape(X.shape), tol=1e-9) == 1
            assert np.linalg.norm(vertex) == pytest.approx(size, rel=1e-12)
    count = 2000
    drawn = np.array([X.sample(x, rng) for _ in range(count)])
    spread = math.sqrt(float(weights @ np.square(vertices - x).sum(axis=1)))
    # E ||mean - x||^2 = spread^2 / count; Chebyshev at five standard errors.
    assert np.linalg.norm(drawn.mean(axis=0) - x) <= 5.0 * spread / math.sqrt(count) + 1e-12


@pytest.mark.parametrize("X", SETS, ids=name)
def test_hull_and_ball(X):
    rng = np.random.default_rng(8)
    offset, basis = X.hull()
    assert np.allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-14)
    for x in points(X, rng, 5):
        assert np.allclose(offset + basis @ (basis.T @ (x - offset)), x, atol=1e-14)
    free = X.n * (X.n + 1) // 2 - 1 if isinstance(X, Spectrahedron) else X.dim
    assert basis.shape == (X.dim, free)
    centre, r = X.ball()
    if free == 0:
        assert r == 0.0
        return
    assert r > 0.0
    # The hardest way out: towards a face, from the centre away from a vertex.
    worst = centre - X.lmo(rng.standard_normal(X.dim))
    if isinstance(X, NuclearBall):
        worst = np.eye(*X.shape).ravel()
    for u in [worst, *(basis @ rng.standard_normal((free, 50))).T]:
        assert X.contains(centre + r / np.linalg.norm(u) * u, 1e-12)
    assert not X.contains(centre + 1.001 * r / np.linalg.norm(worst) * worst, 1e-9)


@pytest.mark.parametrize("X", SETS, ids=name)
def test_separation(X):
    rng = np.random.default_rng(9)
    _, basis = X.hull()
    for x in points(X, rng, 5):
        assert X.separate(x) is None
        far = [x + 10.0**-k * rng.standard_normal(X.dim) for k in range(-1, 8)]
        far += [X.start() + 10.0**k * basis @ rng.standard_normal(basis.shape[1]) for k in range(3)]
        far += [-3.0 * x, 1.5 * x]
        for y in far:
            a = X.separate(y)
            assert (a is None) == X.contains(y)
            if a is not None:
                assert a @ y > -X.minimum(-a)


@pytest.mark.parametrize("X", SETS, ids=name)
def test_diameter_is_attained_and_start_is_inside(X):
    assert X.contains(X.start(), 1e-14)
    assert X.dim == math.prod(X.shape)
    if X.diameter == 0.0:
        assert X.dim == 1
        return
    e, f = np.zeros(X.shape), np.zeros(X.shape)
    e[0, 0] = 1.0
    f[-1, -1] = 1.0
    if isinstance(X, NuclearBall):
        f = -e
    a, b = X.lmo(-e.ravel()), X.lmo(-f.ravel())
    assert np.linalg.norm(a - b) == pytest.approx(X.diameter, rel=1e-14)


def test_points_outside_are_refused_by_decompose():
    with pytest.raises(ValueError, match="project it first"):
        Spectrahedron(2).decompose([2.0, 0.0, 0.0, -1.0])
    with pytest.raises(ValueError, match="project it first"):
        Spectrahedron(2).sample([0.5, 0.1, 0.0, 0.5], np.random.default_rng(0))
    with pytest.raises(ValueError, match="project it first"):
        NuclearBall(2, 2).decompose([1.0, 0.0, 0.0, 1.0])
    assert not Spectrahedron(2).contains([0.5, 0.1, 0.0, 0.5])
    assert not Spectrahedron(2).contains([0.5, 0.0, 0.0, 0.4])


@pytest.mark.parametrize(
    "wrong",
    [lambda: Spectrahedron(0), lambda: Spectrahedron(2, trace=0.0), lambda: NuclearBall(2, 0)],
)
def test_wrong_sizes_are_refused(wrong):
    with pytest.raises(ValueError, match="must be"):
        wrong()


def test_large_nuclear_ball():
    X = NuclearBall(1000, 1000, radius=3.0)
    rng = np.random.default_rng(10)
    left, right = rng.standard_normal(1000), rng.standard_normal(1000)
    noise = 0.1 * rng.standard_normal((1000, 1000))
    c = (np.outer(left, right) / 100.0 + noise).ravel()
    x = X.lmo(c)
    assert c @ x == pytest.approx(-3.0 * np.linalg.norm(c.reshape(X.shape), 2), rel=AGREE)
    assert np.linalg.norm(x) == pytest.approx(3.0, rel=1e-12)


@given(st.integers(SMALL - 2, SMALL + 6), st.integers(0, 2**32 - 1))
def test_both_sides_of_the_size_limit_agree_with_lapack(n, seed):
    X = Spectrahedron(n)
    c = direction(X, np.random.default_rng(seed), seed % 5)
    least, unit = exact(X, c)
    assert c @ X.lmo(c) - least <= AGREE * unit + 1e-13 * abs(least)
