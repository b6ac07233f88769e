"""Long games on disk: killed, they go on from the last whole chunk, bit for bit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.games import simulate_resumable

HORIZON, EVERY = 40_000, 4096
CHILD = """
import sys, time
import hedgerow as hr
from hedgerow.games import checkpoints

def slowly(contents, replace=checkpoints.replace_files):
    replace(contents)
    time.sleep(0.2)  # so that there is time to be killed

checkpoints.replace_files = slowly
problem = hr.problems.IidSimplex(4, 40_000, 3)
policy = hr.projection_free_coco(problem.decision_set)
checkpoints.simulate_resumable(policy, problem, sys.argv[1], every=4096)
"""


def game():
    problem = hr.problems.IidSimplex(4, HORIZON, 3)
    return hr.projection_free_coco(problem.decision_set), problem


@pytest.fixture(scope="module")
def undisturbed():
    policy, problem = game()
    return hr.simulate(policy, problem), policy


def chunks(folder: Path):
    return sorted(folder.glob("*.chunk"))


def assert_same(trace, policy, undisturbed):
    expected, other = undisturbed
    assert trace.costs.tobytes() == expected.costs.tobytes()
    assert trace.violations.tobytes() == expected.violations.tobytes()
    assert (trace.oracle_calls, trace.compiled) == (expected.oracle_calls, expected.compiled)
    assert policy.state()["checksum"] == other.state()["checksum"]
    assert policy.certificate() == other.certificate()


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
def test_a_killed_game_goes_on_from_its_last_chunk(tmp_path, undisturbed, monkeypatch):
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path / "game")])
    begin = time.monotonic()
    while len(chunks(tmp_path / "game")) < 3:
        assert child.poll() is None, "the child ended before it was killed"
        assert time.monotonic() < begin + 120
        time.sleep(0.005)
    os.kill(child.pid, signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    kept = len(chunks(tmp_path / "game"))
    assert 3 <= kept < HORIZON // EVERY

    played = []
    before = hr.games.checkpoints.simulate_chunks

    def counted(*given, skip):
        for trace in before(*given, skip=skip):
            played.append(len(trace.costs))
            yield trace

    monkeypatch.setattr("hedgerow.games.checkpoints.simulate_chunks", counted)
    policy, problem = game()
    trace = simulate_resumable(policy, problem, tmp_path / "game", every=EVERY)
    assert_same(trace, policy, undisturbed)
    assert sum(played) == HORIZON - EVERY * kept, "nothing on disk is played again"
    assert len(chunks(tmp_path / "game")) == HORIZON // EVERY


def test_a_damaged_chunk_ends_what_is_read(tmp_path, undisturbed):
    policy, problem = game()
    assert_same(simulate_resumable(policy, problem, tmp_path, every=EVERY), policy, undisturbed)
    third, sixth = (chunks(tmp_path)[k] for k in (2, 5))
    content = bytearray(third.read_bytes())
    content[len(content) // 2] ^= 1
    third.write_bytes(content)
    sixth.write_bytes(sixth.read_bytes()[:-1])
    policy, problem = game()
    assert_same(simulate_resumable(policy, problem, tmp_path, every=EVERY), policy, undisturbed)


def test_several_constraints_and_whole_functions_are_resumed(tmp_path):
    """A game that is played round by round, whose record has a row for each constraint."""
    rng = np.random.default_rng(0)
    caps = [hr.Linear([1.0, 0.0, 0.0], -0.5), hr.Linear([0.0, 1.0, 0.0], -0.1)]
    rounds = [(hr.Linear(rng.uniform(-1.0, 1.0, 3)), caps) for _ in range(5000)]
    problem = hr.RecordedProblem(hr.sets.Simplex(3), rounds)

    def policy():
        return hr.projection_free_coco(problem.decision_set, constraints=2)

    expected = hr.simulate(policy(), problem)
    simulate_resumable(policy(), problem, tmp_path, every=1000)
    assert len(chunks(tmp_path)) == 1
    trace = simulate_resumable(policy(), problem, tmp_path, every=1000)
    assert trace.violations_each.tobytes() == expected.violations_each.tobytes()
    assert trace.costs.tobytes() == expected.costs.tobytes()


def test_the_chunks_of_another_game_are_refused(tmp_path):
    policy, problem = game()
    simulate_resumable(policy, problem, tmp_path, every=EVERY)
    eager = hr.projection_free_coco(problem.decision_set, eagerness=2.0)
    for other, rounds in (
        (eager, problem),
        (game()[0], hr.problems.IidSimplex(4, HORIZON, 4)),
        (game()[0], hr.problems.IidSimplex(4, HORIZON + 1, 3)),
    ):
        before = other.state()["checksum"]
        with pytest.raises(ValueError, match="holds chunks of another game"):
            simulate_resumable(other, rounds, tmp_path, every=EVERY)
        assert other.state()["checksum"] == before


class Forgetful:
    """A policy without snapshots."""

    oblivious_only, oracle_calls = False, 0

    def __init__(self, X):
        self.decision_set = X

    def ask(self):
        return self.decision_set.start()

    def tell(self, cost, constraint):
        pass


def test_what_cannot_be_resumed_is_refused_before_a_file_is_made(tmp_path):
    folder, problem = tmp_path / "none", hr.problems.IidSimplex(3, 10, 0)
    with pytest.raises(TypeError, match="snapshots can be written, got Forgetful; subclass"):
        simulate_resumable(Forgetful(problem.decision_set), problem, folder)
    reacts = hr.problems.HalfspaceBox(3, 4, 10, 0)
    with pytest.raises(ValueError, match="HalfspaceBox reacts to the plays"):
        simulate_resumable(hr.projection_free_coco(reacts.decision_set), reacts, folder)
    with pytest.raises(ValueError, match="every must be"):
        simulate_resumable(hr.projection_free_coco(problem.decision_set), problem, folder, every=0)
    assert not folder.exists()
