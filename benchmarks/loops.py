"""Microseconds per round: the compiled loop, ask and tell, and what people write by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from by_hand import networkx_oracle, play_by_hand, scipy_oracle
from floor import Floor
from instances import Tiled
from measure import Act, Contest, Row, hold

import hedgerow as hr

ROUNDS = 1600
FLOOR = "floor: read the rows once, one pass over the graph"
IN_TURN = "floor in turn: read two rows, one pass with new costs"
ROUND = "a round of projection_free_coco"
PLAIN = "without tracking"


def shortest_path_game() -> tuple[hr.ShortestPath, hr.problems.LinearChunk]:
    """Return the paper's game and all its rounds, drawn once."""
    problem = hr.ShortestPath.random_network(seed=20)
    parts = zip(*problem.chunks(), strict=True)
    return problem, hr.problems.LinearChunk(
        *(np.ascontiguousarray(np.concatenate(part)) for part in parts)
    )


def loops() -> list[Row]:
    """Let all loops take turns on the same rounds; the slow ones play fewer of them."""
    problem, table = shortest_path_game()
    X = problem.decision_set
    edges = [tuple(pair) for pair in X.edges.tolist()]
    ready = list(hr.RecordedProblem(X, problem))
    workspace = X.workspace()

    def played(policy: Any, T: int) -> Any:
        game = Tiled(X, hr.problems.LinearChunk(*(part[:T] for part in table)), T)
        return hr.simulate(policy, game)

    def fused(T: int) -> Any:
        return played(hr.projection_free_coco(X), T)

    def plain(T: int) -> Any:
        return played(hr.projection_free_coco(X, tracking=False), T)

    def ask_tell(T: int) -> Any:
        policy = hr.projection_free_coco(X)
        for cost, constraint in ready[:T]:
            x = policy.ask()
            policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))

    def by_hand(oracle: Any, T: int = ROUNDS) -> Act:
        return lambda _: play_by_hand(X, table, oracle, T)[0]

    networkx, scipy = "NumPy + networkx Bellman-Ford", "NumPy + SciPy Bellman-Ford"
    floor = Floor(X, table)
    slow = {networkx: 160, scipy: 160}
    ends = X.source, X.target
    peers: dict[str, Act | None] = {
        "ask and tell": ask_tell,
        "NumPy + our compiled oracle": by_hand(workspace.lmo),
        scipy: by_hand(scipy_oracle(edges, X.nodes, *ends), slow[scipy]),
        networkx: by_hand(networkx_oracle(edges, *ends), slow[networkx]),
        FLOOR: floor,
        IN_TURN: floor.alternately,
    }
    targets = {"NumPy + our compiled oracle": 8.0, networkx: 350.0, FLOOR: 0.5}
    for loop in (fused, plain):
        assert loop(ROUNDS).compiled, "the loop must be the compiled one"
    rows = []
    for name, act in peers.items():
        contest = Contest(
            ROUND,
            f"{X.nodes} nodes, {X.dim} edges",
            [ROUNDS],
            fused,
            {name: act},
            lambda _, result: getattr(result, "cost", result),
        )
        rows += [_per_round(row, slow.get(name, ROUNDS), targets) for row in hold(contest)]
    both = Contest(
        ROUND,
        f"{X.nodes} nodes, {X.dim} edges",
        [ROUNDS],
        fused,
        {PLAIN: plain},
        lambda _, result: len(result.costs),  # they play different points
    )
    return rows + [_per_round(row, ROUNDS, {PLAIN: 0.4}) for row in hold(both)]


def _per_round(row: Row, T: int, targets: dict[str, float]) -> Row:
    """Divide by the rounds that each side played; results can be compared where T is the same."""
    assert row.ratio is not None
    assert row.theirs is not None
    assert row.theirs_quartiles is not None
    ratio, target = row.ratio * ROUNDS / T, targets.get(row.peer)
    low, high = row.ours_quartiles
    return replace(
        row,
        ours=row.ours / ROUNDS,
        ours_quartiles=(low / ROUNDS, high / ROUNDS),
        theirs=row.theirs / T,
        theirs_quartiles=(row.theirs_quartiles[0] / T, row.theirs_quartiles[1] / T),
        ratio=ratio,
        target="" if target is None else f"{target:g}x",
        met=None if target is None else ratio >= target,
        differs=row.differs if T == ROUNDS else None,
    )
