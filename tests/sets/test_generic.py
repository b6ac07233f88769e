from __future__ import annotations

import importlib.util
import itertools
import math
import subprocess
import sys

import numpy as np
import pytest
import quadprog
from scipy import sparse
from scipy.optimize import linprog

from hedgerow.sets import solvers
from hedgerow.sets.balls.boxes import Box
from hedgerow.sets.balls.l1_l2_balls import L1Ball, L2Ball
from hedgerow.sets.compositions.oracle_only import ConvexHull, OracleSet
from hedgerow.sets.compositions.polytope import Polytope
from hedgerow.sets.compositions.product import Product
from hedgerow.sets.compositions.wrappers import Scaled, Translated
from hedgerow.sets.decision_set import (
    CAPABILITIES,
    DecisionSet,
    HasLinearDescription,
    Projectable,
    Rows,
)
from hedgerow.sets.simplices.simplex import Simplex

needs_piqp = pytest.mark.skipif(not importlib.util.find_spec("piqp"), reason="needs piqp")
needs_highspy = pytest.mark.skipif(not importlib.util.find_spec("highspy"), reason="needs highspy")


def random_polytope(rng: np.random.Generator, largest: int) -> Polytope:
    """Of any scale, with redundant, tight and doubled rows, fixed coordinates and free ones."""
    n = int(rng.integers(1, largest + 1))
    m, k = int(rng.integers(0, 5)), int(rng.integers(0, min(n, 3)))
    scale, inside = 10.0 ** rng.integers(-2, 3), rng.random(n)
    A = rng.standard_normal((m, n)).round(int(rng.integers(0, 3)))
    slack = rng.random(m) * (rng.random(m) < 0.7)
    E = rng.standard_normal((k, n)).round(1)
    E = np.vstack([E, E[:1]]) if rng.random() < 0.3 else E
    upper = np.where(rng.random(n) < 0.15, inside, 1.0 + rng.random(n))
    lower = np.where(rng.random(n) < 0.3, -1.0, 0.0)
    return Polytope(
        A if m else None,
        scale * (A @ inside + slack) if m else None,
        sparse.csc_matrix(E) if len(E) else None,
        scale * (E @ inside) if len(E) else None,
        scale * lower,
        scale * upper,
    )


def all_rows(X: Polytope) -> tuple[np.ndarray, np.ndarray, int]:
    """Every constraint as G x >= h, equations first."""
    eye = np.eye(X.dim)
    G = np.vstack([X.A_eq.toarray(), -X.A_ub.toarray(), eye, -eye])
    return G, np.concatenate([X.b_eq, -X.b_ub, X.lower, -X.upper]), X.b_eq.size


def brute_vertices(X: Polytope) -> np.ndarray:
    """Every vertex: each choice of n independent constraints that meet in a point of the set."""
    G, h, _ = all_rows(X)
    found = []
    for chosen in itertools.combinations(range(len(h)), X.dim):
        corner = G[list(chosen)]
        if abs(np.linalg.det(corner)) > 1e-6:
            x = np.linalg.solve(corner, h[list(chosen)])
            if X.contains(x, 1e-8):
                found.append(x)
    return np.array(found)


def size(X: Polytope) -> float:
    return float(np.abs([X.lower, X.upper]).max())


def test_the_polytope_oracle_is_exact_on_random_instances() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        X = random_polytope(rng, 3)
        vertices = brute_vertices(X)
        for c in (rng.standard_normal(X.dim) * 10.0 ** rng.integers(-12, 13), np.ones(X.dim)):
            v, scale = X.lmo(c), np.abs(c).max() * size(X)
            least = (vertices @ c).min()
            assert X.contains(v)
            assert np.abs(vertices - v).max(axis=1).min() <= 1e-7 * size(X)
            assert abs(c @ v - least) <= 1e-8 * scale
            # The dual bound is a bound, and a tight one.
            assert least - 1e-8 * scale <= X.minimum(c) <= c @ v + 1e-13 * scale


def without_piqp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solvers, "loaded", lambda _: None)


@pytest.mark.parametrize("solver", [pytest.param("piqp", marks=needs_piqp), "oracle"])
def test_polytope_projections_agree_with_a_quadratic_programme(
    solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if solver == "oracle":
        without_piqp(monkeypatch)
    rng = np.random.default_rng(1)
    compared = 0
    for _ in range(40):
        X = random_polytope(rng, 6)
        G, h, equations = all_rows(X)
        y = X.start() + size(X) * rng.choice([0.1, 1.0, 30.0]) * rng.standard_normal(X.dim)
        p = X.project(y)
        v = X.lmo(p - y)
        assert X.contains(p)
        assert (y - p) @ (v - p) <= 1e-9 * size(X) * (size(X) + np.linalg.norm(y))
        try:
            best = quadprog.solve_qp(np.eye(X.dim), y, G.T, h, equations)[0]
        except ValueError:
            continue  # quadprog refuses doubled equations
        compared += 1
        np.testing.assert_allclose(p, best, atol=1e-9 * size(X))
    assert compared >= 30


@needs_piqp
def test_the_quadratic_programme_proves_most_of_its_answers() -> None:
    rng = np.random.default_rng(2)
    proved = 0
    for _ in range(50):
        X = random_polytope(rng, 6)
        y = (X.start() - X.lower) / size(X) + rng.standard_normal(X.dim)
        inner = (X.b_ub - X.A_ub @ X.lower) / size(X), (X.b_eq - X.A_eq @ X.lower) / size(X)
        upper = (X.upper - X.lower) / size(X)
        programme = solvers.Programme(y, X.A_ub, inner[0], X.A_eq, inner[1], upper)
        proved += solvers.nearest_point(programme) is not None
    assert proved >= 40


def test_a_wrong_guess_of_the_active_constraints_proves_nothing() -> None:
    row, none = sparse.csr_array([[1.0, 1.0]]), sparse.csr_array((0, 2))
    programme = solvers.Programme(
        np.array([2.0, 0.25]), row, np.array([1.5]), none, np.zeros(0), np.ones(2)
    )

    def solve(tight: bool, low: list[bool], high: list[bool]) -> np.ndarray | None:
        return solvers._solve_active(programme, *map(np.array, ([tight], low, high)))

    np.testing.assert_allclose(solve(False, [False] * 2, [True, False]), [1.0, 0.25])
    assert solve(False, [False] * 2, [False] * 2) is None  # outside
    assert solve(True, [False] * 2, [False] * 2) is None  # outside as well
    assert solve(True, [False] * 2, [True, False]) is None  # the row pulls the wrong way
    assert solve(False, [False, True], [True, False]) is None  # so does a lower bound


def test_polytope_hulls_and_balls_are_true() -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        X = random_polytope(rng, 5)
        offset, basis = X.hull()
        centre, radius = X.ball()
        d = basis.shape[1]
        assert X.contains(offset)
        np.testing.assert_allclose(basis.T @ basis, np.eye(d), atol=1e-12)
        _, other = DecisionSet.hull(X)  # by the oracle instead of by rows
        np.testing.assert_allclose(basis @ basis.T, other @ other.T, atol=1e-8)
        c = rng.standard_normal(X.dim)
        np.testing.assert_allclose(X.tangent(c), basis @ (basis.T @ c), atol=1e-12)
        assert (radius > 0.0) == (d > 0)
        if d:
            G, h, _ = all_rows(X)
            slopes = np.linalg.norm(G @ basis, axis=1)
            assert ((G @ centre - h) >= radius * slopes - 1e-9 * size(X)).all()
            assert radius >= DecisionSet.ball(X)[1] * (1.0 - 1e-6)
            touched = (G @ centre - h - radius * slopes)[slopes > 1e-6]
            assert np.sort(touched)[1] <= 1e-6 * size(X)  # a largest ball touches two sides


def test_polytope_separation_and_decomposition() -> None:
    rng = np.random.default_rng(4)
    outside = 0
    for _ in range(60):
        X = random_polytope(rng, 5)
        y = X.start() + 0.5 * size(X) * rng.standard_normal(X.dim)
        a = X.separate(y)
        assert (a is None) == X.contains(y)
        if a is not None:
            outside += 1
            assert a @ y > -X.minimum(-a)
        x = rng.dirichlet(np.ones(3)) @ [X.lmo(c) for c in rng.standard_normal((3, X.dim))]
        weights, vertices = X.decompose(x)
        assert len(weights) <= X.dim + 1
        np.testing.assert_allclose(weights @ vertices, x, atol=1e-9 * size(X))
    assert outside >= 30


@needs_highspy
@pytest.mark.parametrize("drift", [0.02, 0.5, np.inf])
def test_the_hot_workspace_answers_like_the_set(drift: float) -> None:
    rng = np.random.default_rng(5)
    A = rng.random((20, 40)) * (rng.random((20, 40)) < 0.3)
    X = Polytope(A, 0.3 * A.sum(axis=1), np.ones((1, 40)), [5.0], upper=1.0)
    W = X.workspace()
    assert isinstance(W, solvers.WarmStartedLP)
    c = rng.standard_normal(40)
    for t in range(60):
        c = rng.standard_normal(40) if drift == np.inf else c + drift * rng.standard_normal(40)
        direction = c * 10.0 ** (t % 7 - 3)
        np.testing.assert_allclose(W.lmo(direction), X.lmo(direction), atol=1e-9)
        if t == 30:
            W.clear()
    for tie in (np.zeros(40), np.ones(40), np.repeat([0.0, -1.0], 20)):
        np.testing.assert_array_equal(W.lmo(tie), X.lmo(tie))


@needs_highspy
def test_the_hot_workspace_switches_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    run, used = solvers._run, []

    def spy(highs: object, model: object, strategy: int, pivots: int) -> bool:
        used.append(strategy)
        return run(highs, model, strategy, pivots)

    monkeypatch.setattr(solvers, "_run", spy)
    rng = np.random.default_rng(6)
    A = rng.random((30, 80)) * (rng.random((30, 80)) < 0.3)
    W = Polytope(A, 0.3 * A.sum(axis=1), upper=1.0).workspace()
    c = rng.standard_normal(80)
    for step in (0.0, 0.01, 0.01, 100.0):
        c = c + step * rng.standard_normal(80)
        W.lmo(c)
    assert used == [
        solvers.DUAL,
        solvers.PRIMAL,
        solvers.PRIMAL,
        solvers.DUAL,
    ]


def test_without_highspy_the_workspace_is_cold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hedgerow.sets.compositions.polytope.loaded", lambda _: None)
    X = Polytope([[1.0, 1.0]], [1.0])
    np.testing.assert_array_equal(X.workspace().lmo(np.array([-1.0, 0.0])), [1.0, 0.0])


WITHOUT_HIGHSPY = """
import importlib.util, sys

class Clash:  # as after `import ortools`: two copies of HiGHS in one process
    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_loader(name, self) if name == "highspy" else None
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        raise ImportError("highspy/_core.so: undefined symbol: _ZN5Highs13releaseMemoryEv")

sys.meta_path.insert(0, Clash())
import numpy as np
import hedgerow as hr

X = hr.sets.Polytope([[1.0, 2.0]], [2.0])
for _ in range(2):
    policy = hr.projection_free_coco(X)
    for t in range(20):
        x, c = policy.ask(), np.array([1.0, -2.0]) * (-1.0) ** t
        policy.tell(hr.feedback.EvalGrad(float(c @ x), c), hr.feedback.EvalGrad(-1.0, np.zeros(2)))
print(X.contains(policy.ask()), policy.certificate() > 0.0, X.project([1.0, 1.0]).round(6))
"""


def test_a_highspy_that_cannot_be_loaded_is_done_without_and_said_once() -> None:
    got = subprocess.run(
        [sys.executable, "-W", "error", "-c", WITHOUT_HIGHSPY], capture_output=True, text=True
    )
    assert got.stdout == "True True [0.8 0.6]\n", got.stderr
    said = [line for line in got.stderr.splitlines() if "highspy" in line]
    assert len(said) == 1
    assert "undefined symbol" in said[0]
    assert "going on without it" in said[0]


def test_open_bounds_are_replaced_by_implied_ones() -> None:
    X = Polytope([[1.0, 1.0], [-1.0, 1.0], [0.0, -1.0]], [1.0, 1.0, 2.0], lower=-np.inf)
    np.testing.assert_allclose(X.lower, [-3.0, -2.0], rtol=1e-5)
    np.testing.assert_allclose(X.upper, [3.0, 1.0], rtol=1e-5)
    np.testing.assert_allclose(X.lmo([1.0, 0.1]), [-3.0, -2.0], atol=1e-9)
    assert X.minimum([1.0, 0.1]) == pytest.approx(-3.2, abs=1e-9)
    assert X.diameter == pytest.approx(math.hypot(6.0, 3.0), rel=1e-9)
    assert not X.diameter_is_exact


def test_one_point_is_a_polytope() -> None:
    X = Polytope([[1.0, 1.0]], [0.0])
    np.testing.assert_allclose(X.project([3.0, -1.0]), [0.0, 0.0], atol=1e-12)
    assert X.ball()[1] == 0.0
    assert X.hull()[1].shape == (2, 0)
    np.testing.assert_allclose(X.tangent([1.0, 2.0]), [0.0, 0.0], atol=1e-12)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Polytope(), "to know its dimension"),
        (lambda: Polytope(lower=0.0, upper=1.0), "to know its dimension"),
        (lambda: Polytope([[1.0, 1.0]]), "come together"),
        (lambda: Polytope([1.0, 1.0], [1.0]), "two dimensions"),
        (lambda: Polytope([[1.0, 1.0]], [1.0, 2.0]), "b_ub must have shape"),
        (lambda: Polytope([[1.0, 1.0]], [1.0], [[1.0]], [1.0]), "A_eq must have shape"),
        (lambda: Polytope([[1.0, np.nan]], [1.0]), "A_ub must be finite"),
        (lambda: Polytope([[1.0, 1.0]], [1.0], upper=[1.0]), "upper must be one number or 2"),
        (lambda: Polytope(lower=[2.0], upper=[1.0]), "lower <= upper"),
        (lambda: Polytope([[1.0, 1.0]], [-1.0]), "no point satisfies"),
        (lambda: Polytope([[1.0, -1.0]], [1.0]), r"x\[0\] has no upper bound"),
        (lambda: Polytope(np.ones((1, 500)), [1.0]), "500 upper bounds are infinite"),
        (lambda: ConvexHull([1.0, 2.0]), "shape"),
        (lambda: ConvexHull(np.zeros((0, 3))), "shape"),
        (lambda: OracleSet(lambda _: [1.0], 2), "the oracle's answer must have shape"),
        (lambda: OracleSet(lambda _: [np.inf], 1), "the oracle's answer must be finite"),
        (lambda: OracleSet(lambda c: c, 1, diameter=-1.0), "at least 0"),
        (lambda: Product(), "at least one set"),
    ],
)
def test_wrong_input_is_refused_in_a_sentence(make: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make()  # type: ignore[operator]


def test_wrong_types_are_refused_in_a_sentence() -> None:
    with pytest.raises(TypeError, match="function of a direction"):
        OracleSet(3, 2)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not Product"):
        Product([Simplex(2)])  # type: ignore[arg-type]


def test_the_hull_oracle_and_its_diameter_are_exact() -> None:
    rng = np.random.default_rng(7)
    for _ in range(200):
        n, k = int(rng.integers(1, 6)), int(rng.integers(1, 12))
        points = rng.integers(-2, 3, (k, n)).astype(float)
        X = ConvexHull(points)
        c = rng.integers(-2, 3, n).astype(float)
        v = X.lmo(c)
        assert (points == v).all(axis=1).any()
        assert c @ v == (points @ c).min()
        pairs = [np.linalg.norm(p - q) for p in points for q in points]
        assert X.diameter == pytest.approx(max(pairs), abs=1e-12)
    many = rng.standard_normal((3000, 3))
    bound, exact = ConvexHull(many), max(np.linalg.norm(many - p, axis=1).max() for p in many)
    assert not bound.diameter_is_exact
    assert exact <= bound.diameter <= 2.0 * exact


def oracle_twin(X: DecisionSet) -> OracleSet:
    return OracleSet(X.lmo, X.dim)


TWINS = [
    Simplex(1),
    Simplex(5),
    Box([0.0, 1.0, -2.0, 3.0], [1.0, 1.0, 2.0, 3.0]),
    L1Ball(4, radius=100.0),
    L2Ball(3),
    Translated(Scaled(Box(np.zeros(3), np.ones(3)), 1e-4), [1.0, 2.0, 3.0]),
    ConvexHull([[1.0, 0.0, 2.0], [3.0, 1.0, 2.0], [5.0, 2.0, 2.0]]),
]


@pytest.mark.parametrize("X", TWINS, ids=lambda X: type(X).__name__)
def test_the_oracle_alone_finds_everything(X: DecisionSet) -> None:
    rng = np.random.default_rng(8)
    Y = oracle_twin(X)
    assert X.diameter <= Y.diameter * (1.0 + 1e-9)
    offset, basis = Y.hull()
    centre, radius = Y.ball()
    d = basis.shape[1]
    assert X.contains(offset)
    assert X.contains(centre)
    np.testing.assert_allclose(basis.T @ basis, np.eye(d), atol=1e-12)
    assert (radius > 0.0) == (d > 0) == (X.diameter > 0.0)
    for _ in range(20):
        c = rng.standard_normal(X.dim)
        v = X.lmo(c)
        np.testing.assert_allclose(offset + basis @ (basis.T @ (v - offset)), v, atol=1e-9)
        assert (
            np.ptp([(c - Y.tangent(c)) @ X.lmo(b) for b in rng.standard_normal((5, X.dim))]) < 1e-9
        )
        if d:
            u = basis @ rng.standard_normal(d)
            assert X.contains(centre + radius * u / np.linalg.norm(u))
        y = X.start() + 0.7 * X.diameter * rng.standard_normal(X.dim)
        p = Y.project(y)
        assert X.contains(p)
        assert (y - p) @ (X.lmo(p - y) - p) <= 1e-12 * max(1.0, X.diameter) ** 2
        assert Y.contains(y) == X.contains(y)
        a = Y.separate(y)
        assert (a is None) == X.contains(y)
        assert a is None or a @ y > a @ X.lmo(-a)
        weights, vertices = Y.decompose(x := 0.3 * X.start() + 0.7 * v)
        assert len(weights) <= X.dim + 1
        np.testing.assert_allclose(weights @ vertices, x, atol=1e-9)


def test_the_hull_takes_few_oracle_calls() -> None:
    for X in (Simplex(9), L1Ball(9), Box(np.zeros(9), np.ones(9))):
        Y = oracle_twin(X)
        calls = []
        object.__setattr__(Y, "oracle", lambda c, X=X, calls=calls: calls.append(c) or X.lmo(c))
        Y.hull()
        assert len(calls) <= 2 * (X.dim + 1)


def test_a_point_outside_has_no_decomposition() -> None:
    X = ConvexHull([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match="project it first"):
        X.decompose([0.7, 0.7])


def test_samples_are_vertices_with_the_right_mean() -> None:
    rng = np.random.default_rng(9)
    triangle = np.array([[0.0, 0.0], [4.0, 1.0], [1.0, 3.0]])
    X = Product(oracle_twin(Simplex(3)), ConvexHull(triangle))
    x = np.array([0.2, 0.5, 0.3, 1.6, 1.2])
    draws = np.array([X.sample(x, rng) for _ in range(1000)])
    assert (np.sort(draws[:, :3], axis=1) == [0.0, 0.0, 1.0]).all()
    assert (draws[:, None, 3:] == triangle).all(axis=2).any(axis=1).all()
    error = draws.std(axis=0) / math.sqrt(len(draws))
    assert (np.abs(draws.mean(axis=0) - x) <= 5.0 * error).all()


def test_an_oracle_set_uses_what_it_is_given() -> None:
    answer = np.zeros(2)
    X = OracleSet(lambda _: answer, 2, diameter=3.0, start=[0.0, 0.0])
    assert X.diameter == 3.0
    assert X.lmo([1.0, 0.0]) is not answer
    np.testing.assert_array_equal(X.start(), [0.0, 0.0])
    assert X.ball() == (pytest.approx([0.0, 0.0]), 0.0)


def least(rows: Rows, c: np.ndarray) -> float:
    """The least <c, x> by an LP over the description."""
    lift = sparse.eye_array(rows.lower.size) if rows.lift is None else rows.lift
    shift = np.zeros(c.size) if rows.shift is None else rows.shift
    bounds = np.column_stack([rows.lower, rows.upper])
    result = linprog(c @ lift, rows.A_ub, rows.b_ub, rows.A_eq, rows.b_eq, bounds)
    return float(result.fun + c @ shift)


def test_descriptions_agree_with_the_oracles() -> None:
    rng = np.random.default_rng(10)
    sets = [
        ConvexHull(rng.standard_normal((7, 3))),
        Product(Simplex(3), Box([0.0], [2.0])),
        Product(L1Ball(2), Translated(Simplex(2), [1.0, 5.0]), Polytope([[1.0, 2.0]], [1.0])),
        Product(Polytope([[1.0, 2.0]], [1.0]), Simplex(1)),
    ]
    for X in sets:
        for c in rng.standard_normal((10, X.dim)):
            assert least(X.rows(), c) == pytest.approx(c @ X.lmo(c), abs=1e-9)
            assert X.minimum(c) == pytest.approx(c @ X.lmo(c), abs=1e-9)


def test_a_product_works_factor_by_factor() -> None:
    rng = np.random.default_rng(11)
    square, point = ConvexHull([[0, 0], [2, 0], [0, 2], [2, 2]]), ConvexHull([[3.0]])
    X = Product(square, point, ConvexHull(rng.standard_normal((6, 3))))
    everything = np.array(
        [np.concatenate(corner) for corner in itertools.product(*(Y.vertices for Y in X.factors))]
    )
    joint = ConvexHull(everything)
    assert X.dim == 6
    assert X.diameter == pytest.approx(joint.diameter)
    assert X.diameter_is_exact
    assert X.ball()[1] == min(X.factors[0].ball()[1], X.factors[2].ball()[1])
    assert X.hull()[1].shape == (6, 5)
    for c in rng.standard_normal((30, 6)):
        np.testing.assert_array_equal(X.lmo(c), joint.lmo(c))
        np.testing.assert_array_equal(X.workspace().lmo(c), X.lmo(c))
        np.testing.assert_allclose(X.project(2.0 * c), joint.project(2.0 * c), atol=1e-9)
        np.testing.assert_array_equal(X.workspace().project(c), X.project(c))
        np.testing.assert_allclose(X.tangent(c), joint.tangent(c), atol=1e-9)
        assert X.contains(X.project(2.0 * c))
        a = X.separate(2.0 * c)
        assert (a is None) == joint.contains(2.0 * c)
        assert a is None or a @ (2.0 * c) > a @ X.lmo(-a)
        x = rng.dirichlet(np.ones(len(everything))) @ everything
        weights, vertices = X.decompose(x)
        assert len(weights) <= X.dim + 1
        assert weights.min() >= 0.0
        assert weights.sum() == pytest.approx(1.0, abs=1e-12)
        np.testing.assert_allclose(weights @ vertices, x, atol=1e-9)
        assert all((everything == v).all(axis=1).any() for v in vertices)


class Bare(DecisionSet):
    """The segment [0, 1] with nothing but its oracle."""

    dim = 1
    diameter = 1.0

    def lmo(self, c: np.ndarray) -> np.ndarray:
        return np.array([1.0 if c[0] < 0.0 else 0.0])

    def contains(self, x: np.ndarray, tol: float = 1e-9) -> bool:
        return bool(-tol <= x[0] <= 1.0 + tol)


def test_a_product_can_do_what_all_its_factors_can() -> None:
    X = Product(ConvexHull([[0.0], [1.0]]), Bare())
    assert not X.supports(HasLinearDescription)
    assert all(X.supports(c) for c in CAPABILITIES if c is not HasLinearDescription)
    assert X.project([2.0, -1.0]).tolist() == [1.0, 0.0]
    assert X.lmo([1.0, -1.0]).tolist() == [0.0, 1.0]
    Y = Product(oracle_twin(Simplex(2)), ConvexHull([[0.0], [1.0]]))
    assert Y.supports(Projectable)
    assert not Y.supports(HasLinearDescription)
