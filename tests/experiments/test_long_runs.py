"""A long run of a sweep, killed: the next one goes on from its last chunk, the bytes agree."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from small_experiment import results_of, small, written

from hedgerow.experiments import playing
from hedgerow.experiments.executors import serial
from hedgerow.experiments.sweeps import sweep

TEXT = """
name = "long"
methods = ["projection_free_coco"]
horizons = [30000]
seeds = [20]

[[problems]]
kind = "iid_simplex"
n = 4
"""
CHILD = """
import sys, time
from hedgerow.experiments import load_experiment, playing, sweep
from hedgerow.experiments.executors import serial
from hedgerow.games import checkpoints

def slowly(contents, replace=checkpoints.replace_files):
    replace(contents)
    time.sleep(0.2)

checkpoints.replace_files, playing.ROUNDS = slowly, 4096
sweep(load_experiment(sys.argv[1]), sys.argv[2], serial)
"""


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
def test_a_killed_run_is_not_played_from_its_beginning(tmp_path, monkeypatch):
    out, experiment = tmp_path / "out", small(tmp_path, TEXT)
    sweep(experiment, tmp_path / "undisturbed", serial)
    assert not list((tmp_path / "undisturbed").glob("partial/chunks/*")), "short games have none"

    child = subprocess.Popen([sys.executable, "-c", CHILD, written(tmp_path, TEXT), out])
    begin = time.monotonic()
    while len(list(out.glob("partial/chunks/*/*.chunk"))) < 2:
        assert child.poll() is None, "the child ended before it was killed"
        assert time.monotonic() < begin + 120
        time.sleep(0.005)
    os.kill(child.pid, signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    assert not list(out.glob("runs/*"))
    (game,) = out.glob("partial/chunks/*")
    kept = {path: path.stat().st_mtime_ns for path in game.glob("*.chunk")}
    stale = game.with_name(game.name.rpartition("-")[0] + "-0123456789abcdef")
    stale.mkdir()

    seen = []
    monkeypatch.setattr(playing, "ROUNDS", 4096)
    before = playing.simulate_resumable

    def watched(policy, problem, folder, feedback, *, every):
        trace = before(policy, problem, folder, feedback, every=every)
        seen.append({path: path.stat().st_mtime_ns for path in folder.glob("*.chunk")})
        return trace

    monkeypatch.setattr(playing, "simulate_resumable", watched)
    tally = sweep(experiment, out, serial)
    assert tally.failed == {}
    assert len(seen[0]) == 30000 // 4096
    assert kept.items() <= seen[0].items(), "no chunk that was there is played again"
    assert results_of(out) == results_of(tmp_path / "undisturbed")
    assert not list(out.glob("partial/chunks/*")), "finished games leave none, nor other states"
