"""Long games on disk, chunk by chunk: one that was killed goes on from its last whole chunk.

A folder holds one game. Each chunk is a file of its own, named by its first round: an .npz of
costs, violations and the policy's snapshot after it, then the SHA-256 of all that. A file that is
not whole ends what can be read, and the game is played from there.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.feedback import first_order
from hedgerow.files import (
    add_digest,
    pack_snapshot,
    replace_files,
    unpack_snapshot,
    without_digest,
)
from hedgerow.games.simulation import check_match, feedback_of, simulate_chunks
from hedgerow.inputs import as_count
from hedgerow.problems.problem import Problem
from hedgerow.protocols.parts import Feedback, ResumablePolicy
from hedgerow.protocols.trace import Trace
from hedgerow.snapshot import Stateful

ROUNDS = 2**16
"""Rounds of a chunk: a MiB on disk, and rarely more than a minute to play again."""


class Chunk(NamedTuple):
    """What a file holds: the rounds' record, and the policy's snapshot after them as bytes."""

    trace: Trace
    snapshot: bytes


def simulate_resumable(
    policy: ResumablePolicy[Any, Any],
    problem: Problem,
    folder: Path | str,
    feedback: Feedback | None = None,
    *,
    every: int = ROUNDS,
) -> Trace:
    """Play a problem to its end as `simulate` does, and keep each chunk of rounds in a folder.

    After a kill, call it again with a policy built in the same way: chunks that are whole are read,
    and the rest is played. Record and policy are those of `simulate`, bit for bit, and at most one
    chunk is played twice. Rounds that were played are drawn again, as they come in order. The
    files stay until you remove them.

    Args:
        policy: a `ResumablePolicy`; it goes on from where it is.
        problem: the rounds, which must not react to the decisions.
        folder: where the chunks go; it holds one game, and is made if need be.
        feedback: what the policy observes; left out, `policy.feedback`.
        every: the least number of rounds in a chunk, which ends with a batch of the loop, of 4096
            rounds at most.

    """
    check_match(policy, problem)
    every, observe = as_count(every, "every"), feedback_of(policy) if feedback is None else feedback
    if not isinstance(policy, Stateful):
        raise TypeError(
            f"a game on disk needs a policy whose snapshots can be written, got "
            f"{type(policy).__name__}; subclass StatefulPlayer, or play it with simulate"
        )
    if problem.adaptive:
        raise ValueError(
            f"{type(problem).__name__} reacts to the plays, so its rounds cannot be found again "
            "from the middle; play it with simulate"
        )
    folder, beginning = Path(folder), _beginning(policy, problem, observe)
    folder.mkdir(parents=True, exist_ok=True)
    traces, snapshot = list[Trace](), b""
    for chunk in _read(folder, beginning):
        traces.append(chunk.trace)
        snapshot = chunk.snapshot
    if snapshot:
        policy.restore(unpack_snapshot(snapshot, folder))
    done, batch = sum(len(trace.costs) for trace in traces), list[Trace]()
    for part in simulate_chunks(policy, problem, observe, skip=done):
        batch.append(part)
        if sum(len(trace.costs) for trace in batch) >= every:
            chunk = Chunk(Trace.joined(batch), pack_snapshot(policy.state()))
            replace_files({_path(folder, done): _packed(chunk, beginning)})
            traces.append(chunk.trace)
            done, batch = done + len(chunk.trace.costs), []
    return Trace.joined([*traces, *batch]).named_by(problem)


def can_resume(policy: object, problem: Problem) -> bool:
    """Whether `simulate_resumable` takes the game."""
    return isinstance(policy, Stateful) and not problem.adaptive


def _beginning(policy: Any, problem: Problem, feedback: Feedback) -> str:
    """Hash what identifies a game: the policy, and the first round at its first decision."""
    x = policy.ask()
    seen = [first_order(f, x) for f in next(iter(problem.rounds()))]
    names = [type(problem).__qualname__, getattr(feedback, "__qualname__", ""), problem.horizon]
    digest = hashlib.sha256(json.dumps(names).encode())
    digest.update(pack_snapshot(policy.state()))
    for at in seen:
        digest.update(np.float64(at.value).tobytes() + np.asarray(at.grad, np.float64).tobytes())
    return digest.hexdigest()


def _path(folder: Path, first: int) -> Path:
    return folder / f"{first:012d}.chunk"


def _read(folder: Path, beginning: str) -> Iterator[Chunk]:
    """Yield the chunks from the first round on, up to one that is missing or damaged."""
    first = 0
    while (content := _whole(_path(folder, first))) is not None:
        chunk, made_by = _unpacked(content)
        if made_by != beginning:
            raise ValueError(
                f"{folder} holds chunks of another game: its policy, its problem or its first "
                "round is another; give another folder, or remove it"
            )
        yield chunk
        first += len(chunk.trace.costs)


def _whole(path: Path) -> bytes | None:
    """Return what a file holds before its digest; None if it is not there, or was damaged."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    return without_digest(content)


def _packed(chunk: Chunk, beginning: str) -> bytes:
    trace, buffer = chunk.trace, io.BytesIO()
    header = {
        "beginning": beginning,
        "oracle_calls": trace.oracle_calls,
        "seconds": trace.seconds,
        "compiled": trace.compiled,
    }
    arrays: dict[str, NDArray[Any]] = {
        "costs": trace.costs,
        "violations": trace.violations,
        "header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
        "snapshot": np.frombuffer(chunk.snapshot, dtype=np.uint8),
    }
    if trace.violations_each is not None:
        arrays["each"] = trace.violations_each
    np.savez(buffer, allow_pickle=False, **arrays)
    return add_digest(buffer.getvalue())


def _unpacked(body: bytes) -> tuple[Chunk, str]:
    with np.load(io.BytesIO(body), allow_pickle=False) as found:
        header = json.loads(found["header"].tobytes())
        trace = Trace(
            found["costs"],
            found["violations"],
            header["oracle_calls"],
            header["seconds"],
            header["compiled"],
            found.get("each"),
        )
        return Chunk(trace, found["snapshot"].tobytes()), str(header["beginning"])
