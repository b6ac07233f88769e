"""What is proved of each set for rates of conditional gradient: strong convexity and widths."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import spatial
from scipy.optimize import nnls

from hedgerow import sets
from hedgerow.inputs import Vector
from hedgerow.report.catalogue import catalogue
from sets.table import EXAMPLES, TWISTED, both_sides, ellipsoid

ALWAYS, NEVER, SOME = {True}, {False}, {True, False}

DECISIONS = {
    # set: is it a polytope, strongly convex, of known pyramidal width
    "AffineImage": (SOME, SOME, SOME),
    "Arborescences": (ALWAYS, NEVER, NEVER),
    "BMatchings": (ALWAYS, NEVER, NEVER),
    "BasePolytope": (ALWAYS, NEVER, NEVER),
    "Birkhoff": (ALWAYS, NEVER, ALWAYS),
    "Box": (ALWAYS, NEVER, ALWAYS),
    "CappedL1Ball": (ALWAYS, NEVER, NEVER),
    "CappedSimplex": (ALWAYS, NEVER, SOME),
    "ConvexHull": (ALWAYS, NEVER, SOME),
    "ConvexHullOfUnion": (SOME, NEVER, NEVER),
    "DagPaths": (ALWAYS, NEVER, ALWAYS),
    "Ellipsoid": (NEVER, ALWAYS, NEVER),
    "Fantope": (NEVER, NEVER, NEVER),
    "GroupBall": (SOME, SOME, SOME),
    "HalfspaceCut": (SOME, NEVER, NEVER),
    "HopLimitedWalks": (ALWAYS, NEVER, NEVER),
    "IntervalSchedules": (ALWAYS, NEVER, NEVER),
    "JobSequences": (ALWAYS, NEVER, NEVER),
    "KSparse": (SOME, SOME, SOME),
    "KSubsets": (ALWAYS, NEVER, ALWAYS),
    "Knapsack": (ALWAYS, NEVER, NEVER),
    "L1Ball": (ALWAYS, NEVER, ALWAYS),
    "L2Ball": (NEVER, ALWAYS, NEVER),
    "LaminarMatroid": (ALWAYS, NEVER, ALWAYS),
    "LatentGroupBall": (SOME, SOME, SOME),
    "LinfBall": (ALWAYS, NEVER, ALWAYS),
    "LpBall": (SOME, SOME, SOME),
    "Matchings": (ALWAYS, NEVER, SOME),
    "Matroid": (ALWAYS, NEVER, ALWAYS),
    "MatroidIntersection": (ALWAYS, NEVER, NEVER),
    "MinkowskiSum": (SOME, SOME, NEVER),
    "MultiCommodityFlow": (ALWAYS, NEVER, ALWAYS),
    "NonnegativeLpBall": (SOME, NEVER, SOME),
    "NuclearBall": (NEVER, NEVER, NEVER),
    "OperatorBall": (NEVER, NEVER, NEVER),
    "OracleSet": (NEVER, NEVER, NEVER),
    "OrderedWeightedBall": (ALWAYS, NEVER, NEVER),
    "PartitionMatroid": (ALWAYS, NEVER, ALWAYS),
    "PathShares": (ALWAYS, NEVER, ALWAYS),
    "PerfectMatchings": (ALWAYS, NEVER, SOME),
    "Permutahedron": (ALWAYS, NEVER, ALWAYS),
    "Polymatroid": (ALWAYS, NEVER, NEVER),
    "Polytope": (ALWAYS, NEVER, NEVER),
    "Product": (SOME, NEVER, SOME),
    "Scaled": (SOME, SOME, SOME),
    "SchattenBall": (NEVER, SOME, NEVER),
    "Simplex": (ALWAYS, NEVER, ALWAYS),
    "SolidSpectrahedron": (NEVER, NEVER, NEVER),
    "SpanningTrees": (ALWAYS, NEVER, ALWAYS),
    "Spectrahedron": (NEVER, NEVER, NEVER),
    "TransportPlans": (ALWAYS, NEVER, NEVER),
    "Translated": (SOME, SOME, SOME),
    "UnitFlow": (ALWAYS, NEVER, ALWAYS),
}

MORE = [
    sets.LatentGroupBall([[0, 1], [0]]),
    sets.LatentGroupBall([[0], [1], [0]]),
    sets.MinkowskiSum(sets.L2Ball(2), sets.L2Ball(2)),
    sets.ConvexHull([[0.0, 1.0], [2.0, 5.0]]),
    sets.ConvexHullOfUnion(sets.L1Ball(2), sets.L2Ball(2)),
    sets.AffineImage(sets.L2Ball(3), [[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]]),
    sets.CappedSimplex(4, 0.5),
]


def test_every_set_is_decided():
    assert DECISIONS.keys() == {entry.name for entry in catalogue()}


@pytest.mark.parametrize("name", DECISIONS)
def test_a_set_declares_what_was_decided(name):
    """Single points are left aside: they have no width."""
    made = [*(make() for make in EXAMPLES.values()), *MORE]
    examples = [X for X in made if type(X).__name__ == name and X.diameter > 0.0]
    polytope, curved, width = DECISIONS[name]
    assert {X.is_polytope for X in examples} == polytope
    assert {X.strong_convexity > 0.0 for X in examples} == curved
    assert {X.pyramidal_width > 0.0 for X in examples} == width


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_declared_is_possible(name):
    X = EXAMPLES[name]()
    assert type(X.is_polytope) is bool
    assert type(X.strong_convexity) is type(X.pyramidal_width) is float
    assert 0.0 <= X.strong_convexity * X.diameter <= 2.0 * (1.0 + 1e-12)
    assert 0.0 <= X.pyramidal_width <= X.diameter * (1.0 + 1e-12)
    assert X.is_polytope or X.pyramidal_width == 0.0


# Strong convexity.

CURVED = {
    "l2ball-1": sets.L2Ball(1, radius=0.1),
    "l2ball-5": sets.L2Ball(5, radius=2.0),
    "ellipsoid": sets.Ellipsoid([3.0, 1.0, 0.3]),
    "ellipsoid-slanted": ellipsoid(4),
    "lp-ball-1.1": sets.LpBall(3, 1.1),
    "lp-ball-1.5": sets.LpBall(6, 1.5, radius=30.0),
    "lp-ball-2": sets.LpBall(4, 2.0, radius=0.2),
    "schatten-1.5": sets.SchattenBall(2, 4, 1.5, radius=3.0),
    "schatten-1.2": sets.SchattenBall(3, 3, 1.2),
    "schatten-2": sets.SchattenBall(2, 3, 2.0),
    "k-sparse": sets.KSparse(3, 3, radius=2.0),
    "group-ball": sets.GroupBall([[0, 1, 2]], radius=2.0),
    "latent-group-ball": sets.LatentGroupBall([[0, 1], [0, 1, 2]], radius=2.0),
    "scaled": sets.Scaled(sets.Ellipsoid([2.0, 1.0]), 0.1),
    "translated": sets.Translated(sets.LpBall(3, 1.5), [1.0, 2.0, 3.0]),
    "image": sets.AffineImage(sets.L2Ball(2), [[3.0, 0.0], [1.0, 1.0]]),
    "image-onto": sets.AffineImage(sets.Ellipsoid([2.0, 1.0, 0.5]), [[1.0, 2.0, 0.0], [0, 1, 1]]),
    "sum": sets.MinkowskiSum(sets.L2Ball(2), sets.Ellipsoid([3.0, 1.0])),
    "sum-with-point": sets.MinkowskiSum(sets.L2Ball(2), sets.ConvexHull([[5.0, 6.0]])),
}
TIGHT = ["l2ball-1", "l2ball-5", "ellipsoid", "lp-ball-2", "schatten-2", "k-sparse", "scaled"]


def excess(X: sets.DecisionSet, alpha: float, seed: int = 0) -> float:
    """Return by how much, in diameters, a ball of the definition sticks out at the most.

    Points are best ones of random directions and of the axes, and of directions close to them; a
    ball sticks out of the set if it does so in one of the directions.
    """
    rng, worst = np.random.default_rng(seed), -math.inf
    normals = [*rng.standard_normal((12, X.dim)), *np.eye(X.dim)]
    for u in normals:
        for size in (1e-2, 0.1, 1.0, 10.0):
            steps = size * np.vstack([rng.standard_normal((4, X.dim)), np.eye(X.dim)])
            for w in steps:
                x, y = X.lmo(-u - w), X.lmo(-u + w)
                for s in (0.5, rng.random()):
                    radius = 0.5 * alpha * s * (1.0 - s) * float((x - y) @ (x - y))
                    middle = s * x + (1.0 - s) * y
                    for c in (u, u + (1.0 - 2.0 * s) * w, rng.standard_normal(X.dim)):
                        c = c / np.linalg.norm(c)
                        worst = max(worst, float(c @ middle) + radius + X.minimum(-c))
    return worst / X.diameter


@pytest.mark.parametrize("name", CURVED)
def test_the_balls_of_the_definition_lie_in_the_set(name):
    X = CURVED[name]
    assert X.strong_convexity > 0.0
    assert excess(X, X.strong_convexity) <= 1e-13


@pytest.mark.parametrize("name", TIGHT)
def test_a_larger_constant_is_refuted_where_it_is_exact(name):
    X = CURVED[name]
    assert excess(X, 1.05 * X.strong_convexity) > 1e-8


@pytest.mark.parametrize(
    ("X", "alpha"),
    [
        (sets.L2Ball(7, radius=4.0), 0.25),
        (sets.Ellipsoid([4.0, 2.0, 1.0]), 1.0 / 16.0),
        (sets.LpBall(16, 1.5, radius=2.0), 0.25 * 16.0 ** (-1.0 / 6.0)),
        (sets.SchattenBall(16, 20, 1.5, radius=2.0), 0.25 * 16.0 ** (-1.0 / 6.0)),
        (sets.LpBall(3, 1.0), 0.0),
        (sets.LpBall(3, 2.1), 0.0),
        (sets.Scaled(sets.L2Ball(3), 8.0), 0.125),
        (sets.AffineImage(sets.L2Ball(2), [[0.0, 4.0], [2.0, 0.0]]), 0.125),
        (sets.AffineImage(sets.L2Ball(2), np.ones((2, 2))), 0.0),
        (sets.MinkowskiSum(sets.L2Ball(2, radius=3.0), sets.L2Ball(2)), 0.25),
        (sets.MinkowskiSum(sets.L2Ball(2), sets.L1Ball(2)), 0.0),
        (sets.Product(sets.L2Ball(2), sets.L2Ball(2)), 0.0),
        (sets.HalfspaceCut(sets.L2Ball(2), [1.0, 0.0], 0.5), 0.0),
    ],
)
def test_strong_convexity_by_hand(X, alpha):
    assert X.strong_convexity == pytest.approx(alpha, rel=1e-12, abs=0.0)


def growth(X: sets.DecisionSet, x: Vector, target: Vector, beta: float) -> tuple[float, float]:
    """Return the fall of F by one Frank-Wolfe step from x, and beta y^3.

    F = beta ||. - target||^2 up to a constant, so that its minimiser is the projection of the
    target; the sum <S, x> + beta ||x - x_1||^2 has this form with target x_1 - S / (2 beta).
    """
    slope = 2.0 * beta * (x - target)
    away = x - X.lmo(slope)
    gap, far = float(slope @ away), float(away @ away)
    step = min(1.0, gap / (2.0 * beta * far)) if far > 0.0 else 0.0
    y = float(np.linalg.norm(x - X.project(target)))
    return step * gap - step * step * beta * far, beta * y**3


@pytest.mark.parametrize("name", CURVED)
def test_one_step_has_growth_three(name):
    """Delta >= (alpha / 2) beta y^3, for y not so small that its error shows."""
    X, rng = CURVED[name], np.random.default_rng(1)
    rounds = 30 if type(X).project is sets.DecisionSet.project else 300  # their projection is slow
    size, least = X.diameter, math.inf
    for _ in range(rounds):
        beta = float(np.exp(rng.uniform(-5.0, 5.0)))
        ends = X.lmo(rng.standard_normal(X.dim)), X.lmo(rng.standard_normal(X.dim))
        x = ends[0] + rng.choice([0.0, 1e-3, 0.2, 0.5]) * (ends[1] - ends[0])
        S = np.exp(rng.uniform(-8.0, 3.0)) * size * beta * rng.standard_normal(X.dim)
        start = X.lmo(rng.standard_normal(X.dim))
        fall, cube = growth(X, x, start - S / (2.0 * beta), beta)
        if cube > 1e-9 * beta * size**3:
            least = min(least, fall / cube)
    assert 0.5 * X.strong_convexity * (1.0 - 1e-9) <= least < math.inf


@pytest.mark.parametrize("X", [sets.L2Ball(3, radius=2.0), sets.SchattenBall(2, 2, 2.0)])
def test_growth_three_is_attained_on_a_ball(X):
    """From a point of the sphere, with its opposite as the minimiser of F on the whole space."""
    x = X.lmo(np.arange(1.0, X.dim + 1.0))
    fall, cube = growth(X, x, -x, 0.7)
    assert fall == pytest.approx(0.5 * X.strong_convexity * cube, rel=1e-12)


# Widths.


def vertices(X: sets.DecisionSet) -> Vector:
    """Return the vertices that 4000 random directions find."""
    rng = np.random.default_rng(0)
    found = [X.lmo(c) for c in rng.standard_normal((4000, X.dim))]
    return np.unique(np.round(found, 12) + 0.0, axis=0)


def faces(V: Vector) -> set[frozenset[int]]:
    """Return the vertices of each face that is neither empty nor the whole polytope."""
    away = V - V.mean(axis=0)
    _, sizes, turned = np.linalg.svd(away)
    points = away @ turned[: int((sizes > 1e-9 * sizes[0]).sum())].T
    if points.shape[1] == 1:
        return {frozenset([i]) for i in range(len(V))}
    planes = spatial.ConvexHull(points).equations
    on = np.abs(points @ planes[:, :-1].T + planes[:, -1]) <= 1e-9 * sizes[0]
    facets = {frozenset(np.flatnonzero(column).tolist()) for column in on.T}
    found, new = set(facets), facets
    while new:
        new = {a & b for a, b in itertools.product(new, facets)} - found - {frozenset()}
        found |= new
    return found


def from_zero(points: Vector) -> float:
    """Return the distance of zero to the hull of points, exact up to rounding.

    The w >= 0 that minimise ||w P||^2 + (size (sum(w) - 1))^2 are a multiple of the best weights.
    """
    size = float(np.abs(points).max())
    system = np.vstack([points.T / size, np.ones(len(points))])
    weights = nnls(system, np.append(np.zeros(points.shape[1]), 1.0))[0]
    return float(np.linalg.norm(weights @ points) / weights.sum())


def facial_distances(V: Vector) -> tuple[float, float]:
    """Return the facial distance by brute force, and the same with the affine hulls of faces."""
    least = least_affine = math.inf
    for face in faces(V):
        inside = V[sorted(face)]
        outside = V[sorted(set(range(len(V))) - face)]
        pairs = (outside[:, None] - inside).reshape(-1, V.shape[1])
        least = min(least, from_zero(pairs))
        _, sizes, turned = np.linalg.svd(inside - inside[0])
        flat = turned[int((sizes > 1e-9).sum()) :]
        least_affine = min(least_affine, from_zero((outside - inside[0]) @ flat.T))
    return least, least_affine


TRIANGLE_TAIL = [(0, 1), (1, 2), (2, 0), (2, 3)]
SQUARE = [(0, 2), (0, 3), (1, 2), (1, 3)]
EXACT = [
    # a set, its number of vertices; its width is exact
    (sets.Simplex(2), 2),
    (sets.Simplex(3), 3),
    (sets.Simplex(4, total=0.3), 4),
    (sets.Simplex(5), 5),
    (sets.Simplex(6, total=10.0), 6),
    (sets.Box([0.0], [2.5]), 2),
    (sets.Box([0.0, -1.0], [3.0, 1.0]), 4),
    (sets.Box([0.0, 1.0, 0.0, 2.0], [1.0, 3.0, 0.1, 2.0]), 8),
    (sets.LinfBall(4, radius=0.5), 16),
    (sets.L1Ball(1, radius=2.0), 2),
    (sets.L1Ball(2), 4),
    (sets.L1Ball(3, radius=0.1), 6),
    (sets.L1Ball(5), 10),
    (sets.LpBall(3, 1.0), 6),
    (sets.LpBall(3, math.inf), 8),
    (sets.KSparse(4, 1, radius=2.0), 8),
    (sets.GroupBall([[0], [1], [2]]), 6),
    (sets.LatentGroupBall([[0], [1], [2]]), 6),
    (sets.NonnegativeLpBall(1, 1.0), 2),
    (sets.NonnegativeLpBall(4, 1.0, radius=2.0), 5),
    (sets.NonnegativeLpBall(3, math.inf, radius=2.0), 8),
    *((sets.KSubsets(n, k), math.comb(n, k)) for n in range(2, 8) for k in range(1, n)),
    (sets.KSubsets(8, 2), 28),
    (sets.KSubsets(9, 2), 36),
    (sets.CappedSimplex(5, 0.5), 10),
    (sets.CappedSimplex(4, [0.1, 0.1, 0.1, 0.0], total=0.2), 3),
    (sets.CappedSimplex(3, 9.0), 3),
    (sets.PartitionMatroid([[0, 3, 2], [4, 1]], [2, 1]), 6),
    (sets.PartitionMatroid([[3, 1], [0], [2, 4, 5]], [2, 0, 1]), 3),
    (sets.Permutahedron([1.0, 5.0]), 2),
    (sets.Permutahedron([3.0, 1.0, 2.0]), 6),
    (sets.Permutahedron([4.0, 1.0, 3.5, 2.0]), 24),
    (sets.ConvexHull([[0.0, 1.0], [3.0, 5.0]]), 2),
    (sets.SpanningTrees([(0, 1), (0, 1)]), 2),
    (sets.SpanningTrees([(0, 1), (0, 1), (1, 2), (1, 2)]), 4),
    (sets.UnitFlow([("s", "t"), ("s", "s"), ("t", "t")], "s", "t"), 4),
    (sets.Product(sets.Simplex(3), sets.Simplex(2, total=2.0)), 6),
    (sets.Product(sets.Simplex(3), sets.Simplex(1), sets.Box([0.0], [0.5])), 6),
    (sets.Product(sets.L1Ball(2), sets.Simplex(3)), 12),
    (sets.Product(sets.L1Ball(2), sets.KSubsets(4, 2)), 24),
    (sets.Product(sets.Product(sets.Simplex(2), sets.Simplex(2)), sets.Simplex(2)), 8),
    (sets.PathShares([*SQUARE, (2, 3)], [(0, 3), (1, 3)]), 4),
    (sets.Scaled(sets.Simplex(4), 0.25), 4),
    (sets.Translated(sets.L1Ball(3), [3.0, 0.0, -1.0]), 6),
    (sets.AffineImage(sets.L1Ball(2), [[0.0, 2.0], [2.0, 0.0], [0.0, 0.0]]), 4),
]
BOUNDS = [
    # a set, its number of vertices; its width is a lower bound
    (sets.Birkhoff(2), 2),
    (sets.Birkhoff(3), 6),
    (sets.Permutahedron([0.0, 1.0, 0.0, 3.0]), 12),
    (sets.Permutahedron([1.0, 1.0, 0.0, 0.0]), 6),
    (sets.Matchings([(0, 1), (1, 2), (2, 3)]), 5),
    (sets.Matchings(SQUARE), 7),
    (sets.PerfectMatchings(SQUARE), 2),
    (sets.PerfectMatchings([(u, 3 + v) for u in range(3) for v in range(3)]), 6),
    (sets.DagPaths([("s", "a"), ("s", "b"), ("a", "t"), ("b", "t"), ("a", "b")], "s", "t"), 3),
    (sets.DagPaths([(0, 1), (0, 1), (1, 2), (1, 2), (0, 2)], 0, 2), 5),
    (sets.UnitFlow(TWISTED, "s", "t"), 6),
    (sets.MultiCommodityFlow([(0, 1), (1, 2), (0, 2)], [(0, 2), (0, 2)]), 4),
    (sets.SpanningTrees(TRIANGLE_TAIL), 3),
    (sets.SpanningTrees([(0, 1), (0, 1), (1, 2), (0, 2)]), 5),
    (sets.SpanningTrees([(u, v) for v in range(4) for u in range(v)]), 16),
    (sets.Matroid(5, lambda chosen: len(chosen) <= 2), 10),
    (sets.LaminarMatroid(5, [[0, 1], [0, 1, 2, 3]], [1, 2]), 5),
    (sets.AffineImage(sets.Simplex(3), [[1.0, 2.0, 0.0], [0.0, 1.0, 1.0], [3.0, 0.0, 0.5]]), 3),
    (sets.Product(sets.Birkhoff(2), sets.Birkhoff(2)), 4),
]


@pytest.mark.parametrize(("X", "count"), EXACT, ids=repr)
def test_the_width_is_the_facial_distance(X, count):
    V = vertices(X)
    assert len(V) == count
    width, affine = facial_distances(V)
    assert X.is_polytope
    assert X.pyramidal_width == pytest.approx(width, rel=1e-9, abs=0.0)
    assert affine == pytest.approx(width, rel=1e-9, abs=0.0)  # so that products may use it
    assert 1.05 * X.pyramidal_width > width * (1.0 + 1e-9)


@pytest.mark.parametrize(("X", "count"), BOUNDS, ids=repr)
def test_the_width_is_at_most_the_facial_distance(X, count):
    V = vertices(X)
    assert len(V) == count
    width, affine = facial_distances(V)
    assert X.is_polytope
    assert affine <= width * (1.0 + 1e-9)
    assert 0.0 < X.pyramidal_width <= affine * (1.0 + 1e-9)


@pytest.mark.parametrize(
    ("V", "width"),
    [
        ([[0.0, 0.0], [1.0, 0.0], [0.5, math.sqrt(0.75)]], math.sqrt(0.75)),
        ([[0.0, 0.0], [4.0, 0.0], [1.0, 0.5]], 0.5),  # obtuse
        ([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], 1.0),
        (list(itertools.product([0.0, 1.0], repeat=3)), 1.0 / math.sqrt(3.0)),
    ],
)
def test_brute_force_finds_widths_known_by_hand(V, width):
    assert facial_distances(np.array(V))[0] == pytest.approx(width, rel=1e-12)


@settings(max_examples=15, deadline=None)
@given(
    sides=st.lists(st.floats(0.1, 10.0), min_size=1, max_size=3),
    sizes=st.lists(st.integers(2, 4), min_size=1, max_size=2),
    gaps=st.lists(st.floats(0.1, 10.0), min_size=1, max_size=3),
)
def test_widths_of_random_boxes_products_and_rankings(sides, sizes, gaps):
    simplices = [sets.Simplex(n, total=side) for n, side in zip(sizes, sides, strict=False)]
    for X in (
        sets.Box(np.zeros(len(sides)), sides),
        sets.Product(*simplices),
        sets.Permutahedron(np.cumsum([0.0, *gaps])),
    ):
        width = facial_distances(vertices(X))[0]
        assert X.pyramidal_width == pytest.approx(width, rel=1e-9, abs=0.0)


def test_points_have_no_width():
    points = [X for X in (make() for make in EXAMPLES.values()) if X.diameter == 0.0]
    assert len(points) > 10
    assert all(X.strong_convexity == X.pyramidal_width == 0.0 for X in points)


def test_what_is_not_proved_is_not_declared():
    """Products with a factor of unknown width, and images on which faces meet."""
    pentagon = sets.ConvexHull(np.random.default_rng(0).standard_normal((5, 2)))
    assert pentagon.pyramidal_width == 0.0
    assert sets.Product(sets.Simplex(3), pentagon).pyramidal_width == 0.0
    assert sets.AffineImage(sets.Simplex(3), [[1.0, 0.0, 2.0]]).pyramidal_width == 0.0
    assert sets.Matchings([(0, 1), (1, 2), (2, 0)]).pyramidal_width == 0.0
    assert both_sides(None).pyramidal_width == 0.0


@pytest.mark.parametrize("n", [2, 3, 10, 11])
def test_simplex_and_cube_have_the_widths_of_the_literature(n):
    """Lacoste-Julien and Jaggi (2015), appendix B; Pena and Rodriguez (2019), section 2."""
    expected = 2.0 / math.sqrt(n if n % 2 == 0 else n - 1.0 / n)
    assert sets.Simplex(n).pyramidal_width == pytest.approx(expected, rel=1e-12)
    assert sets.Box(np.zeros(n), np.ones(n)).pyramidal_width == pytest.approx(1.0 / math.sqrt(n))


def test_widths_of_extreme_sizes_neither_overflow_nor_vanish():
    assert sets.Box([0.0, 0.0], [1e-300, 1.0]).pyramidal_width == 1e-300
    assert sets.Permutahedron([0.0, 1e-300, 1.0]).pyramidal_width > 1e-301
    thin = sets.Product(sets.Simplex(2, total=1e-100), sets.Simplex(2, total=1e100))
    assert thin.pyramidal_width == pytest.approx(math.sqrt(2.0) * 1e-100)


# Radii.


@pytest.mark.parametrize(
    "X",
    [
        sets.NuclearBall(2, 3, radius=2.0),
        sets.NuclearBall(3, 2),
        sets.Spectrahedron(2),
        sets.Spectrahedron(4, trace=3.0),
        sets.Permutahedron([5.0, 2.0, 1.0, -4.0]),
        sets.Permutahedron([0.0, 1.0, 0.0]),
    ],
    ids=repr,
)
def test_the_radius_around_a_point_is_the_largest_distance(X):
    """A vertex attains it, and no vertex of 2000 random directions is further away."""
    rng = np.random.default_rng(0)
    V = np.array([X.lmo(c) for c in rng.standard_normal((2000, X.dim))])
    for x in (X.start(), V[0], 0.3 * V[0] + 0.7 * V[1], V[:5].mean(axis=0)):
        radius = X.radius_around(x)
        attained = float(np.linalg.norm(X.lmo(x) - x))
        assert radius == pytest.approx(attained, rel=1e-9)
        assert radius >= np.linalg.norm(V - x, axis=1).max() * (1.0 - 1e-12)
