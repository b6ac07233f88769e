"""The service under load: pairs of ask and tell per second, and latencies, at 1, 8 and 64 clients.

    .venv/bin/python benchmarks/service.py [--before REVISION] [--turns 8] [--dimension 10]

Two versions serve the same requests from the same environment, in turns, so that ratios are of one
run: this one, and a revision that is checked out into a temporary folder. All clients are in one
process with an event loop and HTTP by hand: a client library would take more time than the service.
Writes evidence/service.json.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import numpy as np

import hedgerow as hr

HERE = Path(__file__).parents[1]
sys.path.insert(0, str(HERE / "tools"))
from http_by_hand import Line  # noqa: E402
from postgres_server import available, postgres_server  # noqa: E402

CLIENTS = (1, 8, 64)
BEFORE = "aeefa7b"
"""The last revision in which each request had a commit of its own."""
PREPARE = """\
import sys
from hedgerow.live import Store
from hedgerow.live.tokens import make_token
with Store(sys.argv[1]) as store:
    print(make_token(store, "admin"))
"""
MOST = 200_000
"""Pairs of one client at most, whatever the clock says."""


class Served(NamedTuple):
    """A running service."""

    port: int
    token: str
    process: int


@contextmanager
def serving(tree: Path, place: str, dimension: int) -> Iterator[Served]:
    """Serve a store with the source of a tree, in a process of its own, with one session."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"}
    made = [sys.executable, "-c", PREPARE, place]  # by the tree itself: stores have versions
    token = subprocess.check_output(made, env=environment, text=True).strip()  # noqa: S603
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    code = "from hedgerow.cli import main; main()"
    command = [sys.executable, "-c", code, "serve", place, "--port", str(port), "--rate", "1e6"]
    quiet = subprocess.DEVNULL
    server = subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet)  # noqa: S603
    try:
        for _ in range(600):
            try:
                httpx.get(f"http://127.0.0.1:{port}/health")
                break
            except httpx.TransportError:
                if server.poll() is not None:
                    raise RuntimeError(f"{tree} does not serve") from None
                time.sleep(0.1)
        with hr.live.Client(f"http://127.0.0.1:{port}", "bench", token) as session:
            session.begin(set={"kind": "Simplex", "n": dimension}, method="projection_free_coco")
            ones = np.ones(dimension)
            for _ in range(20):  # compile and load, late feedback too
                made = [session.ask() for _ in range(2)]
                for decision in made:
                    session.tell(decision.id, hr.Linear(ones), hr.Linear(ones, -2.0))
        yield Served(port, token, server.pid)
    finally:
        server.terminate()
        server.wait(60)


async def client(
    served: Served, number: int, dimension: int, end: float
) -> list[tuple[float, float, float]]:
    """Play rounds until the end; return when each ended, and the seconds of ask and tell."""
    line = await Line.open(served.port, served.token)
    rng, spent = np.random.default_rng(number), []
    costs = rng.random((16, dimension))
    texts = [json.dumps(cost.tolist()) for cost in costs]
    for k in range(MOST):
        begin = time.perf_counter()
        key = json.dumps({"key": f"{number}-{begin}-{k}"}).encode()
        status, made = await line.post("/sessions/bench/decisions", key)
        middle = time.perf_counter()
        value = float(costs[k % 16] @ made["action"])
        seen = f'{{"value": {value}, "gradient": {texts[k % 16]}}}'
        limit = f'{{"value": {value - 0.5}, "gradient": {texts[k % 16]}}}'
        body = f'{{"id": "{made["id"]}", "cost": {seen}, "constraint": {limit}}}'.encode()
        begun = time.perf_counter()
        told, _ = await line.post("/sessions/bench/feedback", body)
        done = time.perf_counter()
        if (status, told) != (200, 200):
            raise RuntimeError(f"answered {status} and {told}")
        spent.append((done, middle - begin, done - begun))
        if done > end:
            break
    line.close()
    return spent


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """Yield a temporary folder with the files of a revision."""
    git = ["git", "-C", str(HERE), "worktree"]
    with tempfile.TemporaryDirectory() as folder:
        tree = f"{folder}/tree"
        subprocess.run([*git, "add", "--quiet", "--detach", tree, revision], check=True)  # noqa: S603
        try:
            yield Path(tree)
        finally:
            subprocess.run([*git, "remove", "--force", tree], check=True)  # noqa: S603


def processor_seconds(process: int) -> float:
    """Return the processor time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def clients(served: Served, count: int, dimension: int, seconds: float) -> Any:
    """Let this many clients play at once; return when each pair ended, and its two latencies."""
    end = time.perf_counter() + seconds
    work = [client(served, number, dimension, end) for number in range(count)]
    return np.concatenate([np.array(one) for one in await asyncio.gather(*work)])


def measure(
    trees: dict[str, Path], server: str | None, given: argparse.Namespace
) -> list[dict[str, Any]]:
    """Return a row for each number of clients and each tree.

    The trees take turns of a second or so: whatever else the machine does then meets both.
    """
    rows = []
    with tempfile.TemporaryDirectory(dir=given.folder) as folder, ExitStack() as running:
        served = {}
        for tree, path in trees.items():
            place = f"{folder}/{tree}.db"
            if server is not None:
                place = running.enter_context(postgres_server())
            served[tree] = running.enter_context(serving(path, place, given.dimension))
        for count in CLIENTS:
            spent: dict[str, list[Any]] = {tree: [] for tree in trees}
            lasted, used = dict.fromkeys(trees, 0.0), dict.fromkeys(trees, 0.0)
            for turn, tree in product(range(given.turns + 1), trees):
                begin, before = time.perf_counter(), processor_seconds(served[tree].process)
                work = clients(served[tree], count, given.dimension, given.seconds)
                found = asyncio.run(work)
                if turn:  # the first one only warms up
                    spent[tree].append(found)
                    lasted[tree] += time.perf_counter() - begin
                    used[tree] += processor_seconds(served[tree].process) - before
            for tree in trees:
                pairs = np.concatenate(spent[tree])
                latency = 1e3 * pairs[:, 1:].ravel()
                rows.append(
                    {
                        "store": server or "SQLite",
                        "clients": count,
                        "tree": tree,
                        "pairs per second": round(len(pairs) / lasted[tree], 1),
                        "p50 ms": round(float(np.quantile(latency, 0.5)), 2),
                        "p99 ms": round(float(np.quantile(latency, 0.99)), 2),
                        "processor ms per request": round(500.0 * used[tree] / len(pairs), 3),
                    }
                )
                print(json.dumps(rows[-1]), flush=True)
    return rows


def main() -> None:
    """Measure, print and write."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    asked.add_argument("--before", default=BEFORE, help="the revision to compare with")
    asked.add_argument("--seconds", type=float, default=1.0, help="of a turn")
    asked.add_argument("--turns", type=int, default=8, help="of each tree and number of clients")
    asked.add_argument("--dimension", type=int, default=10, help="of a decision")
    asked.add_argument("--folder", default=None, help="where the SQLite file is")
    asked.add_argument("--only", choices=["SQLite", "PostgreSQL"], help="one kind of store")
    place = HERE / "evidence" / "service.json"
    asked.add_argument("--write", type=Path, default=place, help="the JSON file to write")
    given = asked.parse_args()
    rows = []
    with checked_out(given.before) as before:
        trees = {"before": before, "now": HERE}
        if given.only != "PostgreSQL":
            rows += measure(trees, None, given)
        if given.only != "SQLite" and available():
            rows += measure(trees, "PostgreSQL", given)
    found = {"dimension": given.dimension, "before": given.before, "rows": rows}
    given.write.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
