"""Steep rounds: one option fails, and what the others violate by is not ignored for it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.surrogates.guard import Guard
from hedgerow.surrogates.make_loss import make_loss, take_back
from hedgerow.surrogates.ranges import (
    GG,
    ORDINARY,
    STEEP,
    USUAL,
    is_steep,
    leave_to_python,
    see_steepness,
)

EVENT, LENGTH, LIMIT = 300, 60, 120.0
X = hr.sets.Simplex(4)


def outage(seed: int) -> hr.RecordedProblem:
    """Four backends; in the outage the cheap two take 2000 ms, one that is left 20 ms too long.

    Before it the cheapest one is above the limit in every tenth round.
    """
    rng = np.random.default_rng(seed)
    rows = np.array([100.0, 60.0, 140.0, 100.0]) * (
        1.0 + 0.02 * rng.standard_normal((EVENT + LENGTH + 40, 4))
    )
    rows[:EVENT:10, 0] += 40.0
    rows[EVENT : EVENT + LENGTH, :2] = 2000.0
    price = hr.Linear([1.0, 1.01, 2.0, 3.0])
    return hr.RecordedProblem(X, [(price, hr.Linear(row, -LIMIT)) for row in rows])


def of_parts() -> hr.ConstrainedPolicy:
    """Return the guarded mixture, which plays what it has learnt and nothing else."""
    learner = hr.learners.TrackingOCG(X)
    ranges, guard = hr.surrogates.ObservedRanges(learner), Guard(learner)
    return hr.ConstrainedPolicy(learner, hr.surrogates.AdaptiveSurrogate(ranges, guard=guard))


def parts(policy: hr.ConstrainedPolicy) -> list[hr.surrogates.AdaptiveSurrogate]:
    """Return the surrogates: one, or one for each constraint."""
    return list(getattr(policy.surrogate, "surrogates", [policy.surrogate]))


def played(seed: int, constraints: int | None = None, blind: bool = False) -> tuple[int, int]:
    """Return the violated rounds of the outage, and how many oracle calls it cost.

    With several constraints the others never bind. If `blind`, no round is seen to be steep.
    """
    policy = of_parts() if constraints is None else hr.projection_free_coco(X, constraints=2)
    policy.end_retreat()
    ranges, violated, calls = parts(policy)[0].ranges, 0, 0
    slack = hr.Linear(np.zeros(4), -1.0)
    for t, (f, g) in enumerate(outage(seed)):
        if blind:
            ranges.array[ORDINARY] = 0.0
        x, before = policy.ask(), ranges.oracle_calls
        seen = hr.first_order(g, x)
        others = [hr.first_order(slack, x)] * ((constraints or 1) - 1)
        policy.tell(hr.first_order(f, x), seen if constraints is None else [seen, *others])
        if EVENT <= t < EVENT + LENGTH:
            violated += seen.value > 0.0
            calls += ranges.oracle_calls - before
    return violated, calls


@pytest.mark.parametrize("constraints", [None, 2])
@pytest.mark.parametrize("seed", range(3))
def test_what_the_others_violate_by_is_not_ignored_in_an_outage(
    seed: int, constraints: int | None
) -> None:
    violated, calls = played(seed, constraints)
    assert violated <= 0.8 * LENGTH
    assert calls == violated  # every violated round of it is steep, and looked at
    ignored, few = played(seed, constraints, blind=True)
    assert ignored == LENGTH  # the mutant: 20 ms too long until it ends
    assert few <= 3


@settings(max_examples=80, deadline=None)
@given(
    sizes=st.lists(
        st.one_of(st.floats(0.5, 8.0), st.floats(1e-6, 1e6), st.sampled_from([1.0, 4.0])),
        max_size=30,
    )
)
def test_usual_is_the_mean_over_rounds_that_are_not_steep(sizes: list[float]) -> None:
    """Also the first round is usual: there is nothing yet to compare it with."""
    ranges, usual = np.zeros(STEEP + 1), []
    for size in sizes:
        steep = bool(usual) and size > 4.0 * np.mean(usual) * (1.0 + 1e-12)
        if usual and abs(size - 4.0 * np.mean(usual)) <= 1e-9 * size:
            continue  # rounding may decide
        assert is_steep(ranges, size**2) == steep
        ranges[GG], ranges[STEEP] = size, steep
        see_steepness(ranges)
        if not steep:
            usual.append(size)
        assert ranges[ORDINARY] == len(usual)
        assert ranges[USUAL] == pytest.approx(np.mean(usual), rel=1e-9)
    assert not is_steep(ranges, 0.0)


@pytest.mark.parametrize("size", [1e-160, 1e-100, 1e100])
def test_four_times_the_usual_size_is_not_steep_at_any_scale(size: float) -> None:
    ranges = np.zeros(STEEP + 1)
    ranges[USUAL], ranges[ORDINARY] = size, 1.0
    assert not is_steep(ranges, (3.9 * size) ** 2)
    assert is_steep(ranges, (4.1 * size) ** 2)


@pytest.mark.parametrize("tracking", [True, False])
def test_compiled_games_and_rounds_in_python_see_the_same(tracking: bool) -> None:
    problem = outage(7)
    policies = [hr.projection_free_coco(X, tracking=tracking) for _ in range(3)]
    policies[2].surrogate.table = policies[2].surrogate.python_table
    trace = hr.simulate(policies[0], problem)
    for policy in policies[1:]:
        for f, g in problem:
            x = policy.ask()
            policy.tell(hr.first_order(f, x), hr.first_order(g, x))
    assert trace.compiled
    assert policies[0].surrogate.oracle_calls > 20
    states = [policy.state()["checksum"] for policy in policies]
    assert states[0] == states[1] == states[2]


@pytest.mark.parametrize(("i", "j"), [(40, -30), (-60, 60), (0, 200), (-200, -200)])
def test_it_has_no_unit(i: int, j: int) -> None:
    plain, scaled = (hr.projection_free_coco(X) for _ in range(2))
    for f, g in outage(8):
        x = plain.ask()
        np.testing.assert_array_equal(x, scaled.ask())
        for policy, a, b in ((plain, 0, 0), (scaled, i, j)):
            policy.tell(
                hr.feedback.EvalGrad(2.0**a * f(x), 2.0**a * f.grad(x)),
                hr.feedback.EvalGrad(2.0**b * g(x), 2.0**b * g.grad(x)),
            )
    assert plain.surrogate.oracle_calls == scaled.surrogate.oracle_calls > 20


def test_a_round_that_is_taken_back_was_never_steep() -> None:
    policy = hr.projection_free_coco(X)
    surrogate, game = policy.surrogate, list(outage(9))
    array = surrogate.ranges.array
    for f, g in game[:EVENT]:
        x = policy.ask()
        policy.tell(hr.first_order(f, x), hr.first_order(g, x))
    before, (f, g), x = array.copy(), game[EVENT], policy.ask()
    assert (before[STEEP], before[ORDINARY] > 0.0) == (0.0, True)
    surrogate.tell(hr.first_order(f, x), hr.first_order(g, x))
    assert array[STEEP] == 1.0
    assert array[ORDINARY] == before[ORDINARY]
    take_back(surrogate.table)
    np.testing.assert_array_equal(array, before)


def test_a_round_that_is_left_to_python_is_not_steep_yet() -> None:
    """What is refused there would else be remembered as steep."""
    policy = hr.projection_free_coco(X)
    surrogate, game = policy.surrogate, list(outage(9))
    for f, g in game[:EVENT]:
        x = policy.ask()
        policy.tell(hr.first_order(f, x), hr.first_order(g, x))
    (f, g), x = game[EVENT], policy.ask()
    table = surrogate._filled(leave_to_python, surrogate.ranges.reach()[1])
    before, norms2 = surrogate.ranges.array.copy(), (f.grad(x) @ f.grad(x), g.grad(x) @ g.grad(x))
    made = make_loss(
        table, np.empty(4), f.grad(x), g.grad(x), g(x), x, x, (f(x), g(x) - g.offset, *norms2)
    )
    assert math.isnan(made[0])
    np.testing.assert_array_equal(surrogate.ranges.array, before)


def test_without_an_oracle_no_round_is_steep() -> None:
    """Ranges that do not exclude what is unavoidable make no extra call."""
    learner = hr.learners.TrackingOCG(X)
    ranges = hr.surrogates.ObservedRanges(learner, exclude_unavoidable=False)
    policy = hr.ConstrainedPolicy(learner, hr.surrogates.AdaptiveSurrogate(ranges))
    for f, g in outage(1):
        x = policy.ask()
        policy.tell(hr.first_order(f, x), hr.first_order(g, x))
        assert ranges.array[STEEP] == 0.0
    assert ranges.oracle_calls == 0
