"""Many games at once, one per thread or process."""

from __future__ import annotations

import multiprocessing
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeGuard

from hedgerow.games.simulation import simulate
from hedgerow.inputs import as_count
from hedgerow.problems.problem import LinearProblem, Problem, store_rounds
from hedgerow.protocols.parts import Policy
from hedgerow.protocols.trace import Trace

Game = tuple[Policy[Any, Any], Problem]
LARGEST_FILE = 2**32
"""Rounds that would take more bytes are not shared: each game draws its own, chunk by chunk."""


def simulate_many(
    games: Iterable[Game], threads: int | None = None, *, processes: int | None = None
) -> list[Trace]:
    """Play several games, one per thread or process, and return their records in order.

    Records and policies are those of `simulate`, one game after the other, bit for bit. Compiled
    games run side by side in threads, the rest takes turns; processes run everything side by side,
    but take a second to start, and need a script to guard its own start by
    `if __name__ == "__main__":`. Linear rounds that several games play are drawn once, into a
    temporary file that all of them map into their memory.

    Args:
        games: pairs of a policy and its problem; no policy may come twice.
        threads: how many games run at a time; left out, as many as Python thinks fit.
        processes: how many games run at a time, each in a process, instead of threads; each policy
            must then be a `ResumablePolicy`.

    """
    pairs = list(games)
    if len({id(policy) for policy, _ in pairs}) < len(pairs):
        raise ValueError("each game needs a policy of its own, one came twice; build one for each")
    if processes is None:
        workers = None if threads is None else as_count(threads, "threads")
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
            return list(pool.map(_played, shared(pairs, Path(folder))))
    if threads is not None:
        raise ValueError(
            f"games run in threads or in processes, got threads={threads!r} and "
            f"processes={processes!r}; give one of them"
        )
    for policy, _ in pairs:
        if not (hasattr(policy, "state") and hasattr(policy, "restore")):
            raise TypeError(
                "a policy that plays in another process needs state() and restore(), "
                f"{type(policy).__name__} lacks them; use threads"
            )
    start = multiprocessing.get_context("spawn")  # a fork could copy a lock that is held
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(as_count(processes, "processes"), start) as pool,
    ):
        return _brought_back(pool, shared(pairs, Path(folder)))


def shared(pairs: Sequence[Game], folder: Path) -> list[Game]:
    """Return the games, with rounds that come several times drawn once into files of the folder."""
    times = Counter(id(problem) for _, problem in pairs)
    stored: dict[int, Problem] = {}
    for _, problem in pairs:
        if id(problem) not in stored and times[id(problem)] > 1 and _is_storable(problem):
            stored[id(problem)] = store_rounds(problem, folder / str(len(stored)))
    return [(policy, stored.get(id(problem), problem)) for policy, problem in pairs]


def _is_storable(problem: Problem) -> TypeGuard[LinearProblem]:
    """Whether its rounds are known beforehand, and are what its chunks say."""
    if not isinstance(problem, LinearProblem) or problem.adaptive:
        return False
    size = 16 * problem.horizon * (problem.decision_set.dim + 1)
    return type(problem).rounds is LinearProblem.rounds and size <= LARGEST_FILE


def _played(game: Game) -> Trace:
    return simulate(*game)


def _played_apart(game: Game) -> tuple[Trace, Any]:
    policy: Any = game[0]
    return simulate(*game), policy.state()


def _brought_back(pool: Executor, games: Sequence[Game]) -> list[Trace]:
    """Play in other processes, and restore the policies here to where they ended."""
    traces = []
    for (policy, _), (trace, end) in zip(games, pool.map(_played_apart, games), strict=True):
        player: Any = policy
        player.restore(end)
        traces.append(trace)
    return traces
