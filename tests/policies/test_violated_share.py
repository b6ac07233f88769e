"""A share of violated rounds: the rule, its theorem for every sequence, and what it cannot do."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.baselines import last_round, threshold_rule
from hedgerow.feedback import EvalGrad
from hedgerow.policies import ViolatedShare
from hedgerow.protocols.player import StatefulPlayer
from hedgerow.snapshot import State
from hedgerow.testing import check_policy
from rival_games import SETS, random_rounds

INNER = {
    "coco": hr.projection_free_coco,
    "plain": lambda X: hr.projection_free_coco(X, tracking=False),
    "sinha": lambda X: hr.baselines.sinha_vaze_2024(X, 200),
    "threshold": lambda X: threshold_rule(X, margin=0.0),
    "last round": last_round,
}


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("name", ["simplex", "box", "dag", "k-subsets"])
def test_it_is_a_policy(inner, name):
    check_policy(lambda: ViolatedShare(INNER[inner](SETS[name]()), 0.05))


# The rule, transcribed: every round seen is kept, and everything is computed anew from the list.


def transcribed_margins(X, rounds, plays, p, mutant=""):
    """The margin that is reported in each round, for the plays that were made."""
    binding, sizes, reported = [], [], []
    excess, margin, slack = 0.0, 0.0, 0.0
    for (_, g), x in zip(rounds, plays, strict=True):
        violated = g(x) > 0.0
        least = min(g(v) for v in corners(X))
        left_out = violated and least > 1e-9 and mutant != "infeasible rounds count"
        given = 0.0 if left_out else min(margin, -0.5 * least) if violated else margin
        if g(x) + margin > 0.0 and not left_out:
            binding.append(g)
        if violated and not left_out:
            mean = [np.mean([h(v) for h in binding]) for v in corners(X)]
            slack = math.inf if mutant == "no cap" else max(0.0, -min(mean))
            sizes.append(min(g(x), slack))
        if not left_out:
            lowest = -math.inf if mutant == "no floor" else 0.0
            excess = max(lowest, excess + violated - p)
            scale = 0.5 * np.mean(sizes) if sizes else 0.0
            margin = max(0.0, min(scale * excess, slack))
        reported.append(margin if mutant == "new margin" else given)
    return np.array(reported)


def margins_of(policy, rounds):
    """Play the rounds; return the plays and the margins that the inner policy got."""
    seen, inner_tell = [], policy.policy.tell

    def listen(cost, constraint):
        seen.append(constraint.value)
        inner_tell(cost, constraint)

    policy.policy.tell = listen
    plays = wrapped_plays(policy, rounds)
    values = [g(x) for (_, g), x in zip(rounds, plays, strict=True)]
    return plays, np.subtract(seen, values)


def corners(X):
    eye = np.eye(X.dim)
    if isinstance(X, hr.sets.Simplex):
        return X.total * eye
    return np.array(np.meshgrid(*[[-1.0, 1.0]] * X.dim)).reshape(X.dim, -1).T


def wrapped_plays(policy, rounds):
    plays = []
    for f, g in rounds:
        x = policy.ask()
        plays.append(x)
        policy.tell(hr.first_order(f, x), hr.first_order(g, x))
    return np.array(plays)


def noisy_rounds(X, T, seed, infeasible=0.1):
    """Cheap is loaded; a limit with noise, which no action satisfies in some rounds."""
    rng = np.random.default_rng(seed)
    load = rng.uniform(0.2, 1.0, X.dim)
    rounds = []
    for _ in range(T):
        a = load + 0.2 * rng.standard_normal(X.dim)
        lift = 5.0 if rng.random() < infeasible else 0.0
        cost = hr.Linear(-load + 0.1 * rng.standard_normal(X.dim))
        rounds.append((cost, hr.Linear(a, lift - 0.6)))
    return rounds


CUBE = {
    "simplex": lambda: hr.sets.Simplex(4),
    "cube": lambda: hr.sets.Box(-np.ones(3), np.ones(3)),
}


@pytest.mark.parametrize("p", [0.0, 0.02, 0.2])
@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("name", CUBE)
def test_the_rule_is_its_transcription(name, inner, p):
    for seed in range(3):
        X = CUBE[name]()
        rounds = noisy_rounds(X, 150, seed)
        plays, margins = margins_of(ViolatedShare(INNER[inner](X), p), rounds)
        expected = transcribed_margins(X, rounds, plays, p)
        np.testing.assert_allclose(margins, expected, atol=1e-9)
        assert margins.max() > 0.01


@pytest.mark.parametrize("mutant", ["infeasible rounds count", "no cap", "no floor", "new margin"])
def test_mutants_report_other_margins(mutant):
    apart = []
    for seed in range(6):
        X = CUBE["simplex"]()
        rounds = noisy_rounds(X, 200, seed, 0.3)
        plays, margins = margins_of(ViolatedShare(hr.projection_free_coco(X), 0.2), rounds)
        wrong = transcribed_margins(X, rounds, plays, 0.2, mutant)
        apart.append(np.abs(margins - wrong).max())
    assert max(apart) > 1e-3


# The theorem, against rounds that are chosen with the margin in view.


class Stuck(StatefulPlayer):
    """Plays one point of [-100, 100] for ever: it does not help."""

    oblivious_only, oracle_calls = False, 0

    def __init__(self):
        self.decision_set = hr.sets.Box([-100.0], [100.0])
        self._state = State(x=1)

    def ask(self):
        return self._state["x"].copy()

    def tell(self, _cost, constraint):
        self.seen = constraint.value


HOSTILE = st.lists(
    st.tuples(st.floats(0.0, 1.0), st.floats(0.01, 3.0), st.integers(0, 9)), max_size=200
)


@given(rounds=HOSTILE, p=st.sampled_from([0.0, 0.01, 0.1, 0.5]), most=st.floats(0.0, 5.0))
def test_every_interval_has_few_violated_rounds_while_margins_help(rounds, p, most):
    """The rounds violate whenever they like, but never at a margin of `most` or more.

    They may lift the constraint above every action, too. The bound is that of the docstring, for
    every interval that begins with any round.
    """
    policy = ViolatedShare(Stuck(), p)
    zero, seen = EvalGrad(0.0, np.zeros(1)), []
    for wish, size, kind in rounds:
        (margin,), (excess,) = policy.margin, policy.excess
        scale = margin / excess if excess > 0.0 else math.inf
        violated = margin < most and wish < 0.8
        if kind == 0:  # no action satisfies this one: slope 0
            policy.tell(zero, EvalGrad(size, np.zeros(1)))
            continue
        value = size if violated else -size
        policy.tell(zero, EvalGrad(value, np.ones(1)))
        assert policy.policy.seen == value + min(margin, 50.0 - 0.5 * value)
        capped = policy._state["slack"][0] < most  # cannot happen: the slack is near 100
        assert not (violated and capped)
        seen.append((violated, scale))
    count = len(seen)
    for begin in range(0, count, 7):
        flags = [violated for violated, _ in seen[begin:]]
        last = max((begin + i for i, flag in enumerate(flags) if flag), default=None)
        if last is not None:
            bound = p * (count - begin) + 1.0 + most / seen[last][1]
            assert sum(flags) <= bound + 1e-9
    assert sum(v for v, _ in seen) <= p * count + policy.excess[0] + 1e-9  # whatever the rounds do


def test_the_bound_is_reached():
    """Rounds that violate whenever they may: more than p n + M/s of them do."""
    p, most, violated = 0.1, 2.0, 0
    policy = ViolatedShare(Stuck(), p)
    for _ in range(500):
        bad = policy.margin[0] < most
        violated += bad
        zero = EvalGrad(0.0, np.zeros(1))
        policy.tell(zero, EvalGrad(1.0 if bad else -1.0, np.ones(1)))
    assert p * 500 + most / 0.5 - 1.0 <= violated <= p * 500 + most / 0.5 + 1.0


def test_where_rounds_react_no_margin_helps():
    """Every round is satisfied by some action, and every round is violated by the one played.

    No policy can do better, so the share cannot be kept; the margin stays within the slack.
    """
    X = hr.sets.Box([0.0], [1.0])
    policy = ViolatedShare(hr.projection_free_coco(X), 0.1)
    for _ in range(200):
        x = policy.ask()
        g = hr.Linear([1.0], -0.25) if x[0] >= 0.5 else hr.Linear([-1.0], 0.75)
        assert min(g(np.array([0.0])), g(np.array([1.0]))) < 0.0 < g(x)
        policy.tell(hr.first_order(hr.Linear([0.0]), x), hr.first_order(g, x))
    assert policy.reached == (1.0,)
    assert policy.excess[0] == pytest.approx(0.9 * 200)
    assert policy.margin[0] <= 1.0


@pytest.mark.parametrize("p", [0.1, 0.01])
def test_a_share_is_kept_on_games_with_noise(p):
    for seed in (400, 401):
        problem = hr.problems.Ranking(horizon=1000, seed=seed)
        alone = hr.simulate(hr.projection_free_coco(problem.decision_set), problem)
        policy = ViolatedShare(hr.projection_free_coco(problem.decision_set), p)
        trace = hr.simulate(policy, problem)
        assert not trace.compiled
        assert (trace.violations > 0.0).mean() <= p + 0.006
        assert p > 0.05 or (trace.violations > 0.0).sum() < 0.5 * (alone.violations > 0.0).sum()
        assert policy.summary().violated == (trace.violations > 0.0).sum()
        assert policy.summary().ccv == pytest.approx(trace.ccv)
        assert policy.summary().cost == pytest.approx(trace.cost)


def test_rounds_that_no_action_satisfies_are_left_out():
    X = hr.sets.Simplex(3)
    policy = ViolatedShare(hr.projection_free_coco(X), 0.01)
    lifted = hr.Linear([1.0, 2.0, 3.0], 5.0)
    for _ in range(50):
        x = policy.ask()
        policy.tell(hr.first_order(hr.Linear([1.0, 0.0, 0.0]), x), hr.first_order(lifted, x))
    assert policy.margin == policy.excess == policy.reached == (0.0,)
    summary = policy.summary()
    assert (summary.violated, summary.left_out) == (50, (50,))
    assert "0 % of rounds violated, at most 1 % allowed; 50 infeasible rounds left out" in str(
        summary
    )


def two_limits(T, seed):
    rng = np.random.default_rng(seed)
    rounds = []
    for _ in range(T):
        a, b = 0.1 * rng.standard_normal((2, 3))
        limits = [
            hr.Linear(np.array([1.0, 0.0, 0.0]) + a, -0.4),
            hr.Linear(300.0 * (np.array([0.0, 1.0, 0.0]) + b), -120.0),
        ]
        rounds.append((hr.Linear([-2.0, -1.0, 0.0]), limits))
    return hr.RecordedProblem(hr.sets.Simplex(3), rounds)


def test_several_constraints_have_a_share_and_a_margin_each():
    problem = two_limits(1500, 0)
    X = problem.decision_set
    alone = hr.simulate(hr.projection_free_coco(X, constraints=2), problem)
    policy = ViolatedShare(hr.projection_free_coco(X, constraints=2), [0.2, 0.01])
    trace = hr.simulate(policy, problem)
    before, after = ((t.violations_each > 0.0).mean(axis=1) for t in (alone, trace))
    assert after[0] <= 0.21
    assert after[1] <= 0.016 < before[1]
    assert policy.reached == pytest.approx(after)
    summary = policy.summary()
    assert summary.ccv is None
    assert summary.ccv_each == pytest.approx(trace.ccv_each)
    assert "margin of 2" in str(summary)
    assert ViolatedShare(hr.projection_free_coco(X, constraints=2), 0.01).shares == (0.01, 0.01)


def test_one_share_serves_the_largest_of_several():
    problem = two_limits(300, 1)
    X = problem.decision_set
    policy = ViolatedShare(threshold_rule(X, margin=0.0), 0.05)
    trace = hr.simulate(policy, problem)
    assert policy.reached[0] == pytest.approx((trace.violations > 0.0).mean())
    listed = ViolatedShare(hr.projection_free_coco(X), [0.1, 0.1])
    x = listed.ask()
    one = hr.first_order(hr.Linear([1.0, 0.0, 0.0]), x)
    with pytest.raises(ValueError, match="has 1 constraints, and there are 2 shares"):
        listed.tell(one, one)


# Certificates: what was reported, and the limit itself.


@pytest.mark.parametrize("seed", range(12))
def test_certificates_hold_for_their_comparators(seed):
    X = hr.sets.Simplex(4)
    rounds = noisy_rounds(X, 120, seed, 0.05)
    policy = ViolatedShare(hr.projection_free_coco(X), 0.05)
    plays, margins = margins_of(policy, rounds)
    played = sum(f(x) for (f, _), x in zip(rounds, plays, strict=True))
    assert min(margins) >= -1e-12
    assert sum(margins) == pytest.approx(policy._state["margins"].sum())
    rng = np.random.default_rng(seed)
    with_margin, alone = policy.certificate(with_margin=True), policy.certificate()
    assert alone >= with_margin
    assert "constraint with its margin" in with_margin.comparator
    for y in rng.dirichlet(np.full(4, 0.5), 60):
        regret = played - sum(f(y) for f, _ in rounds)
        # an infeasible round counts by what every action must violate: a budget is on the safe side
        far = sum(max(0.0, g(y) + m) for (_, g), m in zip(rounds, margins, strict=True))
        assert regret <= policy.certificate(far, with_margin=True) + 1e-9
        over = sum(max(0.0, g(y)) for _, g in rounds)
        assert regret <= policy.certificate(over) + 1e-9


def test_certificates_of_several_constraints():
    problem = two_limits(200, 3)
    X = problem.decision_set
    policy = ViolatedShare(hr.projection_free_coco(X, constraints=2), 0.05)
    trace = hr.simulate(policy, problem)
    for y in np.random.default_rng(0).dirichlet(np.ones(3), 40):
        regret = trace.cost - sum(f(y) for f, _ in problem)
        over = [sum(max(0.0, g.parts[k](y)) for _, g in problem) for k in range(2)]
        assert regret <= policy.certificate(over) + 1e-9
    one = ViolatedShare(hr.projection_free_coco(X), [0.05, 0.05])
    trace = hr.simulate(one, hr.RecordedProblem(X, list(problem)), hr.feedback.first_order_each)
    assert one.certificate() >= one.certificate(with_margin=True)
    assert not hasattr(ViolatedShare(threshold_rule(X)), "certificate")


# States, copies, late feedback, refusals.


@pytest.mark.parametrize("inner", INNER)
def test_it_goes_on_bit_for_bit(inner, tmp_path):
    X = hr.sets.Simplex(4)
    rounds = noisy_rounds(X, 120, 5)
    policy = ViolatedShare(INNER[inner](X), 0.05)
    wrapped_plays(policy, rounds[:60])
    policy.save(tmp_path / "share.npz")
    loaded = ViolatedShare(INNER[inner](X), 0.05)
    loaded.load(tmp_path / "share.npz")
    others = [loaded, copy.copy(policy), pickle.loads(pickle.dumps(policy))]
    rest = wrapped_plays(policy, rounds[60:])
    for other in others:
        np.testing.assert_array_equal(wrapped_plays(other, rounds[60:]), rest)
        assert other.state()["checksum"] == policy.state()["checksum"]
    with pytest.raises(ValueError, match="other arguments"):
        ViolatedShare(INNER[inner](X), 0.06).restore(policy.state())


def test_a_game_on_disk_is_resumed(tmp_path):
    problem = hr.problems.IidSimplex(n=6, horizon=300, seed=400)

    def policy():
        return ViolatedShare(hr.projection_free_coco(problem.decision_set), 0.05)

    whole = hr.simulate(policy(), problem)
    hr.games.simulate_resumable(policy(), problem, tmp_path, every=100)
    sorted(tmp_path.iterdir())[-1].unlink()
    again = hr.games.simulate_resumable(policy(), problem, tmp_path, every=100)
    np.testing.assert_array_equal(again.costs, whole.costs)


def test_late_feedback_is_taken_where_the_inner_policy_takes_it():
    X = hr.sets.Simplex(4)
    rounds = noisy_rounds(X, 80, 7)
    policy, waiting = ViolatedShare(hr.projection_free_coco(X), 0.05), []
    for f, g in rounds:
        waiting.append((f, g, policy.ask()))
        if len(waiting) == 5:
            f, g, x = waiting.pop(0)
            policy.tell(hr.first_order(f, x), hr.first_order(g, x), at=x)
    assert policy.summary().rounds == 76
    seen = hr.first_order(hr.Linear(np.ones(4)), policy.ask())
    before = policy.state()["checksum"]
    with pytest.raises(ValueError, match="point that was played"):
        policy.tell(seen, seen, at=np.full(4, 9.0))
    assert policy.state()["checksum"] == before
    stuck = ViolatedShare(Stuck(), 0.1)
    with pytest.raises(ValueError, match="present play alone"):
        stuck.tell(EvalGrad(0.0, np.ones(1)), EvalGrad(0.0, np.ones(1)), at=np.ones(1))


def test_a_refused_round_changes_nothing():
    X = hr.sets.Simplex(3)
    policy = ViolatedShare(hr.projection_free_coco(X), 0.1)
    wrapped_plays(policy, noisy_rounds(X, 20, 0))
    before, good = policy.state()["checksum"], EvalGrad(1.0, np.ones(3))
    for bad in (EvalGrad(float("inf"), np.ones(3)), EvalGrad(1.0, np.ones(2))):
        with pytest.raises(ValueError, match=r"constraint|shape"):
            policy.tell(good, bad)
        with pytest.raises(ValueError, match=r"cost|shape"):
            policy.tell(bad, good)

    def refuse(*_):
        raise ValueError("not this one")

    policy.policy.tell = refuse
    with pytest.raises(ValueError, match="not this one"):
        policy.tell(good, good)
    assert policy.state()["checksum"] == before


@pytest.mark.parametrize("share", [-0.1, 1.0, 1.5, float("nan")])
def test_a_share_lies_between_0_and_1(share):
    with pytest.raises(ValueError, match="share"):
        ViolatedShare(hr.projection_free_coco(hr.sets.Simplex(2)), share)


def test_it_is_wrapped_around_policies_that_see_gradients():
    X = hr.sets.Simplex(2)
    with pytest.raises(TypeError, match="no margin can be added"):
        ViolatedShare(hr.baselines.guo_recoo(X, 100), 0.1)
    with pytest.raises(TypeError, match="ask, tell and state"):
        ViolatedShare(X, 0.1)
    with pytest.raises(ValueError, match="each of the policy's 2 constraints, got 3"):
        ViolatedShare(hr.projection_free_coco(X, constraints=2), [0.1, 0.1, 0.1])
    with pytest.raises(ValueError, match="one number for each"):
        ViolatedShare(hr.projection_free_coco(X), [])


def test_units_do_not_matter():
    X, p = SETS["dag"](), 0.05
    rounds = random_rounds(X, 80, 2)
    scaled = [(hr.Linear(f.coefficients), hr.Linear(4.0 * g.coefficients, 4.0 * g.offset))
              for f, g in rounds]  # fmt: skip
    one, four = (ViolatedShare(threshold_rule(X, margin=0.0), p) for _ in range(2))
    np.testing.assert_array_equal(wrapped_plays(one, rounds), wrapped_plays(four, scaled))
    assert four.margin[0] == pytest.approx(4.0 * one.margin[0])
