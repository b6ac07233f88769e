"""Methods with an allowed share of violated rounds, in experiment files, backtests and sessions."""

from __future__ import annotations

import numpy as np
import pytest
from small_experiment import invoked, written

import hedgerow as hr
from hedgerow.baselines.methods import METHODS
from hedgerow.experiments import Results, load_experiment, sweep
from hedgerow.experiments.executors import serial
from hedgerow.report import Summary, write_report

TEXT = """
name = "shares"
methods = ["projection_free_coco", "careful", "rule"]
horizons = [300]
seeds = [400, 401]

[violated]
careful = { method = "projection_free_coco", share = 0.02 }
rule = { method = "threshold_rule", share = 0.1 }

[[problems]]
kind = "ranking"
"""


def test_each_plays_as_in_python(tmp_path):
    experiment = load_experiment(written(tmp_path, TEXT))
    assert sweep(experiment, tmp_path / "out", serial).failed == {}
    results = Results(tmp_path / "out")
    runs = {(run.record["method"], run.record["seed"]): run.record for run in results.runs}
    assert len(runs) == 6
    for seed in (400, 401):
        problem = hr.problems.Ranking(horizon=300, seed=seed)
        X = problem.decision_set
        careful = hr.policies.ViolatedShare(hr.projection_free_coco(X), 0.02)
        rule = hr.policies.ViolatedShare(hr.baselines.threshold_rule(X), 0.1)
        for name, policy in (("careful", careful), ("rule", rule)):
            trace, record = hr.simulate(policy, problem), runs[name, seed]
            assert record["cost"] == trace.cost
            assert record["violated_rounds"] == (trace.violations > 0.0).sum()
        assert runs["careful", seed]["violated"] == ["projection_free_coco", 0.02]
        assert runs["careful", seed]["certificate"] == pytest.approx(careful.certificate())
        assert runs["rule", seed]["certificate"] is None
        assert "violated" not in runs["projection_free_coco", seed]
    page = write_report(Summary(results), tmp_path / "report").read_text()
    assert "projection_free_coco with at most 2 % of rounds violated" in page
    assert "not finished" not in page


def test_another_share_is_another_experiment(tmp_path):
    sweep(load_experiment(written(tmp_path, TEXT)), tmp_path / "out", serial)
    other = TEXT.replace("0.02", "0.03")
    with pytest.raises(ValueError, match="another experiment"):
        sweep(load_experiment(written(tmp_path, other)), tmp_path / "out", serial)


def test_all_takes_them_in(tmp_path):
    text = TEXT.replace('["projection_free_coco", "careful", "rule"]', '"all"')
    assert load_experiment(written(tmp_path, text)).methods == (*METHODS, "careful", "rule")


MISTAKES = {
    "share": ("share = 0.1", "share = 10", "violated.rule.share must be at least 0 and below 1"),
    "method": ('"threshold_rule"', '"treshold_rule"', "did you mean 'threshold_rule'"),
    "values": (
        '"threshold_rule"',
        '"projection_free_bandit"',
        "does not learn from values and grad",
    ),
    "whole": ('"threshold_rule"', '"guo_recoo"', "does not learn from values and gradients"),
    "key": ("share = 0.1", "shares = 0.1", "unknown key 'shares'"),
    "name": ("rule = {", "ecmp = {", "violated.ecmp has the name of a method"),
    "idle": (', "rule"]', "]", "violated.rule does not play; name it in methods, too"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_are_one_sentence(tmp_path, what):
    old, new, words = MISTAKES[what]
    assert TEXT.count(old) == 1
    with pytest.raises(ValueError, match=words):
        load_experiment(written(tmp_path, TEXT.replace(old, new)))
    said = invoked("run", tmp_path / "small.toml", "-o", tmp_path / "out")
    assert said.exit_code == 2
    assert said.stderr.count("\n") == 1


def test_a_live_session_keeps_a_share(tmp_path):
    X = hr.sets.Simplex(3)
    rng = np.random.default_rng(0)

    def policy(share=0.05):
        return hr.policies.ViolatedShare(hr.projection_free_coco(X), share)

    alone = policy()
    for half in range(2):
        with hr.live.open_session(tmp_path / "s.db", "a", policy()) as session:
            for _ in range(20):
                decision = session.ask()
                f = hr.Linear([0.0, 1.0, 2.0])
                g = hr.Linear([1.0, 0.5, 0.0] + 0.2 * rng.standard_normal(3), -0.5)
                seen = [hr.first_order(h, decision.action) for h in (f, g)]
                session.tell(decision.id, *seen)
                alone.tell(*seen)
            assert session.policy.state()["checksum"] == alone.state()["checksum"]
            assert session.status().answered == 20 * (half + 1)
    with pytest.raises(ValueError, match=r"share"):
        hr.live.open_session(tmp_path / "s.db", "a", policy(0.06))


def test_a_session_over_http_may_have_a_share():
    from hedgerow.live.messages import parse
    from hedgerow.live.specs import Spec, check_spec, policy_of

    text = b'{"method": "projection_free_coco", "set": {"kind": "Simplex", "n": 3}'
    spec = parse(Spec, text + b', "violated": 0.01}')
    check_spec(spec, 10)
    policy = policy_of(spec)
    assert isinstance(policy, hr.policies.ViolatedShare)
    assert policy.shares == (0.01,)
    assert spec.given()["violated"] == 0.01
    with pytest.raises(ValueError, match="violated"):
        parse(Spec, text + b', "violated": 1.5}')
