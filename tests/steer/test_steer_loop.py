"""The loop: exactly one report for each decision, bounded changes, and what happens in trouble."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hedgerow.live.lease import Lease, LeaseHeldError
from hedgerow.live.store import StoreError
from hedgerow.steer.loop import steer, weights_of
from hedgerow.steer.readings import EndOfReadings, SourceError
from hedgerow.steer.targets import TargetError, make_target
from hedgerow.steer.weights import WHOLE
from steer_files import GOOD, Bench, Scripted, readings, settings_of, weights_in

MOST = int(0.3 * WHOLE)


class Proxy:
    """A target in memory that can refuse and be restarted."""

    def __init__(self, *weights: int):
        self.first = self.weights = np.array(weights or (100, 100, 100))
        self.refuses, self.history = "", []

    def read(self):
        if self.refuses:
            raise TargetError(self.refuses)
        return self.weights.copy()

    def write(self, weights):
        if self.refuses:
            raise TargetError(self.refuses)
        self.weights = weights.copy()
        self.history.append(weights.tolist())

    def restart(self):
        self.weights = self.first


@pytest.fixture
def make(tmp_path):
    made = []

    def build(source, target, text=GOOD):
        made.append(Bench(tmp_path, source, target, text))
        return made[-1]

    yield build
    for one in made:
        one.store.close()


def test_each_interval_reports_the_decision_that_was_in_force(make):
    bench = make(Scripted(readings()), Proxy())
    assert bench.tick(30) == ["waiting", *["decided"] * 29]
    history = bench.session.history()
    assert history.rounds.size == 30
    assert np.isfinite(history.cost).sum() == 29
    prices = np.array([4.0, 2.0, 1.0])
    assert np.allclose(history.cost[:-1], history.actions[:-1] @ prices)
    assert np.array_equal(weights_of(bench.work.decision), bench.work.target.weights)
    changed = next(line for line in bench.lines if "eu-1 " in line)
    assert "latency " in changed


def test_weights_change_by_a_bounded_amount_even_from_weights_of_others(make):
    proxy = Proxy(256, 0, 0)
    bench = make(Scripted(readings()), proxy)
    bench.tick(12)
    steps = np.diff(np.array([[256, 0, 0], *proxy.history]), axis=0)
    assert np.abs(steps).max() <= MOST
    assert proxy.weights[1:].min() >= 3


def test_a_restart_resumes_with_the_same_decision(make):
    """What kill -9 leaves: a store, and a proxy with the last weights."""
    proxy = Proxy()
    bench = make(Scripted(readings()), proxy)
    bench.tick(10)
    before = bench.work.decision
    again = make(Scripted(readings()), proxy)
    again.clock.now = bench.clock.now
    written = len(proxy.history)
    assert again.tick() == ["decided"]
    assert again.session.history().rounds.size == 11
    assert again.session.status().answered == bench.session.status().answered
    assert before.id == "interval 10"
    steps = np.diff(np.array(proxy.history[written - 2 :]), axis=0)
    assert np.abs(steps).max() <= MOST


def test_a_crash_between_ask_and_write_writes_the_same_decision(make):
    proxy = Proxy()
    bench = make(Scripted(readings()), proxy)
    bench.tick(5)
    proxy.refuses = "gone"
    assert bench.tick() == ["held"]  # nothing was read, so that nothing was reported
    proxy.refuses = ""
    bench.work.decision = None
    first = bench.session.ask("interval 5")
    again = make(Scripted(readings()), proxy)
    again.tick()
    assert again.session.history().actions[4].tolist() == first.action.tolist()
    assert again.session.status().decisions in (5, 6)


def test_stale_metrics_hold_then_fall_back_then_return_in_steps(make):
    stale = SourceError("Prometheus is away")
    proxy = Proxy()
    bench = make(Scripted(*[readings()] * 10, *[stale] * 6, readings()), proxy)
    bench.tick(10)
    held = proxy.weights.tolist()
    assert bench.tick(2) == ["held", "held"]
    assert proxy.weights.tolist() == held
    assert bench.lines[-1] == "weights held: Prometheus is away"
    assert bench.tick(4) == ["fallback"] * 4
    assert proxy.weights.tolist() == [128, 64, 64]
    assert "falling back, Prometheus is away" in bench.lines[-1]
    answered = bench.session.status().answered
    outcomes = bench.tick(4)
    assert outcomes[0] == "waiting"  # the fallback is no decision of the session
    assert outcomes[-1] == "decided"
    assert bench.session.status().answered == answered + outcomes.count("decided")
    assert np.abs(np.diff(np.array(proxy.history), axis=0)).max() <= MOST


def test_without_configured_weights_the_last_ones_stay(make):
    text = GOOD[: GOOD.index("fallback = ")]
    bench = make(Scripted(readings(), readings(), SourceError("away")), Proxy(), text)
    assert bench.tick(8) == ["waiting", "decided", *["held"] * 6]


def test_a_proxy_that_was_restarted_gets_its_weights_again(make):
    proxy = Proxy()
    bench = make(Scripted(readings()), proxy)
    bench.tick(10)
    before = proxy.weights.tolist()
    assert before != proxy.first.tolist()
    proxy.restart()
    answered = bench.session.status().answered
    assert bench.tick() == ["waiting"]
    assert bench.session.status().answered == answered
    bench.tick(3)
    assert proxy.weights.tolist() != proxy.first.tolist()


def test_a_target_that_refuses_holds(make):
    proxy = Proxy()
    bench = make(Scripted(readings()), proxy)
    bench.tick(4)
    proxy.refuses = "permission denied"
    assert bench.tick(3) == ["held"] * 3
    assert bench.lines[-1] == "weights held: permission denied"
    proxy.refuses = ""
    assert bench.tick() == ["decided"]


def test_a_store_that_fails_holds(make, monkeypatch):
    proxy = Proxy()
    bench = make(Scripted(readings()), proxy)
    bench.tick(4)
    before = proxy.weights.tolist()

    def full(*_):
        raise StoreError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(bench.session, "tell", full)
        assert bench.tick(2) == ["held", "held"]
    assert proxy.weights.tolist() == before
    assert bench.tick() == ["decided"]
    assert np.isfinite(bench.session.history().cost).sum() == 4


def test_a_commit_whose_answer_was_lost_is_not_reported_twice(make, monkeypatch):
    bench = make(Scripted(readings(), readings(), readings(us_1=150.0)), Proxy())
    bench.tick(4)
    tell = bench.session.tell

    def lost(*feedback):
        tell(*feedback)
        raise StoreError("the connection was lost")

    with monkeypatch.context() as patched:
        patched.setattr(bench.session, "tell", lost)
        assert bench.tick() == ["held"]
    bench.work.source = Scripted(readings(us_1=140.0))  # other feedback for the same decision
    bench.tick(2)
    history = bench.session.history()
    assert history.rounds.tolist() == list(range(1, history.rounds.size + 1))
    assert np.isfinite(history.cost[:-1]).all()


def test_a_file_with_another_policy_needs_another_session(make):
    make(Scripted(readings()), Proxy()).tick()
    with pytest.raises(ValueError, match="created with another policy or other arguments"):
        make(Scripted(readings()), Proxy(), GOOD.replace("min_share = 0.02", "min_share = 0.05"))


def test_a_backend_that_is_down_gets_its_minimum(make):
    down = readings() | {"us-1": {"up": False}}
    proxy = Proxy()
    bench = make(Scripted(*[readings()] * 20, down), proxy)
    bench.tick(20)
    assert proxy.weights[2] > 60
    assert bench.tick(6)[3:] == ["decided"] * 3
    assert proxy.weights[2] == 6
    assert "down: us-1" in bench.lines[-1]
    history = bench.session.history()
    shares, violation = history.actions[-2], history.violation[-2]
    served = shares[:2] / shares[:2].sum()  # the others share its requests
    assert np.isclose(violation, served @ [50.0, 100.0] - 120.0, atol=1.0)


def test_a_backend_without_traffic_keeps_its_last_reading(make):
    text = GOOD.replace("[safety]", "[safety]\nleast_observed = 0.1")
    bench = make(Scripted(readings(), readings(eu_2=None)), Proxy(), text)
    bench.tick(3)
    assert "not observed: eu-2" in bench.lines[-1]
    constraint = bench.session.history().violation[1]
    shares = bench.session.history().actions[1]
    assert np.isclose(constraint, shares @ [50.0, 100.0, 160.0] - 120.0)  # never a zero


def test_several_limits(make):
    second = '[[limits]]\nname = "errors"\nat_most = 0.005\n\n[source]'
    text = GOOD.replace("[source]", second)
    found = {name: table | {"errors": 0.001} for name, table in readings().items()}
    bad = {name: table | {"errors": 0.05} for name, table in readings().items()}
    bench = make(Scripted(*[found] * 4, bad), Proxy(), text)
    assert bench.tick(8) == ["waiting", *["decided"] * 7]
    assert "errors 0.05 > 0.005" in bench.lines[-1]
    status = bench.session.status()
    assert len(status.each) == 2
    held, per = status.binding[0], ("ms of latency", "unit of errors")
    said = f", held by interval {held.round} at {held.price:.3g} per {per[held.part]}"
    assert bench.lines[-1].endswith(said)
    assert "held by" not in bench.lines[0]


def test_shadow_decides_and_writes_nothing(make, tmp_path):
    bench = make(Scripted(readings()), None)
    bench.clock.now -= bench.settings.interval
    assert bench.tick(5) == ["waiting", *["decided"] * 4]
    assert bench.session.status().answered == 4
    assert weights_in(tmp_path) is None


def test_two_processes_cannot_both_act(make, tmp_path):
    bench = make(Scripted(readings()), Proxy())
    with Lease(bench.session, 30.0) as lease:
        with pytest.raises(LeaseHeldError, match="acts on session 'shop'; stop it, or wait"):
            Lease(bench.session, 30.0).renew()
        path = tmp_path / "trace.csv"
        path.write_text("interval,backend,latency\n1,eu-1,5\n")
        text = GOOD.replace(
            'kind = "command"\ncommand = ["readings"]', 'kind = "csv"\npath = "trace.csv"'
        )
        with pytest.raises(LeaseHeldError):
            steer(settings_of(tmp_path, text), print)
        lease.renew()
    Lease(bench.session, 30.0).renew()  # it was given back


def replayed(tmp_path, more=""):
    rows = ["interval,backend,price,latency"]
    for t in range(12):
        rows += [f"{t},{name},{2 + t % 3},{value['latency']}" for name, value in readings().items()]
    (tmp_path / "trace.csv").write_text("\n".join(rows))
    text = GOOD.replace(
        'kind = "command"\ncommand = ["readings"]', 'kind = "csv"\npath = "trace.csv"'
    )
    return settings_of(tmp_path, text + more)


def test_a_csv_is_replayed_whole_and_again_alike(tmp_path):
    lines = []
    steer(replayed(tmp_path), lines.append)
    assert len(lines) == 12
    assert sum(weights_in(tmp_path).values()) == WHOLE
    first = weights_in(tmp_path)
    for name in ("shop.db", "weights.json"):
        (tmp_path / name).unlink()
    steer(replayed(tmp_path), lines.append)
    assert lines[12:] == lines[:12]
    assert weights_in(tmp_path) == first


def test_weights_found_at_the_start_are_restored(tmp_path):
    start = {"weights": {"eu-1": 10, "eu-2": 20, "us-1": 30}}
    (tmp_path / "weights.json").write_text(json.dumps(start))
    lines = []
    steer(replayed(tmp_path, "restore = true\n"), lines.append)
    assert weights_in(tmp_path) == start["weights"]
    assert lines[-1] == "the weights found at the start are in force again"


def test_once_is_one_interval(tmp_path):
    lines = []
    steer(replayed(tmp_path), lines.append, once=True)
    assert len(lines) == 1


def test_the_end_of_a_file_is_no_failure(make):
    bench = make(Scripted(EndOfReadings()), Proxy())
    with pytest.raises(EndOfReadings):
        bench.tick()


def test_metrics_of_its_own(make):
    from prometheus_client import generate_latest

    bench = make(Scripted(readings(), readings(), readings(us_1=900.0), SourceError("x")), Proxy())
    bench.tick(4)
    text = generate_latest(bench.work.metrics.registry).decode()
    assert 'hedgerow_steer_intervals_total{outcome="decided"} 2.0' in text
    assert 'hedgerow_steer_intervals_total{outcome="held"} 1.0' in text
    assert 'hedgerow_steer_bad_intervals_total{limit="latency"} 1.0' in text
    assert 'hedgerow_steer_reading{backend="us-1",limit="latency"} 900.0' in text
    assert 'hedgerow_steer_share{backend="eu-1"}' in text


def test_a_file_target_is_read_by_the_next_process(make, tmp_path):
    target = make_target(settings_of(tmp_path))
    bench = make(Scripted(readings()), target)
    bench.tick(6)
    assert weights_in(tmp_path) == dict(
        zip(bench.settings.names, weights_of(bench.work.decision).tolist(), strict=True)
    )
