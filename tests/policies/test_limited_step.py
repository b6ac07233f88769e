"""`LimitedStep`: towards a policy's decision, as far as all parts of the last constraint allow."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import hedgerow as hr
from hedgerow.baselines.methods import METHODS, find_method
from hedgerow.feedback import EvalGrad
from hedgerow.live.specs import Spec, check_spec, policy_of
from hedgerow.policies import LimitedStep
from hedgerow.policies.limited_step import best_share, combine_parts
from hedgerow.snapshot import states
from hedgerow.testing import check_policy

HOURS = np.arange(24)
PRICE = 1.0 + 0.35 * np.sin((HOURS - 13) / 12 * np.pi)
BASE = 0.55 + 0.25 * np.sin((HOURS - 12) / 12 * np.pi)


def load(seed, rounds=120, sites=1):
    """Return days of 24 hours: energy at noisy prices, and no hour above a cap."""
    rng = np.random.default_rng(seed)
    base = BASE * (1.0 + 0.06 * rng.standard_normal((rounds, 24)))
    energy, cap = 7.0 * rng.uniform(0.9, 1.1, rounds), 1.05 * base.max()
    days = []
    for e, now in zip(energy, base, strict=True):
        price = e / sites * np.tile(PRICE * (1.0 + 0.1 * rng.standard_normal(24)), sites)
        hours = np.tile(e / sites * np.eye(24), sites)
        days.append((hr.Linear(price), hr.Maximum(list(map(hr.Linear, hours, now - cap)))))
    X = hr.sets.Simplex(24)
    return hr.RecordedProblem(X if sites == 1 else hr.sets.Product(*[X] * sites), days)


def limited(X, **settings):
    return LimitedStep(hr.projection_free_coco(X, **settings))


def transcribed(problem):
    """Play as the docstring has it, in a few lines of NumPy; return the decisions."""
    inner, X = hr.projection_free_coco(problem.decision_set), problem.decision_set
    inner.end_retreat()
    y, decisions, extra, more, roots = inner.ask().copy(), [], 0.0, 0.0, np.zeros(2)
    for cost, constraint in problem.rounds():
        decisions.append(y.copy())
        x, a = inner.ask().copy(), cost.coefficients
        G = np.array([part.coefficients for part in constraint.parts])
        b = np.array([part.offset for part in constraint.parts])
        here, at_x = G @ y + b, G @ x + b
        extra += a @ (y - x)
        more += max(0.0, here.max()) - max(0.0, at_x.max())
        roots[0] += a @ a
        roots[1] += G[here.argmax()] @ G[here.argmax()] if here.max() > 0.0 else 0.0
        weights = np.maximum(0.0, at_x)
        if weights.sum() == 0.0:
            weights[at_x.argmax()] = 1.0
        weights /= weights.sum()
        inner.tell(hr.first_order(cost, x), EvalGrad(weights @ at_x, weights @ G))
        x = inner.ask()
        there, (lost, violated) = G @ x + b, X.diameter * np.sqrt(roots)
        if extra > lost or more > violated:
            y = x.copy()
            continue
        shares = np.unique(np.clip(crossings(here, there), 0.0, 1.0))
        worst = np.maximum(0.0, (here + np.outer(shares, there - here)).max(axis=1))
        least = shares[worst <= worst.min() + 1e-13]
        y = y + (least[-1] if a @ (x - y) < 0.0 else least[0]) * (x - y)
    return np.array(decisions)


def crossings(here, there):
    """Return 0, 1, and where two of the lines from `here` to `there`, or one and 0, meet."""
    here, there = np.append(here, 0.0), np.append(there, 0.0)
    rise = there - here
    with np.errstate(all="ignore"):
        meet = (here[:, None] - here) / (rise - rise[:, None])
    return np.append(meet[np.isfinite(meet)], [0.0, 1.0])


@pytest.mark.parametrize(("seed", "sites"), [(400, 1), (401, 2)])
def test_it_plays_the_transcription(seed, sites):
    problem = load(seed, 60, sites)
    steps = list(hr.play(limited(problem.decision_set), problem))
    np.testing.assert_allclose([step.x for step in steps], transcribed(problem), atol=1e-9)


values = st.integers(1, 6).flatmap(
    lambda m: arrays.arrays(np.float64, (2, m), elements=st.floats(-10.0, 10.0))
)


@given(values, st.booleans())
def test_the_share_makes_the_largest_violation_least(ends, cheaper):
    here, there = ends

    def worst(share):
        return np.maximum(0.0, (here + np.outer(share, there - here)).max(axis=1))

    share = best_share(here, there, here.size, cheaper)
    assert 0.0 <= share <= 1.0
    (found,), others = worst([share]), np.unique(np.clip(crossings(here, there), 0.0, 1.0))
    assert found <= worst(others).min() + 1e-12
    further = others[others > share + 1e-9] if cheaper else others[others < share - 1e-9]
    if worst(others).min() == 0.0:  # it is an end of the interval without a violation
        assert (worst(further) > 0.0).all() or further.size == 0


@given(arrays.arrays(np.float64, st.integers(1, 40), elements=st.floats(-5.0, 5.0)))
def test_the_mean_of_the_parts_is_a_large_share_of_the_largest(at_x):
    gradients, mean = np.eye(at_x.size), np.empty(at_x.size)
    value = combine_parts(gradients, at_x, at_x.size, mean)
    assert (mean >= 0.0).all()  # so x* that satisfies all parts satisfies the mean
    assert mean.sum() == pytest.approx(1.0)
    assert value == pytest.approx(mean @ at_x, abs=1e-12)
    k = max(1, int((at_x > 0.0).sum()))
    if at_x.max() > 0.0:
        assert value >= 2.0 / (1.0 + math.sqrt(k)) * at_x.max() * (1.0 - 1e-9)
    else:
        assert value == at_x.max()


@pytest.mark.parametrize("tracking", [True, False])
def test_compiled_rounds_are_the_same(tracking):
    problem = load(402, sites=2)
    first, second = (limited(problem.decision_set, tracking=tracking) for _ in range(2))
    compiled = hr.simulate(first, problem)
    assert compiled.compiled
    turns = hr.Trace.of(hr.play(second, problem))
    np.testing.assert_array_equal(compiled.costs, turns.costs)
    np.testing.assert_array_equal(compiled.violations, turns.violations)
    np.testing.assert_array_equal(first.ask(), second.ask())
    np.testing.assert_array_equal(first._state.array, second._state.array)
    assert str(first.summary()) == str(second.summary())
    parts = [limited(problem.decision_set, tracking=tracking) for _ in range(2)]
    for chunk in hr.games.simulate_chunks(parts[0], problem, size=50):
        assert chunk.compiled
        break
    parts[1].restore(parts[0].state())
    rest = hr.Trace.joined(hr.games.simulate_chunks(parts[1], problem, skip=50))
    np.testing.assert_array_equal(rest.costs, compiled.costs[50:])


def test_it_makes_no_oracle_call_of_its_own():
    problem = load(403)
    policy = limited(problem.decision_set)
    trace = hr.simulate(policy, problem)
    assert policy.oracle_calls == policy.policy.oracle_calls == policy.summary().oracle_calls
    assert trace.oracle_calls <= 1.1 * problem.horizon
    assert policy.projections == 0


@pytest.mark.parametrize("seed", [500, 501, 502])
def test_hours_of_load_are_violated_less(seed):
    problem = load(seed)
    ours = hr.simulate(limited(problem.decision_set), problem)
    alone = hr.simulate(hr.projection_free_coco(problem.decision_set), problem)
    assert ours.ccv < 0.4 * alone.ccv
    assert ours.violations.max() < 0.25 * alone.violations.max()


@pytest.mark.parametrize("seed", range(510, 516))
def test_its_certificate_bounds_the_regret(seed):
    rng, rounds = np.random.default_rng(seed), []
    X, free = hr.sets.Simplex(5), np.full(5, 0.2)
    for _ in range(80):
        parts = []
        for row in rng.standard_normal((4, 5)):
            parts.append(hr.Linear(row, -float(row @ free) - 0.05 * rng.random()))
        rounds.append((hr.Linear(rng.standard_normal(5)), hr.Maximum(parts)))
    policy = limited(X)
    trace = hr.simulate(policy, hr.RecordedProblem(X, rounds))
    regret = trace.costs.sum() - hr.hindsight(X, rounds).cost
    assert regret <= policy.certificate() + 1e-9
    inner = float(policy.policy.certificate())
    assert policy.certificate() == pytest.approx(inner + policy.more_cost)


def tempting(rounds):
    """Return rounds in which the cheap end of [0, 1] is violated by next to nothing."""
    return hr.RecordedProblem(
        hr.sets.Box([0.0], [1.0]), [(hr.Linear([-1.0]), hr.Linear([1e-9]))] * rounds
    )


def test_what_it_loses_is_bounded():
    """It would stay in the middle for ever, where the inner policy ignores the constraint."""
    T, problem = 400, tempting(400)
    policy = LimitedStep(hr.unconstrained(problem.decision_set))
    assert hr.simulate(policy, problem).compiled
    assert policy.unlimited > 0
    assert 1.0 < policy.more_cost <= math.sqrt(T) + 1.0  # 200 without a bound


@pytest.mark.parametrize("seed", range(4))
def test_what_it_loses_is_bounded_in_random_games(seed):
    rng = np.random.default_rng(seed)
    X, T = hr.sets.Simplex(6), 150
    policy, worst = limited(X), np.zeros(2)
    sizes = np.zeros(2)
    for t in range(T):
        scale = 10.0 ** rng.integers(-3, 3)
        y, away = policy.ask(), policy.policy.ask() - policy.ask()
        a = scale * (rng.standard_normal(6) + (5.0 * away if t % 3 else 0.0))
        rows = rng.standard_normal((5, 6))
        parts = [EvalGrad(float(row @ y) - 0.1, row) for row in rows]
        policy.tell(EvalGrad(float(a @ y), a), parts)
        top = max(parts, key=lambda part: part.value)
        worst = np.maximum(worst, [np.linalg.norm(a), np.linalg.norm(top.grad)])
        sizes += [a @ a, top.grad @ top.grad if top.value > 0.0 else 0.0]
        lost = np.array([policy.more_cost, policy.more_ccv])
        steepest = max(np.linalg.norm(rows, axis=1).max(), worst[1])
        allowed = X.diameter * (np.sqrt(sizes) + np.array([worst[0], steepest]))
        assert (lost <= allowed * (1.0 + 1e-9)).all()
        worst[1] = steepest


def test_what_it_refuses():
    X = hr.sets.Simplex(3)
    for wrong in (hr.projection_free_coco(X, constraints=2), hr.baselines.guo_recoo(X), None):
        with pytest.raises(TypeError, match="LimitedStep needs a policy of a learner and a surr"):
            LimitedStep(wrong)
    policy, a = limited(X), np.ones(3)
    before = [state.array.copy() for state in states(policy)]
    good = EvalGrad(0.5, a)
    for cost, parts, sentence in (
        (good, [], "an empty sequence"),
        (good, [good, EvalGrad(math.nan, a)], "the value of the constraint"),
        (good, [good, EvalGrad(0.0, np.array([1.0, math.inf, 0.0]))], "the gradient of the co"),
        (EvalGrad(math.inf, a), [good], "the value of the cost"),
    ):
        with pytest.raises(ValueError, match=sentence):
            policy.tell(cost, parts)
    with pytest.raises(ValueError, match="learns from its present play alone"):
        policy.tell(good, [good], at=np.array([1.0, 0.0, 0.0]))
    for state, old in zip(states(policy), before, strict=True):
        np.testing.assert_array_equal(state.array, old)


def test_it_is_a_policy_like_others():
    check_policy(lambda: limited(hr.sets.Simplex(4)))


def test_it_has_a_name_and_sees_every_part_by_it():
    problem, method = load(seed=3), find_method("limited_coco")
    assert method.sees == "parts"
    assert "limited_coco" not in METHODS, "'all' stands for those who see the maximum"
    policy = method.policy(problem.decision_set, 100, 0, "practical", eagerness=2.0)
    named = hr.simulate(policy, problem, method.feedback())
    built = hr.simulate(limited(problem.decision_set, eagerness=2.0), problem)
    np.testing.assert_array_equal(named.costs, built.costs, strict=True)
    np.testing.assert_array_equal(named.violations, built.violations, strict=True)


def test_its_explanation_adds_what_steps_may_add():
    problem = load(seed=4)
    policy = hr.policies.limited_coco(problem.decision_set)
    hr.simulate(policy, problem)
    D, inner = problem.decision_set.diameter, hr.explain(policy.policy)
    before = {part.name: part for part in inner.guarantees}
    found = {part.name: part for part in hr.explain(policy).guarantees}
    costs = np.array([cost.coefficients for cost, _ in problem])
    more = 2.0 * D * math.sqrt(np.sum(costs**2))
    regret = found["regret, Theorem G"]
    assert regret.value == pytest.approx(before[regret.name].value + more, rel=1e-12)
    assert policy.more_cost <= more
    assert found["regret, afterwards"].value == policy.certificate()
    assert found["CCV, Theorem G"].value is None, (
        "how many parts were violated at once is not known"
    )
    lost = found["CCV above the inner policy's, afterwards"]
    assert lost.value == policy.more_ccv <= lost.trivial
    assert "regret of the losses, afterwards" not in found, "those losses are not its own"
    fresh = hr.explain(hr.policies.limited_coco(problem.decision_set))
    assert [part.value for part in fresh.guarantees][:3] == [None] * 3


def test_a_live_session_may_name_it(tmp_path):
    spec = Spec(method="limited_coco", set={"kind": "Simplex", "n": 24}, eagerness=2.0)
    check_spec(spec, 100)
    problem, alone = load(seed=5, rounds=20), limited(hr.sets.Simplex(24), eagerness=2.0)
    expected = hr.simulate(alone, problem)
    rounds = list(problem)
    for half in (rounds[:10], rounds[10:]):  # opened twice
        with hr.live.open_session(tmp_path / "s.db", "a", policy_of(spec), every=4) as session:
            for cost, hours in half:
                made = session.ask()
                seen = [hr.first_order(hour, made.action) for hour in hours.parts]
                session.tell(made.id, hr.first_order(cost, made.action), seen)
            told = session.status()
    assert told.cost == pytest.approx(expected.costs.sum(), rel=1e-12)
    np.testing.assert_array_equal(session.policy.ask(), alone.ask(), strict=True)
