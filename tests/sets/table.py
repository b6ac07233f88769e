"""Small, medium and degenerate examples of every set; a new set inherits every check here."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from hedgerow.sets.balls.boxes import Box, LinfBall
from hedgerow.sets.balls.ellipsoid import Ellipsoid
from hedgerow.sets.balls.group_balls import GroupBall, LatentGroupBall
from hedgerow.sets.balls.l1_l2_balls import KSparse, L1Ball, L2Ball
from hedgerow.sets.balls.lp_balls import LpBall, NonnegativeLpBall
from hedgerow.sets.balls.sparse_balls import CappedL1Ball, OrderedWeightedBall
from hedgerow.sets.compositions.halfspace_cut import HalfspaceCut
from hedgerow.sets.compositions.oracle_only import ConvexHull, OracleSet
from hedgerow.sets.compositions.polytope import Polytope
from hedgerow.sets.compositions.product import Product
from hedgerow.sets.compositions.sums_and_images import AffineImage, ConvexHullOfUnion, MinkowskiSum
from hedgerow.sets.compositions.wrappers import Scaled, Translated
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.matchings.b_matchings import BMatchings
from hedgerow.sets.matchings.birkhoff import Birkhoff
from hedgerow.sets.matchings.graph_matchings import Matchings, PerfectMatchings
from hedgerow.sets.matchings.transport import TransportPlans
from hedgerow.sets.matroids.arborescences import Arborescences
from hedgerow.sets.matroids.laminar import LaminarMatroid
from hedgerow.sets.matroids.matroid_bases import Matroid, PartitionMatroid
from hedgerow.sets.matroids.matroid_intersection import MatroidIntersection
from hedgerow.sets.matroids.spanning_trees import SpanningTrees
from hedgerow.sets.matroids.submodular import BasePolytope, ConcaveOfSum, Coverage, Cut, Polymatroid
from hedgerow.sets.orders.interval_schedules import IntervalSchedules
from hedgerow.sets.orders.job_sequences import JobSequences
from hedgerow.sets.orders.permutahedron import Permutahedron
from hedgerow.sets.paths.dag_paths import DagPaths
from hedgerow.sets.paths.hop_limited_walks import HopLimitedWalks
from hedgerow.sets.paths.multi_commodity import MultiCommodityFlow, PathShares
from hedgerow.sets.paths.unit_flow import UnitFlow
from hedgerow.sets.simplices.knapsack import Knapsack
from hedgerow.sets.simplices.simplex import CappedSimplex, KSubsets, Simplex
from hedgerow.sets.spectral.spectrahedra import NuclearBall, Spectrahedron
from hedgerow.sets.spectral.spectral_balls import (
    Fantope,
    OperatorBall,
    SchattenBall,
    SolidSpectrahedron,
)


def random_dag(nodes: int, edges: int, seed: int) -> DagPaths:
    """A chain through all nodes, so that paths exist, and random forward edges, some parallel."""
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.integers(0, nodes, (edges, 2)), axis=1)
    ends = ends[ends[:, 0] < ends[:, 1]]
    chain = np.column_stack([np.arange(nodes - 1), np.arange(1, nodes)])
    return DagPaths(np.vstack([chain, ends]), 0, nodes - 1)


def diamond() -> DagPaths:
    return DagPaths([("s", "a"), ("s", "b"), ("a", "t"), ("b", "t")], "s", "t")


def dead_edges() -> DagPaths:
    edges = [("x", "s"), ("s", "a"), ("a", "t"), ("a", "y"), ("s", "t"), ("t", "z"), ("y", "z")]
    return DagPaths(edges, "s", "t")


TWISTED = [("s", "a"), ("a", "b"), ("b", "a"), ("b", "t"), ("s", "b"), ("t", "s"), ("a", "a")]
"""A digraph with two cycles and a loop."""


def random_digraph(nodes: int, edges: int, seed: int) -> np.ndarray:
    """A path from the first to the last node and random edges, loops and parallel ones too."""
    rng = np.random.default_rng(seed)
    path = np.column_stack([np.arange(nodes - 1), np.arange(1, nodes)])
    return np.vstack([path, rng.integers(0, nodes, (edges, 2))])


def box(n: int) -> Box:
    rng = np.random.default_rng(n)
    lower = 10.0 * rng.standard_normal(n)
    return Box(lower, lower + rng.exponential(5.0, n))


def knapsack(n: int) -> Polytope:
    A = np.random.default_rng(n).random((3, n))
    return Polytope(A, 0.4 * A.sum(axis=1), upper=1.0)


def both_sides(size: int | None) -> MatroidIntersection:
    """Matchings between two and three nodes, as sets that take no node of either side twice."""
    left, right = PartitionMatroid([[0, 1, 2], [3, 4]], [1, 1]), [[0, 3], [1, 4], [2]]
    return MatroidIntersection(
        5, left.independent, PartitionMatroid(right, [1, 1, 1]).independent, size
    )


def ellipsoid(n: int) -> Ellipsoid:
    A = np.random.default_rng(n).standard_normal((n, n))
    return Ellipsoid.from_matrix(A @ A.T + 0.1 * np.eye(n), centre=np.ones(n), radius=30.0)


EXAMPLES: dict[str, Callable[[], DecisionSet]] = {
    "simplex-1": lambda: Simplex(1),
    "simplex-2": lambda: Simplex(2),
    "simplex-40": lambda: Simplex(40),
    "simplex-total-7": lambda: Simplex(5, total=7.0),
    "simplex-total-1e-3": lambda: Simplex(5, total=1e-3),
    "box-1": lambda: Box([-1.0], [2.0]),
    "box-6": lambda: box(6),
    "box-40": lambda: box(40),
    "box-some-fixed": lambda: Box([0.0, 1.0, -2.0, 3.0], [1.0, 1.0, 2.0, 3.0]),
    "box-all-fixed": lambda: Box([0.5, -3.0], [0.5, -3.0]),
    "l1ball-1": lambda: L1Ball(1),
    "l1ball-6": lambda: L1Ball(6, radius=2.5),
    "l1ball-40": lambda: L1Ball(40),
    "l2ball-1": lambda: L2Ball(1, radius=0.1),
    "l2ball-3": lambda: L2Ball(3),
    "l2ball-40": lambda: L2Ball(40, radius=30.0),
    "capped-simplex-3": lambda: CappedSimplex(3, 0.6),
    "capped-simplex-caps": lambda: CappedSimplex(5, [0.5, 0.0, 2.0, 9.0, 1.5], total=3.0),
    "capped-simplex-40": lambda: CappedSimplex(40, np.linspace(0.01, 0.2, 40)),
    "capped-simplex-one-free": lambda: CappedSimplex(3, [0.0, 2.0, 0.0]),
    "capped-simplex-point": lambda: CappedSimplex(10, 0.1),
    "k-subsets-1": lambda: KSubsets(1, 1),
    "k-subsets-none": lambda: KSubsets(4, 0),
    "k-subsets-all": lambda: KSubsets(4, 4),
    "k-subsets-6-2": lambda: KSubsets(6, 2),
    "k-subsets-40-33": lambda: KSubsets(40, 33),
    "linf-ball-1": lambda: LinfBall(1, radius=0.1),
    "linf-ball-6": lambda: LinfBall(6, radius=2.5),
    "linf-ball-40": lambda: LinfBall(40),
    "k-sparse-1": lambda: KSparse(1, 1),
    "k-sparse-6-1": lambda: KSparse(6, 1, radius=2.5),
    "k-sparse-6-3": lambda: KSparse(6, 3),
    "k-sparse-6-6": lambda: KSparse(6, 6, radius=0.1),
    "k-sparse-40-7": lambda: KSparse(40, 7, radius=30.0),
    "lp-ball-1": lambda: LpBall(1, 3.0),
    "lp-ball-one": lambda: LpBall(4, 1.0, radius=2.0),
    "lp-ball-near-one": lambda: LpBall(5, 1.05, radius=0.1),
    "lp-ball-1.5": lambda: LpBall(6, 1.5, radius=30.0),
    "lp-ball-3": lambda: LpBall(12, 3.0),
    "lp-ball-100": lambda: LpBall(5, 100.0, radius=2.5),
    "lp-ball-infinity": lambda: LpBall(4, math.inf, radius=0.1),
    "nonnegative-lp-one": lambda: NonnegativeLpBall(5, 1.0, radius=3.0),
    "nonnegative-lp-1.5": lambda: NonnegativeLpBall(6, 1.5, radius=0.1),
    "nonnegative-lp-3": lambda: NonnegativeLpBall(5, 3.0, radius=30.0),
    "nonnegative-lp-infinity": lambda: NonnegativeLpBall(3, math.inf),
    "nonnegative-lp-one-axis": lambda: NonnegativeLpBall(1, 2.0, radius=2.0),
    "ellipsoid-1": lambda: Ellipsoid([2.0], centre=[-7.0]),
    "ellipsoid-plain": lambda: Ellipsoid([3.0, 1.0, 0.1]),
    "ellipsoid-thin": lambda: Ellipsoid(np.geomspace(1e-5, 1.0, 6), centre=np.arange(6.0)),
    "ellipsoid-slanted": lambda: ellipsoid(5),
    "ordered-weighted-1": lambda: OrderedWeightedBall([2.0]),
    "ordered-weighted-falling": lambda: OrderedWeightedBall([3.0, 2.0, 1.0, 0.5], radius=0.1),
    "ordered-weighted-cube": lambda: OrderedWeightedBall([1.0, 0.0, 0.0], radius=30.0),
    "ordered-weighted-steps": lambda: OrderedWeightedBall([3.0, 3.0, 1.0, 1.0, 0.0, 0.0]),
    "ordered-weighted-oscar": lambda: OrderedWeightedBall.oscar(6, 1.0, 0.3),
    "capped-l1-fraction": lambda: CappedL1Ball(5, cap=1.0, radius=2.5),
    "capped-l1-sparse": lambda: CappedL1Ball(6, cap=0.1, radius=0.2),
    "capped-l1-cube": lambda: CappedL1Ball(3, cap=2.0, radius=100.0),
    "group-ball-2": lambda: GroupBall([[3, 1], [0, 2, 4]], radius=2.5),
    "group-ball-singles": lambda: GroupBall([[0], [1], [2]]),
    "group-ball-one": lambda: GroupBall([[0, 1, 2]], radius=0.1),
    "latent-group-chain": lambda: LatentGroupBall([[0, 1], [1, 2]], radius=2.0),
    "permutahedron-1": lambda: Permutahedron([3.0]),
    "permutahedron-4": lambda: Permutahedron([4.0, 1.0, 3.0, 2.0]),
    "permutahedron-equal-weights": lambda: Permutahedron([0.1, 0.1, 0.1]),
    "permutahedron-ties": lambda: Permutahedron([0.0, 1.0, 0.0, 1.0, -7.5]),
    "permutahedron-30": lambda: Permutahedron(1.0 / np.arange(1.0, 31.0)),
    "birkhoff-1": lambda: Birkhoff(1),
    "birkhoff-2": lambda: Birkhoff(2),
    "birkhoff-6": lambda: Birkhoff(6),
    "matchings-single-edge": lambda: Matchings([("a", "b")]),
    "matchings-path": lambda: Matchings([(0, 1), (1, 2), (2, 3)]),
    "matchings-two-sides": lambda: Matchings([(u, 9 + v) for u in range(4) for v in range(5)]),
    "matchings-triangle": lambda: Matchings([("a", "b"), ("b", "c"), ("a", "c")]),
    "matchings-complete-5": lambda: Matchings([(u, v) for v in range(5) for u in range(v)]),
    "matroid-uniform": lambda: Matroid(6, lambda chosen: len(chosen) <= 2),
    "matroid-one-base": lambda: Matroid(3, lambda chosen: 1 not in chosen),
    "matroid-rank-zero": lambda: Matroid(2, lambda chosen: not chosen),
    "partition-two-groups": lambda: PartitionMatroid([[0, 3, 2], [4, 1]], [2, 1]),
    "partition-fixed-groups": lambda: PartitionMatroid([[3, 1], [0], [2, 4, 5]], [2, 0, 1]),
    "partition-one-base": lambda: PartitionMatroid([[0], [1, 2]], [1, 0]),
    "trees-single-edge": lambda: SpanningTrees([("a", "b")]),
    "trees-parallel-edges": lambda: SpanningTrees([(0, 1), (0, 1), (1, 2), (0, 1)]),
    "trees-bridge": lambda: SpanningTrees([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]),
    "trees-complete-5": lambda: SpanningTrees([(u, v) for v in range(5) for u in range(v)]),
    "dag-diamond": diamond,
    "dag-dead-edges": dead_edges,
    "dag-parallel-edges": lambda: DagPaths([(0, 1), (0, 1), (1, 2), (1, 2), (0, 2)], 0, 2),
    "dag-single-edge": lambda: DagPaths([("s", "t")], "s", "t"),
    "dag-single-path": lambda: DagPaths([(2, 1), (1, 0), (3, 2)], 3, 0),
    "dag-30-nodes": lambda: random_dag(30, 120, seed=1),
    "flow-twisted": lambda: UnitFlow(TWISTED, "s", "t"),
    "flow-bridges": lambda: UnitFlow([(0, 1), (1, 0), (1, 2), (3, 3), (3, 0)], 0, 2),
    "flow-single-edge": lambda: UnitFlow([("s", "t")], "s", "t"),
    "flow-12-nodes": lambda: UnitFlow(random_digraph(12, 40, seed=1), 0, 11),
    "walks-twisted": lambda: HopLimitedWalks(TWISTED, "s", "t", hops=4),
    "walks-one-hop": lambda: HopLimitedWalks([(0, 1), (0, 1), (1, 0)], 0, 1, hops=1),
    "walks-single": lambda: HopLimitedWalks([(0, 1), (1, 2), (2, 3)], 0, 3, hops=3),
    "walks-4-nodes": lambda: HopLimitedWalks(random_digraph(4, 6, seed=2), 0, 3, hops=5),
    "transport-single-plan": lambda: TransportPlans([0.0, 2.0], [0.5, 1.0, 0.5]),
    "transport-degenerate": lambda: TransportPlans([1.0, 0.0, 2.0], [0.0, 1.0, 1.0, 1.0]),
    "transport-3x4": lambda: TransportPlans([0.2, 0.5, 0.3], [0.1, 0.4, 0.25, 0.25]),
    "base-single-element": lambda: BasePolytope(1, ConcaveOfSum([4.0])),
    "base-coverage": lambda: BasePolytope(4, Coverage([[0, 1], [1, 2], [2, 3, 0], [4]])),
    "base-cut": lambda: BasePolytope(5, Cut([(0, 1), (1, 2), (2, 0), (3, 4)], [1.0, 2, 3, 1])),
    "polymatroid-concave": lambda: Polymatroid(4, ConcaveOfSum([0.0, 1.0, 3.0, 2.0])),
    "laminar-no-groups": lambda: LaminarMatroid(3, [], []),
    "laminar-nested": lambda: LaminarMatroid(6, [[0, 1], [0, 1, 2, 3], [4, 5]], [1, 2, 1]),
    "laminar-never": lambda: LaminarMatroid(4, [[0], [0, 1, 2]], [0, 2]),
    "intersection-any-size": lambda: both_sides(None),
    "intersection-of-two": lambda: both_sides(2),
    "b-matchings-two-sides": lambda: BMatchings(
        [(u, 9 + v) for u in range(3) for v in range(3)], 2
    ),
    "b-matchings-some-closed": lambda: BMatchings(
        [("a", 1), ("a", 1), ("a", 2), ("b", 2)], {"a": 2, "b": 0, 1: 1, 2: 3}
    ),
    "b-matchings-triangle": lambda: BMatchings([(0, 1), (1, 2), (2, 0)], {0: 1, 1: 2, 2: 1}),
    "perfect-single-edge": lambda: PerfectMatchings([("a", "b")]),
    "perfect-two-sides": lambda: PerfectMatchings(
        [(0, "a"), (0, "b"), (1, "b"), (1, "c"), (2, "c"), (2, "a"), (3, "d"), (3, "a")]
    ),
    "perfect-complete-4": lambda: PerfectMatchings([(u, v) for v in range(4) for u in range(v)]),
    "arborescences-single-edge": lambda: Arborescences([("r", "a"), ("a", "r")], "r"),
    "arborescences-twisted": lambda: Arborescences(TWISTED, "s"),
    "arborescences-complete-4": lambda: Arborescences(
        [(u, v) for u in range(4) for v in range(4) if u != v], 1
    ),
    "knapsack-nothing-fits": lambda: Knapsack([3, 4], 2),
    "knapsack-5": lambda: Knapsack([3, 1, 4, 1, 9], 7),
    "knapsack-copies": lambda: Knapsack([2, 6, 4], 14, most=[3, 1, 2]),
    "intervals-one-machine": lambda: IntervalSchedules([[0, 3], [2, 5], [4, 7], [1, 6], [5, 8]]),
    "intervals-two-machines": lambda: IntervalSchedules([[0, 3], [2, 5], [1, 4], [4, 6]], 2),
    "jobs-without-precedence": lambda: JobSequences([1.0, 3.0, 2.0]),
    "jobs-in-a-chain": lambda: JobSequences([2.0, 1.0, 0.5], [(0, 1), (1, 2)]),
    "jobs-in-a-tree": lambda: JobSequences([1.0, 2.0, 1.0, 3.0, 0.5], [(0, 1), (0, 2), (2, 3)]),
    "spectrahedron-1": lambda: Spectrahedron(1),
    "spectrahedron-2": lambda: Spectrahedron(2, trace=3.0),
    "spectrahedron-5": lambda: Spectrahedron(5),
    "nuclear-1x1": lambda: NuclearBall(1, 1),
    "nuclear-1x4": lambda: NuclearBall(1, 4, radius=2.0),
    "nuclear-5x3": lambda: NuclearBall(5, 3, radius=0.5),
    "fantope-1": lambda: Fantope(1, 1),
    "fantope-4-1": lambda: Fantope(4, 1),
    "fantope-5-3": lambda: Fantope(5, 3),
    "fantope-point": lambda: Fantope(3, 3),
    "solid-spectrahedron-1": lambda: SolidSpectrahedron(1, trace=2.0),
    "solid-spectrahedron-4": lambda: SolidSpectrahedron(4, trace=0.1),
    "schatten-nuclear": lambda: SchattenBall(3, 2, 1.0, radius=2.0),
    "schatten-1.5": lambda: SchattenBall(2, 4, 1.5, radius=30.0),
    "schatten-4": lambda: SchattenBall(3, 4, 4.0, radius=0.1),
    "schatten-operator": lambda: SchattenBall(2, 2, math.inf),
    "operator-1x1": lambda: OperatorBall(1, 1, radius=0.1),
    "operator-4x3": lambda: OperatorBall(4, 3, radius=2.0),
    "polytope-knapsack": lambda: knapsack(8),
    "polytope-equations": lambda: Polytope(
        A_eq=[[1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 1.0]], b_eq=[2.0, 1.0]
    ),
    "hull-point": lambda: ConvexHull([[1.0, -2.0]]),
    "hull-flat": lambda: ConvexHull([[1.0, 0.0, 2.0], [3.0, 1.0, 2.0], [5.0, 2.0, 2.0]]),
    "hull-12-points": lambda: ConvexHull(np.random.default_rng(0).standard_normal((12, 4))),
    "oracle-box": lambda: OracleSet(lambda c: np.where(c < 0.0, 1.0, -1.0), 5),
    "oracle-ball": lambda: OracleSet(L2Ball(3, radius=2.0).lmo, 3, diameter=4.0),
    "product-1": lambda: Product(Simplex(3)),
    "product-mixed": lambda: Product(Simplex(3), L1Ball(2), Box([0.0, 1.0], [2.0, 1.0])),
    "product-hulls": lambda: Product(ConvexHull([[3.0]]), ConvexHull(np.eye(3))),
    "product-nested": lambda: Product(Product(Simplex(2), Simplex(1)), L2Ball(2)),
    "product-simplices": lambda: Product(Simplex(3), Simplex(1), Simplex(9, total=7.0)),
    "path-shares": lambda: PathShares(TWISTED, [("s", "t"), ("b", "a"), ("t", "b")], k=3),
    "path-shares-no-choice": lambda: PathShares([(0, 1), (1, 2)], [(0, 2), (0, 1)]),
    "path-shares-12-nodes": lambda: PathShares(
        random_digraph(12, 40, seed=1), [(0, 11), (0, 5), (3, 11)]
    ),
    "multi-commodity-flow": lambda: MultiCommodityFlow(TWISTED, [("s", "t"), ("a", "t")]),
    "multi-commodity-flow-8": lambda: MultiCommodityFlow(
        random_digraph(8, 14, seed=3), [(0, 7), (0, 4)]
    ),
    "scaled-simplex": lambda: Scaled(Simplex(4), 0.25),
    "scaled-box": lambda: Scaled(box(6), 3.0),
    "scaled-l1ball": lambda: Scaled(L1Ball(5), 1e3),
    "scaled-l2ball": lambda: Scaled(L2Ball(5), 1e-2),
    "scaled-dag": lambda: Scaled(dead_edges(), 6.0),
    "scaled-point": lambda: Scaled(Simplex(1), 2.0),
    "translated-simplex": lambda: Translated(Simplex(4), [1.0, -2.0, 3.0, 0.0]),
    "translated-box": lambda: Translated(box(6), np.arange(6.0)),
    "translated-l1ball": lambda: Translated(L1Ball(3), [1e3, 0.0, -1e3]),
    "translated-l2ball": lambda: Translated(L2Ball(3, radius=2.0), [5.0, 0.0, -5.0]),
    "translated-dag": lambda: Translated(diamond(), np.ones(4)),
    "translated-scaled-simplex": lambda: Translated(Scaled(Simplex(3), 2.0), np.ones(3)),
    "sum-simplex-cross": lambda: MinkowskiSum(Simplex(3), L1Ball(3, radius=0.5)),
    "sum-flat": lambda: MinkowskiSum(Simplex(3), Simplex(3, total=2.0), KSubsets(3, 1)),
    "union-cross-cube": lambda: ConvexHullOfUnion(L1Ball(3), LinfBall(3, radius=0.6)),
    "union-apart": lambda: ConvexHullOfUnion(Simplex(2), Box([5.0, -1.0], [6.0, 1.0])),
    "image-of-simplex": lambda: AffineImage(Simplex(4), [[0, 1, 2, 0.5], [1, 3, 1, 2]], [9.0, 0.0]),
    "image-one-to-one": lambda: AffineImage(L2Ball(2), [[1.0, 2.0], [0.0, 1.0], [1.0, 0.0]]),
    "image-mirrored": lambda: AffineImage(
        Permutahedron([1.0, 2.0, 4.0]), np.diag([1.0, -1.0, 1.0])
    ),
    "halfspace-simplex": lambda: HalfspaceCut(Simplex(4), [2.0, 1.0, 0.0, -1.0], 0.3),
    "halfspace-budget": lambda: HalfspaceCut(Box(np.zeros(4), np.ones(4)), np.ones(4), 2.5),
    "halfspace-idle": lambda: HalfspaceCut(L1Ball(2), [1.0, 1.0], 9.0),
    "halfspace-ball": lambda: HalfspaceCut(L2Ball(2, radius=3.0), [1.0, 2.0], -0.9),
}
