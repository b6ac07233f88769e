"""Combinatorial oracles against linear and integer programmes, networkx, rustworkx and POT.

One size each. Where no package has the oracle, the peer is what one would write with NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from instances import bipartite, fresh, graph, hub_digraph
from measure import Act, Contest, installed
from oracles import LINPROG, cost, rustworkx_matching
from peers import linprog

import hedgerow as hr
from hedgerow.inputs import Vector

MILP = "SciPy milp"


def contests(k: int) -> Iterator[Contest]:
    """Yield all contests of the smallest size, nothing for larger ones."""
    if k == 0:
        for family in (transport, submodular, matroids, matchings, trees, packings, schedules):
            yield from family()


def transport() -> Iterator[Contest]:
    """POT has the network simplex method of LEMON, in C++."""
    n = 100
    rng = np.random.default_rng(n)
    X = hr.sets.TransportPlans(*rng.dirichlet(np.ones(n), 2))
    ot = installed("ot")

    def emd(c: Vector) -> Vector:
        plan: Vector = ot.emd(X.supply, X.demand, c.reshape(n, n)).ravel()
        return plan

    peers: dict[str, Act | None] = {
        "POT emd": None if ot is None else emd,
        LINPROG: linprog(X.rows()),
    }
    items = [np.abs(c) for c in fresh(n * n, 2)]
    yield Contest("TransportPlans.lmo", f"{n} x {n}", items, X.lmo, peers, cost)


def submodular() -> Iterator[Contest]:
    """The greedy method with one value of the cut for each set, as one would write it."""
    pairs = graph(60, 300)
    f = hr.sets.Cut(pairs)
    X = hr.sets.BasePolytope(60, f)

    def greedy(c: Vector) -> Vector:
        inside, last, v = np.zeros(60, np.bool_), 0, np.empty(60)
        for i in np.argsort(c):
            inside[i] = True
            now = int((inside[pairs[:, 0]] != inside[pairs[:, 1]]).sum())
            v[i], last = now - last, now
        return v

    peers: dict[str, Act | None] = {"NumPy, set by set": greedy}
    yield Contest("BasePolytope.lmo, a cut", "60 / 300 edges", fresh(60, 5), X.lmo, peers, cost)


def matroids() -> Iterator[Contest]:
    """A laminar matroid by its rows; two partition matroids as the assignment problem they are."""
    n = 1000
    groups = [range(a, a + size) for size in (10, 100) for a in range(0, n, size)]
    X = hr.sets.LaminarMatroid(n, [list(g) for g in groups], [len(g) // 5 for g in groups])
    peers: dict[str, Act | None] = {LINPROG: linprog(X.rows())}
    yield Contest("LaminarMatroid.lmo", f"n = {n}", fresh(n, 3), X.lmo, peers, cost)
    pairs = bipartite(10, 40)
    matchings = hr.sets.Matchings(pairs)
    sides = [
        hr.sets.PartitionMatroid([np.flatnonzero(end == v).tolist() for v in np.unique(end)], ones)
        for end, ones in ((e, [1] * np.unique(e).size) for e in pairs.T)
    ]
    Y = hr.sets.MatroidIntersection(40, sides[0].independent, sides[1].independent)
    name = "MatroidIntersection.lmo"
    peers = {LINPROG: linprog(matchings.rows()), "SciPy assignment": matchings.lmo}
    yield Contest(name, "40 elements", fresh(40, 2), Y.lmo, peers, cost)


def matchings() -> Iterator[Contest]:
    """b-matchings as linear and integer programmes; perfect matchings of any graph."""
    for word, pairs in (("bipartite", bipartite(60, 360)), ("any graph", graph(40, 160))):
        X = hr.sets.BMatchings(pairs, 3)
        nodes = int(pairs.max()) + 1
        incidence = np.zeros((nodes, len(pairs)))
        incidence[pairs.T, np.arange(len(pairs))] = 1.0
        peers: dict[str, Act | None] = {MILP: milp(incidence, np.full(nodes, 3.0))}
        if X.bipartite:
            peers[LINPROG] = linprog(X.rows())
        size = f"{len(pairs)} edges, b = 3"
        yield Contest(f"BMatchings.lmo, {word}", size, fresh(len(pairs), 2), X.lmo, peers, cost)
    pairs = graph(60, 240)
    Y = hr.sets.PerfectMatchings(pairs)
    peers = {"rustworkx, whole numbers": rustworkx_matching(pairs, perfect=True)}
    yield Contest("PerfectMatchings.lmo, any graph", "240 edges", fresh(240, 2), Y.lmo, peers, cost)


def milp(A: Vector, b: Vector) -> Act:
    """Return an integer programme {A x <= b, x in {0, 1}} by HiGHS."""
    from scipy import optimize, sparse

    rows = optimize.LinearConstraint(sparse.csr_array(A), -np.inf, b)

    def solve(c: Vector) -> float:
        bounds, whole = optimize.Bounds(0.0, 1.0), np.ones(c.size)
        found = optimize.milp(c, integrality=whole, bounds=bounds, constraints=rows)
        return float(found.fun)

    return solve


def trees() -> Iterator[Contest]:
    """Arborescences: networkx has Edmonds' method, in Python."""
    import networkx as nx

    pairs = hub_digraph(100, 600)
    X = hr.sets.Arborescences(pairs, 0)
    edges = [(u, v, e) for e, (u, v) in enumerate(pairs.tolist()) if v != 0]

    def by_networkx(c: Vector) -> float:
        G = nx.DiGraph()
        G.add_weighted_edges_from((u, v, float(c[e])) for u, v, e in edges)
        return float(nx.minimum_spanning_arborescence(G).size(weight="weight"))

    peers: dict[str, Act | None] = {"networkx": by_networkx}
    yield Contest("Arborescences.lmo", "100 / 600 edges", fresh(600, 2), X.lmo, peers, cost)


def packings() -> Iterator[Contest]:
    """A knapsack as an integer programme."""
    n, capacity = 60, 1000
    sizes = np.random.default_rng(n).integers(10, 100, n)
    X = hr.sets.Knapsack(sizes, capacity)
    peers: dict[str, Act | None] = {
        MILP: milp(sizes[None].astype(np.float64), np.array([1.0 * capacity]))
    }
    yield Contest(
        "Knapsack.lmo", f"{n} items, {capacity}", fresh(n, 3, mean=-1.0), X.lmo, peers, cost
    )


def schedules() -> Iterator[Contest]:
    """Intervals by their rows; jobs without precedence by Smith's rule in NumPy."""
    n = 500
    rng = np.random.default_rng(n)
    begins = rng.uniform(0.0, 100.0, n)
    intervals = np.column_stack([begins, begins + rng.exponential(3.0, n)])
    for machines in (1, 3):
        X = hr.sets.IntervalSchedules(intervals, machines)
        peers: dict[str, Act | None] = {LINPROG: linprog(X.rows())}
        name = f"IntervalSchedules.lmo, {machines} machines"
        yield Contest(name, f"n = {n}", fresh(n, 3), X.lmo, peers, cost)
    times = rng.uniform(0.5, 1.5, 100)
    Y = hr.sets.JobSequences(times)

    def smith(c: Vector) -> Vector:
        order, done = np.argsort(-c / times), np.empty(100)
        done[order] = np.cumsum(times[order])
        return done

    peers = {"NumPy, Smith's rule": smith}
    yield Contest("JobSequences.lmo, no precedence", "n = 100", fresh(100, 5), Y.lmo, peers, cost)
