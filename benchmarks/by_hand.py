"""The practical policy as a researcher would write it: NumPy, and an oracle from a library."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import hedgerow as hr
from hedgerow.inputs import Vector

Oracle = Callable[[Vector], Vector]


def play_by_hand(
    X: hr.DecisionSet, table: hr.problems.LinearChunk, oracle: Oracle, rounds: int
) -> tuple[float, float]:
    """Play linear rounds and return total cost and CCV; one learner, and no guard.

    Certificate-driven steps, learnt ranges, weight (Gf/Gg)(8/k)(q/k)^7; every edge is taken to be
    live, so tangent norms are plain norms. The library's policy does more in a round, so the two
    play different points.
    """
    D2 = X.diameter**2
    x1 = X.start()
    x, S = x1.copy(), np.zeros(X.dim)
    beta = M = inner = squares = 0.0
    ccv = Mg = Gf = Gg = cost = 0.0
    for t in range(1, rounds + 1):
        a, c = table.costs[t - 1], table.constraints[t - 1]
        g = float(c @ x) + table.constraint_offsets[t - 1]
        cost += float(a @ x) + table.cost_offsets[t - 1]
        Gf = max(Gf, float(np.linalg.norm(a)))
        s = a
        if g > 0.0:
            Gg = max(Gg, float(np.linalg.norm(c)))
            reach = float(c @ (oracle(-c) - x)) if Mg == 0.0 else 0.0
            Mg = max(Mg, g + reach)
            ccv += g
            k = max(12.0, 0.5 * math.sqrt(t))
            s = a + Gf / Gg * 8.0 / k * ((8.0 + ccv / Mg) / k) ** 7 * c
        inner += float(s @ x)
        S += s
        squares += float(s @ s)
        beta = max(beta, M / (0.03 * D2), 2.0 * t**0.25 * math.sqrt(squares / D2) / 64.0)
        d = S + 2.0 * beta * (x - x1)
        v = oracle(d)
        gap = float(d @ (x - v))
        if gap > 0.0:
            x = x + min(1.0, gap / (2.0 * beta * float((v - x) @ (v - x)))) * (v - x)
        M = inner - float(S @ x) - beta * float((x - x1) @ (x - x1))
    return cost, ccv


def networkx_oracle(edges: Any, source: Any, target: Any) -> Oracle:
    """Bellman-Ford of networkx, which allows weights of any sign."""
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_edges_from(edges)
    place = {pair: i for i, pair in enumerate(edges)}
    n = len(edges)

    def oracle(c: Vector) -> Vector:
        for i, (u, v) in enumerate(edges):
            graph[u][v]["weight"] = c[i]
        path = nx.bellman_ford_path(graph, source, target)
        x = np.zeros(n)
        x[[place[pair] for pair in itertools.pairwise(path)]] = 1.0
        return x

    return oracle


def scipy_oracle(edges: Any, nodes: int, source: int, target: int) -> Oracle:
    """Bellman-Ford of SciPy on one matrix whose weights are overwritten."""
    from scipy import sparse
    from scipy.sparse import csgraph

    pairs = np.array(edges)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    matrix = sparse.csr_array(
        (np.arange(1.0, len(pairs) + 1.0), (pairs[:, 0], pairs[:, 1])), shape=(nodes, nodes)
    )
    place = {(int(u), int(v)): i for i, (u, v) in enumerate(pairs)}

    def oracle(c: Vector) -> Vector:
        matrix.data[:] = c[order]
        _, before = csgraph.bellman_ford(matrix, indices=source, return_predecessors=True)
        x, v = np.zeros(len(pairs)), target
        while v != source:
            x[place[int(before[v]), v]] = 1.0
            v = int(before[v])
        return x

    return oracle
