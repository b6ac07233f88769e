"""Penalised steps in the compiled loop: `simulate` equals `play`, bit for bit."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np
import pytest
from test_simulate import PROJECTING, ROUNDS, Centred, Rounds, assert_same_game, bits

import hedgerow as hr
from hedgerow._engine.kernel import kernel
from hedgerow.baselines.clasp import ferreira_clasp
from hedgerow.baselines.penalised_step import penalty_step
from hedgerow.baselines.rectified_penalty import (
    Recoo,
    RecooRates,
    Yi2021,
    Yi2023,
    YiRates,
    guo_recoo,
    yi_2021,
    yi_2023,
)
from hedgerow.games import simulate, simulate_chunks
from hedgerow.kernels.oracles import ORACLE
from hedgerow.protocols.trace import Trace
from pulling_games import linear_rounds

METHODS = {
    "guo_recoo": guo_recoo,
    "yi_2021": yi_2021,
    "yi_2023": yi_2023,
    "ferreira_clasp": ferreira_clasp,
}
NEED_G = {"yi_2023", "ferreira_clasp"}
"""Those whose theory preset needs a Lipschitz constant."""


@pytest.mark.parametrize("name", PROJECTING)
@pytest.mark.parametrize("method", METHODS)
def test_penalised_steps_of_any_set(method, name):
    X, build = PROJECTING[name](), METHODS[method]
    assert_same_game(lambda: build(X), Rounds(X, 7))
    if X.diameter > 0.0:
        known = {"lipschitz": 5.0} if method in NEED_G else {}
        assert_same_game(partial(build, X, preset="theory", **known), Rounds(X, 8))


@pytest.mark.parametrize("method", METHODS)
def test_the_papers_graph(method):
    problem = hr.ShortestPath.random_network(nodes=30, edges=100, horizon=200, seed=1)
    assert_same_game(lambda: METHODS[method](problem.decision_set), problem)
    policy = METHODS[method](problem.decision_set)
    assert simulate(policy, problem).violations.max() > 0.0
    assert policy.projections > 200, "some rounds must have searched for a multiplier"


@pytest.mark.parametrize("name", ["simplex", "box", "l2 ball", "larger graph"])
def test_the_kernel_takes_the_step_of_python(name):
    """The same search around the same projection, with sums in another order."""
    X, rates = PROJECTING[name](), YiRates(alpha_0=0.5, gamma_0=40.0, c=0.4)
    searched = 0
    for kind in (Recoo, Yi2021, Yi2023):
        policy = kind(X) if kind is Recoo else kind(X, rates)
        for t, (cost, constraint) in enumerate(linear_rounds(X, 30, seed=2), start=1):
            x, asked = policy.ask(), policy.projections
            policy.tell(
                hr.feedback.full_information(cost, x), hr.feedback.full_information(constraint, x)
            )
            alpha = np.sqrt(t) if kind is Recoo else t**0.4 / 0.5
            step = penalty_step(
                *(X.project, X.tangent, X.tangent(cost.coefficients), policy.weight),
                *(constraint, alpha, x),
            )
            np.testing.assert_allclose(policy.ask(), step.x, rtol=0, atol=1e-9)
            searched += policy.projections - asked > 1
    assert searched > 20


@pytest.mark.parametrize("method", METHODS)
def test_chunks_of_any_size_and_a_resumed_run_are_the_same_run(method):
    X, build = PROJECTING["larger graph"](), METHODS[method]
    problem, whole = Rounds(X, 4), build(X)
    trace = simulate(whole, problem)
    for size in (1, 3, 40):
        policy, parts = build(X), []
        for part in simulate_chunks(policy, problem, size=size):
            parts.append(part)
            if (done := sum(p.costs.size for p in parts)) >= 12:
                break
        stored, policy = policy.state(), build(X)
        policy.restore(stored)
        parts.extend(simulate_chunks(policy, problem, size=size, skip=done))
        joined = Trace.joined(parts)
        assert joined.costs.tobytes() == trace.costs.tobytes()
        assert joined.violations.tobytes() == trace.violations.tobytes()
        assert bits(policy.state()) == bits(whole.state())


def test_objects_and_kernels_take_turns():
    X = PROJECTING["simplex"]()
    mixed, slow = guo_recoo(X), guo_recoo(X)
    curved = hr.RecordedProblem(X, [(hr.Linear(np.ones(5)), hr.Quadratic(1.0, np.zeros(5), -2.0))])
    for seed in range(4):
        linear = hr.RecordedProblem(X, list(islice(Rounds(X, seed), 5)))
        assert simulate(mixed, linear).compiled
        assert not simulate(mixed, curved).compiled
        list(hr.play(slow, linear))
        list(hr.play(slow, curved))
        assert bits(mixed.state()) == bits(slow.state())


def _not_a_number(chunk):
    chunk.constraints[30, 2] = np.nan


def _steep(chunk):
    chunk.costs[30] = 1e99  # flat along the set, so it is multiplied by a large factor


def _tiny(chunk):
    chunk.constraints[30:] *= 1e-140


def _high(chunk):
    chunk.constraint_offsets[30] = 1e200


@pytest.mark.parametrize("spoil", [_not_a_number, _steep, _tiny, _high])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("preset", ["practical", "theory"])
def test_extreme_rounds_are_played_or_refused_as_ever(method, spoil, preset):
    X = PROJECTING["simplex"]()
    known = {"lipschitz": 5.0} if method in NEED_G and preset == "theory" else {}
    problem, ends = Rounds(X, 0), []
    spoil(problem._all)
    for game in (simulate, lambda player, rounds: list(hr.play(player, rounds))):
        player, outcome = METHODS[method](X, preset=preset, **known), "played"
        try:
            game(player, problem)
        except ValueError as refusal:
            outcome = str(refusal)
        ends.append((outcome, bits(player.state())))
    assert ends[0] == ends[1]
    assert (ends[0][0] == "played") == (spoil in (_steep, _tiny))


@kernel(*ORACLE)
def lost(_index, _numbers, _c, _links, _scratch, v):
    """A projection that fails, as that onto flows may."""
    v[:] = np.nan


class Failing(hr.sets.Simplex):
    """Its kernel projects nothing."""

    @property
    def compiled(self):
        return replace(super().compiled, project=lost)

    def project(self, y):
        return hr.sets.Simplex(5).project(y)


STEPS = {
    **METHODS,
    "liakopoulos_cold": partial(hr.baselines.liakopoulos_cold, horizon=100),
    "jenatton_2016": hr.baselines.jenatton_2016,
}


def test_a_projection_that_fails_leaves_the_round_to_the_objects():
    for method in STEPS.values():
        X = Failing(5)
        assert_same_game(lambda method=method, X=X: method(X), Rounds(X, 3))
        failing, sound = method(X), method(hr.sets.Simplex(5))
        for policy in (failing, sound):
            simulate(policy, Rounds(X, 3))
        np.testing.assert_allclose(failing.ask(), sound.ask(), rtol=0, atol=1e-9)
        assert failing.projections == sound.projections
        assert failing.summary().violated == sound.summary().violated


class Twice(Recoo):
    """Takes every step twice."""

    def tell(self, cost, constraint):
        super().tell(cost, constraint)
        super().tell(cost, constraint)


def test_what_changes_a_part_is_played_by_the_objects():
    X = PROJECTING["simplex"]()
    for policy in (Twice(X), Recoo(Centred(5)), Recoo(hr.sets.Birkhoff(2))):
        problem = Rounds(policy.decision_set, 0)
        trace = simulate(policy, problem)
        assert not trace.compiled
        assert trace.costs.size == ROUNDS
    with pytest.raises(TypeError, match="learns from Full feedback"):
        simulate(guo_recoo(X), Rounds(X, 0), hr.first_order)


def test_a_schedule_in_python_is_refused_not_ignored():
    class Paced(RecooRates):
        def alpha(self, t):
            return 4.0 * t

    with pytest.raises(TypeError, match=r"Paced has a schedule alpha\(t\) of its own"):
        Recoo(PROJECTING["simplex"](), Paced())
