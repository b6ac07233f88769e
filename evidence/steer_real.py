"""The real loop: HAProxy, Prometheus, three backends and `hedgerow steer`, with all that can fail.

`python evidence/steer_real.py [--without]` tells a story of 30 minutes in 3: one second stands for
ten. A backend degrades, one dies, every part is restarted, the disk of the store is full for a
while, and steer is killed. It writes evidence/steer_real.json: weights and latencies over time, and
how many requests failed. `--without` tells the same story without steer, to see what fails anyway,
and writes nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hedgerow.steer.haproxy_socket import HaproxyError, ask_haproxy

HERE = Path(__file__).parent
EXAMPLE = HERE.parent / "examples/steer"
SECONDS = 180.0
FASTER = 10.0
"""Seconds of the story in one second."""
RATE = 60.0
"""Requests per second."""
BACKENDS = {"eu-1": (8001, 50), "eu-2": (8002, 100), "us-1": (8003, 160)}
Event = tuple[float, str]


class Story:
    """The processes of the story, and what was seen of them."""

    def __init__(self, folder: Path, with_steer: bool):
        self.folder, self.with_steer = folder, with_steer
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.begin = time.monotonic()
        self.events: list[Event] = []
        self.samples: list[list[float]] = []
        self.requests: list[tuple[float, bool, float]] = []
        self.log = (folder / "log.txt").open("ab")

    def start(self, name: str, *command: str) -> None:
        """Start a process."""
        self.processes[name] = subprocess.Popen(  # noqa: S603
            command, cwd=self.folder, stdout=self.log, stderr=self.log
        )

    def kill(self, name: str, number: int = signal.SIGKILL) -> None:
        """Send a signal to a process and wait for its end."""
        process = self.processes.pop(name)
        process.send_signal(number)
        process.wait(timeout=30)

    def backend(self, name: str) -> None:
        """Start a backend."""
        port, ms = BACKENDS[name]
        self.start(name, sys.executable, "toy_backends.py", f"{name}:{port}:{ms}")

    def haproxy(self) -> None:
        """Start HAProxy; a running one hands its sockets over and ends after its requests."""
        before = self.processes.pop("haproxy", None)
        over = () if before is None else ("-x", "haproxy.sock", "-sf", str(before.pid))
        self.start(
            "haproxy", shutil.which("haproxy") or "haproxy", "-db", "-f", "haproxy.cfg", *over
        )
        if before is not None:
            threading.Thread(target=before.wait, daemon=True).start()

    def prometheus(self) -> None:
        """Start Prometheus."""
        address = "--web.listen-address=127.0.0.1:9090"
        where = ("--config.file=prometheus.yml", "--storage.tsdb.path=prometheus", address)
        program = shutil.which("prometheus") or "prometheus"
        self.start("prometheus", program, *where, "--log.level=warn")

    def steer(self) -> None:
        """Start steer."""
        if self.with_steer:
            self.start("steer", sys.executable, "-m", "hedgerow", "steer", "shop.toml")

    def slow(self, name: str, ms: int) -> None:
        """Set the latency of a backend."""
        with urllib.request.urlopen(f"http://127.0.0.1:{BACKENDS[name][0]}/set?ms={ms}", timeout=5):
            pass

    def say(self, event: str) -> None:
        """Record an event."""
        self.events.append((round(time.monotonic() - self.begin, 1), event))
        sys.stderr.write(f"{self.events[-1][0]:6.1f} s  {event}\n")

    def at(self, second: float) -> None:
        """Wait for a moment of the story."""
        time.sleep(max(0.0, self.begin + second - time.monotonic()))


def tell(story: Story, store: Path) -> None:
    """Let everything fail that can, one after the other."""
    story.at(14)
    filler = store / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    story.say("the store's disk is full")
    story.at(22)
    filler.unlink()
    story.say("the disk has room again")
    story.at(30)
    story.say("us-1 degrades")
    for step in range(15):
        with contextlib.suppress(OSError):
            story.slow("us-1", 160 + 16 * step)
        story.at(31 + step)
    story.at(62)
    story.slow("us-1", 160)
    story.say("us-1 is well again")
    story.at(75)
    story.kill("eu-2")
    story.say("eu-2 dies")
    story.at(92)
    story.backend("eu-2")
    story.say("eu-2 is back")
    story.at(104)
    story.kill("prometheus", signal.SIGTERM)
    story.say("Prometheus stops")
    story.at(110)
    story.prometheus()
    story.say("Prometheus starts")
    story.at(122)
    story.haproxy()
    story.say("HAProxy is restarted")
    story.at(140)
    if story.with_steer:
        story.kill("steer")
    story.say("kill -9 of steer")
    story.at(143)
    story.steer()
    story.say("steer starts")
    story.at(SECONDS)


async def load(story: Story) -> None:
    """Send requests at a constant rate, whatever happens."""
    running = set()
    end = story.begin + SECONDS - 2.0
    count = 0
    while time.monotonic() < end:
        task = asyncio.create_task(_request(story))
        running.add(task)
        task.add_done_callback(running.discard)
        count += 1
        await asyncio.sleep(max(0.0, story.begin + count / RATE - time.monotonic()))
    await asyncio.gather(*running)


async def _request(story: Story) -> None:
    begin = time.monotonic()
    try:
        async with asyncio.timeout(15):
            reader, writer = await asyncio.open_connection("127.0.0.1", 8000)
            writer.write(b"GET / HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n")
            answer = await reader.read()
            writer.close()
            good = answer.startswith(b"HTTP/1.1 200")
    except (OSError, TimeoutError):
        good = False
    now = time.monotonic()
    story.requests.append((begin - story.begin, good, 1000.0 * (now - begin)))


def sample(story: Story, stop: threading.Event) -> None:
    """Read the weights twice a second."""
    command = "; ".join(f"get weight web/{name}" for name in BACKENDS)
    while not stop.wait(0.5):
        with contextlib.suppress(HaproxyError, ValueError, IndexError):
            answer = ask_haproxy(story.folder / "haproxy.sock", command, 2.0)
            weights = [float(line.split()[0]) for line in answer.splitlines() if line.strip()]
            now = round(time.monotonic() - story.begin, 1)
            story.samples.append([now, *(round(w / sum(weights), 4) for w in weights)])


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Mount a file system of 16 megabytes; without the right to, use an ordinary folder."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True)  # noqa: S603
    if done.returncode:
        raise SystemExit("the full disk needs the right to mount a tmpfs; run it as root")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)  # noqa: S603, S607


def play(with_steer: bool) -> dict[str, Any]:
    """Tell the story and return what was seen."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in EXAMPLE.iterdir():
            shutil.copy(path, folder)
        store = folder / "store"
        text = (folder / "shop.toml").read_text()
        text = text.replace('store = "shop.db"', 'store = "store/shop.db"')
        text = text.replace("interval = 5 ", "interval = 1 ").replace("[5s]", "[2s]")
        (folder / "shop.toml").write_text(text)
        text = (folder / "prometheus.yml").read_text().replace("1s", "250ms")
        (folder / "prometheus.yml").write_text(text)
        with small_disk(store):
            story = Story(folder, with_steer)
            try:
                for backend in BACKENDS:
                    story.backend(backend)
                time.sleep(1.0)
                story.haproxy()
                story.prometheus()
                time.sleep(2.0)
                story.begin = time.monotonic()
                story.steer()
                stop = threading.Event()
                threads = [
                    threading.Thread(target=lambda: asyncio.run(load(story))),
                    threading.Thread(target=sample, args=(story, stop)),
                ]
                for thread in threads:
                    thread.start()
                tell(story, store)
                stop.set()
                for thread in threads:
                    thread.join()
            finally:
                for process in story.processes.values():
                    process.kill()
                    process.wait()
                story.log.close()
        lines = (folder / "log.txt").read_text().replace(f"{folder}/", "").splitlines()
    return summary(story, [line for line in lines if line[2:3] == ":" and line[5:6] == ":"])


def summary(story: Story, lines: list[str]) -> dict[str, Any]:
    """Return what the page shows: means per second, weights, events and counts."""
    latency = []
    for second in range(int(SECONDS)):
        inside = [ms for t, good, ms in story.requests if good and second <= t < second + 1]
        latency.append(round(sum(inside) / len(inside), 1) if inside else None)
    failed = [round(t, 1) for t, good, _ in story.requests if not good]
    return {
        "seconds": SECONDS,
        "faster": FASTER,
        "limit": 120.0,
        "backends": list(BACKENDS),
        "events": story.events,
        "weights": story.samples,
        "latency": latency,
        "requests": len(story.requests),
        "failed": len(failed),
        "failed_at": failed,
        "lines": lines,
    }


def main() -> None:
    """Tell the story with steer, or without."""
    for program in ("haproxy", "prometheus"):
        if shutil.which(program) is None:
            raise SystemExit(
                f"this needs {program}; install it (Debian: apt-get install {program})"
            )
    os.environ["PYTHONUNBUFFERED"] = "1"
    with_steer = "--without" not in sys.argv[1:]
    found = play(with_steer)
    sys.stderr.write(
        f"{found['requests']} requests, {found['failed']} failed {found['failed_at']}\n"
    )
    if with_steer:
        lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items())
        (HERE / "steer_real.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
