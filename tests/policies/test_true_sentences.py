"""Sentences about theorems and proofs, each in a game that once made it false."""

from __future__ import annotations

import contextlib
from collections import deque

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.feedback import EvalGrad
from hedgerow.learners import AwayOCG, Growth
from hedgerow.learners.steps import ScheduleSteps
from hedgerow.policies import Fallback, RestrictedMaster, away_coco, projected_coco, theorem_f

MAKERS = {
    "default": hr.projection_free_coco,
    "plain": lambda X: hr.projection_free_coco(X, tracking=False),
    "Theorem F": theorem_f,
    "away": away_coco,
    "projected": projected_coco,
    "advised": lambda X: hr.projection_free_coco(X, advisers=["plan"]),
}


@pytest.mark.parametrize("make", [MAKERS[name] for name in ("default", "Theorem F", "away")])
@pytest.mark.parametrize("delay", [1, 100])
def test_infeasible_is_said_by_proof_also_of_late_feedback(make, delay):
    problem = hr.problems.SwitchingBall(horizon=1500, seed=3)
    policy, waiting = make(problem.decision_set), deque()
    for f, g in problem:
        x = policy.ask()
        waiting.append((hr.first_order(f, x), hr.first_order(g, x), x))
        if len(waiting) == delay:
            cost, constraint, at = waiting.popleft()
            policy.tell(cost, constraint, at=at)
        assert not policy.summary().infeasible  # hindsight finds an action
    assert hr.hindsight(problem).status == "optimal"
    assert not policy.certificate().no_comparator


def test_a_limit_out_of_reach_is_found_by_late_feedback_too():
    X, rng = hr.sets.Simplex(3), np.random.default_rng(0)
    policy, waiting = hr.projection_free_coco(X), deque()
    for _ in range(400):
        x, a = policy.ask(), rng.uniform(0.0, 1.0, 3)
        waiting.append((EvalGrad(float(a @ x), a), EvalGrad(float(x[0]) + 5.0, np.eye(3)[0]), x))
        if len(waiting) == 20:
            cost, constraint, at = waiting.popleft()
            policy.tell(cost, constraint, at=at)
    assert policy.infeasible
    assert "no action satisfies all rounds" in str(policy.summary())


@pytest.mark.parametrize("make", [hr.projection_free_coco, theorem_f])
def test_what_curved_costs_could_be_is_said_of_their_tangents(make):
    X = hr.sets.Simplex(2)
    policy, middle, dearest = make(X, constraints=2), np.array([0.5, 0.5]), 0.0
    for _ in range(400):
        x = policy.ask()
        cost = EvalGrad(float((x - middle) @ (x - middle)), 2.0 * (x - middle))
        dearest += 0.5 - cost.value  # of either corner
        limits = [EvalGrad(float(x[k]) - 0.35, np.eye(2)[k]) for k in range(2)]
        policy.tell(cost, limits)
    found = policy.certificate()
    assert found.no_comparator
    if -found.least < dearest:  # so a plain "could have cost more" would be false
        assert "by the costs' tangents" in str(found)


@pytest.mark.parametrize("n", [8, 100])
def test_away_steps_claim_the_root_of_T_only_where_no_vertices_are_merged(n):
    X = hr.sets.Simplex(n)
    few, enough = away_coco(X), away_coco(X, vertices=n + 2)
    assert "T^{1/2}" in str(hr.explain(enough))
    assert ("T^{1/2}" in str(hr.explain(few))) == (n + 2 <= 64)
    assert away_coco(X, vertices=5).plain.guarantees()[0]["q"] == 4.0
    assert few.plain.learner.growths[0] == Growth(4, 0.25)


@pytest.mark.parametrize(("capacity", "q"), [(22, 2), (4, 4), (22, 4)])
@pytest.mark.parametrize("kind", ["noise", "target", "tail"])
def test_steps_gain_what_their_growth_says(capacity, q, kind):
    """F_t falls by at least a beta D^{2-q} y^q, y the distance of x_t to the minimiser of F_t."""
    n, rng, S, P = 20, np.random.default_rng(1), np.zeros(20), 0.0
    X = hr.sets.Simplex(n)
    D, centre = X.diameter, X.start()
    growth = Growth(q, 0.25 if q == 4 else (0.5 * X.pyramidal_width / D) ** 2)
    learner = AwayOCG(X, ScheduleSteps(growth, 0.475), vertices=capacity)
    assert growth in learner.growths
    for t in range(300):
        x = learner.ask()
        s = rng.standard_normal(n)
        if kind == "target":
            s = x - X.project(np.random.default_rng(t // 30).uniform(0.0, 0.2, n))
        s -= s.mean()
        s /= np.linalg.norm(s) * (1.0 if kind != "tail" or t < 50 else 100.0)
        S += s
        P += float(s @ s) ** (0.5 * growth.dual)
        beta = growth.kappa(0.475) * P ** (1.0 / growth.dual) / D
        learner.tell(EvalGrad(float(s @ x), s))
        best = X.project(centre - S / (2.0 * beta))

        def F(z, S=S, beta=beta):
            return float(S @ z) + beta * float((z - centre) @ (z - centre))

        y = float(np.linalg.norm(x - best))
        assert F(x) - F(learner.ask()) >= growth.a * beta * D ** (2 - q) * y**q - 1e-9
    assert (learner.merged > 0) == (capacity == 4)


def test_a_share_is_kept_by_the_margin_that_is_aimed_at():
    """What the policy inside gets in a violated round may be less: half of what can be spared."""
    X, rounds, share = hr.sets.Simplex(2), 1000, 0.01
    inner = hr.baselines.FixedAction(X, [1.0, 0.0])
    policy, told = hr.policies.ViolatedShare(inner, share), []
    pass_on = inner.tell
    inner.tell = lambda cost, g, **late: (told.append(g.value), pass_on(cost, g, **late))[1]
    seen = []
    for t in range(rounds):
        x, aim, slack = policy.ask(), policy.margin[0], float(policy._state["slack"][0])
        g = EvalGrad(float(x[0]) - 1e-3, np.eye(2)[0])
        if t % 2:
            g = EvalGrad(float(4.0 * x[0]) - 4.0 - 1e-9, 4.0 * np.eye(2)[0])
        policy.tell(EvalGrad(0.0, np.array([0.0, 1e-3])), g)
        given = told[-1] - g.value
        assert given <= aim
        if g.value > 0.0:
            assert given <= 0.5 * 1e-3 + 1e-12  # the safest action spares 1e-3
        seen.append((g.value > 0.0, aim, given, slack))
    violated, aims, given, slack = np.array(seen).T
    few = (violated > 0.0) & (aims < 0.1) & (aims < slack)
    state = policy._state
    scale = 0.5 * float(state["sizes"][0]) / float(state["counted"][0])
    assert few.sum() <= share * rounds + 1.0 + 0.1 / scale
    assert ((violated > 0.0) & (given < 0.1) & (given < slack)).sum() > 400  # not of these
    assert "aim" in hr.policies.ViolatedShare.__doc__


class MeasureError(ValueError):
    """A refusal that asks for other units."""


def tell(policy, cost, constraint):
    """Report a round; a refusal must be one sentence that says what to do."""
    try:
        policy.tell(cost, constraint)
    except ValueError as error:
        raise (MeasureError if "measure" in str(error) else AssertionError)(str(error)) from error


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("which", ["cost", "constraint", "both"])
@pytest.mark.parametrize("late", [0, 10])
def test_feedback_of_any_size_is_taken_in_or_refused_and_the_next_round_works(name, which, late):
    for exponent in (-323, -300, -162, -155, -140, -50, 50, 140, 155, 300, 308):
        X, rng, size = hr.sets.Simplex(3), np.random.default_rng(0), 10.0**exponent
        policy = MAKERS[name](X)
        for t in range(40):
            x, strange = policy.ask(), late <= t < 20
            a = rng.standard_normal(3)
            a /= np.abs(a).max()
            a *= size if strange and which != "constraint" else 1.0
            k = size if strange and which != "cost" else 1.0
            with np.errstate(over="ignore"):
                cost = EvalGrad(float(a @ x), a)
                constraint = EvalGrad(float(k * (x[0] - 0.2)), np.array([k, 0.0, 0.0]))
            if strange and exponent > 100:  # a refusal says what to do
                with contextlib.suppress(MeasureError):
                    tell(policy, cost, constraint)
            else:
                policy.tell(cost, constraint)
            assert X.contains(policy.ask(), 1e-6)
        for text in (policy.certificate(), policy.summary(), hr.explain(policy)):
            assert "nan" not in str(text)
            assert "inf" not in str(text).replace("infeasible", "").replace("infinite", "")


@pytest.mark.parametrize("compiled", [True, False])
def test_a_policy_inside_that_moved_by_itself_is_noticed(compiled):
    problem = hr.problems.IidSimplex(n=4, horizon=20, seed=0)
    inner = RestrictedMaster(problem.decision_set)
    first, second = Fallback(inner), Fallback(inner)
    hr.simulate(first, problem)
    before = second.state()["array"].copy()
    game = hr.simulate if compiled else lambda policy, of: list(hr.play(policy, of))
    with pytest.raises(RuntimeError, match="moved without its Fallback"):
        game(second, problem)
    assert (second.state()["array"] == before).all()
