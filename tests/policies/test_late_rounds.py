"""Late feedback: the compiled round and the one in Python lead to the same state, bit for bit."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import hedgerow as hr

plain = partial(hr.projection_free_coco, tracking=False)
PATHS = hr.ShortestPath.random_network(nodes=12, edges=30, horizon=4, seed=1).decision_set
POLICIES = {
    "simplex": lambda: plain(hr.sets.Simplex(5)),
    "eager": lambda: plain(hr.sets.Box(-np.ones(4), np.ones(4)), eagerness=5.0),
    "paths": lambda: plain(PATHS),
    "Theorem F": lambda: hr.policies.theorem_f(hr.sets.L2Ball(3)),
    "away": lambda: hr.policies.away_coco(hr.sets.Simplex(5)).plain,
}


def play(policy, seed, rounds=150):
    """Answer decisions late and out of order; return the states on the way."""
    rng, open_, states = np.random.default_rng(seed), [], []
    n = policy.decision_set.dim
    for t in range(rounds):
        open_.append(policy.ask().copy())
        while open_ and (len(open_) > 6 or rng.random() < 0.5):
            x = open_.pop(int(rng.integers(len(open_))))
            scale = 10.0 ** rng.integers(-2, 3)
            f, g = (hr.Linear(scale * rng.standard_normal(n), b) for b in (0.0, -0.1 * scale))
            policy.tell(hr.first_order(f, x), hr.first_order(g, x), at=x)
        if t % 10 == 0:
            states.append(policy.state()["checksum"])
    return [*states, policy.state()["checksum"], float(policy.certificate())]


@pytest.mark.parametrize("name", POLICIES)
def test_the_compiled_round_of_late_feedback_is_that_of_python(name):
    compiled, python = POLICIES[name](), POLICIES[name]()
    assert compiled._late_table is not None
    python.__dict__["_late_table"] = None
    assert play(compiled, 3) == play(python, 3)


@pytest.mark.parametrize("make", [hr.projection_free_coco, plain, hr.policies.away_coco])
def test_a_point_outside_of_the_set_is_refused_and_changes_nothing(make):
    policy = make(hr.sets.Simplex(5))
    seen = hr.feedback.EvalGrad(1.0, np.ones(5))
    before = policy.state()["checksum"]
    for at in (np.full(5, 9.0), np.ones(4), np.full(5, np.nan)):
        with pytest.raises(ValueError, match="point that"):
            policy.tell(seen, seen, at=at)
    assert policy.state()["checksum"] == before
