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
    debt, margin, slack, counted = 0.0, 0.0, 0.0, 0
    for (_, g), x in zip(rounds, plays, strict=True):
        violated = g(x) > 0.0
        least = min(g(v) for v in corners(X))
        left_out = violated and least > 1e-9 and mutant != "infeasible rounds count"
        given = 0.0 if left_out else min(margin, -0.5 * least) if violated else margin
        below = debt == 0.0 or margin < slack or mutant == "windup"
        excess = len(sizes) - p * counted
        slow = below and excess > debt + 0.5 and mutant != "nothing made up for"
        if g(x) + margin > 0.0 and not left_out:
            binding.append(g)
        if violated and not left_out:
            mean = [np.mean([h(v) for h in binding]) for v in corners(X)]
            slack = math.inf if mutant == "no cap" else max(0.0, -min(mean))
            sizes.append(min(g(x), slack))
        if not left_out:
            lowest = -math.inf if mutant == "no floor" else 0.0
            debt = max(lowest, debt + (violated and below) - (0.5 * p if slow else p))
            scale = 0.5 * np.mean(sizes) if sizes else 0.0
            margin = max(0.0, min(scale * debt, slack))
            counted += 1
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
@pytest.mark.parametrize("inner", [name for name in INNER if name != "coco"])
@pytest.mark.parametrize("name", CUBE)
def test_the_rule_is_its_transcription(name, inner, p):
    most = 0.0
    for seed in range(3):
        X = CUBE[name]()
        rounds = noisy_rounds(X, 150, seed)
        plays, margins = margins_of(ViolatedShare(INNER[inner](X), p), rounds)
        expected = transcribed_margins(X, rounds, plays, p)
        np.testing.assert_allclose(margins, expected, atol=1e-9)
        most = max(most, margins.max())
    assert most > 0.01


@pytest.mark.parametrize("constraints", [None, 2])
def test_the_default_keeps_the_margin_from_all_rows_and_is_told_the_constraint(constraints):
    X = CUBE["simplex"]()
    shares = 0.02 if constraints is None else (0.02, 0.1)
    policy = ViolatedShare(hr.projection_free_coco(X, constraints=constraints), shares)
    master, most = policy.policy.policy, 0.0
    for f, g in noisy_rounds(X, 150, 0):
        x = policy.ask()
        told = hr.first_order(g, x)
        policy.tell(hr.first_order(f, x), told if constraints is None else [told, told])
        np.testing.assert_array_equal(master._state["margins"], policy.margin)
        most = max(most, *policy.margin)
        with pytest.raises(ValueError, match="finite"):
            policy.tell(told, EvalGrad(1.0, np.full(4, np.nan)))
        np.testing.assert_array_equal(master._state["margins"], policy.margin)
    assert most > 0.01
    assert policy.policy.summary().violated == policy.summary().violated
    assert float(policy.certificate()) == float(policy.policy.certificate())


MUTANTS = [
    "infeasible rounds count",
    "no cap",
    "no floor",
    "new margin",
    "windup",
    "nothing made up for",
]


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_report_other_margins(mutant):
    apart = []
    for seed in range(6):
        X = CUBE["simplex"]()
        rounds = noisy_rounds(X, 400, seed, 0.3)
        plays, margins = margins_of(ViolatedShare(INNER["plain"](X), 0.02), rounds)
        wrong = transcribed_margins(X, rounds, plays, 0.02, mutant)
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
    st.tuples(
        st.floats(0.0, 1.0),  # wishes to violate, and does below 0.8
        st.floats(0.01, 3.0),  # by how much
        st.sampled_from([0.0, 0.005, 0.02, 0.1, 1.0]),  # slope: small ones leave little slack
    ),
    max_size=150,
)
ZERO = EvalGrad(0.0, np.zeros(1))


def hostile_game(policy, rounds, most=math.inf):
    """Play rounds that are violated when they wish, but never at a margin of `most` or more.

    Return what each counted round had: violated, margin, below the slack, scale, and debt before
    and after it. Where the slope is too small for the value, no action satisfies the round.
    """
    seen, state = [], policy._state
    for wish, size, slope in rounds:
        (margin,), debt, slack = policy.margin, state["debt"][0], state["slack"][0]
        scale = 0.5 * state["sizes"][0] / max(1.0, state["counted"][0])
        violated = margin < most and wish < 0.8
        value = size if violated else -size
        left_out = state["left_out"][0]
        policy.tell(ZERO, EvalGrad(value, np.full(1, slope)))
        if state["left_out"][0] > left_out:
            assert policy.policy.seen == value
            continue
        room = min(margin, 0.5 * (100.0 * slope - value)) if violated else margin
        assert policy.policy.seen == pytest.approx(value + room)
        below = debt == 0.0 or scale * debt < slack
        seen.append((violated, margin, below, scale, slack, debt, state["debt"][0]))
    return seen


def rounds_above_the_theorem(seen, p, M):
    """By how many rounds an interval exceeds the theorem's bound, at most; 0 or less if it holds.

    The last of the rounds that it bounds ends an interval; longer ones have a larger bound. Without
    M the slack of the last round takes its place.
    """
    most = -math.inf
    for begin in range(len(seen)):
        count = 0
        for n, (violated, margin, below, scale, slack, debt, _) in enumerate(seen[begin:], start=1):
            if violated and below and (M is None or margin < M):
                count += 1
                limit = slack if M is None else M
                steps = 0.0 if debt == 0.0 else limit / scale if scale > 0.0 else math.inf
                most = max(most, count - (p * n + 1.0 + steps))
    return most


P = st.sampled_from([0.0, 0.01, 0.1, 0.5])


@given(rounds=HOSTILE, p=P, M=st.floats(0.0, 5.0) | st.none())
def test_few_rounds_of_every_interval_are_violated_below_the_slack(rounds, p, M):
    """Whatever the rounds do: the theorem assumes nothing of them."""
    policy = ViolatedShare(Stuck(), p)
    seen = hostile_game(policy, rounds)
    assert rounds_above_the_theorem(seen, p, M) <= 1e-9
    total = sum(violated for violated, *_ in seen)
    assert policy.excess[0] == pytest.approx(max(0.0, total - p * len(seen)))


@given(rounds=HOSTILE, p=P, most=st.floats(0.01, 5.0))
def test_every_interval_has_few_violated_rounds_while_margins_help(rounds, p, most):
    """No round is violated at a margin of `most` or more, and the slack is never below it."""
    steep = [(wish, size, 1.0) for wish, size, _ in rounds]
    seen = hostile_game(ViolatedShare(Stuck(), p), steep, most)
    assert all(below for violated, _, below, *_ in seen if violated)
    assert rounds_above_the_theorem(seen, p, most) <= 1e-9


@given(rounds=HOSTILE, p=P)
def test_debt_is_never_more_than_a_round_beyond_the_slack(rounds, p):
    """A debt above it holds the margin at the slack for long after the rounds are satisfied.

    Every round pays back p or p/2.
    """
    seen = hostile_game(ViolatedShare(Stuck(), p), rounds)
    for violated, _, below, scale, slack, debt, after in seen:
        owed = debt + (violated and below)
        assert max(0.0, owed - p) - 1e-9 <= after <= max(0.0, owed - 0.5 * p) + 1e-9
        edge = slack / scale if debt > 0.0 and scale > 0.0 else 0.0
        assert after <= max(debt, edge + 1.0) + 1e-9


class Mutant(ViolatedShare):
    """The rule with one mistake in its debt."""

    mistake = ""

    def _take(self, i, g, x):
        state, p = self._state, self.shares[i]
        debt, margin, slack = (float(state[name][i]) for name in ("debt", "margin", "slack"))
        given = super()._take(i, g, x)
        scale = 0.5 * state["sizes"][i] / max(1.0, state["counted"][i])
        if self.mistake == "pays back twice":
            state["debt"][i] = max(0.0, state["debt"][i] - p)
        if self.mistake == "adds below half the slack" and g.value > 0.0 and margin > 0.5 * slack:
            state["debt"][i] = max(0.0, debt - p)
        if self.mistake == "falls with the slack" and scale > 0.0:
            state["debt"][i] = min(state["debt"][i], state["slack"][i] / scale)
        if self.mistake == "windup" and g.value > 0.0 and given > 0.0:
            state["debt"][i] = debt + 1.0 - p
        state["margin"][i] = min(scale * state["debt"][i], state["slack"][i])
        return given


def hostile_lists():
    """Lists of rounds like those that hypothesis finds, by a fixed draw."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        slopes = rng.choice([0.0, 0.005, 0.02, 0.1, 1.0], 150)
        yield list(zip(rng.random(150), rng.uniform(0.01, 3.0, 150), slopes, strict=True))


@pytest.mark.parametrize(
    "mistake", ["pays back twice", "adds below half the slack", "falls with the slack"]
)
def test_mutants_break_the_theorem(mistake):
    worst = -math.inf
    for rounds in hostile_lists():
        policy = Mutant(Stuck(), 0.1)
        policy.mistake = mistake
        worst = max(worst, rounds_above_the_theorem(hostile_game(policy, rounds), 0.1, None))
    assert worst > 0.5


def rounds_until_the_margin_is_gone(policy):
    """Play an outage of 60 rounds in which no more margin helps, then rounds that are satisfied."""
    for _ in range(60):
        policy.tell(ZERO, EvalGrad(1.0, np.full(1, 0.02)))
    rounds = 0
    while policy.margin[0] > 0.0:
        policy.tell(ZERO, EvalGrad(-5.0, np.full(1, 0.02)))
        rounds += 1
    return rounds


def test_an_outage_does_not_hold_the_margin_up():
    """The slack is 1 and the scale 1/2, so the debt is at most 3, and a round pays back p/2."""
    policy, mutant = ViolatedShare(Stuck(), 0.01), Mutant(Stuck(), 0.01)
    mutant.mistake = "windup"
    assert rounds_until_the_margin_is_gone(policy) <= 3.0 / 0.005
    assert rounds_until_the_margin_is_gone(mutant) > 4000
    assert policy.excess[0] > 50.0  # the target is missed all the same, and said to be


def test_rounds_violated_at_the_slack_are_made_up_for():
    """After an outage, rounds that are violated at every margin below 0.4: p/2 of them are.

    The excess falls by p/2 a round, to the debt and half a round: M/s is below 1, so to at most 3.
    """
    p, policy = 0.1, ViolatedShare(Stuck(), 0.1)
    rounds_until_the_margin_is_gone(policy)
    excess, rounds = policy.excess[0], 0
    assert excess > 20.0
    while policy.excess[0] > 3.0 and rounds < 5000:
        bad = policy.margin[0] < 0.4
        policy.tell(ZERO, EvalGrad(0.5 if bad else -0.5, np.full(1, 0.02)))
        rounds += 1
    assert rounds <= excess / (0.5 * p)


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
        assert p > 0.05 or (trace.violations > 0.0).sum() <= (alone.violations > 0.0).sum()
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


def two_limits(T, seed, noise=0.1):
    rng = np.random.default_rng(seed)
    rounds = []
    for _ in range(T):
        a, b = noise * rng.standard_normal((2, 3))
        limits = [
            hr.Linear(np.array([1.0, 0.0, 0.0]) + a, -0.4),
            hr.Linear(300.0 * (np.array([0.0, 1.0, 0.0]) + b), -120.0),
        ]
        rounds.append((hr.Linear([-2.0, -1.0, 0.0]), limits))
    return hr.RecordedProblem(hr.sets.Simplex(3), rounds)


def test_several_constraints_have_a_share_and_a_margin_each():
    problem = two_limits(1500, 0, 0.2)
    X = problem.decision_set
    alone = hr.simulate(hr.projection_free_coco(X, constraints=2), problem)
    policy = ViolatedShare(hr.projection_free_coco(X, constraints=2), [0.2, 0.01])
    trace = hr.simulate(policy, problem)
    before, after = ((t.violations_each > 0.0).mean(axis=1) for t in (alone, trace))
    assert after[0] <= 0.21
    assert after[1] <= 0.018 < before[1]
    summary = policy.summary()
    left_out = np.array(summary.left_out)
    reached = policy.reached * (1500 - left_out)
    np.testing.assert_allclose(reached + left_out, 1500 * after)
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
        over = [sum(max(0.0, g.parts[k](y)) for _, g in problem.rounds()) for k in range(2)]
        assert regret <= policy.certificate(over) + 1e-9
    one = ViolatedShare(hr.projection_free_coco(X), [0.05, 0.05])
    trace = hr.simulate(
        one, hr.RecordedProblem(X, list(problem.rounds())), hr.feedback.first_order_each
    )
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
