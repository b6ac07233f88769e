"""Kill the live service at random moments while clients ask and report at the same time.

    python tools/kill_service.py [kills in SQLite] [kills in PostgreSQL] [seed]

Every answer that a client received is looked for in the store, and the state of the session is
compared with a replay of its journal. Writes evidence/kill_service.json.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn

import hedgerow as hr
from hedgerow.live.admission import Limits
from hedgerow.live.connections import limited_protocol
from hedgerow.live.opening import begin
from hedgerow.live.payloads import digest_of, pack_action
from hedgerow.live.schema import ASK, TELL
from hedgerow.live.service import make_app
from hedgerow.live.specs import Spec, policy_of
from hedgerow.live.tokens import make_token
from http_by_hand import Line
from kill_live import Replay, broken_invariants, journal, state_of
from postgres_server import available, postgres_server

NAME, DIM, CLIENTS, EVERY = "killed", 6, 8, 32
SPEC = Spec(method="projection_free_coco", set={"kind": "Simplex", "n": DIM}, every=EVERY)
Acknowledged = dict[str, tuple[Any, ...]]
"""What was answered, by the kind and the id of the decision."""


def session(place: str) -> hr.live.Session:
    """Open the session as the service does."""
    spec = json.dumps(SPEC.given())
    return begin(place, NAME, policy_of(SPEC), every=EVERY, spec=spec)


def serve(place: str, pipe: int) -> None:
    """Serve a store in this process, and write the port to a pipe."""
    limits = Limits(rate=1e6)
    app = make_app(hr.live.Store(place), limits=limits)
    config = uvicorn.Config(
        app, port=0, log_level="critical", http=limited_protocol(limits), ws="none"
    )
    server = uvicorn.Server(config)

    async def run() -> None:
        serving = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.001)
        os.write(pipe, f"{server.servers[0].sockets[0].getsockname()[1]}\n".encode())
        await serving

    asyncio.run(run())


def forked(work: Callable[[int], None]) -> tuple[int, int]:
    """Run work in a child process; return its number and the number that it wrote."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            work(writing)
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        return child, int(pipe.readline())


async def client(
    line: Line, number: int, first: int, acknowledged: Acknowledged, answered: asyncio.Event
) -> None:
    """Ask and report from a round on, until the service is gone; the first may be a repetition."""
    rng = np.random.default_rng(number)
    c = rng.random(DIM)
    for k in range(first, first + 100_000):
        key = f"{number}-{k}"
        status, made = await line.post(
            f"/sessions/{NAME}/decisions", json.dumps({"key": key}).encode()
        )
        expect(status, made)
        action = np.array(made["action"])
        record(acknowledged, f"ask {key}", (made["round"], digest_of(pack_action(action))))
        answered.set()
        cost, limit = float(c @ action), float(action[0]) - 0.2
        seen = [
            {"value": cost, "gradient": c.tolist()},
            {"value": limit, "gradient": np.eye(DIM)[0].tolist()},
        ]
        told = {"id": key, "cost": seen[0], "constraint": seen[1]}
        status, done = await line.post(f"/sessions/{NAME}/feedback", json.dumps(told).encode())
        expect(status, done)
        record(acknowledged, f"tell {key}", (done["round"], done["order"]))


def expect(status: int, answer: Any) -> None:
    """Refuse any answer but 200."""
    if status != 200:
        raise AssertionError(f"answered {status}: {answer}")


def record(acknowledged: Acknowledged, what: str, answer: tuple[Any, ...]) -> None:
    """Remember an answer; the same request must have had the same one."""
    if acknowledged.setdefault(what, answer) != answer:
        raise AssertionError(f"{what} was answered in two ways: {acknowledged[what]} and {answer}")


async def clients(
    port: int, token: str, acknowledged: Acknowledged, kill: Callable[[], None], wait: float
) -> None:
    """Let clients ask and report until the service is gone; each repeats its last round first.

    Most services are killed some time after their first answer, and every fifth while it begins.
    """
    loop, answered = asyncio.get_running_loop(), asyncio.Event()

    async def one(number: int) -> None:
        done = sum(key.startswith(f"tell {number}-") for key in acknowledged)
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            line = await Line.open(port, token)
            try:
                await client(line, number, max(0, done - 1), acknowledged, answered)
            finally:
                line.close()
        answered.set()

    async def killer() -> None:
        if port % 5:
            await answered.wait()
        loop.call_later(wait, kill)

    await asyncio.gather(killer(), *(one(number) for number in range(CLIENTS)))


def disturb(
    place: str,
    token: str,
    kills: int,
    rng: random.Random,
    longest: float,
    work: Callable[[str, int], None] = serve,
) -> Acknowledged:
    """Kill the service this often; return what was answered."""
    acknowledged: Acknowledged = {}
    for _ in range(kills):
        child, port = forked(partial(work, place))
        kill = partial(os.kill, child, signal.SIGKILL)
        try:
            asyncio.run(clients(port, token, acknowledged, kill, rng.uniform(0.0, longest)))
        finally:
            kill()
            os.waitpid(child, 0)
    return acknowledged


def trial(
    place: str,
    kills: int,
    seed: int,
    longest: float,
    work: Callable[[str, int], None] = serve,
) -> dict[str, Any]:
    """Disturb one session, and compare what was answered with what is stored."""
    with hr.live.Store(place) as store:
        token = make_token(store, "decide")
    with session(place) as opened:  # what is imported and compiled is there after a fork
        e = np.ones(DIM)
        for decision in opened.ask_many(2):
            opened.tell(decision.id, hr.Linear(e), hr.Linear(e, -2.0))
        opened.certificate()
    begin_ = time.perf_counter()
    acknowledged = disturb(place, token, kills, random.Random(seed), longest, work)  # noqa: S311
    rows = journal(place, NAME)
    asks = {row.decision: row for row in rows if row.kind == ASK}
    tells = {row.round: row for row in rows if row.kind == TELL}
    lost = 0
    for what, answer in acknowledged.items():
        word, _, key = what.partition(" ")
        row = asks.get(key)
        if row is not None and word == "tell":
            row = tells.get(row.round)
        stored = row and (row.round, row.digest if word == "ask" else row.seq)
        lost += stored != answer
    with session(place) as opened:
        seq, state = state_of(opened)
        replayed = Replay(policy_of(SPEC)).up_to(opened.store, NAME, seq)
    facts = [(row.kind, row.round) for row in rows]
    return {
        "kills": kills,
        "clients": CLIENTS,
        "answered": len(acknowledged),
        "answers lost": lost,
        "counted twice": len(facts) - len(set(facts)),
        "broken invariants": broken_invariants(rows),
        "rows": len(rows),
        "final state equals a replay": state == replayed,
        "seconds": round(time.perf_counter() - begin_, 1),
    }


def main() -> None:
    """Kill as often as asked for and write the verdict."""
    counts = [int(given) for given in sys.argv[1:]] + [200, 200, 0][len(sys.argv) - 1 :]
    verdict: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        verdict["SQLite"] = trial(f"{folder}/store.db", counts[0], counts[2], longest=0.4)
    if counts[1] and available():
        with postgres_server() as place:
            verdict["PostgreSQL"] = trial(place, counts[1], counts[2], longest=0.4)
    text = json.dumps(verdict, indent=1) + "\n"
    (Path(__file__).parents[1] / "evidence" / "kill_service.json").write_text(text)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
