"""Vector sets against brute force over their vertices and a quadratic programming solver."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations, permutations, product

import numpy as np
import pytest
import quadprog
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from hedgerow.sets.balls.boxes import Box, LinfBall
from hedgerow.sets.balls.l1_l2_balls import KSparse, L1Ball, L2Ball
from hedgerow.sets.decision_set import CAPABILITIES, DecisionSet, HasLinearDescription
from hedgerow.sets.orders.permutahedron import Permutahedron
from hedgerow.sets.simplices.fixed_sum import systematic_subsets
from hedgerow.sets.simplices.simplex import CappedSimplex, KSubsets, Simplex
from hedgerow.sets.validation import NARROWEST

Rng = np.random.Generator
INSTANCES = 200


def capped(n: int, rng: Rng) -> CappedSimplex:
    """Equal caps, caps with zeros, a single point, or plain."""
    kind = rng.integers(4)
    total = float(rng.choice([1.0, 0.01, 30.0]))
    if kind == 0:
        return CappedSimplex(n, total * rng.uniform(1.0 / n + 0.01, 1.2), total)
    caps = rng.random(n) + 0.05
    if kind == 1:
        caps[rng.random(n) < 0.4] = 0.0
        caps[rng.integers(n)] = 1.0
    share = 1.0 if kind == 2 else rng.uniform(0.05, 1.0)
    return CappedSimplex(n, caps * (total / share / caps.sum()), total)


def box(n: int, rng: Rng) -> Box:
    lower = rng.normal(0.0, 3.0, n)
    return Box(lower, lower + rng.exponential(2.0, n) * (rng.random(n) < 0.8))


MAKERS: dict[str, Callable[[int, Rng], DecisionSet]] = {
    "Simplex": lambda n, rng: Simplex(n, total=rng.choice([1.0, 1e-3, 50.0])),
    "CappedSimplex": capped,
    "KSubsets": lambda n, rng: KSubsets(n, int(rng.integers(n + 1))),
    "Box": box,
    "LinfBall": lambda n, rng: LinfBall(n, radius=rng.choice([1.0, 0.1, 7.0])),
    "L1Ball": lambda n, rng: L1Ball(n, radius=rng.choice([1.0, 0.1, 7.0])),
    "L2Ball": lambda n, rng: L2Ball(n, radius=rng.choice([1.0, 0.1, 7.0])),
    "KSparse": lambda n, rng: KSparse(n, int(rng.integers(1, n + 1)), rng.choice([1.0, 0.1, 7.0])),
    "Permutahedron": lambda n, rng: Permutahedron(
        rng.integers(-1, 3, n) if rng.random() < 0.5 else 10.0 * rng.standard_normal(n)
    ),
}
each_set = pytest.mark.parametrize("kind", MAKERS)


def instances(kind: str, count: int = INSTANCES, largest: int = 5) -> list[tuple[DecisionSet, Rng]]:
    rng = np.random.default_rng(sum(map(ord, kind)))
    return [(MAKERS[kind](1 + i % largest, rng), rng) for i in range(count)]


def direction(n: int, rng: Rng) -> np.ndarray:
    """Plain, with ties, zero, or of many magnitudes."""
    kind = rng.integers(4)
    if kind == 0:
        return rng.integers(-2, 3, n).astype(float)
    c = rng.standard_normal(n)
    return c if kind == 1 else c * 0.0 if kind == 2 else c * 10.0 ** rng.uniform(-8, 8, n)


def corners(X: DecisionSet) -> np.ndarray:
    """Return all vertices of a polytope, straight from its definition."""
    n = X.dim
    if isinstance(X, Simplex):
        return X.total * np.eye(n)
    if isinstance(X, KSubsets):
        return np.array([np.isin(np.arange(n), s) * 1.0 for s in combinations(range(n), X.k)])
    if isinstance(X, Box | LinfBall):
        return np.array(list(product(*zip(X.lower, X.upper, strict=True))))
    if isinstance(X, L1Ball):
        return X.radius * np.vstack([np.eye(n), -np.eye(n)])
    if isinstance(X, Permutahedron):
        return np.array(sorted(set(permutations(X.weights.tolist()))))
    assert isinstance(X, CappedSimplex)
    found = []
    for i in range(n):
        for at_cap in product([0.0, 1.0], repeat=n):
            v = np.array(at_cap) * X.cap
            v[i] = X.total - (v.sum() - v[i])
            if -1e-11 * X.total <= v[i] <= X.cap[i] + 1e-11 * X.total:
                found.append(v)
    return np.array(found)


def size(X: DecisionSet) -> float:
    return float(np.abs(X.start()).max()) + X.diameter


def inner_point(X: DecisionSet, rng: Rng) -> np.ndarray:
    """Mix vertices and the start: on a face, on an edge, or inside."""
    vertices = [X.lmo(rng.standard_normal(X.dim)) for _ in range(4)] + [X.start()]
    alpha = rng.choice([0.05, 1.0])
    return rng.dirichlet([alpha] * 4 + [alpha * rng.integers(2) + 1e-9]) @ np.array(vertices)


@each_set
def test_oracle_is_best_of_all_vertices(kind: str):
    for X, rng in instances(kind):
        c = direction(X.dim, rng)
        v = X.lmo(c)
        assert X.contains(v, 1e-12)
        if isinstance(X, L2Ball | KSparse):
            k = X.dim if isinstance(X, L2Ball) else X.k
            heads = [np.linalg.norm(c[list(s)]) for s in combinations(range(X.dim), k)]
            assert c @ v == pytest.approx(-X.radius * max(heads), rel=1e-12)
            assert np.count_nonzero(v) <= k
            assert np.linalg.norm(v) == pytest.approx(X.radius, rel=1e-12)
        else:
            every = corners(X)
            assert c @ v <= (every @ c).min() + 1e-12 * np.abs(c).max() * size(X)
            assert np.abs(every - v).max(axis=1).min() <= 1e-11 * size(X)


@each_set
def test_diameter_is_that_of_the_vertices(kind: str):
    for X, rng in instances(kind):
        if isinstance(X, L2Ball | KSparse):
            v = X.lmo(rng.standard_normal(X.dim))
            assert np.linalg.norm(v + v) == pytest.approx(X.diameter, rel=1e-12)
            continue
        every = corners(X)
        longest = np.linalg.norm(every[:, None] - every[None], axis=2).max()
        assert X.diameter >= longest * (1.0 - 1e-11) - 1e-11 * size(X)
        if X.diameter_is_exact:
            assert X.diameter == pytest.approx(longest, rel=1e-11, abs=1e-11 * size(X))
    assert X.diameter_is_exact or kind == "CappedSimplex"


def test_capped_diameter_where_caps_are_equal_or_large():
    for n in range(1, 7):
        for cap in (0.2, 0.25, 1.0 / 3.0, 0.4, 0.5, 0.6, 2.0):
            if n * cap >= 1.0:
                assert CappedSimplex(n, cap).diameter_is_exact
    assert CappedSimplex(5, 0.5, 1.25).diameter ** 2 == pytest.approx(
        4 * 0.25
    )  # one stays half full
    assert CappedSimplex(4, [5.0, 0.0, 7.0, 1.0]).diameter == pytest.approx(math.sqrt(2.0))
    assert not CappedSimplex(3, [0.9, 0.5, 0.3]).diameter_is_exact


@each_set
def test_rows_have_the_oracle_as_solution(kind: str):
    for X, rng in instances(kind, 20):
        if not X.supports(HasLinearDescription):
            assert kind in ("L2Ball", "KSparse")
            return
        rows, c = X.rows(), rng.standard_normal(X.dim)
        lifted = c if rows.lift is None else rows.lift.T @ c
        bounds = np.column_stack([rows.lower, rows.upper])
        best = linprog(lifted, rows.A_ub, rows.b_ub, rows.A_eq, rows.b_eq, bounds)
        assert best.fun == pytest.approx(c @ X.lmo(c), abs=1e-9 * size(X) * X.dim)


def facets(X: DecisionSet) -> tuple[np.ndarray, np.ndarray, int]:
    """Return (A, b, e): the first e rows are A x = b, the others A x >= b."""
    n = X.dim
    eye, ones = np.eye(n), np.ones((1, n))
    if isinstance(X, Box | LinfBall):
        fixed = X.lower == X.upper
        A = np.vstack([eye[fixed], eye[~fixed], -eye[~fixed]])
        bounds = X.lower[fixed], X.lower[~fixed], -X.upper[~fixed]
        return A, np.concatenate(bounds), int(fixed.sum())
    if isinstance(X, L1Ball):
        signs = np.array(list(product([-1.0, 1.0], repeat=n)))
        return signs, np.full(len(signs), -X.radius), 0
    if isinstance(X, Permutahedron):
        w = np.sort(X.weights)[::-1]
        sets = [list(s) for j in range(1, n) for s in combinations(range(n), j)]
        A = [-1.0 * np.isin(np.arange(n), s) for s in sets]
        return np.vstack([ones, *A]), np.array([w.sum()] + [-w[: len(s)].sum() for s in sets]), 1
    cap = X.cap if isinstance(X, CappedSimplex) else np.full(n, 1.0)
    total = float(X.k) if isinstance(X, KSubsets) else X.total
    b = np.concatenate([[total], np.zeros(n), -cap])
    A = np.vstack([ones, eye, -eye])
    return (A[: n + 1], b[: n + 1], 1) if isinstance(X, Simplex) else (A, b, 1)


@each_set
def test_projection_is_that_of_a_qp_solver(kind: str):
    for X, rng in instances(kind):
        y = X.start() + size(X) * 10.0 ** rng.uniform(-1.0, 1.0) * direction(X.dim, rng).clip(-9, 9)
        p = X.project(y)
        assert X.contains(p, 1e-12)
        far = np.linalg.norm(y - p) + size(X)
        assert X.projection_error(y, p) <= 1e-7 * far
        assert np.abs(X.project(p) - p).max() <= 1e-12 * size(X)
        if X.diameter == 0.0:
            assert np.abs(p - corners(X)[0]).max() <= 1e-11 * size(X)
        elif isinstance(X, L2Ball):
            assert np.allclose(p, y / max(1.0, np.linalg.norm(y) / X.radius), rtol=1e-13, atol=0.0)
        elif not isinstance(X, KSparse):
            A, b, equations = facets(X)
            best = quadprog.solve_qp(np.eye(X.dim), y, A.T, b, equations)[0]
            assert np.abs(p - best).max() <= 1e-7 * min(1.0, size(X))


@each_set
def test_projection_of_large_points_keeps_its_digits(kind: str):
    for X, rng in instances(kind, 60, largest=8):
        y = inner_point(X, rng) + size(X) * rng.standard_normal(X.dim)
        for far in (
            y * 1e12,
            y * 1e100,
            y + 2.0**30 * size(X),
            y * 10.0 ** rng.uniform(0, 60, X.dim),
        ):
            p = X.project(far)
            assert X.contains(p, 1e-13), far
            unit = (far - p) / np.linalg.norm(far - p) if (far != p).any() else 0.0 * p
            assert unit @ p >= unit @ X.lmo(-unit) - 1e-12 * size(X)


def test_small_differences_far_from_a_large_entry_count():
    far = [1e17, 0.5, 0.0]
    assert Permutahedron([3.0, 2.0, 0.0]).project(far).tolist() == [3.0, 1.25, 0.75]
    assert KSubsets(3, 2).project(far).tolist() == [1.0, 0.75, 0.25]
    assert CappedSimplex(3, [0.5, 1.0, 1.0]).project(far).tolist() == [0.5, 0.5, 0.0]


def test_projection_on_the_k_support_ball_in_closed_cases():
    rng = np.random.default_rng(5)
    for _ in range(50):
        y = 3.0 * rng.standard_normal(6)
        assert np.allclose(KSparse(6, 1).project(y), L1Ball(6).project(y), rtol=0.0, atol=1e-14)
        assert np.allclose(KSparse(6, 6).project(y), L2Ball(6).project(y), rtol=0.0, atol=1e-14)
        equal = np.sign(y) * 2.0  # by symmetry the nearest point is on the ray through y
        assert np.allclose(KSparse(6, 4).project(equal), equal * math.sqrt(4 / 6) / 2 / 6**0.5)


def test_k_support_norm_is_that_of_argyriou_foygel_and_srebro():
    rng = np.random.default_rng(6)
    for i in range(200):
        n = 1 + i % 7
        k = int(rng.integers(1, n + 1))
        x = direction(n, rng)
        a = np.concatenate([[math.inf], np.sort(np.abs(x))[::-1]])  # |x|_(0), |x|_(1), ...
        values = []
        for r in range(k):
            rest = a[k - r :].sum()
            mean = rest / (r + 1)
            if a[k - r - 1] >= mean * (1.0 - 1e-12) and mean >= a[k - r] * (1.0 - 1e-12):
                values.append(math.sqrt((a[1 : k - r] ** 2).sum() + rest**2 / (r + 1)))
        assert values
        assert KSparse(n, k).norm(x) == pytest.approx(values[0], rel=1e-11)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=9),
    st.lists(st.floats(0.0, 1e3), min_size=9, max_size=9),
    st.floats(0.0, 1.0),
)
def test_capped_projection_on_hard_numbers(y: list[float], caps: list[float], share: float):
    n = len(y)
    total = share * sum(caps[:n])
    if not total > 1e-3:
        return
    X = CappedSimplex(n, caps[:n], total)
    p = X.project(y)
    assert X.contains(p, 1e-12)
    unit = np.array(y) - p
    unit /= np.linalg.norm(unit) or 1.0
    assert unit @ p >= unit @ X.lmo(-unit) - 1e-11 * total


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(-1e3, 1e3)), min_size=1, max_size=9),
)
def test_permutahedron_projection_on_hard_numbers(pairs: list[tuple[float, float]]):
    y, w = np.array(pairs).T
    assume(np.ptp(w) == 0.0 or np.ptp(w) >= NARROWEST)  # narrower ones are refused
    X = Permutahedron(w)
    p = X.project(y)
    assert X.contains(p, 1e-12)
    unit = y - p
    unit /= np.linalg.norm(unit) or 1.0
    assert unit @ p >= unit @ X.lmo(-unit) - 1e-11 * max(1.0, np.abs(w).sum())


def assert_vertex(X: DecisionSet, v: np.ndarray, every: np.ndarray | None) -> None:
    if every is None:
        assert np.linalg.norm(v) == pytest.approx(X.diameter / 2.0, rel=1e-12)
        assert np.count_nonzero(v) <= getattr(X, "k", X.dim)
    else:
        assert np.abs(every - v).max(axis=1).min() <= 1e-10 * size(X)


@each_set
def test_decomposition_gives_back_the_point(kind: str):
    for X, rng in instances(kind, largest=6):
        every = None if isinstance(X, L2Ball | KSparse) else corners(X)
        for x in (inner_point(X, rng), X.start(), X.lmo(direction(X.dim, rng))):
            weights, vertices = X.decompose(x)
            assert 1 <= weights.size <= X.dim + ("Ball" in kind or kind in ("Box", "KSparse"))
            assert weights.min() >= 0.0
            assert weights.sum() == pytest.approx(1.0, abs=1e-12)
            assert np.abs(weights @ vertices - x).max() <= 1e-10 * size(X)
            for v in vertices:
                assert_vertex(X, v, every)
        with pytest.raises(ValueError, match="project it first"):
            X.decompose(x + 0.1 * (1.0 + size(X)) * np.sign(x - X.start() + 1e-9))


@pytest.mark.parametrize("n", [40, 150])
def test_decomposition_of_medium_points_has_few_terms(n: int):
    rng = np.random.default_rng(n)
    sets = [
        KSubsets(n, n // 3),
        CappedSimplex(n, rng.random(n) * 5.0 / n + 0.1 / n),
        KSparse(n, n // 4),
        Permutahedron(rng.integers(0, n, n)),
        Permutahedron(np.arange(float(n)) ** 2),
    ]
    for X in sets:
        for spread in (0.1, 1.0, 10.0):
            x = X.project(X.start() + spread * X.diameter / math.sqrt(n) * rng.standard_normal(n))
            weights, vertices = X.decompose(x)
            limit = n + 1 if isinstance(X, KSparse) else n
            assert weights.size <= limit
            assert np.abs(weights @ vertices - x).max() <= 1e-10 * size(X)
            assert all(X.contains(v) for v in vertices)


@each_set
def test_samples_are_vertices_with_the_point_as_mean(kind: str):
    draws = 2000
    for X, rng in instances(kind, 6):
        every = None if isinstance(X, L2Ball | KSparse) else corners(X)
        x = inner_point(X, rng)
        sample = np.array([X.sample(x, rng) for _ in range(draws)])
        for v in sample[:20]:
            assert_vertex(X, v, every)
        # Hoeffding: beyond this with probability below 1e-9, for all coordinates together.
        reach = np.sqrt(0.5 * math.log(2e9 * X.dim) / draws)
        width = np.array([-X.minimum(-e) - X.minimum(e) for e in np.eye(X.dim)])
        assert (np.abs(sample.mean(axis=0) - x) <= reach * width + 1e-9 * size(X)).all()


def test_systematic_sampling_is_exact():
    rng = np.random.default_rng(7)
    for i in range(200):
        n = 1 + i % 12
        k = int(rng.integers(n + 1))
        p = KSubsets(n, k).project(rng.standard_normal(n))
        weights, members = systematic_subsets(p, k)
        assert weights.sum() == 1.0
        assert (members.sum(axis=1) == k).all()
        assert np.isin(members, [0.0, 1.0]).all()
        assert np.abs(weights @ members - p).max() <= 1e-14
        assert not members[:, p == 0.0].any()
        assert members[:, p == 1.0].all()


@each_set
def test_ball_is_inside_and_touches(kind: str):
    for X, rng in instances(kind, 60):
        centre, r = X.ball()
        basis = X.hull()[1]
        assert X.contains(centre, 1e-12)
        assert (r > 0.0) == (basis.shape[1] > 0) == (X.diameter > 0.0)
        assert np.abs(basis.T @ basis - np.eye(basis.shape[1])).max(initial=0.0) <= 1e-12
        if not r:
            continue
        if isinstance(X, L2Ball | KSparse):
            normals = np.vstack([rng.standard_normal((20, X.dim)), np.ones(X.dim)])
        else:  # the adversary: every facet's normal
            normals = -facets(X)[0]
            normals = np.vstack([rng.standard_normal((20, X.dim)), normals])
        touched = math.inf
        for a in normals @ basis @ basis.T:
            length = np.linalg.norm(a)
            if length > 1e-9:
                assert X.contains(centre + r / length * a, 1e-11)
                touched = min(touched, -X.minimum(-a / length) - a @ centre / length)
        assert touched == pytest.approx(r, rel=1e-9)


@each_set
def test_tangent_keeps_exactly_the_part_inside_the_hull(kind: str):
    for X, rng in instances(kind, 60):
        c = rng.standard_normal(X.dim)
        basis = X.hull()[1]
        assert np.abs(X.tangent(c) - basis @ (basis.T @ c)).max() <= 1e-12


@each_set
def test_separation(kind: str):
    for X, rng in instances(kind, 60):
        assert X.separate(inner_point(X, rng)) is None
        y = X.start() + 10.0 ** rng.uniform(-8.0, 2.0) * size(X) * rng.standard_normal(X.dim)
        cut = X.separate(y)
        assert (cut is None) == X.contains(y)
        if cut is not None:
            assert cut @ y > -X.minimum(-cut)


@each_set
def test_all_capabilities(kind: str):
    X = MAKERS[kind](3, np.random.default_rng(0))
    missing = {c.method for c in CAPABILITIES if not X.supports(c)}
    assert missing == ({"rows"} if kind in ("L2Ball", "KSparse") else set())


def test_ties_go_to_the_first():
    assert KSubsets(6, 3).lmo([1, 0, 1, 0, 1, 1]).tolist() == [1, 1, 0, 1, 0, 0]
    assert KSubsets(4, 2).lmo(np.zeros(4)).tolist() == [1, 1, 0, 0]
    assert KSparse(4, 2).lmo([0.0, 1.0, -1.0, 1.0])[3] == 0.0
    assert Permutahedron([1, 2, 3]).lmo([5, 5, 0]).tolist() == [2, 1, 3]
    assert CappedSimplex(3, 0.7).lmo([1, 1, 1]).tolist() == pytest.approx([0.7, 0.3, 0.0])
    c = np.repeat([0.0, 1.0, 2.0], 40_000)
    c = np.random.default_rng(0).permutation(c)
    v = KSubsets(c.size, 60_000).lmo(c)
    ones = np.flatnonzero(c == 1.0)
    assert v[c == 0.0].all()
    assert not v[c == 2.0].any()
    assert (v[ones] == (np.arange(ones.size) < 20_000)).all()


def test_vertices_are_exact():
    v = CappedSimplex(10, 0.1, 0.3).lmo(np.arange(10.0))
    assert v.tolist() == [0.1, 0.1, 0.1] + [0.0] * 7  # 0.1 + 0.1 + 0.1 > 0.3 leaves no crumb
    assert CappedSimplex(10, 0.1).diameter == 0.0
    assert CappedSimplex(10, 0.1).project(np.arange(10.0)).tolist() == [0.1] * 10


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: KSubsets(3, 4), "k must be at most n = 3"),
        (lambda: KSubsets(3, -1), "k must be at least 0"),
        (lambda: KSubsets(0, 0), "n must be at least 1"),
        (lambda: KSparse(3, 0), "k must be at least 1"),
        (lambda: KSparse(3, 4), "k must be at most n = 3"),
        (lambda: KSparse(3, 2, -1.0), "radius must be above 0"),
        (lambda: LinfBall(3, 0.0), "radius must be above 0"),
        (lambda: CappedSimplex(3, 0.3), "caps sum to 0.9, below the total 1"),
        (lambda: CappedSimplex(3, [1.0, -1.0, 1.0]), "caps must be at least 0, got -1"),
        (lambda: CappedSimplex(3, [1.0, 1.0]), "cap must have shape"),
        (lambda: CappedSimplex(2, math.nan), "cap must be finite"),
        (lambda: Permutahedron([]), "at least one weight"),
        (lambda: Permutahedron([1.0, math.inf]), "weights must be finite"),
    ],
)
def test_refusals(make: Callable[[], DecisionSet], sentence: str):
    with pytest.raises(ValueError, match=sentence):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda n: Simplex(n),
        lambda n: CappedSimplex(n, 10.0 / n),
        lambda n: KSubsets(n, n // 7),
        lambda n: LinfBall(n),
        lambda n: L1Ball(n),
        lambda n: L2Ball(n),
        lambda n: KSparse(n, n // 7),
        lambda n: Permutahedron(np.arange(float(n)) / n),
    ],
)
def test_a_hundred_thousand_dimensions(make: Callable[[int], DecisionSet]):
    n = 100_000
    X, rng = make(n), np.random.default_rng(1)
    y = rng.standard_normal(n)
    v, p = X.lmo(y), X.project(y)
    assert X.contains(v)
    assert X.contains(p, 1e-12)
    gap = (y - p) @ (X.lmo(p - y) - p)
    assert gap <= 1e-10 * np.linalg.norm(y - p) * size(X)
    if not isinstance(X, Permutahedron):
        assert X.contains(X.sample(p, rng))
    assert np.linalg.norm(X.tangent(y)) <= np.linalg.norm(y)
