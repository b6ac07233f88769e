"""Kill a live session at random moments, and compare it with one that nobody disturbed.

    python tools/kill_live.py [kills in SQLite] [kills in PostgreSQL] [seed]

Writes evidence/kill_live.json.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sql

import hedgerow as hr
from hedgerow.live.payloads import digest_of, pack_action
from hedgerow.live.schema import ASK, JOURNAL, TELL
from hedgerow.live.store import session_row
from postgres_server import available, postgres_server

BLOCK = ("ask 0", "ask 1", "tell 1", "ask 2", "tell 0", "tell 2")
"""Three rounds: feedback comes late and out of order."""
KILLED, QUIET = "killed", "quiet"


def new_policy() -> Any:
    """Return the policy of every run."""
    problem = hr.ShortestPath.atlas_like(nodes=30, edges=90, horizon=10, seed=0)
    return hr.projection_free_coco(problem.decision_set)


def functions(round_: int, dim: int) -> tuple[hr.Linear, hr.Linear]:
    """Return what happens in a round, whoever looks."""
    rng = np.random.default_rng(round_)
    return hr.Linear(rng.random(dim)), hr.Linear(rng.random(dim), -0.1 * dim)


def operation(session: Any, index: int) -> tuple[str, ...]:
    """Do one operation of the schedule and return what was acknowledged."""
    block, place = divmod(index, len(BLOCK))
    word, offset = BLOCK[place].split()
    round_ = 3 * block + int(offset) + 1
    decision = f"round-{round_}"
    if word == "ask":
        made = session.ask(key=decision)
        return word, decision, str(made.round), digest_of(pack_action(made.action))
    done = session.tell(decision, *functions(round_, session.policy.decision_set.dim))
    return word, decision, str(done.round), str(done.order)


def victim(place: str, policy: Any, index: int, pipe: int) -> None:
    """Go on from an operation until killed, and say what was acknowledged."""
    with hr.live.open(place, KILLED, policy, every=16) as session:
        while True:
            line = " ".join((str(index), *operation(session, index)))
            os.write(pipe, line.encode() + b"\n")
            index += 1


def disturb(
    place: str, kills: int, rng: random.Random, longest: float
) -> dict[int, tuple[str, ...]]:
    """Kill so often; return what was acknowledged by each operation."""
    policy = new_policy()
    start = policy.state()
    acknowledged: dict[int, tuple[str, ...]] = {}
    for _ in range(kills):
        policy.restore(start)
        reading, writing = os.pipe()
        begin = max(0, len(acknowledged) - 2)  # done again: it must change nothing
        child = os.fork()
        if child == 0:
            try:
                os.close(reading)
                victim(place, policy, begin, writing)
            finally:
                os._exit(1)
        os.close(writing)
        time.sleep(rng.uniform(0.0, longest))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        told = b""
        while select.select([reading], [], [], 0.0)[0] and (part := os.read(reading, 1 << 16)):
            told += part
        os.close(reading)
        for line in told.decode().split("\n")[:-1]:
            index, *what = line.split()
            if acknowledged.setdefault(int(index), tuple(what)) != tuple(what):
                raise AssertionError(f"operation {index} was acknowledged in two ways: {line}")
    return acknowledged


def finish(place: str, name: str, begin: int, end: int) -> str:
    """Play quietly from one operation to another; return the checksum of the final state."""
    with hr.live.open(place, name, new_policy(), every=16) as session:
        for index in range(begin, end):
            operation(session, index)
        session.certificate()
        return str(session.policy.state()["checksum"])


def journal(place: str, name: str) -> list[Any]:
    """Return the journal of a session."""
    with hr.live.Store(place) as store:
        return journal_in(store, name)


def journal_in(store: Any, name: str) -> list[Any]:
    """Return the journal of a session in an open store."""
    with store.reading() as connection:
        session = session_row(connection, name).id
        own = sql.select(JOURNAL).where(JOURNAL.c.session == session).order_by(JOURNAL.c.seq)
        return list(connection.execute(own))


def broken_invariants(rows: list[Any]) -> list[str]:
    """Return what is wrong with a journal: nothing."""
    wrong = []
    if [row.seq for row in rows] != list(range(1, len(rows) + 1)):
        wrong.append("rows are not numbered one by one")
    asks = {row.round: row for row in rows if row.kind == ASK}
    tells = [row for row in rows if row.kind == TELL]
    if sorted(asks) != list(range(1, len(asks) + 1)) or len(asks) + len(tells) != len(rows):
        wrong.append("rounds are not numbered one by one")
    if len({row.round for row in tells}) != len(tells):
        wrong.append("a round was told twice")
    if any(row.round not in asks or row.seq <= asks[row.round].seq for row in tells):
        wrong.append("a round was told before it was asked for")
    if any(digest_of(row.payload) != row.digest for row in rows if row.payload is not None):
        wrong.append("a payload does not fit its digest")
    if len({row.decision for row in asks.values()}) != len(asks):
        wrong.append("two decisions have one id")
    return wrong


def trial(place: str, kills: int, seed: int, longest: float) -> dict[str, Any]:
    """Disturb one session, play another in peace, and compare them."""
    finish(place, "warm", 0, 3 * len(BLOCK))  # what is imported and compiled is there after a fork
    begin = time.perf_counter()
    finish(place, "warm", 0, 3 * len(BLOCK))
    longest = max(longest, 2.0 * (time.perf_counter() - begin))  # on a busy machine all is slower
    begin = time.perf_counter()
    acknowledged = disturb(place, kills, random.Random(seed), longest)  # noqa: S311
    end = len(BLOCK) * (len(acknowledged) // len(BLOCK) + 2)
    state = finish(place, KILLED, max(0, len(acknowledged) - 2), end)
    same = finish(place, QUIET, 0, end)
    rows = journal(place, KILLED)
    stored = {(row.kind, row.round): row for row in rows}
    lost = 0
    for word, _, round_, proof in acknowledged.values():
        row = stored.get((ASK if word == "ask" else TELL, int(round_)))
        lost += row is None or proof not in (row.digest, str(row.seq))
    facts = [(row.kind, row.round, row.digest) for row in rows]
    return {
        "kills": kills,
        "acknowledged": len(acknowledged),
        "acknowledged facts lost": lost,
        "counted twice": len(facts) - len({fact[:2] for fact in facts}),
        "broken invariants": broken_invariants(rows),
        "final state bit-identical": state == same,
        "journal bit-identical": facts
        == [(r.kind, r.round, r.digest) for r in journal(place, QUIET)],
        "rounds": end // 2,
        "seconds": round(time.perf_counter() - begin, 1),
    }


def main() -> None:
    """Kill as often as asked for and write the verdict."""
    counts = [int(given) for given in sys.argv[1:]] + [1000, 200, 0][len(sys.argv) - 1 :]
    verdict: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        verdict["SQLite"] = trial(f"{folder}/store.db", counts[0], counts[2], longest=0.15)
    if counts[1] and available():
        with postgres_server() as place:
            verdict["PostgreSQL"] = trial(place, counts[1], counts[2], longest=0.8)
    text = json.dumps(verdict, indent=1) + "\n"
    (Path(__file__).parents[1] / "evidence" / "kill_live.json").write_text(text)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
