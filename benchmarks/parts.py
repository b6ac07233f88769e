"""Where the time of a round goes: its passes over vectors, and the rest.

A round without tracking on the paper's graph, in which nothing is violated: each pass alone,
repeated over all rounds; all passes in turn, as a round has them; what the surrogate computes
besides; and building the policy, as a share of each round of a game of 1600.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from instances import Tiled
from loops import shortest_path_game
from measure import medians

import hedgerow as hr
from hedgerow.kernels.certificate import certificate_add
from hedgerow.kernels.ocg import accumulate_and_gradient, gap_and_distance_to, move_to
from hedgerow.kernels.paths import list_path
from hedgerow.kernels.vectors import dots_and_norms, dots_and_norms_ahead
from hedgerow.snapshot import aligned_zeros
from hedgerow.surrogates.make_loss import make_loss

NEAR = 16
"""So many rows lie in the second cache."""
BUILT = 20
"""So many policies are built in one act."""


@numba.njit
def evaluate(costs: Any, constraints: Any, x: Any, rounds: int) -> float:
    """Evaluate at a round's two rows."""
    total = 0.0
    for r in range(rounds):
        after = min(r + 1, rounds - 1)
        f, g, p, q = dots_and_norms_ahead(
            costs[r], constraints[r], x, costs[after], constraints[after]
        )
        total += f + g + p + q
    return total


@numba.njit
def certify(ledger: Any, s: Any, rounds: int) -> None:
    """Add a loss to the certificate's sum."""
    for _ in range(rounds):
        certificate_add(ledger, s, 0.0, 0.0, 0.0, 0.0, 0.0)


@numba.njit
def direct(d: Any, S: Any, s: Any, x: Any, x1: Any, rounds: int) -> float:
    """Add a loss to the learner's sum and form the direction."""
    total = 0.0
    for _ in range(rounds):
        total += accumulate_and_gradient(d, S, s, x, x1, 1e-3)[0]
    return total


@numba.njit
def ask(begin: Any, tail: Any, edge: Any, costs: Any, distance: Any, links: Any) -> None:
    """Find a path by costs that change, of rounds that lie in the second cache."""
    for r in range(len(costs)):
        list_path(begin, tail, edge, costs[r % NEAR], distance, links)


@numba.njit
def step(d: Any, x: Any, v: Any, ones: Any, rounds: int) -> float:
    """Measure gap and distance to the vertex that has these ones, and move towards it."""
    total = 0.0
    for _ in range(rounds):
        length, distance2 = gap_and_distance_to(d, x, v, ones, (1e9, 1e9, 1e3))
        move_to(x, v, ones, 1e-3)
        total += length + distance2
    return total


@numba.njit
def in_turn(
    costs: Any,
    constraints: Any,
    graph: Any,
    ledger: Any,
    vectors: Any,
    distance: Any,
    links: Any,
) -> float:
    """Do all of it round by round, as a round without a violation does."""
    begin, tail, edge = graph
    d, S, x, x1, v = vectors
    total = 0.0
    for r in range(len(costs)):
        a, c, after = costs[r], constraints[r], min(r + 1, len(costs) - 1)
        products = dots_and_norms_ahead(a, c, x, costs[after], constraints[after])
        certificate_add(ledger, a, products[0], products[2], 0.0, products[0], products[1])
        found = accumulate_and_gradient(d, S, a, x, x1, 1e-3)
        list_path(begin, tail, edge, d, distance, links)
        ones = links[1 : 1 + links[0]]
        length, _ = gap_and_distance_to(d, x, v, ones, (found[2], found[3], found[4]))
        move_to(x, v, ones, 1e-3)
        total += length
    return total


@numba.njit
def weigh(surrogate: Any, s: Any, a: Any, c: Any, x: Any, rounds: int) -> float:
    """Take in a round that violates nothing: the surrogate."""
    total, seen = 0.0, dots_and_norms(a, c, x)
    for _ in range(rounds):
        total += make_loss(surrogate, s, a, c, -1.0, x, seen)[0]
    return total


def parts() -> list[dict[str, Any]]:
    """Return the microseconds of each part, and how many vectors it reads or writes."""
    problem, table = shortest_path_game()
    X, costs, constraints = problem.decision_set, table.costs, table.constraints
    n, T = X.dim, len(costs)
    graph, space = (X._begin, X._tail, X._edge), (np.empty(X.nodes), np.zeros(X.nodes, np.uint32))
    d, S, x, x1, v = vectors = tuple(aligned_zeros(n) for _ in range(5))
    x[:] = x1[:] = X.start()
    s, ledger, ones = costs[0].copy(), aligned_zeros(2 * n + 8), np.flatnonzero(x).astype(np.uint32)
    policy = hr.projection_free_coco(X, tracking=False)
    game, short = Tiled(X, table, T), Tiled(X, table, 1)
    hr.simulate(policy, game)
    surrogate = policy.surrogate.table

    def build() -> None:
        hr.simulate(hr.projection_free_coco(X, tracking=False), short)

    acts = {
        "evaluate both rows": (3, lambda: evaluate(costs, constraints, x, T)),
        "certificate": (3, lambda: certify(ledger, s, T)),
        "sum and direction": (6, lambda: direct(d, S, s, x, x1, T)),
        "oracle": (2, lambda: ask(*graph, costs, *space)),
        "gap and step": (2, lambda: step(d, x, v, ones, T)),
        "all of these in turn": (
            16,
            lambda: in_turn(costs, constraints, graph, ledger, vectors, *space),
        ),
        "surrogate": (None, lambda: weigh(surrogate, v, s, constraints[0], x, T)),
        "building the policy": (None, lambda: [build() for _ in range(BUILT)]),
        "a round, all in all": (
            None,
            lambda: hr.simulate(hr.projection_free_coco(X, tracking=False), game),
        ),
    }
    found = medians({name: act for name, (_, act) in acts.items()})
    found["building the policy"] /= BUILT
    return [
        {"part": name, "us_per_round": 1e6 * found[name] / T, "vectors": count}
        for name, (count, _) in acts.items()
    ]
