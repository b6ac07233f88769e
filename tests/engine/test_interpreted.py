"""With NUMBA_DISABLE_JIT everything runs in Python, and nothing else changes."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import hedgerow as hr
import round_functions
from hedgerow._engine.kernel import COMPILED
from hedgerow.feedback import EvalGrad
from hedgerow.policies.method import Constants
from sets.table import EXAMPLES

KNOWN = Constants((2.0, 2.0), (4.0, 4.0))
BLAS = ("nuclear", "spectra", "garber_kretzu_2024_dpp")
"""Their kernels multiply by BLAS, and numba takes SciPy's where Python takes NumPy's."""


def oracles(X: hr.DecisionSet) -> list[np.ndarray]:
    """What the set's own kernels answer."""
    c = np.random.default_rng(1).standard_normal(X.dim)
    answers = [X.lmo(c), X.tangent(c)]
    return [*answers, X.project(3.0 * c)] if X.supports(hr.sets.Projectable) else answers


def plays(method: hr.baselines.Method) -> list[np.ndarray]:
    """A short game of every method; nine entries are eight lanes and one more."""
    X, T, rng = hr.sets.Simplex(9), 12, np.random.default_rng(0)
    rounds = [
        (hr.Linear(0.3 * rng.standard_normal(9)), hr.Linear(np.eye(9)[t % 3], -0.1))
        for t in range(T)
    ]
    policy = method.policy(X, T, 7, "practical", KNOWN)
    return [
        step.x for step in hr.play(policy, hr.RecordedProblem(X, rounds), method.feedback(KNOWN))
    ]


def mastered() -> list[np.ndarray]:
    """The restricted master: columns that come and go, rows, factors, parts and advice."""
    rng, found = np.random.default_rng(3), []
    for X in (hr.sets.L2Ball(3), hr.sets.Product(hr.sets.Simplex(3), hr.sets.Simplex(4))):
        policy = hr.projection_free_coco(X, advisers=["plan"])
        for _ in range(40):
            x, a = policy.ask(X.lmo(rng.standard_normal(X.dim))), rng.standard_normal(X.dim)
            parts = [EvalGrad(float(c @ x) - 0.1, c) for c in rng.standard_normal((2, X.dim))]
            policy.tell(EvalGrad(float(a @ x), a), parts)
        found += [policy.policy.state()["array"], policy.ask()]
    return found


def results() -> dict[str, list[np.ndarray]]:
    """Everything, by name."""
    found = {name: oracles(make()) for name, make in EXAMPLES.items()}
    found |= {name: plays(method) for name, method in hr.baselines.METHODS.items()}
    problem = hr.ShortestPath.random_network(nodes=20, edges=60, horizon=30, seed=0)
    for name, tracking in (("simulated", False), ("simulated, tracking", True)):
        policy = hr.projection_free_coco(problem.decision_set, tracking=tracking)
        trace = hr.simulate(policy, problem)
        assert trace.compiled
        found[name] = [trace.costs, trace.violations]
    return found | {"mastered": mastered()}


@pytest.fixture(scope="module")
def interpreted() -> dict[str, list[np.ndarray]]:
    path = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run(
        [sys.executable, __file__],
        env=os.environ | {"PYTHONPATH": path, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr.decode()
    return pickle.loads(done.stdout)


def test_the_results_are_the_same(interpreted):
    compiled = results()
    assert compiled.keys() == interpreted.keys()
    for name, expected in compiled.items():
        for one, other in zip(interpreted[name], expected, strict=True):
            if name.startswith(BLAS):
                np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-12, err_msg=name)
            else:
                assert one.tobytes() == other.tobytes(), name


@pytest.mark.parametrize(
    ("policy", "part"),
    [("plain", "surrogates.rounds.play_round"), ("default", "policies.fallback.watch_round")],
)
def test_a_round_runs_the_same_functions(policy, part, tmp_path):
    machine = round_functions.listed(policy, NUMBA_CACHE_DIR=str(tmp_path))
    python = round_functions.listed(policy, NUMBA_DISABLE_JIT="1")
    assert part in python
    assert python <= machine


if __name__ == "__main__":
    assert not COMPILED
    warnings.simplefilter("error")
    sys.stdout.buffer.write(pickle.dumps(results()))
