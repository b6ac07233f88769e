"""Violations of several constraints are added only where all have one unit."""

from __future__ import annotations

import copy
import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import hedgerow as hr
from hedgerow.experiments.playing import materialise
from hedgerow.games.checkpoints import simulate_resumable
from hedgerow.games.simulation import simulate_chunks
from hedgerow.protocols.limits import LimitName, MixedUnitsError, have_one_unit, numbered

X = hr.sets.Simplex(3)
NAMES = {"latency": "ms", "share of B": ""}
ALIKE = {"there": "ms", "back": "ms"}
COST = hr.Linear([1.0, 2.0, 1.7])


def rounds(count: int = 60) -> list:
    """Return rounds with a cap of 120 ms and one of 0.4 of the second option."""
    rng = np.random.default_rng(0)
    share = hr.Linear([0.0, 1.0, 0.0], -0.4)
    taken = np.array([150.0, 100.0, 110.0])
    return [
        (COST, [hr.Linear(taken * rng.uniform(0.9, 1.1, 3), -120.0), share]) for _ in range(count)
    ]


def game(**given: object) -> tuple[hr.RecordedProblem, hr.Trace]:
    problem = hr.RecordedProblem(X, rounds(), **given)
    return problem, hr.simulate(hr.projection_free_coco(X, constraints=2), problem)


def test_a_mixed_sum_is_refused_in_one_sentence():
    _, trace = game(limits=NAMES)
    assert trace.limits == (LimitName("latency", "ms"), LimitName("share of B"))
    for what in ("ccv", "signed_ccv"):
        with pytest.raises(MixedUnitsError) as caught:
            getattr(trace, what)
        said = str(caught.value)
        assert said.startswith(
            "rounds have 2 constraints (latency in ms, share of B), whose units may differ, so "
            f"there is no {what.replace('signed_ccv', 'signed CCV').replace('ccv', 'CCV')} of all "
        )
        assert "; use ccv_each or violations_each, or, where all have one unit, name it: " in said
        assert "\n" not in said
    _, unnamed = game()
    with pytest.raises(MixedUnitsError, match="rounds have 2 constraints, whose units may differ"):
        _ = unnamed.ccv


def test_a_sum_is_there_where_the_problem_names_one_unit():
    _, mixed = game()
    problem, trace = game(limits=ALIKE)
    assert problem.one_unit
    np.testing.assert_array_equal(trace.violations_each, mixed.violations_each)
    assert trace.ccv == np.maximum(trace.violations, 0.0).sum()
    assert trace.signed_ccv == trace.violations.sum()


def test_a_maximum_is_one_constraint():
    pairs = [(cost, hr.Maximum(caps)) for cost, caps in rounds()]
    problem = hr.RecordedProblem(X, pairs)
    assert problem.one_unit
    trace = hr.simulate(hr.projection_free_coco(X), problem)
    assert trace.ccv == np.maximum(trace.violations, 0.0).sum()
    assert hr.hindsight(problem, budget=1.0).status == "optimal"
    assert hr.hindsight(X, pairs, budget="minimum").status == "optimal"
    assert hr.RecordedProblem(X, [(cost, caps[:1]) for cost, caps in rounds()]).one_unit


def test_problems_of_the_library_have_one_unit():
    assert hr.problems.AdSlots(advertisers=5, slots=4, horizon=4, seed=3).one_unit
    assert hr.problems.IidSimplex(n=3, horizon=4, seed=0).one_unit


def test_every_way_to_play_carries_the_names(tmp_path):
    problem, trace = game(limits=NAMES)

    def policy() -> hr.ConstrainedPolicy:
        return hr.projection_free_coco(X, constraints=2)

    played = [
        hr.Trace.of(hr.play(policy(), problem), problem),
        hr.Trace.joined(simulate_chunks(policy(), problem, size=7)),
        simulate_resumable(policy(), problem, tmp_path, every=20),
        hr.simulate(policy(), materialise(problem)),
        hr.simulate(policy(), hr.RecordedProblem(X, problem)),
        hr.games.simulate_many([(policy(), problem)])[0],
    ]
    for other in played:
        assert (other.limits, other.one_unit) == (trace.limits, False)
        np.testing.assert_array_equal(other.violations_each, trace.violations_each)
    again = simulate_resumable(policy(), problem, tmp_path, every=20)
    assert (again.limits, again.one_unit) == (trace.limits, False)
    unknown = hr.Trace.of(hr.play(policy(), problem))
    with pytest.raises(MixedUnitsError):
        _ = unknown.ccv


def test_where_the_number_changes_the_units_may_differ_too():
    changing = [(cost, caps[: 1 + t % 2]) for t, (cost, caps) in enumerate(rounds())]
    problem = hr.RecordedProblem(X, changing)
    trace = hr.simulate(hr.projection_free_coco(X), problem)
    steps = hr.Trace.of(hr.play(hr.projection_free_coco(X), problem))
    for one in (trace, steps):
        assert one.violations_each is None
        with pytest.raises(MixedUnitsError, match=r"several constraints.*give their Maximum"):
            _ = one.ccv
        assert "ccv" not in one.to_frame()
        assert "CCV" not in one._repr_html_()
    maxima = hr.RecordedProblem(X, [(cost, hr.Maximum(caps)) for cost, caps in changing])
    assert hr.simulate(hr.projection_free_coco(X), maxima).ccv > 0.0


def test_frames_and_notebooks_use_the_names():
    _, trace = game(limits=NAMES)
    frame = trace.to_frame()
    assert list(frame.columns) == [
        "cost",
        "total_cost",
        *("violation_latency", "ccv_latency", "violation_share of B", "ccv_share of B"),
    ]
    np.testing.assert_allclose(frame.iloc[-1][["ccv_latency", "ccv_share of B"]], trace.ccv_each)
    page = trace._repr_html_()
    for k, name in enumerate(("latency in ms", "share of B")):
        row = trace.violations_each[k]
        for what, number in (
            ("CCV", f"{trace.ccv_each[k]:.6g}"),
            ("violated rounds", f"{(row > 0.0).sum()} of 60"),
            ("largest violation", f"{max(0.0, row.max()):.6g}"),
        ):
            assert f"{what} of {name}" in page
            assert number in page.split(f"{what} of {name}")[1][:100]
    _, alike = game(limits=ALIKE)
    assert list(alike.to_frame().columns)[:4] == ["cost", "violation", "total_cost", "ccv"]
    assert alike.to_frame()["ccv"].iloc[-1] == pytest.approx(alike.ccv)


def test_service_levels_use_the_names():
    _, trace = game(limits=NAMES)
    levels = trace.service_levels()
    assert [(level.name, level.unit) for level in levels] == list(NAMES.items())
    renamed = trace.service_levels([("a", "s"), ("b", "m")])
    assert [(level.name, level.unit) for level in renamed] == [("a", "s"), ("b", "m")]
    with pytest.raises(ValueError, match="there are 2 constraints, got names of 1; name each"):
        trace.service_levels([("a", "s")])


@pytest.mark.parametrize(
    ("limits", "error", "sentence"),
    [
        ({"one": "ms"}, ValueError, "names 1 constraints, round 1 has 2; name each constraint"),
        (["one", "two"], TypeError, "limits must be names with units, as {'latency': 'ms'"),
        ({"one": 1.0, "two": 2.0}, TypeError, "limits must be names with units"),
    ],
)
def test_wrong_names_are_refused(limits, error, sentence):
    with pytest.raises(error, match=sentence):
        hr.RecordedProblem(X, rounds(), limits=limits)


def test_a_budget_for_mixed_units_needs_sizes():
    problem = hr.RecordedProblem(X, rounds(), limits=NAMES)
    for played in ((problem,), (X, rounds())):
        for budget in (1.0, "minimum"):
            with pytest.raises(MixedUnitsError, match=r"so their violations cannot be added.*give"):
                hr.hindsight(*played, budget=budget)
    with_sizes = hr.hindsight(problem, budget=1.0, units=[120.0, 0.4])
    assert with_sizes.status == "optimal"
    assert with_sizes.units == (120.0, 0.4)
    relative = [
        max(0.0, latency(with_sizes.x) / 120.0, share(with_sizes.x) / 0.4)
        for _, (latency, share) in rounds()
    ]
    assert with_sizes.ccv == pytest.approx(sum(relative), rel=1e-6)
    assert hr.hindsight(hr.RecordedProblem(X, rounds(), limits=ALIKE), budget=1.0).units == ()


def test_a_benchmark_has_the_ccv_of_each_constraint_in_its_unit():
    problem = hr.RecordedProblem(X, rounds())
    free = hr.hindsight(problem, constrained=False)
    each = np.maximum([[g(free.x) for g in caps] for _, caps in rounds()], 0.0).sum(axis=0)
    assert free.ccv_each == pytest.approx(each)
    assert each[0] > 0.0
    assert math.isnan(free.ccv)
    assert math.isnan(free.violation)
    best = hr.hindsight(problem)
    assert best.status == "optimal"
    assert best.ccv_each == pytest.approx([0.0, 0.0], abs=1e-6)
    assert best.violation <= 1e-6
    sized = hr.hindsight(problem, budget=0.5, units=[120.0, 0.4])
    own = np.maximum([[g(sized.x) for g in caps] for _, caps in rounds()], 0.0).sum(axis=0)
    assert sized.ccv_each == pytest.approx(own), "in their own units, not in those sizes"
    part = hr.hindsight(problem, interval=(11, 20), constrained=False)
    some = np.maximum([[g(part.x) for g in caps] for _, caps in rounds()[10:20]], 0.0).sum(axis=0)
    assert part.ccv_each == pytest.approx(some)


def test_an_infeasible_benchmark_compares_no_units():
    torn = [*rounds(4), (COST, [hr.Linear([-1.0, 0.0, 0.0], 500.0), rounds()[0][1][1]])]
    best = hr.hindsight(X, torn)
    assert best.status == "infeasible"
    assert math.isnan(best.violation)
    assert math.isnan(best.ccv)
    assert best.needed_budget is None
    assert len(best.ccv_each) == 2


@given(
    arrays.arrays(np.float64, (2, 5), elements=st.floats(-50.0, 50.0, allow_subnormal=False)),
    st.tuples(st.floats(0.01, 100.0), st.floats(0.01, 100.0)),
)
def test_relative_violations_do_not_depend_on_units(each, sizes):
    trace = hr.Trace(np.zeros(5), each.max(axis=0), violations_each=each)
    finer = dataclasses.replace(trace, violations_each=each * np.array([[1000.0], [1.0]]))
    first = trace.relative_to(sizes)
    second = finer.relative_to((1000.0 * sizes[0], sizes[1]))
    assert first.ccv == pytest.approx(second.ccv, rel=1e-9, abs=1e-12)
    assert first.violations_each is None
    np.testing.assert_array_equal(first.violations > 0.0, (each > 0.0).any(axis=0))


def test_relative_violations_need_a_size_for_each():
    _, trace = game()
    with pytest.raises(ValueError, match="one size for each of 2 constraints, got"):
        trace.relative_to([1.0])


def test_one_unit_must_be_known():
    assert have_one_unit([LimitName("a", "ms"), LimitName("b", "ms")])
    for limits in ((), [LimitName("a"), LimitName("b")], [LimitName("a", "ms"), LimitName("b")]):
        assert not have_one_unit(limits)
    assert [name for name, _ in numbered((), 3)][-1] == "constraint 3"


def test_a_summary_has_names_and_weights():
    problem = hr.RecordedProblem(X, rounds(), limits=NAMES)
    policy = hr.projection_free_coco(X, constraints=2)
    hr.simulate(policy, problem)
    summary = policy.summary()
    assert summary.largest_weight is None, "cost per ms is not compared with cost per share"
    assert summary.largest_weight_each == tuple(policy.policy._state["largest_price"])
    assert min(summary.largest_weight_each) > 0.0
    for named in (summary.named(problem.limits), summary.named(NAMES)):
        said = str(named).splitlines()
        assert said[2] == f"CCV of 1      {summary.ccv_each[0]:.6g} ms, latency"
        assert said[3] == f"CCV of 2      {summary.ccv_each[1]:.6g}, share of B"
        assert said[4].endswith("%, of any constraint")
    with pytest.raises(ValueError, match="there are 2 constraints, got names of 1"):
        summary.named({"latency": "ms"})


@pytest.mark.parametrize("build", [hr.projection_free_coco, hr.policies.RestrictedMaster])
@pytest.mark.parametrize("constraints", [None, 2])
def test_a_summary_says_what_holds_the_decision_and_that_no_action_keeps_all(build, constraints):
    policy = build(X, constraints=constraints)
    hr.simulate(policy, hr.RecordedProblem(X, rounds()))
    said = {line.split("  ")[0]: line for line in str(policy.summary()).splitlines()}
    assert said["held by"].endswith(f"  {policy.binding()[0]}")
    assert "infeasible" not in said
    whole, x = hr.Linear([1.0, 1.0, 1.0], -0.5), policy.ask()  # shares add up to 1
    policy.tell(hr.first_order(COST, x), [hr.first_order(whole, x)] * 2)
    assert policy.summary().infeasible == (build is hr.projection_free_coco)


def test_a_record_made_by_hand_does_not_assume_one_unit():
    each = np.array([[1.0, -1.0], [0.5, 2.0]])
    made = hr.Trace(np.zeros(2), each.max(axis=0), violations_each=each)
    with pytest.raises(MixedUnitsError):
        _ = made.ccv
    assert hr.Trace(np.zeros(2), each[0]).ccv == 1.0


def test_recorded_rounds_have_the_units_of_their_problem():
    """A problem that reacts hands out maxima, and its rounds are benchmarked afterwards."""
    problem = hr.RecordedProblem(X, rounds(), limits=NAMES)
    seen = list(problem.rounds())
    assert hr.RecordedProblem(X, seen).one_unit, "a Maximum is one constraint"
    with pytest.raises(MixedUnitsError, match="latency in ms, share of B"):
        hr.hindsight(problem, seen, budget=1.0)
    assert len(hr.hindsight(problem, seen).ccv_each) == 2


def test_the_summary_of_one_queue_adds_no_units():
    names = "latency in ms, share of B"
    for limits in (NAMES, None):
        policy = hr.projection_free_coco(X)
        hr.simulate(policy, hr.RecordedProblem(X, rounds(), limits=limits))
        summary = policy.summary()
        assert summary.ccv is summary.weight is summary.largest_weight is None
        said = str(summary).splitlines()
        assert said[2] == (
            "CCV           none: one queue for several constraints, whose units may differ"
        )
        assert said[3].endswith("%, of any constraint")
        assert f"several constraints ({names})" in str(summary.named(NAMES))
        assert not any(line.startswith("weight") for line in said)


def test_the_summary_of_one_queue_has_a_ccv_where_all_have_one_unit():
    policy = hr.projection_free_coco(X)
    trace = hr.simulate(policy, hr.RecordedProblem(X, rounds(), limits=ALIKE))
    summary = policy.summary()
    assert summary.ccv == pytest.approx(trace.ccv)
    unit = next(iter(ALIKE.values()))
    line = f"CCV                {summary.ccv:.6g} {unit}, of the largest violation of each round"
    assert line in str(summary.named(ALIKE)).splitlines()
    one = hr.projection_free_coco(X)
    hr.simulate(one, hr.RecordedProblem(X, [(cost, hr.Maximum(caps)) for cost, caps in rounds()]))
    assert one.summary().ccv == summary.ccv, "a Maximum is one constraint"
    told = hr.projection_free_coco(X)
    for cost, caps in rounds():
        x = told.ask()
        told.tell(hr.first_order(cost, x), [hr.first_order(cap, x) for cap in caps])
    assert told.summary().ccv is None, "a list without names is never added up"
    assert told.summary().named(ALIKE).ccv == pytest.approx(summary.ccv)
    assert told.summary().named({"latency": "ms", "share": ""}).ccv is None


def test_a_share_of_violated_rounds_adds_no_units():
    policy = hr.policies.ViolatedShare(hr.projection_free_coco(X), 0.1)
    hr.simulate(policy, hr.RecordedProblem(X, rounds(), limits=NAMES))
    assert policy.summary().ccv is None
    alike = hr.policies.ViolatedShare(hr.projection_free_coco(X), 0.1)
    hr.simulate(alike, hr.RecordedProblem(X, rounds(), limits=ALIKE))
    assert alike.summary().ccv > 0.0


@pytest.mark.parametrize(
    "build",
    [
        hr.projection_free_coco,
        lambda X: hr.projection_free_coco(X, advisers=["plan"]),
        lambda X: hr.policies.ViolatedShare(hr.projection_free_coco(X), 0.1),
    ],
)
def test_a_snapshot_knows_that_units_differ(build, tmp_path):
    policy, one = build(X), build(X)
    hr.simulate(policy, hr.RecordedProblem(X, rounds(), limits=NAMES))
    hr.simulate(one, hr.RecordedProblem(X, rounds(), limits=ALIKE))
    for before, has_sum in ((policy, False), (one, True)):
        before.save(tmp_path / "saved")
        again = build(X)
        again.load(tmp_path / "saved")
        assert (again.summary().ccv is not None) == has_sum
        assert again.summary() == before.summary() == copy.copy(before).summary()
        for resumed in (before, again):
            hr.simulate(resumed, hr.RecordedProblem(X, rounds(80)[60:], limits=ALIKE))
        assert again.summary() == before.summary()
        np.testing.assert_array_equal(again.state()["array"], before.state()["array"], strict=True)
