"""Large instances: right answers, and no intermediate that is larger than the problem.

Optimality is known beforehand: costs are built from potentials or prices, which prove it. Peak
memory is NumPy's own, as `tracemalloc` counts it; anything of dim^2 entries would exceed it.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

import hedgerow as hr


@contextmanager
def at_most(megabytes: float) -> Iterator[None]:
    """Fail if more memory than this was in use at any time."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
    assert peak <= megabytes, f"used {peak:.0f} MB, at most {megabytes:g} are allowed"


def assert_nearest(X: hr.DecisionSet, y: np.ndarray, p: np.ndarray) -> None:
    """<y - p, v - p> <= 0 for every point v of the set, and the oracle knows the worst one."""
    assert X.contains(p, 1e-8)
    far = max(X.diameter, float(np.linalg.norm(y - p)))
    assert (y - p) @ (X.lmo(p - y) - p) <= 1e-9 * far**2


NODES, EDGES = 160_000, 10**6


@pytest.fixture(scope="module")
def pairs():
    """A chain, random edges ahead of it, and one edge that leads nowhere."""
    rng = np.random.default_rng(0)
    ends = np.sort(rng.integers(0, NODES, (2 * EDGES, 2)), axis=1)
    keys = np.unique((ends[:, 0] * NODES + ends[:, 1])[ends[:, 0] < ends[:, 1] - 1])
    keys = rng.permutation(keys)[: EDGES - NODES]
    chain = np.column_stack([np.arange(NODES - 1), np.arange(1, NODES)])
    return np.concatenate([chain, np.column_stack(np.divmod(keys, NODES)), [[NODES - 1, NODES]]])


@pytest.fixture(scope="module")
def paths(pairs):
    hr.sets.DagPaths([(0, 1)], 0, 1).lmo([1.0])  # loads the kernels
    with at_most(60 * 8 * EDGES / 1e6):
        return hr.sets.DagPaths(pairs, 0, NODES - 1)


def test_a_million_edges_and_costs_of_both_signs(pairs, paths):
    """Potentials move the costs of all paths alike, so Dijkstra knows the least one."""
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 1000, EDGES).astype(np.float64)
    potential = rng.integers(-(10**6), 10**6, NODES + 1).astype(np.float64)
    c = lengths + potential[pairs[:, 1]] - potential[pairs[:, 0]]
    assert (c < 0.0).mean() > 0.4
    with at_most(10 * 8 * EDGES / 1e6):
        path = paths.lmo(c)
        assert paths.contains(path)
    shape = (NODES + 1, NODES + 1)
    matrix = sparse.csr_array((lengths, (pairs[:, 0], pairs[:, 1])), shape=shape)
    least = csgraph.dijkstra(matrix, indices=0)[NODES - 1]
    assert c @ path == least + potential[NODES - 1] - potential[0]
    assert np.unique(path).tolist() == [0.0, 1.0]


def test_a_million_edges_start_tangent_and_diameter(paths):
    with at_most(10 * 8 * EDGES / 1e6):
        start = paths.start()
        assert paths.contains(start)
        assert not paths.contains(start + 1e-6)
        c = np.ones(EDGES)
        c[-1] = 1e9
        felt = paths.tangent(c)
        assert felt[-1] == 0.0
        assert (felt[:-1] == 1.0).all()
        chain = paths.lmo(np.where(np.arange(EDGES) < NODES - 1, -1.0, 0.0))
        assert chain.sum() == NODES - 1  # the longest path takes every node
        assert not paths.diameter_is_exact
        assert np.linalg.norm(chain - start) <= paths.diameter <= np.sqrt(2.0 * (NODES - 1))


def test_a_million_edges_and_a_sampled_path(paths):
    x = 0.5 * (paths.start() + paths.lmo(np.random.default_rng(2).random(EDGES)))
    path = paths.sample(x, np.random.default_rng(3))
    assert paths.contains(path)
    assert x[path > 0.0].all()


VECTOR_SETS = {
    "simplex": lambda n: hr.sets.Simplex(n),
    "capped-simplex": lambda n: hr.sets.CappedSimplex(n, 2.0 / np.arange(1.0, n + 1.0)),
    "box": lambda n: hr.sets.Box(-np.arange(1.0, n + 1.0), np.ones(n)),
    "linf-ball": lambda n: hr.sets.LinfBall(n),
    "l1-ball": lambda n: hr.sets.L1Ball(n, radius=10.0),
    "l2-ball": lambda n: hr.sets.L2Ball(n),
    "k-subsets": lambda n: hr.sets.KSubsets(n, n // 100),
    "k-sparse": lambda n: hr.sets.KSparse(n, n // 100, radius=5.0),
    "permutahedron": lambda n: hr.sets.Permutahedron(np.linspace(0.0, 1.0, n)),
    "partition-matroid": lambda n: hr.sets.PartitionMatroid(
        np.arange(n).reshape(100, -1).tolist(), [k % (n // 100) for k in range(100)]
    ),
}


def exercise(X: hr.DecisionSet) -> None:
    rng = np.random.default_rng(0)
    c, y = rng.standard_normal(X.dim), rng.standard_normal(X.dim)
    v, start, p = X.lmo(c), X.start(), X.project(y)
    assert X.contains(v, 1e-8)
    assert X.contains(start, 1e-8)
    assert_nearest(X, y, p)
    assert c @ v <= min(c @ start, c @ p, c @ X.lmo(y)) + 1e-9
    assert np.linalg.norm(v - p) <= X.diameter * (1.0 + 1e-12)
    step = v - start
    assert abs(X.tangent(c) @ step - c @ step) <= 1e-9 * np.linalg.norm(c) * X.diameter
    outside = start + 2.0 * X.diameter / np.linalg.norm(c) * c
    assert not X.contains(outside)
    a = X.separate(outside)
    assert a is not None
    assert a @ outside > -X.minimum(-a)


@pytest.mark.parametrize("name", VECTOR_SETS)
def test_vector_sets_in_many_dimensions(name):
    exercise(VECTOR_SETS[name](1000))  # loads what it needs
    X = VECTOR_SETS[name](10**5)
    with at_most(100 * 8 * X.dim / 1e6):
        exercise(X)


def test_a_large_nuclear_ball():
    n = 1000
    hr.sets.NuclearBall(60, 60).lmo(np.arange(3600.0))  # loads the kernels
    X = hr.sets.NuclearBall(n, n, radius=2.0)
    C = np.random.default_rng(0).standard_normal((n, n))
    with at_most(8 * 8 * n**2 / 1e6):
        v = X.lmo(C.ravel())
    left, right = v.reshape(n, n)[:, 0], v.reshape(n, n)[0]
    assert np.abs(np.outer(left, right) - v[0] * v.reshape(n, n)).max() <= 1e-15  # rank one
    assert np.linalg.norm(v) == pytest.approx(2.0, rel=1e-12)
    assert C.ravel() @ v == pytest.approx(-2.0 * np.linalg.norm(C, 2), rel=1e-8)


class TestAssignmentsOf500:
    n = 500

    def test_the_oracle_finds_the_assignment_that_prices_prove(self):
        """c = u_i + v_j + w_ij with w >= 0, zero on one permutation only: that one is best."""
        n, rng = self.n, np.random.default_rng(0)
        X, best = hr.sets.Birkhoff(n), rng.permutation(n)
        w = rng.integers(1, 100, (n, n)).astype(np.float64)
        w[np.arange(n), best] = 0.0
        u, v = rng.integers(-100, 100, (2, n)).astype(np.float64)
        with at_most(12 * 8 * n**2 / 1e6):
            x = X.lmo((w + u[:, None] + v).ravel())
            assert X.contains(x)
        assert (x.reshape(n, n).argmax(axis=1) == best).all()

    def test_the_projection_is_nearest(self):
        n = self.n
        hr.sets.Birkhoff(2).project(np.zeros(4))  # loads what it needs
        X = hr.sets.Birkhoff(n)
        y = np.random.default_rng(1).standard_normal(n * n) / n
        with at_most(40 * 8 * n**2 / 1e6):
            p = X.project(y)
        assert_nearest(X, y, p)
        assert X.projection_error(y, p) <= 1e-6


def test_a_large_spanning_tree():
    nodes, edges = 20_000, 200_000
    rng = np.random.default_rng(0)
    chain = np.column_stack([np.arange(nodes - 1), np.arange(1, nodes)])
    ends = np.sort(rng.integers(0, nodes, (edges, 2)), axis=1)
    ends = np.unique(ends[ends[:, 0] < ends[:, 1] - 1], axis=0)
    pairs = np.concatenate([chain, ends])
    hr.sets.SpanningTrees([(0, 1)])  # loads the kernels
    c = rng.integers(-(10**6), 10**6, len(pairs)).astype(np.float64)
    with at_most(60 * 8 * len(pairs) / 1e6):
        X = hr.sets.SpanningTrees(pairs)
        tree = X.lmo(c)
    shift = 1.0 - c.min()  # SciPy takes no zeros
    shape = (nodes, nodes)
    tails, heads = pairs.astype(np.int32).T  # older SciPy takes no other
    matrix = sparse.csr_array((c + shift, (tails, heads)), shape=shape)
    least = csgraph.minimum_spanning_tree(matrix).sum() - (nodes - 1) * shift
    assert tree.sum() == nodes - 1
    assert c @ tree == least
