"""Real components: HAProxy's socket and statistics, Prometheus' API, and a kill of steer.

Without `haproxy` or `prometheus` the tests skip by name.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from hedgerow.steer.loop import Store, begin_session
from hedgerow.steer.readings import SourceError
from hedgerow.steer.settings import read_settings
from hedgerow.steer.sources import make_source
from hedgerow.steer.targets import TargetError, make_target

EXAMPLE = Path(__file__).parents[2] / "examples/steer"
PATIENCE = 60.0
NAMES = ("eu-1", "eu-2", "us-1")


def program(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/bin")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def eventually(condition):
    """Wait until a condition holds, and return what it found."""
    until = time.monotonic() + PATIENCE
    while True:
        with contextlib.suppress(OSError, SourceError, TargetError):
            if found := condition():
                return found
        assert time.monotonic() < until
        time.sleep(0.1)


class Shop:
    """The example's processes on free ports."""

    def __init__(self, folder: Path):
        self.folder, self.running = folder, {}
        self.ports = _free_ports(5)
        numbers = dict(zip((8001, 8002, 8003, 8000, 9090), self.ports, strict=True))
        for path in EXAMPLE.iterdir():
            if path.is_file():
                text = path.read_text()
                for old, new in numbers.items():
                    text = text.replace(f":{old}", f":{new}")
                (folder / path.name).write_text(text)
        self.change("shop.toml", "interval = 5 ", "interval = 0.5 ")
        self.change("shop.toml", "[5s]", "[2s]")
        self.change("shop.toml", "[metrics]\nport = 9464\n", "")
        self.change("prometheus.yml", "1s", "200ms")

    def change(self, name: str, old: str, new: str) -> None:
        path = self.folder / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def start(self, name: str, *command: str) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log)

    def backends(self) -> None:
        pairs = zip(NAMES, self.ports, (10, 20, 40), strict=False)
        given = [f"{name}:{port}:{ms}" for name, port, ms in pairs]
        self.start("backends", sys.executable, "toy_backends.py", *given)
        eventually(lambda: self.get(self.ports[0], "/health"))

    def haproxy(self) -> None:
        self.start("haproxy", program("haproxy"), "-db", "-f", "haproxy.cfg")
        eventually(lambda: self.get(self.ports[3]))

    def prometheus(self) -> None:
        address = f"--web.listen-address=127.0.0.1:{self.ports[4]}"
        where = ("--config.file=prometheus.yml", "--storage.tsdb.path=tsdb", address)
        self.start("prometheus", program("prometheus"), *where, "--log.level=warn")
        eventually(lambda: self.get(self.ports[4], "/-/ready"))

    def steer(self) -> None:
        self.start("steer", sys.executable, "-m", "hedgerow", "steer", "shop.toml")

    def stop(self, name: str, number: int = signal.SIGKILL) -> None:
        process = self.running.pop(name)
        process.send_signal(number)
        process.wait(timeout=PATIENCE)

    def get(self, port: int, path: str = "/") -> bytes:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return answer.read()

    def send(self, count: int = 12) -> None:
        for _ in range(count):
            self.get(self.ports[3])

    def log(self) -> str:
        return (self.folder / "steer.log").read_text()


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as opened:
        sockets = [opened.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


@pytest.fixture
def shop(tmp_path):
    program("haproxy")
    made = Shop(tmp_path)
    yield made
    for process in made.running.values():
        process.kill()
        process.wait()


def test_haproxy_takes_weights_and_tells_its_statistics(shop):
    shop.backends()
    shop.haproxy()
    shop.change("shop.toml", 'kind = "prometheus"', 'kind = "haproxy"\nsocket = "haproxy.sock"')
    text = (shop.folder / "shop.toml").read_text()
    queries = text[text.index('url = "http') : text.index("[target]")]
    shop.change("shop.toml", queries, 'backend = "web"\n\n')
    settings = read_settings(shop.folder / "shop.toml")
    target, source = make_target(settings), make_source(settings)
    assert target.read().tolist() == [100, 100, 100]
    target.write(np.array([6, 100, 150]))
    assert target.read().tolist() == [6, 100, 150]
    source.read()
    shop.send(60)
    found = source.read()
    assert set(found) == set(NAMES)
    assert 5.0 < found["eu-2"]["latency"] < found["us-1"]["latency"] < 1000.0
    assert all(found[name]["up"] == 1.0 for name in NAMES)
    assert all("latency" not in reading for reading in source.read().values())  # no request since
    shop.stop("backends")
    eventually(lambda: all(reading["up"] == 0.0 for reading in source.read().values()))
    shop.stop("haproxy")
    with pytest.raises(TargetError, match="cannot be reached: "):
        target.read()
    with pytest.raises(SourceError, match="cannot be reached: "):
        source.read()
    shop.backends()
    shop.haproxy()
    assert target.read().tolist() == [100, 100, 100]  # HAProxy forgets


def test_haproxy_refuses_a_server_that_it_does_not_have(shop):
    shop.backends()
    shop.haproxy()
    shop.change("shop.toml", "eu-2", "eu-9")
    target = make_target(read_settings(shop.folder / "shop.toml"))
    with pytest.raises(TargetError, match="does not tell its weights: 'No such server"):
        target.read()
    with pytest.raises(TargetError, match="refused the weights: 'No such server"):
        target.write(np.array([100, 100, 56]))


def test_prometheus_answers_and_a_series_that_stopped_is_missing(shop):
    shop.backends()
    shop.haproxy()
    shop.prometheus()
    source = make_source(read_settings(shop.folder / "shop.toml"))

    def all_seen():
        shop.send()
        found = source.read()
        return found if all("latency" in found.get(name, {}) for name in NAMES) else None

    found = eventually(all_seen)
    assert 5.0 < found["eu-1"]["latency"] < found["us-1"]["latency"] < 1000.0
    assert found["eu-1"]["up"] == 1.0
    shop.stop("backends")
    gone = eventually(lambda: not any("latency" in one for one in source.read().values()))
    assert gone
    assert source.read()["eu-1"]["up"] == 0.0


def test_a_kill_of_steer_loses_nothing_and_resumes_without_a_jump(shop):
    shop.backends()
    shop.haproxy()
    shop.prometheus()
    shop.steer()
    settings = read_settings(shop.folder / "shop.toml")
    target, seen = make_target(settings), []

    def decided(times):
        def condition():
            shop.send()  # a request that fails fails the test
            seen.append(target.read())
            return shop.log().count("price") >= times

        return condition

    eventually(decided(6))
    shop.stop("steer")
    first = shop.log()
    shop.steer()
    eventually(decided(first.count("price") + 4))
    shop.stop("steer", signal.SIGTERM)
    assert "Traceback" not in shop.log()
    steps = np.diff(np.array([weights for weights in seen if weights.sum() == 256]), axis=0)
    assert np.abs(steps).max() <= 2 * 0.3 * 256  # two intervals may lie between two samples
    with Store(settings.store) as store:
        history = begin_session(settings, store).history()
    assert history.rounds.tolist() == list(range(1, history.rounds.size + 1))
    assert np.isfinite(history.cost[:-1]).all()  # every decision but the open one, once
    assert os.path.exists(settings.store)
