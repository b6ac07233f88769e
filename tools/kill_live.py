"""Kill the writers of a live session at random moments while others open and read it.

    python tools/kill_live.py [kills in SQLite] [kills in PostgreSQL] [seed]

The states of observers, and of the session at the end, are compared with a replay of the journal;
the session is compared with one that was not disturbed. Writes evidence/kill_live.json.
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
from hedgerow.live.payloads import digest_of, pack_action, unpack_action, unpack_feedback, value_of
from hedgerow.live.schema import ASK, JOURNAL, TELL
from hedgerow.live.store import session_row
from postgres_server import available, postgres_server

BLOCK = ("ask 0", "ask 1", "tell 1", "ask 2", "tell 0", "tell 2")
"""Three rounds: feedback comes late and out of order."""
KILLED, QUIET = "killed", "quiet"
OBSERVERS = 2
EVERY = 16


def new_policy() -> Any:
    """Return the policy of every run."""
    problem = hr.ShortestPath.random_network(nodes=30, edges=90, horizon=10, seed=0)
    return hr.projection_free_coco(problem.decision_set)


def functions(round_: int, dim: int) -> tuple[hr.Linear, hr.Linear]:
    """Return what happens in a round, the same for every observer."""
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
    with hr.live.open_session(place, KILLED, policy, every=EVERY) as session:
        while True:
            line = " ".join((str(index), *operation(session, index)))
            os.write(pipe, line.encode() + b"\n")
            index += 1


def disturb(
    place: str, kills: int, rng: random.Random, longest: float
) -> dict[int, tuple[str, ...]]:
    """Kill the writer this often; return what was acknowledged by each operation."""
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
        received = b""
        while select.select([reading], [], [], 0.0)[0] and (part := os.read(reading, 1 << 16)):
            received += part
        os.close(reading)
        for line in received.decode().split("\n")[:-1]:
            index, *what = line.split()
            if acknowledged.setdefault(int(index), tuple(what)) != tuple(what):
                raise AssertionError(f"operation {index} was acknowledged in two ways: {line}")
    return acknowledged


def finish(place: str, name: str, begin: int, end: int) -> str:
    """Play quietly from one operation to another; return the checksum of the final state."""
    with hr.live.open_session(place, name, new_policy(), every=EVERY) as session:
        for index in range(begin, end):
            operation(session, index)
        session.certificate()
        return str(session.policy.state()["checksum"])


class Replay:
    """The state of a session, computed from the first row of its journal on.

    Args:
        policy: a new one.

    """

    def __init__(self, policy: Any):
        self.policy, self.seq = policy, 0
        self.totals = 0, 0.0, 0.0, 0
        self._actions: dict[int, Any] = {}

    def up_to(self, store: Any, name: str, last: int | None = None) -> tuple[str, Any]:
        """Return checksum and totals after row `last` of a journal that was never compacted."""
        dim = self.policy.decision_set.dim
        for row in journal_in(store, name, self.seq, last):
            if row.kind == ASK:
                self._actions[row.round] = unpack_action(row.payload, row.digest, dim)
            elif row.kind == TELL:
                cost, constraint = unpack_feedback(row.payload, row.digest, dim)
                at = self._actions.pop(row.round)
                late = {} if np.array_equal(at, self.policy.ask()) else {"at": at}
                self.policy.tell(cost, constraint, **late)
                count, total, ccv, violated = self.totals
                over = value_of(constraint)
                self.totals = (
                    count + 1,
                    total + value_of(cost),
                    ccv + max(0.0, over),
                    violated + (over > 0.0),
                )
            self.seq = row.seq
        return str(self.policy.state()["checksum"]), self.totals


def state_of(session: Any) -> tuple[int, tuple[str, Any]]:
    """Return the row that a session has reached, its checksum and its totals."""
    replica = session._replica
    totals = replica.totals[:4]  # the fifth is of several constraints
    return replica.seq, (str(session.policy.state()["checksum"]), totals)


def observe(place: str, policy: Any, stop: int, result: int) -> None:
    """Open and read the session until stopped, and compare each state with a replay."""
    start, seen = policy.state(), {"openings": 0, "states": 0, "wrong": 0}
    replay = Replay(new_policy())
    while not select.select([stop], [], [], 0.0)[0]:
        policy.restore(start)
        with hr.live.open_session(place, KILLED, policy, every=EVERY) as session:
            seen["openings"] += 1
            for _ in range(3):
                seq, state = state_of(session)
                seen["states"] += 1
                seen["wrong"] += state != replay.up_to(session.store, KILLED, seq)
                session.certificate()
    os.write(result, json.dumps(seen).encode())


def observers(place: str) -> Any:
    """Start observers; return a function that ends them and returns what they saw."""
    stop, stopped = os.pipe()
    begun = []
    for _ in range(OBSERVERS):
        policy, (reading, writing) = new_policy(), os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(stopped)
                observe(place, policy, stop, writing)
            finally:
                os._exit(1)
        os.close(writing)
        begun.append((child, reading))

    def end() -> dict[str, int]:
        os.close(stopped)
        seen: dict[str, int] = {"openings": 0, "states": 0, "wrong": 0}
        for child, reading in begun:
            os.waitpid(child, 0)
            for name, count in json.loads(os.read(reading, 1 << 16)).items():
                seen[name] += count
            os.close(reading)
        os.close(stop)
        return seen

    return end


def journal(place: str, name: str) -> list[Any]:
    """Return the journal of a session."""
    with hr.live.Store(place) as store:
        return journal_in(store, name)


def journal_in(store: Any, name: str, after: int = 0, last: int | None = None) -> list[Any]:
    """Return the journal of a session in an open store, or rows of it."""
    with store.reading() as connection:
        session = session_row(connection, name).id
        own = sql.select(JOURNAL).where(JOURNAL.c.session == session, JOURNAL.c.seq > after)
        if last is not None:
            own = own.where(JOURNAL.c.seq <= last)
        return list(connection.execute(own.order_by(JOURNAL.c.seq)))


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
        wrong.append("a round has feedback twice")
    if any(row.round not in asks or row.seq <= asks[row.round].seq for row in tells):
        wrong.append("a round has feedback before its decision")
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
    finish(place, KILLED, 0, 0)
    begin, end_observers = time.perf_counter(), observers(place)
    acknowledged = disturb(place, kills, random.Random(seed), longest)  # noqa: S311
    seen = end_observers()
    end = len(BLOCK) * (len(acknowledged) // len(BLOCK) + 2)
    state = finish(place, KILLED, max(0, len(acknowledged) - 2), end)
    same = finish(place, QUIET, 0, end)
    with hr.live.Store(place) as store:
        replayed, _ = Replay(new_policy()).up_to(store, KILLED)
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
        "openings by observers": seen["openings"],
        "states of observers": seen["states"],
        "states unlike a replay": seen["wrong"] + (replayed != state),
        "final state bit-identical": state == same,
        "journal bit-identical": facts
        == [(r.kind, r.round, r.digest) for r in journal(place, QUIET)],
        "rounds": end // 2,
        "seconds": round(time.perf_counter() - begin, 1),
    }


def main() -> None:
    """Kill as often as asked for and write the verdict."""
    counts = [int(given) for given in sys.argv[1:]] + [200, 200, 0][len(sys.argv) - 1 :]
    verdict: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        verdict["SQLite"] = trial(f"{folder}/store.db", counts[0], counts[2], longest=0.8)
    if counts[1] and available():
        with postgres_server() as place:
            verdict["PostgreSQL"] = trial(place, counts[1], counts[2], longest=0.8)
    text = json.dumps(verdict, indent=1) + "\n"
    (Path(__file__).parents[1] / "evidence" / "kill_live.json").write_text(text)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
