"""`projection_free_coco(X, tracking=False)` as a researcher would write it in NumPy.

It is the library's policy, formula by formula, with an oracle from anywhere. Tangent norms are
plain norms: every coordinate is taken to move freely, as on a graph whose edges are all live.
Rounding errors grow: on the paper's graph total costs agree to 1e-12 after 60 rounds, and to 0.2 %
after 1600.
"""

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
    """Play linear rounds and return total cost and CCV."""
    D, x1 = X.diameter, X.start()
    x, S = x1.copy(), np.zeros(X.dim)
    curved = 0.5 * X.strong_convexity * D  # a step gains more on a strongly convex set
    growth = (3, curved) if curved > 0.0 else (4, 1.0)
    guard = Guard(D, min(X.radius_around(x1), D), *growth)
    weights, steps, retreat = Weights(oracle), Steps(D), Retreat(D, x1)
    inner = more = prices = cost = ccv = 0.0
    for t in range(1, rounds + 1):
        a, c, y = table.costs[t - 1], table.constraints[t - 1], retreat.y
        offset = table.constraint_offsets[t - 1]
        g, violation = float(c @ x) + offset, max(0.0, float(c @ y) + offset)
        cost += float(a @ y) + table.cost_offsets[t - 1]
        ccv += violation
        weights.refuge = None
        cost2, force2, product = float(a @ a), 0.0, 0.0
        weights.costs2 += cost2
        proposed = 0.0
        if g > 0.0:
            force2, product = float(c @ c), float(a @ c)
            lost = inner + more - float(S @ x) - prices
            proposed = weights.propose(t, a, c, g, x, force2, lost)
        else:
            weights.relief = 0.0
        v = g - weights.relief
        w = guard.allow(steps, v, proposed, (cost2, force2, product))
        if g > 0.0:
            weights.forced = w > proposed or (weights.forced and weights.relief > 0.0)
        s = a + w * c if w > 0.0 else a
        prices += w * max(0.0, v)
        inner += float(s @ x)
        S += s
        beta = steps.regularise(float(s @ s))
        d = S + 2.0 * beta * (x - x1)
        vertex = oracle(d)
        step = vertex - x
        gap, length2 = -float(d @ step), float(step @ step)
        sigma = 0.0
        if gap > 0.0 and length2 > 0.0:
            sigma = 1.0 if gap >= 2.0 * beta * length2 else gap / (2.0 * beta * length2)
        more += float(a @ (y - x))
        retreat.count(a, c, violation, x, max(0.0, g), s)
        x = x + sigma * step
        retreat.decide(x, c, offset, weights.refuge)
        steps.M = inner - float(S @ x) - beta * float((x - x1) @ (x - x1))
        steps.left = gap - sigma * gap + beta * sigma * sigma * length2
    return cost, ccv


class Retreat:
    """The decision y: on the way to the learner's x, or back to z from where that is violated."""

    def __init__(self, D: float, x1: Vector):
        self.D, self.y, self.z = D, x1, x1
        self.lost, self.squares, self.paid = np.zeros(2), np.zeros(2), 0.0

    def count(
        self, a: Vector, c: Vector, violation: float, x: Vector, learner: float, s: Vector
    ) -> None:
        """Add what y cost and violated more than x; s is the gradient of the learner's loss."""
        self.paid += float(2.0 * (s - a) @ (x - self.y) - a @ (self.y - x))
        self.lost += float(a @ (self.y - x)), violation - learner
        self.squares += float(a @ a), float(c @ c) if violation > 0.0 else 0.0

    def decide(self, x: Vector, c: Vector, offset: float, safest: Vector | None) -> None:
        """Choose y after a round with the constraint <c, .> + offset."""
        if float(c @ self.y) + offset <= 0.0:
            self.z = self.y
        elif safest is not None and float(c @ self.z) + offset > 0.0:
            self.z = safest
        last, self.y = self.y, x
        limits = self.D * np.sqrt(self.squares) * [1.0, 1.0 / 64.0]
        if (self.lost > limits).any():
            return
        ahead, back = float(c @ x) + offset, float(c @ self.z) + offset
        if self.paid > 0.0 and self.lost[0] <= limits[0] / 4.0:  # going slowly has paid
            slow = last + (x - last) / 8.0
            if float(c @ slow) + offset <= max(0.0, ahead):
                self.y, ahead = slow, float(c @ slow) + offset
        if ahead > 0.0 and back < ahead:
            share = 1.0 if back >= 0.0 else ahead / (ahead - back)
            self.y = self.y + share * (self.z - self.y)


class Weights:
    """The wished weight on the constraint, in units of what was seen."""

    def __init__(self, oracle: Oracle):
        self.oracle = oracle
        self.refuge: Vector | None = None
        self.costs2 = self.relief = self.rate = self.infeasible_rate = 0.0
        self.forced = False
        self.usual, self.ordinary = 0.0, 0
        self.top = self.second = self.violation = 0.0
        self.violated = self.counted = self.infeasible = 0

    def propose(
        self, t: int, a: Vector, c: Vector, g: float, x: Vector, force2: float, lost: float
    ) -> float:
        """Take in a violation g at x and return the weight, before the guard."""
        Gg = math.sqrt(force2)
        steep = self.ordinary > 0 and Gg > 4.0 * self.usual
        stands_out = g > 2.0 * (self.second or self.top) or self.relief > 0.0 or steep
        if stands_out or self.forced:
            self.relief = self.unavoided(a, c, g, x, stands_out)
        v = g - self.relief
        counts = self.violated == 0 or self.relief == 0.0
        if counts:
            self.second = max(self.second, min(self.top, v))
            self.top = max(self.top, v)
        U = self.second or self.top
        if counts:
            self.violation = min(self.violation, self.violated * U) + min(v, U)
            self.violated += 1
        if force2 <= 0.0:
            return 0.0
        self.counted += 1
        if not steep:
            self.ordinary += 1
            self.usual += (Gg - self.usual) / self.ordinary
        Gf = math.sqrt(self.costs2 / t) * (t / self.counted) ** 0.25
        rate = max(self.rate, self.infeasible_rate) if self.relief > 0.0 else self.rate
        ratio = max(Gf, 4.0 * rate * Gg) / Gg
        regret = max(0.0, lost) / (ratio * U)
        k = min(max(9.0, 0.375 * math.sqrt(t)), 9.0 + 0.375 * regret)
        q = 6.0
        if self.relief == 0.0:
            q += max(self.violation / U, math.log2(1.0 + self.violated))
        else:
            self.infeasible += v > 0.1 * U
            q += math.log2(1.0 + self.infeasible / 16.0)
        return ratio * min(max(5.0 / k * (q / k) ** 4, 0.5), math.sqrt(t))

    def unavoided(self, a: Vector, c: Vector, g: float, x: Vector, stands_out: bool) -> float:
        """Return the part of a violation that no action avoids; learn what safety costs."""
        self.refuge = safest = self.oracle(c)
        away = x - safest
        avoided, price = float(c @ away), -float(a @ away)
        if g - avoided > 1e-9 * g:
            if avoided > 0.1 * (self.second or self.top):
                self.infeasible_rate = max(price / avoided, 0.5 * self.infeasible_rate)
            return g - avoided
        if avoided > 0.0 and stands_out:
            self.rate = max(price / avoided, 0.5 * self.rate)
        return 0.0


class Steps:
    """The regulariser that the certificate asks for, between a floor and a cap."""

    def __init__(self, D: float):
        self.D = D
        self.P = self.beta = self.M = self.left = self.ordered = 0.0

    def capped(self, s2: float) -> float:
        """Return beta_t for a loss of squared norm s2."""
        unit = (self.P + s2 ** (2.0 / 3.0)) ** 0.75 / self.D
        return max(self.beta, unit / 32.0, min(self.M / (0.03 * self.D**2), unit))

    def regularise(self, s2: float) -> float:
        """Take in a loss; return beta_t, or what the guard ordered."""
        self.beta = max(self.beta, self.ordered) if self.ordered > 0.0 else self.capped(s2)
        self.P += s2 ** (2.0 / 3.0)
        self.ordered = 0.0
        return self.beta


class Guard:
    """Grants wished weights and steps while they cannot break the proved bound."""

    def __init__(self, D: float, R: float, q: int, a: float):
        self.D, self.R2, self.q, self.a = D, R * R, q, a
        self.dual, rho = q / (q - 1.0), (R / D) ** 2
        # the schedule's best factor
        self.kappa = ((q - 1.0) * rho * a ** (1.0 / (q - 1.0))) ** (-1.0 / self.dual)
        self.C = q * self.dual * rho * self.kappa
        self.Phi = self.Pc = self.Wc = self.We = self.risen = 0.0
        self.costs = 0.0
        self.refuted = False

    def allow(
        self, steps: Steps, value: float, proposed: float, sizes: tuple[float, float, float]
    ) -> float:
        """Return the weight; sizes are ||grad f||^2, ||grad g||^2 and their inner product."""
        cost2, force2, product = sizes
        CD, q, dual = self.C * self.D, self.q, self.dual
        most = max(0.0, self.risen + self.R2 * steps.beta) + self.D * self.costs
        self.refuted = self.refuted or self.Wc + self.We > (1.0 + 1e-6) * most
        self.Phi += cost2 ** (self.dual / 2.0)
        self.costs += math.sqrt(cost2)
        if self.refuted:  # no action satisfies all rounds: there is nothing to guard
            return proposed

        def size2(w: float) -> float:
            return max(0.0, cost2 + w * (2.0 * product + w * force2))

        floor = 0.0
        if value > 0.0 and force2 > 0.0:
            kappa = CD * math.sqrt(force2)
            m = 0.25 / {3: 0.178, 4: 0.1281}[q] * CD * self.Phi ** (1.0 / dual)
            floor = (m + self.Wc) / kappa * min(value / kappa, 1.0 / self.C) ** (q - 1)
        weight = max(proposed, floor)
        self.Pc += size2(floor) ** (dual / 2.0)
        root = self.Pc ** (1.0 / dual)
        b = self.kappa * root / self.D
        known = min(self.risen, steps.M + dual * steps.left)
        first = (self.a * self.kappa) ** (1.0 - dual) * self.D * root
        allowance = dual * (first + self.R2 * b) - known + self.We
        allowance += 0.25 * CD * self.Phi ** (1.0 / dual)

        def rise(w: float, beta: float) -> float:
            norm, D = math.sqrt(size2(w)), self.D
            more = dual * norm * D
            if beta > 0.0:
                factor = (D ** (q - 2) / (self.a * beta)) ** (dual - 1.0)
                more = min(more, factor * norm**dual)
            return more + (beta - steps.beta) * self.R2 * (dual - 1.0)

        def fits(w: float, beta: float) -> bool:
            left = rise(w, beta) + self.R2 * (beta + dual * max(0.0, b - beta))
            return left - (w - floor) * value <= allowance

        beta = wished = steps.capped(size2(weight))
        if not fits(weight, beta):
            beta = max(wished, b)
            if not fits(weight, beta):
                low, high, beta = floor, weight, max(steps.beta, b)
                for _ in range(40):
                    middle = 0.5 * (low + high)
                    tried = max(steps.capped(size2(middle)), b)
                    if fits(middle, tried):
                        low, beta = middle, tried
                    else:
                        high = middle
                weight = low
            steps.ordered = beta
        self.risen = known + rise(weight, beta)
        self.Wc += floor * max(0.0, value)
        self.We += (weight - floor) * max(0.0, value)
        return weight


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
