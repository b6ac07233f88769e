"""`projection_free_coco(X)` as a researcher would write it in NumPy.

It is the library's restricted master, formula by formula, for linear rounds and with an oracle from
anywhere. Left out is what changes no play: the certificate, and the watch that would fall back to
Theorem F. Tangents are the gradients themselves: every coordinate is taken to move freely, as on a
graph whose edges are all live. Where columns depend on each other, rounding decides which stay.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

import hedgerow as hr
from hedgerow.inputs import Vector

Oracle = Callable[[Vector], Vector]
ROWS, CHANGES, TINY = 64, 31, 1e-300


def play_by_hand(
    X: hr.DecisionSet, table: hr.problems.LinearChunk, oracle: Oracle, rounds: int
) -> tuple[float, float]:
    """Play linear rounds and return total cost and CCV."""
    master, cost, ccv = Master(X, oracle), 0.0, 0.0
    for t in range(rounds):
        a, c, x = table.costs[t], table.constraints[t], master.x
        value = float(c @ x) + table.constraint_offsets[t]
        cost += float(a @ x) + table.cost_offsets[t]
        ccv += max(0.0, value)
        master.tell(a, c, table.constraint_offsets[t], value > 0.0)
    return cost, ccv


class Master:
    """The restricted master: columns u with shares, rows <c, .> + b, one oracle call per round."""

    def __init__(self, X: hr.DecisionSet, oracle: Oracle):
        self.oracle, self.D, self.t = oracle, X.diameter, 0
        self.places = X.dim + 2 if X.dim + 2 <= 24 else 12
        self.x = self.x1 = X.start()
        self.U, self.share = self.x1[None], np.ones(1)
        self.far, self.grad2 = 0.1 * self.D, 0.0
        self.C, self.b = np.zeros((0, X.dim)), np.zeros(0)  # the present row is the last
        self.w, self.alike = np.zeros(0), np.zeros(0)
        self.violated, self.changes = False, []

    def tell(self, a: Vector, c: Vector, offset: float, violated: bool) -> None:
        """Take in a round's cost <a, .> and constraint <c, .> + offset, and move."""
        self.t += 1
        self.far = max(self.far, float(np.linalg.norm(self.x - self.x1)))
        norm, reach = float(np.linalg.norm(a)), float(np.ptp(self.U @ a)) / self.D
        self.grad2 += norm * (reach if reach > 1e-12 * norm else norm)
        eta = self.far / math.sqrt(self.grad2) if self.grad2 > 0.0 else 0.0
        self.see(c, offset, violated)
        wished, step = self.x - eta * a, min(eta * norm, self.D)
        gap = 1e-10 * step * step + 1e-15 * self.D**2
        forces = self.project(wished, gap, known=False)
        d = self.x - wished + forces @ self.C
        if self.admit(self.oracle(d), d) or self.least()[self.w > 0.0].any():
            self.project(wished, gap, known=True)

    def least(self) -> Vector:
        """Return what each row is violated by at least, at all mixtures."""
        return np.maximum(0.0, (self.C @ self.U.T).min(axis=1) + self.b)

    def see(self, c: Vector, offset: float, violated: bool) -> None:
        """Remember a row, and weigh all by how much they differ from it over the columns."""
        far2 = np.mean(((self.C - c) @ self.U.T + (self.b - offset)[:, None]) ** 2, axis=1)
        self.changes = [*far2[-1:][far2[-1:] > 0.0], *self.changes][:CHANGES]
        usual = 3.0 * statistics.median_high(self.changes or [0.0])
        before, self.alike = self.alike, np.minimum(1.0, ((usual + TINY) / (far2 + TINY)) ** 2)
        self.alike[self.alike < 0.1] = 0.0
        infeasible = float((self.U @ c).min()) + offset > 0.0
        self.w = np.maximum(self.alike, before) if infeasible else self.alike
        keep = list(range(len(self.b)))
        if keep and (not self.violated or self.least()[-1] > 0.0):
            keep.pop()
        elif len(keep) > ROWS:  # the last row replaces the unlikest one, or the slackest
            slack = (self.C @ self.x + self.b) / np.linalg.norm(self.C, axis=1)
            keep[np.argmin((self.w if self.w[:-1].min() < 0.1 else slack)[:-1])] = keep.pop()
        self.C = np.vstack([self.C[keep], c])
        self.b, self.w = np.append(self.b[keep], offset), np.append(self.w[keep], 1.0)
        self.alike = np.append(self.alike[keep], 1.0)
        self.violated = violated

    def project(self, wished: Vector, gap: float, known: bool) -> Vector:
        """Move to the mixture nearest to a point, softly bound by the rows; return their forces.

        Once the oracle was asked, rows count beyond their least value alone.
        """
        A, norms = self.C @ self.U.T, np.linalg.norm(self.C, axis=1)
        unit = np.ptp(A, axis=1) / self.D
        unit = np.where(unit > 1e-12 * norms, unit, norms)
        b = self.b + 0.15 * self.D / math.sqrt(self.t) * unit - (self.least() if known else 0.0)
        k = 100.0 * np.divide(self.w, unit**2, out=np.zeros_like(b), where=unit > 0.0)
        V, on = self.U - self.x, k > 0.0  # differences, so that little is lost to rounding
        self.share = programme(V, wished - self.x, (A[on], b[on], k[on]), self.share, self.D, gap)
        self.x = self.share @ self.U
        return k * np.maximum(0.0, A @ self.share + b)

    def admit(self, v: Vector, d: Vector) -> bool:
        """Make v a column; False if it is one."""
        unused = np.flatnonzero(self.share == 0.0)
        if (((self.U - v) ** 2).sum(axis=1) <= 1e-10 * self.D**2).any():
            return False
        if len(self.U) < self.places:
            self.U, self.share = np.vstack([self.U, v]), np.append(self.share, 0.0)
        elif unused.size:
            self.U[unused[np.argmax(self.U[unused] @ d)]] = v
        else:
            i, j = pair = np.argsort(self.share)[:2]  # the two least shares become one
            total = self.share[pair].sum()
            self.U[j] = self.share[pair] @ self.U[pair] / total
            self.U[i], self.share[i], self.share[j] = v, 0.0, total
        return True


def programme(U: Vector, p: Vector, rows: Any, share: Vector, D: float, gap: float) -> Vector:
    """Return the shares with the least ||U' share - p||^2/2 + sum k_j max(0, A_j share + b_j)^2/2.

    An active set: Newton steps on the columns with shares, then the best other column joins.
    """
    (A, b, k), G, q, S, refused = rows, U @ U.T, U @ p, np.flatnonzero(share).tolist(), set()
    for _ in range(1000):
        r = A @ share + b
        P, grad = r > 0.0, G @ share - q + (k * np.maximum(0.0, r)) @ A
        grad -= grad[S[0]]  # a constant adds nothing but rounding
        H, ones = G[np.ix_(S, S)] + (A[np.ix_(P, S)].T * k[P]) @ A[np.ix_(P, S)], np.ones(len(S))
        d = np.zeros(len(share))
        d[S] = np.linalg.solve(np.block([[H, ones[:, None]], [ones, 0.0]]), [*-grad[S], 0.0])[:-1]
        if -float(grad @ d) > 0.1 * gap:
            refused.clear()
            falls = [(share[i] / -d[i], i) for i in S if d[i] < 0.0]
            most, gone = min([(1.0, -1), *falls])
            step = least_along(d @ (G @ share - q), d @ G @ d, k, r, A @ d, most)
            share = np.maximum(0.0, share + step * d)
            if gone >= 0 and step == most:
                share[gone] = 0.0
                S.remove(gone)
            continue
        best = min(set(range(len(share))) - refused, key=grad.__getitem__)
        if share @ grad - grad[best] <= gap or best in S:
            break
        H, column, own = G[np.ix_(S, S)] + D * D, G[best, S] + D * D, G[best, best] + D * D
        if own - column @ np.linalg.solve(H, column) > 1e-11 * own:
            S.append(best)
        else:  # it depends on the others
            refused.add(best)
    return share / share.sum()


def least_along(slope: float, bend: float, k: Vector, r: Vector, s: Vector, end: float) -> float:
    """Return where in [0, end] the objective is least: its derivative is piecewise linear."""
    turns = -r[s != 0.0] / s[s != 0.0]
    turns = np.unique([0.0, *turns[(turns > 0.0) & (turns < end)], end])
    rises = slope + turns * bend + np.maximum(0.0, r + turns[:, None] * s) @ (k * s)
    if rises[0] > 0.0 or rises[-1] <= 0.0:
        return 0.0 if rises[0] > 0.0 else end
    i = int(np.argmax(rises > 0.0)) - 1
    return float(turns[i] - rises[i] * (turns[i + 1] - turns[i]) / (rises[i + 1] - rises[i]))


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
