"""Violations in the numbers of objectives: share, worst, p95, streak, minutes, each constraint."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from typer.testing import CliRunner

import hedgerow as hr
from hedgerow.cli.app import app
from hedgerow.experiments.results import Results
from hedgerow.networks import Network
from hedgerow.networks.quantities import Quantity
from hedgerow.problems import MeasuredRoutes
from hedgerow.protocols.service_level import longest_run, service_level


@given(st.lists(st.booleans(), max_size=40))
def test_the_longest_run_is_that_of_groups(flags):
    expected = max((len(list(g)) for on, g in itertools.groupby(flags) if on), default=0)
    assert longest_run(np.array(flags, dtype=bool)) == expected


@given(arrays(np.float64, st.integers(1, 60), elements=st.floats(-5.0, 5.0)))
def test_every_number_is_what_its_name_says(values):
    level = service_level(values, "g", "ms", 15.0)
    broken = [v for v in values if v > 0.0]
    assert level.violated == len(broken)
    assert level.share == len(broken) / len(values)
    assert level.worst == max(broken, default=0.0)
    below = np.mean(np.maximum(values, 0.0) <= level.p95 + 1e-12)
    assert below >= 0.95 - 1.0 / len(values)
    assert level.minutes == 15.0 * len(broken)
    assert level.streak_minutes == 15.0 * level.longest_streak


def network():
    rng = np.random.default_rng(0)
    edges = [(0, 1), (1, 2), (0, 2)]
    series = rng.uniform(5.0, 30.0, (50, 3))
    return Network(
        ("s", "a", "t"), edges, np.median(series, axis=0), "measured", latency_series=series,
        quantities={"price_eur": Quantity([1.0, 1.0, 5.0], "measured")},
        times=1.7e9 + 120.0 * np.arange(50), source=0, target=2,
    )  # fmt: skip


def test_a_problem_names_its_constraints_and_knows_its_minutes():
    problem = MeasuredRoutes(network(), cost="hops", caps="latency=25, price=3")
    trace = hr.simulate(hr.baselines.fixed(problem.decision_set, ["s", "a", "t"]), problem)
    latency, price = problem.service_levels(trace)
    values = network().latency_series[:, 0] + network().latency_series[:, 1] - 25.0
    assert latency.name == "latency at most 25 ms"
    assert (latency.unit, price.unit) == ("ms", "eur")
    assert latency.worst == pytest.approx(values.max())
    assert latency.minutes == 2.0 * (values > 0.0).sum()
    assert price.violated == 0
    assert "minutes" in str(latency)


def test_a_trace_alone_counts_rounds():
    X = hr.sets.Simplex(2)
    parts = [hr.Linear([1.0, 0.0], -0.1), hr.Linear([0.0, 1.0], -2.0)]
    problem = hr.RecordedProblem(X, [(hr.Linear([1.0, 0.0]), parts)] * 4)
    trace = hr.simulate(hr.baselines.fixed(X, [0.5, 0.5]), problem)
    one, two = trace.service_levels()
    assert (one.name, one.violated, one.minutes) == ("constraint 1", 4, None)
    assert (two.violated, two.longest_streak) == (0, 0)
    assert (
        str(one) == "constraint 1: violated in 4 rounds (100.0 %), worst 0.4, p95 0.4, 4 in a row"
    )
    with pytest.raises(ValueError, match="there are 2 constraints, got names of 1"):
        trace.service_levels([("a", "ms")])


def test_records_and_reports_have_them_in_units_and_minutes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    network().save(tmp_path / "net.json")
    (tmp_path / "e.toml").write_text(
        'name = "e"\nmethods = ["unconstrained", "ecmp", "shortest_path", "cheapest_path",'
        ' "best_of_yesterday"]\nhorizons = [50]\nseeds = [1]\npresets = ["practical"]\n'
        '[[problems]]\nkind = "measured_routes"\nnetwork = "net.json"\ncost = "price"\n'
        'caps = "latency=20"\n'
    )
    for line in (["run", "e.toml", "--workers", "1"], ["report", "out/e"]):
        done = CliRunner().invoke(app, line)
        assert done.exit_code == 0, done.output
    records = {run.record["method"]: run.record for run in Results(tmp_path / "out/e").runs}
    assert all(record["status"] == "done" for record in records.values())
    (level,) = records["shortest_path"]["service"]
    assert level["constraint"] == "latency at most 20 ms"
    assert level["violated_minutes"] == 2.0 * level["violated_rounds"]
    assert records["shortest_path"]["cost"] != records["cheapest_path"]["cost"]
    page = (tmp_path / "out/e/report/report.html").read_text()
    assert "How often and how far" in page
    assert "latency at most 20 ms" in page
    assert "Against the best fixed action of those that violate least" in page
