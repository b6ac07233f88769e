"""Snapshots: a run that was killed resumes bit for bit."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import hedgerow as hr

CHILD = """
import itertools, json, os, sys, time
import numpy as np
import hedgerow as hr
problem = hr.ShortestPath.random_network(nodes=30, edges=100, horizon=300, seed=5)
policy = hr.projection_free_coco(problem.decision_set)
for t, (cost, constraint) in enumerate(problem, start=1):
    x = policy.ask()
    policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
    if t % 10 == 0:
        with open(sys.argv[1] + ".new", "w") as file:
            json.dump({"t": t, "policy": policy.state()}, file, default=np.ndarray.tolist)
        os.replace(sys.argv[1] + ".new", sys.argv[1])
        time.sleep(0.05)
"""


def finish(policy, problem, done):
    points = []
    for cost, constraint in itertools.islice(problem, done, None):
        x = policy.ask()
        points.append(x)
        policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
    return np.array(points), policy.certificate()


def test_a_killed_run_resumes_bit_for_bit(tmp_path: Path):
    file = tmp_path / "snapshot.json"
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(file)])
    deadline = time.monotonic() + 60
    while not file.exists():
        assert child.poll() is None, "the child ended before its first snapshot"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(0.2)
    os.kill(child.pid, signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    saved = json.loads(file.read_text())
    assert 0 < saved["t"] < 300

    problem = hr.ShortestPath.random_network(nodes=30, edges=100, horizon=300, seed=5)
    resumed = hr.projection_free_coco(problem.decision_set)
    resumed.restore(saved["policy"])
    points, certificate = finish(resumed, problem, saved["t"])

    undisturbed = hr.projection_free_coco(problem.decision_set)
    expected, expected_certificate = finish(undisturbed, problem, 0)
    np.testing.assert_array_equal(points, expected[saved["t"] :], strict=True)
    assert certificate == expected_certificate
    assert resumed.oracle_calls == undisturbed.oracle_calls


def test_a_snapshot_that_does_not_fit_changes_nothing():
    X = hr.sets.Simplex(4)
    policy = hr.projection_free_coco(X)
    one = hr.feedback.EvalGrad(1.0, np.arange(4.0))
    policy.tell(one, one)
    other = hr.projection_free_coco(X, eagerness=2.0)
    other.tell(one, one)
    before = policy.state()
    for wrong, words in (
        (other.state(), "built with other arguments"),
        (hr.projection_free_coco(hr.sets.Simplex(5)).state(), "built with other arguments"),
        (hr.projection_free_long_term(X).state(), "it cannot restore Fallback"),
        ({**before, "version": 99}, "version 99"),
    ):
        with pytest.raises(ValueError, match=words):
            policy.restore(wrong)
        assert policy.state()["checksum"] == before["checksum"]
