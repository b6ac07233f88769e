"""Many games at once, one per thread."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hedgerow.games.simulation import simulate
from hedgerow.inputs import as_count
from hedgerow.problems.problem import Problem
from hedgerow.protocols.parts import Policy
from hedgerow.protocols.trace import Trace


def simulate_many(
    games: Iterable[tuple[Policy[Any, Any], Problem]], threads: int | None = None
) -> list[Trace]:
    """Play several games, one per thread, and return their records in order.

    The results are those of `simulate`, one game after the other: compiled games run side by side,
    the rest takes turns.

    Args:
        games: pairs of a policy and its problem; no policy may come twice.
        threads: how many games run at a time; left out, as many as Python thinks fit.

    """
    pairs = list(games)
    if len({id(policy) for policy, _ in pairs}) < len(pairs):
        raise ValueError("each game needs a policy of its own, one came twice; build one for each")
    workers = None if threads is None else as_count(threads, "threads")
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda pair: simulate(*pair), pairs))
