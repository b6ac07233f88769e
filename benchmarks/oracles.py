"""Oracles against the best available peers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from instances import (
    bipartite,
    dag,
    directions,
    drift,
    fresh,
    graph,
    hub_digraph,
    positive,
    turning,
)
from measure import REPETITIONS, Act, Contest, Target, installed
from peers import linprog

import hedgerow as hr
from hedgerow.inputs import Vector
from hedgerow.sets.solvers import WarmStartedLP

LINPROG = "SciPy linprog, cold"
FLOOR = "NumPy sum of as many bytes"
"""About what reading the graph and the costs once takes; at small sizes mostly the call."""


def cost(c: Vector, result: Any) -> float:
    """Return <c, x>, or the result itself if it is that number already."""
    return float(result) if np.ndim(result) == 0 else float(c @ result)


def contests(k: int) -> Iterator[Contest]:
    """Yield all contests of the k-th size, 0 the smallest."""
    for family in (vectors, paths, flows, trees, assignments, matchings, spectral, polytopes):
        yield from family(k)


def vectors(k: int) -> Iterator[Contest]:
    """Plain NumPy is the best there is; the rest is the price of checks and of stable ties."""
    n = (1200, 12_000, 120_000)[k]
    items, size, w = fresh(n, 5), f"n = {n}", np.sqrt(np.arange(1.0, n + 1.0))[::-1].copy()

    def corner(c: Vector) -> Vector:
        v = np.zeros(n)
        v[np.argmin(c)] = 1.0
        return v

    def signed_corner(c: Vector) -> Vector:
        v = np.zeros(n)
        i = np.argmax(np.abs(c))
        v[i] = -np.sign(c[i])
        return v

    def subset(c: Vector) -> Vector:
        v = np.zeros(n)
        v[np.argpartition(c, n // 10)[: n // 10]] = 1.0
        return v

    def ranking(c: Vector) -> Vector:
        v = np.empty(n)
        v[np.argsort(c)] = w
        return v

    box = hr.sets.Box(np.zeros(n), np.ones(n))
    for X, peer in (
        (hr.sets.Simplex(n), corner),
        (hr.sets.L1Ball(n), signed_corner),
        (hr.sets.L2Ball(n), lambda c: -c / np.linalg.norm(c)),
        (box, lambda c: np.where(c < 0.0, 1.0, 0.0)),
        (hr.sets.KSubsets(n, n // 10), subset),
        (hr.sets.Permutahedron(w), ranking),
    ):
        yield Contest(f"{type(X).__name__}.lmo", size, items, X.lmo, {"NumPy": peer}, cost)


def paths(k: int) -> Iterator[Contest]:
    """Dijkstra's method gets costs above zero, Bellman and Ford's gets costs of any sign."""
    nodes, edges = ((191, 1200), (1910, 12_000), (191_000, 1_200_000))[k]
    pairs = dag(nodes, edges)
    X = hr.sets.DagPaths(pairs, 0, nodes - 1)
    size, space = f"{nodes} / {edges} edges", X.workspace()
    stream = np.ones((12 * edges + 16 * nodes) // 8)

    def floor(_: Vector) -> None:
        stream.sum()

    quick: dict[str, Act | None] = {FLOOR: floor, "SciPy dijkstra": _csgraph(pairs, "dijkstra")}
    if k < 2:
        quick["igraph dijkstra"] = _igraph_path(pairs)
        quick["rustworkx dijkstra"] = _rustworkx_path(pairs)
    targets = ({"SciPy dijkstra": Target(30.0)}, {}, {FLOOR: Target(1 / 3.5)})[k]
    items = positive(edges, 2)
    yield Contest("DagPaths.lmo, costs > 0", size, items, space.lmo, quick, cost, targets)
    if k == 2:
        shuffled = hr.sets.DagPaths(np.random.default_rng(0).permutation(pairs), 0, nodes - 1)
        ours, name = shuffled.workspace().lmo, "DagPaths.lmo, edges in random order"
        yield Contest(name, size, items, ours, {FLOOR: floor}, cost)
    slow: dict[str, Act | None] = {}
    if k == 0:
        slow["SciPy bellman_ford"] = _csgraph(pairs, "bellman_ford")
    if k < 2:
        slow["networkx bellman_ford"] = _networkx_path(pairs)
        target = {"networkx bellman_ford": Target(500.0)} if k == 0 else {}
        signed = fresh(edges, 2, mean=1.0)
        yield Contest("DagPaths.lmo, any sign", size, signed, space.lmo, slow, cost, target)


def _csgraph(pairs: Any, method: str) -> Act:
    from scipy import sparse
    from scipy.sparse import csgraph

    nodes = int(pairs.max()) + 1
    number = np.arange(1.0, len(pairs) + 1.0)
    matrix = sparse.csr_array((number, (pairs[:, 0], pairs[:, 1])), shape=(nodes, nodes))
    order = matrix.data.astype(np.int64) - 1
    search = getattr(csgraph, method)

    def solve(c: Vector) -> float:
        matrix.data = c[order]
        return float(search(matrix, indices=0, return_predecessors=True)[0][nodes - 1])

    return solve


def _igraph_path(pairs: Any) -> Act | None:
    igraph = installed("igraph")
    if igraph is None:
        return None
    G, last = igraph.Graph(edges=pairs.tolist(), directed=True), int(pairs.max())

    def solve(c: Vector) -> Vector:
        v = np.zeros(c.size)
        v[G.get_shortest_path(0, last, c.tolist(), output="epath", algorithm="dijkstra")] = 1.0
        return v

    return solve


def _rustworkx_path(pairs: Any) -> Act | None:
    rustworkx = installed("rustworkx")
    if rustworkx is None:
        return None
    G, last = rustworkx.PyDiGraph(), int(pairs.max())
    G.add_nodes_from(range(last + 1))
    G.add_edges_from([(u, v, e) for e, (u, v) in enumerate(pairs.tolist())])

    def solve(c: Vector) -> float:
        weight = c.tolist().__getitem__
        return float(rustworkx.dijkstra_shortest_path_lengths(G, 0, weight, goal=last)[last])

    return solve


def _networkx_path(pairs: Any) -> Act:
    import networkx as nx

    G, last = nx.DiGraph(), int(pairs.max())
    G.add_edges_from((u, v, {"e": e}) for e, (u, v) in enumerate(pairs.tolist()))

    def solve(c: Vector) -> float:
        costs = c.tolist()

        def weight(_u: int, _v: int, data: dict[str, int]) -> float:
            return float(costs[data["e"]])

        return float(nx.bellman_ford_path_length(G, 0, last, weight))

    return solve


def flows(k: int) -> Iterator[Contest]:
    """Unit flows on a hub digraph, the directions of a policy and fresh ones."""
    nodes, edges = ((40, 240), (191, 1200), (1910, 12_000))[k]
    X = hr.sets.UnitFlow(hub_digraph(nodes, edges), 1, nodes - 1)
    rows, size = X.rows(), f"{nodes} / {edges} edges"
    for word, items, target in (
        ("a policy's", directions(X, 100, 2 * REPETITIONS), {LINPROG: Target(100.0)}),
        ("fresh, all above 0", positive(edges, 2), {LINPROG: Target(20.0)}),
        ("fresh, 5 % below 0", fresh(edges, 2, mean=1.645), {LINPROG: Target(10.0)}),
        ("fresh, 31 % below 0", fresh(edges, 2, mean=0.5), {LINPROG: Target(3.0)}),
    ):
        highs = installed("highspy")
        hot = {} if highs is None else {"highspy, hot": WarmStartedLP(X, rows, highs).lmo}
        yield Contest(
            f"UnitFlow.lmo, {word}",
            size,
            items,
            X.workspace().lmo,
            {LINPROG: linprog(rows), "highspy, hot": None, **hot},
            cost,
            target if k else {},
            moving=word == "a policy's",
        )
    hops = 12
    Y = hr.sets.HopLimitedWalks(X.edges, 1, nodes - 1, hops)
    tail, head = np.asarray(X.edges).T

    def recursion(c: Vector) -> float:
        distance = np.full(nodes, np.inf)
        distance[1] = 0.0
        best = np.inf
        for _ in range(hops):
            reached = np.full(nodes, np.inf)
            np.minimum.at(reached, head, distance[tail] + c)
            distance = reached
            best = min(best, distance[nodes - 1])
        return best

    items = fresh(edges, 2, mean=0.5)
    name = f"HopLimitedWalks.lmo, {hops} hops"
    yield Contest(name, size, items, Y.lmo, {"NumPy recursion, value only": recursion}, cost)


def trees(k: int) -> Iterator[Contest]:
    """Minimum spanning trees; SciPy's weights are shifted above zero, which it needs."""
    nodes, edges = ((191, 1200), (1910, 12_000), (19_100, 120_000))[k]
    pairs = graph(nodes, edges)
    from scipy import sparse
    from scipy.sparse import csgraph

    number = np.arange(1.0, edges + 1.0)
    matrix = sparse.csr_array((number, (pairs[:, 0], pairs[:, 1])), shape=(nodes, nodes))
    order = matrix.data.astype(np.int64) - 1

    def scipy_tree(c: Vector) -> float:
        shift = 1.0 - c.min()
        matrix.data = c[order] + shift
        return float(csgraph.minimum_spanning_tree(matrix).sum()) - (nodes - 1) * shift

    peers: dict[str, Act | None] = {
        "SciPy": scipy_tree,
        "igraph": _igraph_tree(pairs),
        "rustworkx": _rustworkx_tree(pairs),
    }
    targets = {"SciPy": Target(2.5)}
    if k < 2:
        peers["networkx"] = _networkx_tree(pairs)
        targets["networkx"] = Target(50.0)
    X, items = hr.sets.SpanningTrees(pairs), fresh(edges, 3)
    yield Contest("SpanningTrees.lmo", f"{edges} edges", items, X.lmo, peers, cost, targets)


def _igraph_tree(pairs: Any) -> Act | None:
    igraph = installed("igraph")
    if igraph is None:
        return None
    G = igraph.Graph(edges=pairs.tolist())

    def solve(c: Vector) -> Vector:
        v = np.zeros(c.size)
        v[G.spanning_tree(c.tolist(), return_tree=False)] = 1.0
        return v

    return solve


def _rustworkx_tree(pairs: Any) -> Act | None:
    rustworkx = installed("rustworkx")
    if rustworkx is None:
        return None
    G = rustworkx.PyGraph()
    G.add_nodes_from(range(int(pairs.max()) + 1))
    G.add_edges_from([(u, v, e) for e, (u, v) in enumerate(pairs.tolist())])

    def solve(c: Vector) -> Vector:
        v = np.zeros(c.size)
        chosen = rustworkx.minimum_spanning_edges(G, weight_fn=c.tolist().__getitem__)
        v[[e for _, _, e in chosen]] = 1.0
        return v

    return solve


def _networkx_tree(pairs: Any) -> Act:
    import networkx as nx

    edges = pairs.tolist()

    def solve(c: Vector) -> float:
        G = nx.Graph()
        G.add_weighted_edges_from((u, v, w) for (u, v), w in zip(edges, c.tolist(), strict=True))
        return float(sum(e["weight"] for *_, e in nx.minimum_spanning_edges(G, keys=False)))

    return solve


def assignments(k: int) -> Iterator[Contest]:
    """SciPy's own method is the oracle; the rest is overhead."""
    from scipy.optimize import linear_sum_assignment

    n = (50, 200, 500)[k]

    def bare(c: Vector) -> float:
        C = c.reshape(n, n)
        return float(C[linear_sum_assignment(C)].sum())

    X = hr.sets.Birkhoff(n)
    yield Contest("Birkhoff.lmo", f"{n} x {n}", fresh(n * n, 2), X.lmo, {"SciPy": bare}, cost)


def matchings(k: int) -> Iterator[Contest]:
    """Bipartite graphs by an assignment problem, other graphs by networkx's blossoms."""
    side = (20, 60, 120)[k]
    for word, pairs in (
        ("bipartite", bipartite(side, 6 * side)),
        ("any graph", graph(side, 4 * side)),
    ):
        X, items = hr.sets.Matchings(pairs), fresh(len(pairs), 2)
        peers = {
            "networkx": _networkx_matching(pairs),
            "rustworkx, whole numbers": rustworkx_matching(pairs),
        }
        size = f"{len(pairs)} edges"
        yield Contest(f"Matchings.lmo, {word}", size, items, X.lmo, peers, cost)


def _networkx_matching(pairs: Any) -> Act:
    import networkx as nx

    edges = pairs.tolist()

    def solve(c: Vector) -> float:
        G = nx.Graph()
        weighted = zip(edges, (-c).tolist(), strict=True)
        G.add_weighted_edges_from((u, v, w) for (u, v), w in weighted if w > 0.0)
        return -float(sum(G[u][v]["weight"] for u, v in nx.max_weight_matching(G)))

    return solve


def rustworkx_matching(pairs: Any, perfect: bool = False) -> Act | None:
    """Return matchings by rustworkx, whose weights are whole numbers; None if not installed."""
    rustworkx = installed("rustworkx")
    if rustworkx is None:
        return None
    edges = pairs.tolist()
    G = rustworkx.PyGraph()
    G.add_nodes_from(range(int(pairs.max()) + 1))
    G.add_edges_from([(u, v, e) for e, (u, v) in enumerate(edges)])
    number = {pair: e for e, (u, v) in enumerate(edges) for pair in ((u, v), (v, u))}

    def solve(c: Vector) -> Vector:
        whole = np.rint(np.ldexp(-c, 40)).astype(np.int64).tolist()
        v = np.zeros(c.size)
        chosen = rustworkx.max_weight_matching(
            G, max_cardinality=perfect, weight_fn=whole.__getitem__
        )
        v[[number[pair] for pair in chosen]] = 1.0
        return v

    return solve


def spectral(k: int) -> Iterator[Contest]:
    """Leading vectors of matrices that change by 2 % per round, all as vertices of rank one."""
    from scipy.sparse.linalg import eigsh, svds

    n = (50, 200, 500)[k]
    m, tol = n * 4 // 5, 1e-11
    last: dict[str, Any] = {"eigsh": None, "svds": None}

    def full(c: Vector) -> Vector:
        v = np.linalg.eigh(c.reshape(n, n))[1][:, 0]
        return np.outer(v, v).ravel()

    def arnoldi(c: Vector) -> Vector:
        last["eigsh"] = eigsh(c.reshape(n, n), 1, which="SA", v0=last["eigsh"], tol=tol)[1][:, 0]
        return np.outer(last["eigsh"], last["eigsh"]).ravel()

    def svd(c: Vector) -> Vector:
        u, _, v = np.linalg.svd(c.reshape(n, m), full_matrices=False)
        return -np.outer(u[:, 0], v[0]).ravel()

    def arnoldi_svd(c: Vector) -> Vector:
        u, _, v = svds(c.reshape(n, m), 1, v0=last["svds"], tol=tol)
        last["svds"] = v[0]
        return -np.outer(u[:, 0], v[0]).ravel()

    for X, items, peers in (
        (hr.sets.Spectrahedron(n), turning((n, n), 5 * REPETITIONS, True), (full, arnoldi)),
        (hr.sets.NuclearBall(n, m), turning((n, m), 5 * REPETITIONS, False), (svd, arnoldi_svd)),
    ):
        name, size = type(X).__name__, " x ".join(str(s) for s in X.shape)
        words = ("NumPy eigh", "SciPy eigsh, warm")
        if isinstance(X, hr.sets.NuclearBall):
            words = ("NumPy svd", "SciPy svds, warm")
        named = dict(zip(words, peers, strict=True))
        targets = dict(zip(words, (Target(8.0), Target(1.2)), strict=True))
        for how, ours in (("warm", X.workspace().lmo), ("cold", X.lmo)):
            goals = targets if how == "warm" and name == "Spectrahedron" and k else {}
            yield Contest(f"{name}.lmo, {how}", size, items, ours, named, cost, goals, moving=True)


def polytopes(k: int) -> Iterator[Contest]:
    """A linear programme whose costs change: hot starts against cold ones."""
    n = (40, 200, 600)[k]
    rng = np.random.default_rng(n)
    A = rng.random((n // 2, n))
    X = hr.sets.Polytope(A, 0.25 * A.sum(axis=1), upper=1.0)
    target = {"drift": Target(8.0), "fresh": Target(1 / 1.2)}
    sequences = (("drift", drift(n, 3 * REPETITIONS)), ("fresh", fresh(n, 3 * REPETITIONS)))
    for word, items in sequences:
        yield Contest(
            f"Polytope.lmo, hot, {word}",
            f"{n} variables, {n // 2} rows",
            items,
            X.workspace().lmo,
            {LINPROG: linprog(X.rows())},
            cost,
            {LINPROG: target[word]},
            moving=True,
        )
