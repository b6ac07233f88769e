"""Several constraints per round: one queue for their maximum, or one queue each."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from functools import partial

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.experiments.playing import perform
from hedgerow.experiments.reading import load_experiment
from hedgerow.experiments.tasks import plan
from hedgerow.feedback import Eval, EvalGrad, EvalLinear, Full, SemiBanditFeedback, first_order_each
from hedgerow.games.simulation import simulate_chunks
from hedgerow.learners.steps import CertificateSteps
from hedgerow.policies.presets import VacuousConstantsWarning
from hedgerow.surrogates.potentials import GrowingScale, PowerPotential
from synthetic_games import GAMES

T = 200
plain_coco = partial(hr.projection_free_coco, tracking=False)
X = hr.sets.Simplex(4)
G = np.array([1.0, 2.0, 3.0, 4.0])
FEEDBACK = {
    "EvalGrad": EvalGrad(1.0, G),
    "Eval": Eval(1.0, 2.0, 3.0),
    "EvalLinear": EvalLinear(1.0, G),
    "SemiBanditFeedback": SemiBanditFeedback(G, 0.5),
    "Full": Full(1.0, G, hr.Linear(G)),
}
POLICIES = {
    "coco": hr.projection_free_coco,
    "coco plain": plain_coco,
    "Theorem F": hr.policies.theorem_f,
    "long term": hr.projection_free_long_term,
    "unconstrained": hr.unconstrained,
    "dual": lambda X: hr.ConstrainedPolicy(
        hr.learners.AdaptiveOCG(X, CertificateSteps()),
        hr.surrogates.DualSurrogate(hr.surrogates.DualSteps(block=3, theta=0.1, mu=0.5)),
    ),
}


def drawn(seed=0, units=(1.0, 1.0)):
    """Rounds that pull to the first two vertices, with caps on them that the third keeps."""
    rng = np.random.default_rng(seed)
    for _ in range(T):
        caps = [
            hr.Linear(unit * (row + rng.uniform(-0.1, 0.1, 4)), -unit * cap)
            for unit, row, cap in zip(units, np.eye(4)[:2], (0.3, 0.2), strict=True)
        ]
        yield hr.Linear([-2.0, -1.5, 0.0, 0.0] + 0.3 * rng.standard_normal(4)), caps


def told(policy, rounds, look):
    plays = [policy.ask()]
    for cost, caps in rounds:
        x = plays[-1]
        policy.tell(hr.first_order(cost, x), look(caps, x))
        plays.append(policy.ask())
    return np.array(plays)


def as_list(caps, x):
    return [hr.first_order(cap, x) for cap in caps]


def as_tuple(caps, x):
    return tuple(as_list(caps, x))


def as_maximum(policy):
    return lambda caps, x: policy.feedback(hr.Maximum(caps), x)


# Feedback values


@pytest.mark.parametrize("name", FEEDBACK)
def test_feedback_is_a_frozen_value_and_no_sequence(name):
    seen = FEEDBACK[name]
    assert type(seen).__name__ == name
    first = dataclasses.fields(seen)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(seen, first, 2.0)
    assert not hasattr(seen, "__dict__")
    assert not isinstance(seen, tuple)
    with pytest.raises(TypeError, match="not iterable"):
        iter(seen)
    assert repr(seen).startswith(f"{name}({first}=")
    for twin in (copy.deepcopy(seen), pickle.loads(pickle.dumps(seen))):
        assert type(twin) is type(seen)
        assert repr(twin) == repr(seen) or name == "Full"


def test_numbers_compare_by_value_and_arrays_by_identity():
    assert Eval(1.0, 2.0, 3.0) == Eval(1.0, 2.0, 3.0) != Eval(1.0, 2.0, 4.0)
    assert EvalGrad(1.0, G) != EvalGrad(1.0, G)
    assert len({FEEDBACK["EvalGrad"], FEEDBACK["EvalGrad"]}) == 1


# One queue for the maximum


@pytest.mark.parametrize("name", POLICIES)
def test_a_sequence_without_more_is_its_maximum(name):
    rounds = list(drawn())
    whole = POLICIES[name](X)
    expected = told(whole, rounds, as_maximum(whole))
    for look in (as_list, as_tuple):
        plays = told(policy := POLICIES[name](X), rounds, look)
        np.testing.assert_array_equal(plays, expected)
        assert policy.certificate() == whole.certificate()
        assert policy.summary().ccv is None, "a list may have several units"
        assert name == "unconstrained" or whole.summary().largest_weight > 0.0
        other = copy.copy(whole)
        getattr(other, "policy", other).take_units(False)  # the only difference
        assert policy.state()["checksum"] == other.state()["checksum"]


def test_the_theory_preset_plays_the_maximum_too():
    def policy():
        with pytest.warns(VacuousConstantsWarning):
            return hr.projection_free_coco(X, T, preset="theory", lipschitz=3.0)

    rounds = list(drawn())
    np.testing.assert_array_equal(
        told(policy(), rounds, as_list), told(policy(), rounds, as_maximum(policy()))
    )


def test_the_first_of_equally_violated_constraints_counts():
    surrogate = hr.surrogates.CurrentSurrogate(PowerPotential(2.0, 1.0))
    cost, zero = EvalGrad(0.0, np.zeros(2)), np.zeros(2)
    loss = surrogate.tell(
        cost, [EvalGrad(0.5, zero), EvalGrad(1.0, np.array([1.0, 0.0])), EvalGrad(1.0, zero + 7.0)]
    )
    assert surrogate.queue == 1.0
    assert surrogate.weight > 0.0
    np.testing.assert_array_equal(loss.grad, [surrogate.weight, 0.0])


def test_the_maximum_is_as_steep_as_its_steepest_part():
    def loss(*declared):
        surrogate = hr.surrogates.CurrentSurrogate(PowerPotential(2.0, 1.0))
        parts = [EvalGrad(float(v), np.ones(2), lip) for v, lip in enumerate(declared)]
        return surrogate.tell(EvalGrad(0.0, np.ones(2), 1.0), parts).lipschitz

    assert loss(5.0, 2.0) == loss(2.0, 5.0) == loss(5.0, 5.0)
    assert loss(2.0, 5.0) > loss(2.0, 2.0)
    assert loss(2.0, None) is None


# One queue each


def by_hand(X, kind, scale, m=2):
    learner = hr.learners.AdaptiveOCG(X, CertificateSteps())
    potential = PowerPotential(2.0, scale)
    queues = [kind(potential, 0.0, hr.surrogates.ObservedRanges(learner)) for _ in range(m)]
    return hr.ConstrainedPolicy(learner, hr.surrogates.PerConstraintSurrogate(queues))


EACH = {
    "coco plain": (plain_coco, hr.surrogates.CurrentSurrogate, 1.0),
    "long term": (
        hr.projection_free_long_term,
        hr.surrogates.SignedSurrogate,
        GrowingScale(1.0, 1.0, 0.25),
    ),
}
MAKES = {"coco": hr.projection_free_coco} | {name: make for name, (make, *_) in EACH.items()}


@pytest.mark.parametrize("name", EACH)
def test_one_queue_each_is_the_composition_by_hand(name):
    make, kind, scale = EACH[name]
    rounds = list(drawn(1))
    policy, hand = make(X, constraints=2), by_hand(X, kind, scale)
    np.testing.assert_array_equal(told(policy, rounds, as_list), told(hand, rounds, as_tuple))
    assert policy.certificate() == hand.certificate()
    np.testing.assert_array_equal(policy.surrogate.queues, hand.surrogate.queues)
    assert not np.array_equal(policy.ask(), told(make(X), rounds, as_list)[-1])


@pytest.mark.parametrize("name", MAKES)
def test_a_queue_for_one_constraint_is_the_plain_policy(name):
    make = MAKES[name]
    rounds = [(cost, caps[:1]) for cost, caps in drawn(2)]
    plain = make(X)
    expected = told(plain, rounds, as_maximum(plain))
    for look in (as_list, lambda caps, x: hr.first_order(caps[0], x)):
        each = make(X, constraints=1)
        np.testing.assert_allclose(told(each, rounds, look), expected, atol=1e-12)
        assert each.summary().ccv_each == pytest.approx((plain.summary().ccv,))


def test_each_constraint_has_units_of_its_own():
    """In a unit a thousand times finer one constraint drowns the other in the maximum alone."""
    plain, finer = (list(drawn(3, units)) for units in ((1.0, 1.0), (1.0, 1024.0)))
    one, each = (
        [told(plain_coco(X, constraints=m), rounds, as_list) for rounds in (plain, finer)]
        for m in (None, 2)
    )
    np.testing.assert_array_equal(*each)
    assert not np.allclose(*one, atol=1e-3)


@pytest.mark.parametrize("unit", [1.0, 1024.0, 2.0**-20])
def test_the_default_is_bound_by_all_constraints_whatever_their_units(unit):
    """As the largest value of a round counts first, decisions depend on units, by a little."""
    units = (1.0, unit)
    problem = hr.RecordedProblem(X, drawn(3, units))
    free, one, each = (
        hr.simulate(policy, problem).ccv_each / units
        for policy in (
            hr.unconstrained(X),
            hr.projection_free_coco(X),
            hr.projection_free_coco(X, constraints=2),
        )
    )
    assert free.max() > 100.0
    assert one.max() < 2.0
    assert each.max() < 0.1


def test_both_forms_keep_what_they_promise():
    rounds = list(drawn(4))
    problem = hr.RecordedProblem(X, rounds)
    best = hr.hindsight(problem)
    blind = hr.simulate(hr.unconstrained(X), problem)
    for given in ({}, {"constraints": 2}):
        policy = hr.projection_free_coco(X, **given)
        trace = hr.simulate(policy, problem)
        assert trace.regret(best) <= policy.certificate()
        assert (trace.ccv_each < 0.1 * blind.ccv_each[0]).all()  # it breaks the first alone


def test_arguments_reach_every_queue():
    long_term = partial(hr.projection_free_long_term, violation_unit=2.0, lipschitz=(6.0, 2.0))
    for policy in (plain_coco(X, constraints=3, eagerness=4.0), long_term(X, constraints=3)):
        queues = policy.surrogate.surrogates
        assert len({id(queue.ranges) for queue in queues}) == len(queues) == 3
    assert {(queue.ranges.violation, queue.ranges.ratio) for queue in queues} == {(2.0, 3.0)}
    queues = plain_coco(X, constraints=3, eagerness=4.0).surrogate.surrogates
    for queue in queues:
        assert queue.potential.weight(1.0) == pytest.approx(8.0)


# Units are not added

WATTS = [hr.Linear([1.0, 0.0, 0.0, 0.0], -0.2), hr.Linear([0.0, 300.0, 0.0, 0.0], -90.0)]
MIXED = [(hr.Linear([-2.0, -1.0, 0.0, 0.0]), WATTS)] * 50


def test_a_summary_has_the_ccv_of_each_constraint():
    problem = hr.RecordedProblem(X, MIXED)
    fast, slow = (hr.projection_free_coco(X, constraints=2) for _ in range(2))
    trace, steps = hr.simulate(fast, problem), list(hr.play(slow, problem))
    assert trace.compiled
    assert len(steps) == 50
    assert fast.summary() == slow.summary()
    summary = fast.summary()
    assert summary.ccv is None, "a share is not added to watts"
    np.testing.assert_allclose(summary.ccv_each, trace.ccv_each, rtol=1e-12)
    assert min(summary.ccv_each) > 0.0
    for k, ccv in enumerate(trace.ccv_each, start=1):
        assert f"CCV of {k}      {ccv:.6g}, in the unit of constraint {k}" in str(summary)
    restored = hr.projection_free_coco(X, constraints=2)
    restored.restore(fast.state())
    assert restored.summary() == summary
    one = hr.projection_free_coco(X)
    hr.simulate(one, problem)
    assert one.summary().ccv_each == (), "it was told one maximum"
    assert one.summary().ccv is None
    assert one.summary().largest_ccv > 0.0


def test_frames_and_notebooks_have_a_ccv_for_each():
    trace = hr.simulate(hr.projection_free_coco(X, constraints=2), hr.RecordedProblem(X, MIXED))
    frame = trace.to_frame()
    assert "ccv" not in frame
    np.testing.assert_allclose(frame[["ccv_1", "ccv_2"]].iloc[-1], trace.ccv_each)
    html = trace._repr_html_()
    for k, ccv in enumerate(trace.ccv_each, start=1):
        assert f"CCV of constraint {k}" in html
        assert f"{ccv:.6g}" in html
    mixed = np.maximum(trace.violations, 0.0).sum()
    assert f"{mixed:.6g}" not in html


TORN = [
    *[(hr.Linear([1.0, 2.0, 3.0, 4.0]), [hr.Linear([1.0, 0.0, 0.0, 0.0], -0.2), WATTS[1]])] * 4,
    (hr.Linear([1.0, 2.0, 3.0, 4.0]), [hr.Linear([-1.0, 0.0, 0.0, 0.0], 0.5), WATTS[1]]),
]
"""The last round asks for more than the others allow."""


def test_the_least_violation_of_several_constraints_needs_units():
    with pytest.raises(ValueError, match=r"rounds have 2 constraints, whose units may differ.*"):
        hr.hindsight(X, TORN, budget="minimum")
    assert hr.hindsight(X, TORN).status == "infeasible"
    best = hr.hindsight(X, TORN, budget="minimum", units=[0.2, 90.0])
    assert best.ccv == pytest.approx(0.3 / 0.2, rel=1e-5), "0.3 of the first, in units of 0.2"
    said = "by 1.5 in all, in units of 0.2, 90; none satisfies every round"
    assert best.comparator.endswith(said)
    finer = [
        (cost, [hr.Linear(1000.0 * g.coefficients, 1000.0 * g.offset) for g in limits])
        for cost, limits in TORN
    ]
    same = hr.hindsight(X, finer, budget="minimum", units=[200.0, 90e3])
    assert same.cost == pytest.approx(best.cost, rel=1e-6)
    alike = hr.hindsight(X, TORN, budget="minimum", units=[1.0, 1.0])
    assert alike.ccv == pytest.approx(0.3, rel=1e-5)
    for units in ([1.0], [1.0, 0.0], [1.0, -1.0]):
        with pytest.raises(ValueError, match="units must have one positive number for each"):
            hr.hindsight(X, TORN, budget="minimum", units=units)


def constant_weights(weight):
    potential = PowerPotential(1.0, 1.0 / weight)
    queues = [hr.surrogates.CurrentSurrogate(potential) for _ in range(2)]
    learner = hr.learners.AdaptiveOCG(hr.sets.Simplex(2), CertificateSteps())
    return hr.ConstrainedPolicy(learner, hr.surrogates.PerConstraintSurrogate(queues))


def test_a_certificate_has_a_budget_for_each_constraint():
    """Both weights count: with one budget for the largest value the bound would be too low."""
    policy, rounds = constant_weights(0.2), 40
    cost, cap = hr.Linear([-1.0, 0.0]), hr.Linear([1.0, 0.0], 0.0)
    paid = 0.0
    for _ in range(rounds):
        x = policy.ask()
        paid += cost(x)
        policy.tell(hr.first_order(cost, x), [hr.first_order(cap, x)] * 2)
    regret, violated = paid + rounds, float(rounds)  # against (1, 0)
    proved = policy.certificate([violated, violated])
    assert policy.certificate() + 0.2 * violated < regret <= proved + 1e-9
    assert proved.comparator == (
        "every fixed action that violates the 2 constraints by at most 40, 40 in total"
    )
    assert policy.certificate([0.0, 0.0]) == policy.certificate()
    for wrong in (violated, [violated], [1.0, 2.0, 3.0]):
        with pytest.raises(ValueError, match="one number for each of 2 constraints, which may"):
            policy.certificate(wrong)
    with pytest.raises(ValueError, match="at least 0"):
        policy.certificate([1.0, -1.0])


@pytest.mark.parametrize("make", [hr.projection_free_coco, plain_coco])
def test_a_certificate_of_several_constraints_adds_no_units(make):
    policy = make(X, constraints=2)
    told(policy, TORN * 200, as_list)
    proved = policy.certificate()
    assert proved.least_violation == 0.0
    assert proved.no_comparator
    assert proved.says_nothing.startswith(
        "says nothing here, because no fixed action satisfies every constraint in every round: "
    )
    assert proved.says_nothing.endswith(f" {proved.most:.6g} more; give a budget")
    allowed = policy.certificate([1e6, 0.0])
    assert not allowed.no_comparator
    assert f"could have cost more than {allowed.most:.6g} less" in allowed.says_nothing


# Refusals


@pytest.mark.parametrize("given", [0, -1, 1.5, True, "two"])
def test_a_number_of_constraints_is_a_count(given):
    for make in (hr.projection_free_coco, hr.projection_free_long_term):
        with pytest.raises((ValueError, TypeError), match="constraints must be"):
            make(X, constraints=given)


def test_the_theorem_has_one_queue():
    for make in (hr.projection_free_coco, hr.projection_free_long_term):
        with pytest.raises(ValueError, match="no constraints, got 2; it has one queue, for the"):
            make(X, T, preset="theory", lipschitz=1.0, constraints=2)


SEEN = EvalGrad(0.5, G)
COUNTED = (
    "each of 2 constraints, got feedback of {0}|for 2 constraints per round, this round has {0}"
)


@pytest.mark.parametrize(
    ("constraint", "sentence"),
    [
        (SEEN, COUNTED.format(1)),
        ([SEEN], COUNTED.format(1)),
        ([SEEN] * 3, COUNTED.format(3)),
        ([], "empty sequence"),
        ([SEEN, SEEN.grad], "EvalGrad feedback, the constraint was given as ndarray"),
        ([SEEN, EvalGrad(0.5, G[:3])], r"shape \(4,\)(, got shape | on this set, got )\(3,\)"),
        ([SEEN, EvalGrad(float("nan"), G)], "must be finite|finite number"),
    ],
)
@pytest.mark.parametrize("make", [hr.projection_free_coco, plain_coco])
def test_wrong_counts_and_parts_are_refused_whole(make, constraint, sentence):
    policy = make(X, constraints=2)
    told(policy, list(drawn())[:20], as_list)
    before, x = policy.state(), policy.ask()
    with pytest.raises((ValueError, TypeError), match=sentence):
        policy.tell(SEEN, constraint)
    np.testing.assert_array_equal(policy.ask(), x)
    after = policy.state()
    np.testing.assert_equal(after, before)


def test_no_constraint_at_all_is_refused_by_one_queue_too():
    for name in POLICIES:
        with pytest.raises(ValueError, match="empty sequence; give at least one"):
            POLICIES[name](X).tell(SEEN, [])


# Problems and records


def test_recorded_rounds_may_have_several_constraints():
    rounds = list(drawn(5))
    problem = hr.RecordedProblem(X, rounds)
    for (cost, caps), (same_cost, constraint) in zip(rounds, problem, strict=True):
        assert same_cost is cost
        assert constraint is caps
    for (_, caps), (_, constraint) in zip(rounds, problem.rounds(), strict=True):
        assert isinstance(constraint, hr.Maximum)
        assert constraint.parts == tuple(caps)
    single = hr.RecordedProblem(X, [(cost, caps[:1]) for cost, caps in rounds])
    assert all(
        constraint is caps[0]
        for (_, caps), (_, constraint) in zip(rounds, single.rounds(), strict=True)
    )
    assert hr.simulate(hr.projection_free_coco(X), single).compiled
    with pytest.raises(ValueError, match="round 2 has an empty sequence of constraints"):
        hr.RecordedProblem(X, [rounds[0], (rounds[1][0], [])])


@pytest.mark.parametrize("given", [{}, {"constraints": 2}])
def test_a_trace_has_one_series_for_each_constraint(given):
    rounds = list(drawn(6))
    problem = hr.RecordedProblem(X, rounds)
    steps = list(hr.play(hr.projection_free_coco(X, **given), problem))
    trace = hr.Trace.of(steps)
    pairs = zip(steps, rounds, strict=True)
    expected = np.transpose([[cap(step.x) for cap in caps] for step, (_, caps) in pairs])
    np.testing.assert_array_equal(trace.violations_each, expected)
    np.testing.assert_array_equal(trace.violations, trace.violations_each.max(axis=0))
    np.testing.assert_allclose(trace.ccv_each, [sum(row[row > 0.0]) for row in expected])
    alike = dataclasses.replace(trace, one_unit=True)
    assert trace.ccv_each.max() <= alike.ccv <= trace.ccv_each.sum()
    simulated = hr.simulate(hr.projection_free_coco(X, **given), problem)
    in_parts = simulate_chunks(hr.projection_free_coco(X, **given), problem, size=7)
    for other in (simulated, hr.Trace.joined(in_parts)):
        np.testing.assert_array_equal(other.costs, trace.costs)
        np.testing.assert_array_equal(other.violations, trace.violations)
        np.testing.assert_array_equal(other.violations_each, trace.violations_each)


def test_a_policy_is_told_what_it_takes():
    problem = hr.RecordedProblem(X, drawn(7))
    each = hr.projection_free_coco(X, constraints=2)
    assert each.feedback is first_order_each
    assert hr.projection_free_long_term(X).feedback is hr.first_order
    left_out = hr.simulate(each, problem)
    given = hr.simulate(hr.projection_free_coco(X, constraints=2), problem, first_order_each)
    np.testing.assert_array_equal(left_out.costs, given.costs)
    with pytest.raises(ValueError, match=COUNTED.format(1)):
        hr.simulate(hr.projection_free_coco(X, constraints=2), problem, hr.first_order)


@pytest.mark.parametrize("game", GAMES)
def test_one_constraint_leaves_one_series_and_equal_plays(game):
    problem = GAMES[game](0, T)
    played = hr.Trace.of(hr.play(hr.projection_free_coco(problem.decision_set), problem))
    simulated = hr.simulate(hr.projection_free_coco(problem.decision_set), problem)
    for trace in (played, simulated, hr.Trace.joined([])):
        assert trace.violations_each is None
        assert trace.ccv_each is None
    np.testing.assert_array_equal(simulated.costs, played.costs)
    np.testing.assert_array_equal(simulated.violations, played.violations)


def test_where_the_number_of_constraints_changes_there_is_no_series():
    rounds = [(cost, caps[: 1 + t % 2]) for t, (cost, caps) in enumerate(drawn(8))]
    problem = hr.RecordedProblem(X, rounds)
    trace = hr.simulate(hr.projection_free_coco(X), problem)
    assert trace.violations_each is None
    halves = simulate_chunks(hr.projection_free_coco(X), problem, size=1)
    assert hr.Trace.joined(halves).violations_each is None
    with pytest.raises(ValueError, match=COUNTED.format(1)):
        hr.simulate(hr.projection_free_coco(X, constraints=2), problem)


def test_the_benchmark_keeps_every_constraint():
    rounds = list(drawn(9))
    best = hr.hindsight(hr.RecordedProblem(X, rounds))
    assert best.status == "optimal"
    worst = max(cap(best.x) for _, caps in rounds for cap in caps)
    assert worst == pytest.approx(best.violation, abs=1e-12)
    assert worst <= 1e-9
    maxima = [(cost, hr.Maximum(caps)) for cost, caps in rounds]
    for given in (rounds, maxima):
        assert hr.hindsight(X, given).cost == best.cost


@pytest.mark.parametrize("name", MAKES)
@pytest.mark.parametrize("given", [{}, {"constraints": 2}])
def test_records_of_several_constraints_are_audited(name, given):
    make = MAKES[name]
    problem = hr.RecordedProblem(X, drawn(10))
    best = hr.hindsight(problem)
    steps = list(hr.play(make(X, **given), problem))
    trace = hr.Trace.of(steps)
    report = hr.audit(steps, problem, trace=trace, policy=make(X, **given), benchmark=best)
    assert report.ok, str(report)
    assert {"the certificate", "the regret against it"} <= set(report.checks)
    changed = [*steps]
    least = int(np.argmin(steps[30].each))  # the largest, and so `violation`, stays as it is
    values = list(steps[30].each)
    values[least] -= 1e-9
    changed[30] = steps[30]._replace(each=tuple(values))
    (failure,) = hr.audit(changed, problem).failures
    assert (failure.round, f"violation of constraint {least}" in failure.what) == (31, True)
    changed[30] = steps[30]._replace(each=(1.0,))
    assert "1 values as violation, the round 2" in str(hr.audit(changed, problem))
    rows = trace.violations_each.copy()
    rows[1, 5] += 1.0
    other = dataclasses.replace(trace, violations_each=rows)
    (failure,) = hr.audit(steps, problem, trace=other).failures
    assert (failure.round, "trace's violation of constraint 1" in failure.what) == (6, True)


def test_a_wrong_certificate_of_several_queues_is_found():
    problem = hr.RecordedProblem(X, drawn(11))
    steps = list(hr.play(plain_coco(X, constraints=2), problem))

    class Hopeful(hr.ConstrainedPolicy):
        def certificate(self, budget=0.0):
            return super().certificate(budget) - 1.0

    made = plain_coco(X, constraints=2)
    hopeful = Hopeful(made.learner, made.surrogate)
    assert "the certificate is" in str(hr.audit(steps, problem, policy=hopeful))


def test_the_record_of_a_run_has_the_ccv_of_each_constraint(tmp_path):
    path = tmp_path / "slots.toml"
    path.write_text(
        'name = "slots"\nmethods = ["projection_free_coco"]\nhorizons = [40]\nseeds = [3]\n'
        '[[problems]]\nkind = "ad_slots"\nadvertisers = 5\n[[problems]]\nkind = "iid_simplex"\n'
    )
    tasks = [task for task in plan(load_experiment(path)) if task.place == "runs"]
    slots, simplex = (json.loads(json.dumps(perform(task)[-1].record)) for task in tasks)
    problem = hr.problems.AdSlots(advertisers=5, slots=4, horizon=40, seed=3)
    trace = hr.simulate(hr.projection_free_coco(problem.decision_set), problem)
    assert slots["ccv_each"] == trace.ccv_each.tolist()
    assert len(slots["ccv_each"]) == len(next(iter(problem))[1].parts) > 1
    assert "ccv_each" not in simplex
