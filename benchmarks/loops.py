"""Microseconds a round: the compiled loop, ask and tell, and what people write by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from by_hand import networkx_oracle, play_by_hand, scipy_oracle
from measure import Act, Contest, Row, Target, hold
from tiled import Tiled

import hedgerow as hr

FLOOR = "floor: read the rows once, and one oracle call"


def shortest_path_game() -> tuple[hr.ShortestPath, hr.LinearChunk]:
    """Return the paper's game and all its rounds, drawn once."""
    problem = hr.ShortestPath.atlas_like(seed=20)
    parts = zip(*problem.chunks(), strict=True)
    return problem, hr.LinearChunk(*(np.ascontiguousarray(np.concatenate(part)) for part in parts))


def loops() -> list[Row]:
    """Let all loops take turns on the same rounds; the slow ones play fewer of them."""
    problem, table = shortest_path_game()
    X = problem.decision_set
    edges = [tuple(pair) for pair in X.edges.tolist()]
    ready = list(hr.Recorded(X, problem))
    workspace = X.workspace()

    def fused(T: int) -> Any:
        game = Tiled(X, hr.LinearChunk(*(part[:T] for part in table)), T)
        return hr.simulate(hr.projection_free_coco(X), game)

    def ask_tell(T: int) -> Any:
        policy = hr.projection_free_coco(X)
        for cost, constraint in ready[:T]:
            x = policy.ask()
            policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))

    def floor(T: int) -> Any:
        for a, c in zip(table.costs[:T], table.constraints[:T], strict=True):
            a.sum()
            c.sum()
            workspace.lmo(a)

    def by_hand(oracle: Any) -> Act:
        return lambda T: play_by_hand(X, table, oracle, T)

    slow = {"NumPy + networkx Bellman-Ford", "NumPy + SciPy Bellman-Ford"}
    peers: dict[str, Act | None] = {
        "ask and tell": ask_tell,
        "NumPy + our compiled oracle": by_hand(workspace.lmo),
        "NumPy + SciPy Bellman-Ford": by_hand(scipy_oracle(edges, X.nodes, X.source, X.target)),
        "NumPy + networkx Bellman-Ford": by_hand(networkx_oracle(edges, X.source, X.target)),
        FLOOR: floor,
    }
    targets = {
        "NumPy + our compiled oracle": Target(8.0),
        "NumPy + networkx Bellman-Ford": Target(200.0),
        FLOOR: Target(0.5),
    }
    assert fused(1600).compiled, "the loop must be the compiled one"
    rows = []
    for name, act in peers.items():
        T = 160 if name in slow else 1600
        contest = Contest(
            "a round of projection_free_coco",
            f"{X.nodes} nodes, {X.dim} edges",
            [T],
            fused,
            {name: act},
            lambda _, result: 0.0 if result is None else getattr(result, "cost", result),
            {name: targets[name]} if name in targets else {},
        )
        rows += [_per_round(row, T) for row in hold(contest)]
    return rows


def _per_round(row: Row, T: int) -> Row:
    from dataclasses import replace

    low, high = row.ours_quartiles
    theirs = row.theirs_quartiles
    return replace(
        row,
        ours=row.ours / T,
        ours_quartiles=(low / T, high / T),
        theirs=None if row.theirs is None else row.theirs / T,
        theirs_quartiles=None if theirs is None else (theirs[0] / T, theirs[1] / T),
    )
