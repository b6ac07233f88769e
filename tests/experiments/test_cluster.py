"""A real scheduler and three workers on this machine; one worker is killed on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_experiment import invoked, results_of, small, timed, written

from hedgerow import imports
from hedgerow.experiments.executors import dask, serial
from hedgerow.experiments.results import WorkersLostError
from hedgerow.experiments.sweeps import sweep

COINS = (Path(__file__).parents[2] / "examples" / "plugin" / "coins.toml").read_text()
ENVIRONMENT = {
    **os.environ,
    "OMP_NUM_THREADS": "1",
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "3",
}


WORKERS = 3


def start(*arguments, site):
    """Start a part of the cluster, which finds the plug-in where it is installed."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    path = os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))
    env = {**ENVIRONMENT, "PYTHONPATH": path}
    return subprocess.Popen([sys.executable, "-m", "dask", *arguments], env=env, **quiet)


@pytest.fixture
def cluster(tmp_path, plugin_site):
    """Yield the scheduler's address, its process, and those of three workers."""
    import distributed

    file = tmp_path / "scheduler.json"
    processes = [start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
                       "--scheduler-file", str(file), site=plugin_site)]  # fmt: skip
    try:
        address = address_in(file)
        for _ in range(WORKERS):
            processes.append(start("worker", address, "--nthreads", "1", "--no-nanny",
                                   "--no-dashboard", "--host", "127.0.0.1",
                                   "--local-directory", str(tmp_path),
                                   site=plugin_site))  # fmt: skip
        with distributed.Client(address, timeout=60) as client:
            client.wait_for_workers(WORKERS, timeout=60)
        yield address, processes[0], processes[1:]
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


def address_in(file):
    """Return the scheduler's address; its file is there before it is whole."""
    for _ in range(600):
        try:
            return json.loads(file.read_text())["address"]
        except (OSError, ValueError):
            time.sleep(0.1)
    raise AssertionError("the scheduler did not start")


def test_a_plug_in_on_a_cluster_gives_the_same_bytes_though_a_worker_dies(
    cluster, plugin_site, tmp_path, monkeypatch
):
    """Its method, its problem and its set, by the names of its entry points."""
    address, _, workers = cluster
    monkeypatch.syspath_prepend(plugin_site)
    text = COINS.replace("seeds = [20, 21]", "seeds = [20, 21, 22, 23]")
    experiment = small(tmp_path, text)
    sweep(experiment, tmp_path / "here", serial)
    killed = []

    def kill_one(tally):
        if tally.ran == 2 and not killed:
            workers[0].send_signal(signal.SIGKILL)
            killed.append(tally.left)

    tally = sweep(experiment, tmp_path / "there", lambda tasks: dask(tasks, address), kill_one)
    assert killed[0] > 0
    assert tally.failed == {}
    assert results_of(tmp_path / "there") == results_of(tmp_path / "here")
    assert len(timed(tmp_path / "there")) == tally.total
    again = invoked("run", written(tmp_path, text), "-o", tmp_path / "there", "--cluster", address,
                    "--json")  # fmt: skip
    assert again.exit_code == 0, again.stderr
    assert '"ran": 0' in again.stdout
    imports.load_plugin.cache_clear()


def test_a_scheduler_that_dies_is_told_and_what_is_finished_stays(cluster, tmp_path):
    address, scheduler, _ = cluster

    def kill(tally):
        if tally.ran == 2:
            scheduler.send_signal(signal.SIGKILL)

    experiment = small(tmp_path)
    with pytest.raises(WorkersLostError, match=rf"scheduler at {address} is gone; start it and"):
        sweep(experiment, tmp_path / "out", lambda tasks: dask(tasks, address), kill)
    tally = sweep(experiment, tmp_path / "out", serial)
    assert tally.before >= 2
    assert tally.before + tally.ran == tally.total


def test_no_scheduler_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("hedgerow.experiments.executors.TIMEOUT", 0.3)
    with pytest.raises(ValueError, match=r"no Dask scheduler answers at tcp://127.0.0.1:9 "):
        sweep(small(tmp_path), tmp_path / "out", lambda t: dask(t, "tcp://127.0.0.1:9"))


def test_a_client_is_used_and_left_open(cluster, tmp_path):
    import distributed

    address, _, _ = cluster
    experiment = small(tmp_path)
    with distributed.Client(address, timeout=60, set_as_default=False) as client:
        tally = sweep(experiment, tmp_path / "there", lambda tasks: dask(tasks, client))
        assert client.status == "running"
    sweep(experiment, tmp_path / "here", serial)
    assert tally.ran == tally.total
    assert results_of(tmp_path / "there") == results_of(tmp_path / "here")
    with pytest.raises(TypeError, match=r"or a distributed.Client, got 8786"):
        sweep(experiment, tmp_path / "none", lambda tasks: dask(tasks, 8786))
