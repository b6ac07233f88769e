"""Live sessions, measured: durable rounds against bare commits, and a service under load.

.venv/bin/python benchmarks/live.py commits [FOLDER]
.venv/bin/python benchmarks/live.py memory [FOLDER] [ROUNDS]
.venv/bin/python benchmarks/live.py http [FOLDER] [ROUNDS] [EDGES]
"""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import hedgerow as hr

NODES, EDGES, CLIENTS = 191, 1200, 8


def commits(folder: str, rounds: int = 400, block: int = 40) -> dict[str, Any]:
    """Play rounds and commit their bytes bare, in turns, in one folder."""
    problem = hr.ShortestPath.random_network(nodes=NODES, edges=EDGES, horizon=rounds, seed=0)
    policy, game = hr.projection_free_coco(problem.decision_set), list(problem)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        bare = sqlite3.connect(f"{place}/bare.db", isolation_level=None)
        for setting in ("journal_mode = WAL", "synchronous = FULL"):
            bare.execute(f"PRAGMA {setting}")
        bare.execute("CREATE TABLE bytes (seq INTEGER PRIMARY KEY, payload BLOB)")
        action, feedback = os.urandom(8 * EDGES), os.urandom(16 * EDGES + 80)
        spent = {"session": 0.0, "bare": 0.0}
        with hr.live.open_session(f"{place}/live.db", "a", policy) as session:
            session.tell(session.ask().id, *game[0])  # compile and load
            for first in range(0, rounds, block):
                begin = time.perf_counter()
                for f, g in game[first : first + block]:
                    session.tell(session.ask().id, f, g)
                middle = time.perf_counter()
                for _ in range(block):
                    for payload in (action, feedback):
                        bare.execute("BEGIN IMMEDIATE")
                        bare.execute("INSERT INTO bytes (payload) VALUES (?)", (payload,))
                        bare.execute("COMMIT")
                spent["session"] += middle - begin
                spent["bare"] += time.perf_counter() - middle
        bare.close()
    rates = {name: rounds / seconds for name, seconds in spent.items()}
    return {
        "edges": EDGES,
        "durable ask+tell per second": round(rates["session"], 1),
        "bare pairs of commits per second": round(rates["bare"], 1),
        "share": round(rates["session"] / rates["bare"], 3),
    }


def memory(folder: str, rounds: int, points: int = 10) -> dict[str, Any]:
    """Play durable rounds in this process, some with late or no feedback, and watch its memory."""
    import psutil

    problem = hr.ShortestPath.random_network(nodes=NODES, edges=EDGES, horizon=400, seed=0)
    policy, game, seen = hr.projection_free_coco(problem.decision_set), list(problem), []
    process, begin = psutil.Process(), time.perf_counter()
    with (
        tempfile.TemporaryDirectory(dir=folder) as place,
        hr.live.open_session(f"{place}/live.db", "a", policy) as session,
    ):
        waiting: list[str] = []
        for t in range(rounds):
            waiting.append(session.ask().id)
            if t % 3 == 2:  # three at once, the last one first; each hundredth gets no feedback
                for k, id_ in enumerate(reversed(waiting)):
                    if (t - k) % 100:
                        session.tell(id_, *game[(t - k) % len(game)])
                waiting.clear()
            if (t + 1) % (rounds // points) == 0:
                seen.append(round(process.memory_info().rss / 2**20, 1))
        answered = session.status().answered
    return {
        "edges": EDGES,
        "rounds": rounds,
        "answered": answered,
        "memory MiB, tenths": seen,
        "seconds": round(time.perf_counter() - begin, 1),
    }


def client(address: str, token: str, rounds: int, edges: int, seed: int) -> list[float]:
    """Play rounds over HTTP; return the seconds of each request."""
    rng, spent = np.random.default_rng(seed), []
    with hr.live.Client(address, "bench", token) as session:
        for _ in range(rounds):
            begin = time.perf_counter()
            decision = session.ask()
            spent.append(time.perf_counter() - begin)
            x = decision.action
            feedback = [hr.first_order(hr.Linear(rng.random(edges), b), x) for b in (0.0, -0.6)]
            begin = time.perf_counter()
            session.tell(decision.id, *feedback)
            spent.append(time.perf_counter() - begin)
    return spent


def http(folder: str, rounds: int, edges: int) -> dict[str, Any]:
    """Let eight clients play one session of the service, and watch its memory."""
    import psutil

    from hedgerow.live.tokens import make_token

    with tempfile.TemporaryDirectory(dir=folder) as place:
        with hr.live.Store(f"{place}/s.db") as store:
            token = make_token(store, "admin")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        code = "from hedgerow.cli import main; main()"
        serve = [sys.executable, "-c", code, "serve", f"{place}/s.db", "--port", str(port)]
        with Path(place, "log").open("wb") as log:
            server = subprocess.Popen([*serve, "--rate", "100000"], stdout=log, stderr=log)  # noqa: S603
        try:
            address = f"http://127.0.0.1:{port}"
            with hr.live.Client(address, "bench", token, tries=60) as session:
                session.begin(set={"kind": "Simplex", "n": edges}, method="projection_free_coco")
                session.tell(session.ask().id, *(hr.Linear(np.ones(edges), b) for b in (0.0, -2.0)))
            process, memory = psutil.Process(server.pid), []
            each = rounds // CLIENTS
            begin = time.perf_counter()
            with get_context("spawn").Pool(CLIENTS) as pool:
                work = [(address, token, each, edges, seed) for seed in range(CLIENTS)]
                running = pool.starmap_async(client, work)
                while not running.ready():
                    running.wait(2.0)
                    memory.append(process.memory_info().rss / 2**20)
                spent = np.concatenate(running.get())
            seconds = time.perf_counter() - begin
            with hr.live.Client(address, "bench", token) as session:
                answered = session.status()["answered"]
        finally:
            server.terminate()
            server.wait()
    quarter = max(1, len(memory) // 4)
    return {
        "clients": CLIENTS,
        "dimension": edges,
        "rounds": answered,
        "requests per second": round(spent.size / seconds, 1),
        "p50 ms": round(1e3 * float(np.quantile(spent, 0.5)), 2),
        "p99 ms": round(1e3 * float(np.quantile(spent, 0.99)), 2),
        "memory MiB, quarters": [
            round(float(np.median(memory[i : i + quarter])), 1)
            for i in range(0, quarter * 4, quarter)
        ],
        "memory MiB, largest": round(max(memory), 1),
    }


def main() -> None:
    """Measure what is asked for."""
    what, *rest = sys.argv[1:]
    folder = rest[0] if rest else tempfile.gettempdir()
    if what == "commits":
        found = commits(folder)
    elif what == "memory":
        found = memory(folder, int(rest[1]) if len(rest) > 1 else 10_000)
    else:
        found = http(
            folder, *(int(given) for given in (*rest[1:], *("800", "1200")[len(rest) - 1 :]))
        )
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
