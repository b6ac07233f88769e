"""Shares of the edges of a bipartite graph: what assignments and bipartite matchings have alike."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow import kernels
from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import Rows
from hedgerow.sets.paths.graph import incident

if TYPE_CHECKING:
    from scipy import sparse

Nodes = NDArray[np.intp]
DENSE = 10**6
"""Up to this many pairs of nodes a dense matrix of pairs is used, above a sparse one."""
DUST = 1e-14
"""What is left of a unit of mass after a decomposition, through rounding."""
STEPS = 100
"""The most Newton steps at one scale; at most ten have been seen."""
FAR = 16.0
"""Points with larger entries are drawn near before they are projected."""


class _Dual(NamedTuple):
    """A dual point with its shares, its gradient and how far that is from optimal."""

    price: Vector
    x: Vector
    gradient: Vector
    error: float


@dataclass(frozen=True, eq=False)
class Bipartite:
    """Shares x_e >= 0 of edges that sum to at most one at each node, or to one if `perfect`.

    Its vertices are the (perfect) matchings, because the graph is bipartite. The nodes are
    numbered 0 .. left - 1 on one side and left .. left + right - 1 on the other.
    """

    one: Nodes
    two: Nodes
    left: int
    right: int
    perfect: bool

    def degrees(self, x: Vector) -> Vector:
        """Return the sum of the shares at each node."""
        nodes = self.left + self.right
        return _sums(self.one, x, nodes) + _sums(self.two, x, nodes)

    def violations(self, x: Vector) -> tuple[Vector, Vector]:
        """Return how far each share is below zero, and each node's sum above (or off) one."""
        excess = self.degrees(x) - 1.0
        return -x, np.abs(excess) if self.perfect else excess

    def contains(self, x: Vector, tol: float) -> bool:
        """Whether no inequality fails by more than tol."""
        return all(bool(off.max() <= tol) for off in self.violations(x))

    def _check_inside(self, x: Vector) -> None:
        """Refuse x if it is not a mixture of matchings, up to 1e-7."""
        if self.contains(x, 1e-7):
            return
        below, excess = (float(off.max()) for off in self.violations(x))
        raise ValueError(
            "only a point of the set is a mixture of vertices, got one with shares "
            f"{max(0.0, below):g} below 0 and sums {max(0.0, excess):g} off; project it first"
        )

    def incidence(self) -> sparse.csr_array:
        """Return the matrix that sums the shares at each node."""
        from scipy import sparse

        rows, edge = np.concatenate([self.one, self.two]), np.arange(self.one.size)
        columns = np.concatenate([edge, edge])
        shape = (self.left + self.right, edge.size)
        return sparse.csr_array((np.ones(rows.size), (rows, columns)), shape=shape)

    def rows(self) -> Rows:
        """Return the sums at the nodes."""
        size, sums = self.one.size, self.incidence()
        lower, upper, sides = np.zeros(size), np.ones(size), np.ones(sums.shape[0])
        if self.perfect:
            return Rows(lower, upper, A_eq=sums, b_eq=sides)
        return Rows(lower, upper, A_ub=sums, b_ub=sides)

    def separate(self, y: Vector) -> Vector | None:
        """Return the normal of the inequality that y violates most, None if by at most 1e-9."""
        below, excess = self.violations(y)
        e, v = int(np.argmax(below)), int(np.argmax(excess))
        if max(below[e], excess[v]) <= 1e-9:
            return None
        a = np.zeros(y.size)
        if below[e] >= excess[v]:
            a[e] = -1.0
        else:
            sign = 1.0 if self.degrees(y)[v] > 1.0 else -1.0
            a[(self.one == v) | (self.two == v)] = sign
        return a

    def cheapest(self, c: Vector) -> Vector:
        """Return the matching of least total cost, edges of cost above zero left out."""
        from scipy.optimize import linear_sum_assignment

        chosen = np.flatnonzero(c < 0.0)
        if self.left * self.right <= DENSE:
            cost, edge = np.zeros((2, self.left, self.right))
            place = self.one[chosen], self.two[chosen] - self.left
            cost[place] = c[chosen]
            edge[place] = chosen + 1  # 0: no edge
            found = edge[linear_sum_assignment(cost)]
            matched = found[found > 0.0].astype(np.intp) - 1
        else:
            matched = chosen[self._sparse_matching(chosen, c[chosen])]
        v = np.zeros(c.size)
        v[matched] = 1.0
        return v

    def _sparse_matching(self, chosen: Nodes, cost: Vector) -> Nodes:
        """Return which of the chosen edges, all of cost below zero, make the cheapest matching.

        SciPy wants a full matching and takes no zeros: each left node gets a partner of its own
        that costs nothing, and all costs move by the same power of two.
        """
        from scipy import sparse
        from scipy.sparse.csgraph import min_weight_full_bipartite_matching

        if not chosen.size:
            return chosen
        shift = math.ldexp(1.0, math.frexp(float(-cost.min()))[1])
        own = np.arange(self.left)
        rows = np.concatenate([self.one[chosen], own])
        columns = np.concatenate([self.two[chosen] - self.left, self.right + own])
        costs = np.concatenate([cost - shift, np.full(self.left, -shift)])
        table = sparse.csr_array(
            (costs, (rows, columns)), shape=(self.left, self.right + self.left)
        )
        _, partner = min_weight_full_bipartite_matching(table)
        matched: Nodes = np.flatnonzero(partner[self.one[chosen]] == self.two[chosen] - self.left)
        return matched

    def project(self, y: Vector, fallback: Callable[[Vector], Vector]) -> Vector:
        """Return the nearest point by a semismooth Newton method on the prices of the nodes.

        x_e = max(0, y_e - price_i - price_j); prices are of any sign if `perfect`, else >= 0.
        Points far away are drawn near, then come through their halves: doubling y about doubles
        the prices, and from there a few steps suffice. The fallback is asked if Newton's method
        fails.
        """
        y = self.near(y)
        doublings = max(0, math.frexp(float(np.abs(y).max()))[1])
        price = np.zeros(self.left + self.right)
        for k in range(doublings, -1, -1):
            tol = 0.1 if k else 1e-13 * 2.0**doublings
            end = self._newton(np.ldexp(y, -k), 2.0 * price, tol)
            price = end.price
        if end.error > 100.0 * tol:
            return fallback(y)
        # Far from the set the shares are small differences of large numbers.
        return end.x if doublings <= 4 else self.project(end.x, fallback)

    def near(self, y: Vector) -> Vector:
        """Return y, or a point with the same projection if y is far away."""
        return y if np.abs(y).max() <= FAR else nearby_point(self, y, self._heaviest(y))

    def _heaviest(self, y: Vector) -> Vector:
        """Return the (perfect) matching of the largest total weight."""
        from scipy.optimize import linear_sum_assignment

        if not self.perfect:
            return self.cheapest(-y)
        weight, matching = np.zeros((2, self.left, self.right))
        weight[self.one, self.two - self.left] = y
        matching[linear_sum_assignment(weight, maximize=True)] = 1.0
        return matching[self.one, self.two - self.left]

    def _dual(self, y: Vector, price: Vector) -> _Dual:
        x = np.maximum(y - price[self.one] - price[self.two], 0.0)
        gradient = 1.0 - self.degrees(x)
        off = gradient if self.perfect else price - np.maximum(price - gradient, 0.0)
        return _Dual(price, x, gradient, float(np.abs(off).max()))

    def _newton(self, y: Vector, price: Vector, tol: float) -> _Dual:
        """Minimise ||x||^2 / 2 + sum of the prices by projected Newton steps with backtracking."""
        now = self._dual(y, price)
        for _ in range(STEPS):
            if now.error <= tol:
                break
            step, t = self._newton_step(now), 1.0
            while True:
                price = now.price + t * step
                new = self._dual(y, price if self.perfect else np.maximum(price, 0.0))
                moved = new.price - now.price
                change = 0.5 * float((new.x - now.x) @ (new.x + now.x)) + float(moved.sum())
                if change <= 1e-4 * float(now.gradient @ moved) or new.error <= 0.5 * now.error:
                    break
                if t < 1e-10:
                    return now
                t *= 0.5
            now = new
        return now

    def _newton_step(self, now: _Dual) -> Vector:
        """Solve (A D A' + mu) step = -gradient for the nodes whose price is not held at zero.

        A is the incidence matrix and D marks the edges in use.
        """
        held = np.zeros(now.price.size, np.bool_)
        if not self.perfect:
            held = (now.price <= min(1e-3, now.error)) & (now.gradient > 0.0)
        use = now.x > 0.0
        size = self.degrees(use.astype(np.float64)) + max(1e-12, min(1e-2, 0.1 * now.error))
        b = np.where(held, 0.0, -now.gradient)
        use &= ~(held[self.one] | held[self.two])
        solve = _solve_dense if self.left * self.right <= DENSE else _solve_sparse
        return np.where(held, -now.price, solve(self.one[use], self.two[use], self.left, size, b))

    def decompose(self, x: Vector) -> tuple[Vector, Vector]:
        """Return weights and matchings whose mixture is x, at most one more than edges.

        Birkhoff's method: a matching inside the support that covers each node without slack, of
        largest total share among these, is taken out until an edge is used up or a node has no
        slack left. Each matching costs one assignment problem.
        """
        self._check_inside(x)
        x, mass = np.where(x > DUST, x, 0.0), 1.0
        weights: list[float] = []
        vertices: list[Vector] = []
        for _ in range(x.size + 1):
            slack = mass - self.degrees(x)
            tight = (slack <= 100.0 * DUST) | self.perfect
            reward = 1.0 + min(self.left, self.right)  # for a node without slack: above all shares
            worth = x / mass + reward * (tight[self.one].astype(np.float64) + tight[self.two])
            v = self.cheapest(np.where(x > 0.0, -worth, 0.0))
            used = v > 0.0
            bare = self.degrees(v) == 0.0
            if weights and (bare & tight).any():  # what is left is rounding
                break
            weight = float(np.min(np.concatenate([x[used], slack[bare & ~tight]]), initial=mass))
            weights.append(weight)
            vertices.append(v)
            mass -= weight
            x[used] -= weight
            x[x <= DUST] = 0.0
            if mass <= 100.0 * DUST:
                break
        share = np.array(weights)
        return share / share.sum(), np.array(vertices)

    def sample(self, x: Vector, rng: np.random.Generator) -> Vector:
        """Return a random matching with mean x, O(edges x nodes) at worst, far less as a rule.

        Reference: Gandhi, Khuller, Parthasarathy, Srinivasan, Dependent rounding (2006).
        """
        self._check_inside(x)
        shares = np.clip(x, 0.0, 1.0)
        one, two = self.one.astype(np.uint32), self.two.astype(np.uint32)
        begin, around = incident(one, two, self.left + self.right)
        kernels.matchings.round_shares(
            begin, around, one, two, shares, rng.random(x.size), int(self.perfect)
        )
        return shares


def _sums(node: Nodes, x: Vector, nodes: int) -> Vector:
    return np.bincount(node, x, nodes).astype(np.float64, copy=False)


def _solve_dense(one: Nodes, two: Nodes, left: int, size: Vector, b: Vector) -> Vector:
    """Solve by Cholesky for the right side, after the left side is eliminated."""
    from scipy.linalg import cho_factor, cho_solve

    pairs = np.zeros((left, size.size - left))
    pairs[one, two - left] = 1.0
    scaled = pairs / size[:left, None]
    schur = np.diag(size[left:]) - pairs.T @ scaled
    second = cho_solve(cho_factor(schur, check_finite=False), b[left:] - scaled.T @ b[:left])
    return np.concatenate([(b[:left] - pairs @ second) / size[:left], second])


def _solve_sparse(one: Nodes, two: Nodes, left: int, size: Vector, b: Vector) -> Vector:  # noqa: ARG001
    """Solve by a sparse factorisation in a minimum degree order."""
    from scipy import sparse
    from scipy.sparse.linalg import spsolve

    ones, shape = np.ones(one.size), (size.size, size.size)
    pairs = sparse.csc_array((ones, (one, two)), shape=shape)
    matrix = sparse.csc_array(sparse.diags_array(size) + pairs + pairs.T)
    step: Vector = spsolve(matrix, b, permc_spec="MMD_AT_PLUS_A")
    return step


def nearby_point(graph: Bipartite, y: Vector, matching: Vector) -> Vector:
    """Return y' with entries of at most 3 (m + 1) and P(y') = P(y), m the smaller side.

    Let p be the prices that prove the matching heaviest: r_e = y_e - p_i - p_j <= 0, zero on it,
    and, unless it is perfect, p >= 0, zero at bare nodes. From x = P(y) alternating paths lead to
    the matching M. One of them ends at a node v whose sum is below 1, one uses an edge e outside
    of M with x_e > 0, whichever there is; along it <y, .> gains p_v, or -r_e, at least, and
    ||x||^2 / 2 grows by no more than the number of edges of M on it, at most m. As x is nearest,
    p_v <= m, or -r_e <= m. So nodes of larger price have sum 1, and edges of smaller r are empty,
    which stays so for y' = max(r, -m - 1) + min(p, m + 1): by the optimality conditions the
    same x is nearest to y and to y'. Where all sums are 1 prices change nothing and are left out.

    Args:
        graph: the graph.
        y: the point.
        matching: the heaviest (perfect) matching for the weights y.

    """
    one, two, taken, nodes = graph.one, graph.two, matching > 0.0, graph.left + graph.right
    # By left node, its matched edge's weight and other end; a bare one has weight 0, end `nodes`.
    own, mate = np.zeros(graph.left), np.full(graph.left, nodes)
    own[one[taken]], mate[one[taken]] = y[taken], two[taken]
    matched = np.zeros(nodes + 1, np.bool_)
    matched[two[taken]] = True
    price = np.zeros(nodes + 1)  # of right nodes; the longest alternating paths, by Bellman
    for _ in range(graph.left + 1):
        through = (y - own[one]) + price[mate[one]]
        longer = price.copy()
        np.maximum.at(longer, two, through)
        longer[~matched] = 0.0  # above only by rounding
        if np.array_equal(longer, price):
            break
        price = longer
    reach = 1.0 + min(graph.left, graph.right)
    rest: Vector = np.clip(through - price[two], -reach, 0.0)
    if graph.perfect:
        return rest
    price[: graph.left] = own - price[mate]
    price = np.clip(price, 0.0, reach)
    near: Vector = rest + price[one] + price[two]
    return near
