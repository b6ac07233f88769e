"""Kills and Ctrl-C at any moment: what is finished stays, the rest is done, bytes are the same."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time

import psutil
import pytest
from small_experiment import command, invoked, results_of, small, timed, written

from hedgerow.experiments.executors import processes, serial
from hedgerow.experiments.sweeps import sweep

TEXT = """
name = "kill"
methods = ["projection_free_coco", "unconstrained"]
horizons = [300]
seeds = {first = 20, count = 8}

[[problems]]
kind = "iid_simplex"
n = 4

[[problems]]
kind = "halfspace_box"
n = 3
"""

needs_signals = pytest.mark.skipif(os.name != "posix", reason="POSIX signals")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    sweep(small(folder, TEXT), folder / "out", serial)
    return results_of(folder / "out")


def started(tmp_path, *options):
    """Start a sweep in a session of its own, and wait until it has written something."""
    file = written(tmp_path, TEXT)
    process = subprocess.Popen(
        command("run", file, "-o", tmp_path / "out", *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell may ignore it
    )
    begin, before = time.monotonic(), finished(tmp_path)
    while process.poll() is None and finished(tmp_path) <= before:
        assert time.monotonic() < begin + 120
        time.sleep(0.002)
    return process


def finished(tmp_path):
    return len(list((tmp_path / "out/runs").glob("*.json")))


@needs_signals
def test_killed_again_and_again(undisturbed, tmp_path):
    rng, kills = random.Random(0), 0
    while kills < 2:
        process = started(tmp_path, "--workers", 1)
        time.sleep(rng.uniform(0.0, 0.15))
        process.kill()
        process.communicate()
        kills += 1
    assert finished(tmp_path) > 0
    sweep(small(tmp_path, TEXT), tmp_path / "out", serial)
    assert results_of(tmp_path / "out") == undisturbed
    done = timed(tmp_path / "out")
    assert len(done) == len(set(done)), "nothing finished was done twice"


def test_a_killed_worker_costs_nothing_but_its_time(undisturbed, tmp_path):
    killed = []

    def kill_a_worker(tally):
        if tally.ran == 4 and not killed:
            worker = next(
                p for p in psutil.Process().children() if "popen_loky" in str(p.cmdline())
            )
            worker.kill()
            killed.append(worker)

    tally = sweep(small(tmp_path, TEXT), tmp_path / "out", lambda t: processes(t, 2), kill_a_worker)
    assert killed
    assert (tally.ran, tally.failed) == (tally.total, {})
    assert results_of(tmp_path / "out") == undisturbed
    assert len(set(timed(tmp_path / "out"))) == tally.total


@needs_signals
def test_ctrl_c_says_how_to_resume(undisturbed, tmp_path):
    for _ in range(10):  # on a busy machine a run may end before it is stopped
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        process = started(tmp_path, "--workers", 1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        if process.returncode != 0:
            break
    assert process.returncode == 130, err
    assert out == ""
    (line,) = err.splitlines()
    assert line.startswith("hedgerow: stopped; ")
    assert f"To resume: hedgerow run {tmp_path / 'small.toml'} -o {tmp_path / 'out'}" in line
    file = tmp_path / "small.toml"
    again = invoked("run", file, "-o", tmp_path / "out", "--workers", 1, "--json")
    found = json.loads(again.stdout)
    assert found["found_finished"] > 0
    assert found["found_finished"] + found["ran"] == found["tasks"]
    assert results_of(tmp_path / "out") == undisturbed


def test_two_processes_in_one_folder(undisturbed, tmp_path):
    first = started(tmp_path, "--workers", 1)
    file = tmp_path / "small.toml"
    second = invoked("run", file, "-o", tmp_path / "out", "--workers", 1, "--json")
    _, err = first.communicate()
    assert (first.returncode, second.exit_code) == (0, 0), err + second.stderr
    assert results_of(tmp_path / "out") == undisturbed
    assert not list((tmp_path / "out/partial").glob("*.part"))
