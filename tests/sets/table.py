"""Small, medium and degenerate examples of every set; a new set inherits every check here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hedgerow.sets.balls import KSparse, L1Ball, L2Ball
from hedgerow.sets.birkhoff import Birkhoff
from hedgerow.sets.boxes import Box, LinfBall
from hedgerow.sets.dag_paths import DagPaths
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.generic import ConvexHull, OracleSet
from hedgerow.sets.hop_limited_walks import HopLimitedWalks
from hedgerow.sets.matchings import Matchings
from hedgerow.sets.matroids import Matroid, PartitionMatroid
from hedgerow.sets.multi_commodity_flow import MultiCommodityFlow
from hedgerow.sets.path_shares import PathShares
from hedgerow.sets.permutahedron import Permutahedron
from hedgerow.sets.polytope import Polytope
from hedgerow.sets.product import Product
from hedgerow.sets.simplices import CappedSimplex, KSubsets, Simplex
from hedgerow.sets.spanning_trees import SpanningTrees
from hedgerow.sets.spectral import NuclearBall, Spectrahedron
from hedgerow.sets.unit_flow import UnitFlow
from hedgerow.sets.wrappers import Scaled, Translated


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
    "spectrahedron-1": lambda: Spectrahedron(1),
    "spectrahedron-2": lambda: Spectrahedron(2, trace=3.0),
    "spectrahedron-5": lambda: Spectrahedron(5),
    "nuclear-1x1": lambda: NuclearBall(1, 1),
    "nuclear-1x4": lambda: NuclearBall(1, 4, radius=2.0),
    "nuclear-5x3": lambda: NuclearBall(5, 3, radius=0.5),
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
}
