"""Points far from a polytope of matchings: a point near it that has the same projection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hedgerow.inputs import Vector

if TYPE_CHECKING:
    from hedgerow.sets.matchings.bipartite import Bipartite


def drawn_near(graph: Bipartite, y: Vector, matching: Vector) -> Vector:
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
