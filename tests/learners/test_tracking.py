"""AdaHedge and mixtures of learners: the reference's algorithm, its bounds, shared oracle calls."""

from __future__ import annotations

import json
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_learners_conform import SETS, Counted

import hedgerow as hr
from hedgerow.feedback import EvalGrad, first_order
from hedgerow.learners.adahedge import AdaHedge
from hedgerow.learners.adaptive_ocg import AdaptiveOCG
from hedgerow.learners.approach import approach
from hedgerow.learners.corrective_omd import CorrectiveOMD
from hedgerow.learners.steps import (
    ALONE,
    APART,
    BETA,
    LOST,
    UNIT,
    WORTH,
    CertificateSteps,
    P,
    RmsSteps,
)
from hedgerow.learners.steps import M as M_
from hedgerow.learners.tracking_ocg import TrackingOCG
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.problems.synthetic import IidSimplex
from hedgerow.sets.balls.l1_l2_balls import L2Ball
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.simplices.simplex import Simplex
from hedgerow.surrogates.current import CurrentSurrogate
from hedgerow.surrogates.potentials import GrowingScale, PowerPotential
from hedgerow.surrogates.ranges import WorstCaseRanges
from hedgerow.testing import check_learner, check_policy


def tracking_policy(X):
    learner = TrackingOCG(X)
    potential = PowerPotential(8.0, GrowingScale(floor=12.0, factor=0.5, power=0.5))
    return ConstrainedPolicy(learner, CurrentSurrogate(potential, 8.0, WorstCaseRanges(learner)))


# AdaHedge.


@pytest.mark.parametrize("experts", [1, 2, 5])
def test_adahedge_conforms(experts):
    check_learner(lambda: AdaHedge(experts), oracle_calls_per_round=0)


def adahedge(losses):
    """The reference's algorithm with the mix loss as a difference of sums, in 60 digits."""
    with localcontext() as context:
        context.prec = 60
        rows = [[Decimal(float(v)) for v in row] for row in losses]
        K = len(rows[0])
        L, Delta, weights = [Decimal(0)] * K, Decimal(0), []

        def mix(eta):
            least = min(L)
            if eta is None:
                w = [Decimal(int(v == least)) for v in L]
            else:
                w = [(-eta * (v - least)).exp() for v in L]
            total = sum(w)
            M = least - ((total / K).ln() / eta if eta is not None else 0)
            return [v / total for v in w], M

        for row in rows:
            eta = Decimal(K).ln() / Delta if Delta > 0 else None
            w, before = mix(eta)
            h = sum(a * b for a, b in zip(w, row, strict=True))
            L = [a + b for a, b in zip(L, row, strict=True)]
            Delta += max(Decimal(0), h - (mix(eta)[1] - before))
            weights.append([float(v) for v in w])
        return np.array(weights), float(Delta)


def run(losses):
    hedge, weights = AdaHedge(losses.shape[1]), []
    for row in losses:
        weights.append(hedge.ask())
        hedge.tell(EvalGrad(0.0, row))
    return np.array(weights), float(hedge._state["Delta"][0])


def draw(seed, rounds=200, experts=4, drift=0.0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1.0, 1.0, (rounds, experts)) + drift * np.arange(experts)


@pytest.mark.parametrize(
    "losses",
    [
        draw(0),
        draw(1, experts=2, drift=0.3),
        1e6 + draw(2),
        np.eye(2)[np.arange(120) % 2],  # the leader changes in every round
        np.round(draw(3, rounds=60)),  # ties
        draw(4, rounds=30) * np.array([1e9, 1.0, 1e-9, 1.0]),
    ],
)
def test_adahedge_is_the_references(losses):
    weights, Delta = run(losses)
    expected, expected_Delta = adahedge(losses)
    np.testing.assert_allclose(weights, expected, rtol=0, atol=1e-8)
    assert Delta == pytest.approx(expected_Delta, rel=1e-8)


finite = st.floats(-10.0, 10.0, allow_subnormal=False)


@given(
    st.integers(2, 5).flatmap(lambda K: st.lists(st.tuples(*[finite] * K), min_size=1, max_size=80))
)
@settings(max_examples=150, deadline=None)
def test_the_regret_is_within_the_bounds_of_the_reference(rows):
    """Both steps can fail: R <= 2 Delta, and Delta <= sqrt(V ln K) + S (2/3 ln K + 1)."""
    losses = np.array(rows)
    weights, Delta = run(losses)
    played = np.sum(weights * losses, axis=1)
    variance = np.sum(weights * (losses - played[:, None]) ** 2)
    log, S = np.log(losses.shape[1]), np.ptp(losses, axis=1).max()
    assert played.sum() - losses.sum(axis=0).min() <= 2.0 * Delta + 1e-9
    assert Delta <= np.sqrt(variance * log) + S * (2.0 / 3.0 * log + 1.0) + 1e-9


def test_the_bound_is_not_idle():
    """On the leader-changing sequence regret is a good part of it; following the leader breaks it.

    Following the leader loses half a unit a round.
    """
    losses = np.eye(2)[np.arange(1, 2001) % 2]
    losses[0] *= 0.5
    weights, Delta = run(losses)
    regret = np.sum(weights * losses) - losses.sum(axis=0).min()
    assert 0.2 * 2.0 * Delta < regret <= 2.0 * Delta < 120.0


@given(seed=st.integers(0, 999), exponent=st.integers(-90, 90))
@settings(max_examples=25, deadline=None)
def test_weights_have_no_unit_no_origin_and_no_order(seed, exponent):
    losses = draw(seed, rounds=60)
    weights, _ = run(losses)
    rng = np.random.default_rng(seed)
    order = rng.permutation(4)
    np.testing.assert_array_equal(run(2.0**exponent * losses)[0], weights)
    moved = run(losses + rng.uniform(-5.0, 5.0, (60, 1)))[0]
    np.testing.assert_allclose(moved, weights, rtol=0, atol=1e-9)
    np.testing.assert_allclose(run(losses[:, order])[0], weights[:, order], rtol=0, atol=1e-9)


def test_a_weight_that_underflowed_comes_back():
    """The naive mix loss is the logarithm of zero here."""
    losses = np.zeros((4000, 2))
    losses[:1000, 0], losses[1000:, 1] = 1.0, 1e3
    weights, Delta = run(losses)
    assert weights[1000, 0] < 1e-300
    assert weights[-1, 1] < 1e-300
    assert np.isfinite(Delta)


# A leader and a follower.


@pytest.mark.parametrize("atoms", [2, 24])
@pytest.mark.parametrize("name", SETS)
def test_tracking_conforms(name, atoms):
    check_learner(lambda: TrackingOCG(SETS[name](), atoms=atoms))


def test_tracking_conforms_with_other_steps_from_another_start():
    steps = CertificateSteps(c=0.3, floor=0.5)
    check_learner(lambda: TrackingOCG(Simplex(3), steps, start=[0.0, 0.5, 0.5]))


def test_other_rules_are_refused():
    """They have no numbers for a guard's orders."""
    with pytest.raises(TypeError, match="steps must be a CertificateSteps, got RmsSteps"):
        TrackingOCG(Simplex(3), RmsSteps())


class Transcription:
    """x_t on its way to p_t x_A + (1 - p_t) x_B, in plain NumPy around two whole learners.

    `fade`, `lasting`, `most`, `least` and `faster` are the constants of the rule, for mutants.
    """

    fade, lasting, most, least, faster = 0.2, False, 4.0, 1.0 / 8.0, 2.0

    def __init__(self, X, steps, atoms, start=None):
        self.A, self.B = AdaptiveOCG(X, steps, start), CorrectiveOMD(X, atoms, start=start)
        self.p, self.L, self.Delta = np.full(2, 0.5), np.zeros(2), 0.0
        self.credit, self.ahead, self.inner, self.cut, self.cuts = np.zeros(2), 0.0, 0.0, 0.0, 0
        self.x, self.alone, self.calls, self.calm = self.A.ask(), False, np.zeros(2, int), 0

    def weigh(self, losses, t):
        """AdaHedge with a handicap; the worse one is lifted to a share of about 1/t."""
        if self.Delta > 0.0:
            eta, low = np.log(2.0) / self.Delta, losses.min()
            mixed = low - np.log(self.p @ np.exp(-eta * (losses - low))) / eta
        else:
            mixed = (self.L + losses).min() - self.L.min()
        self.Delta += max(0.0, self.p @ losses - mixed)
        self.L += losses
        self.L -= self.L.min()
        factor = np.array([1.0, (1.0 + self.calm) ** -self.fade])
        if self.Delta > 0.0:
            deepest = self.Delta * np.log2(1.0 + t)
            more = self.Delta * self.fade * np.log2(1.0 + self.calm)
            self.L = np.minimum(self.L, [deepest + more, deepest])
            self.p = factor * 2.0 ** (-self.L / self.Delta)
        else:
            self.p = factor * (self.L == 0.0)
        self.p /= self.p.sum()

    def ask(self):
        return self.x

    def approach(self, s, worth):
        """Go to the mixture, or part of the way after a violation and until it is reached."""
        shares = np.array([1.0, 0.0]) if self.alone else self.p
        way, share = shares @ [self.A.ask(), self.B.ask()] - self.x, 1.0
        gain, far = -s @ way, np.linalg.norm(way)
        if worth > 0.0 and not self.alone:
            if gain > self.most * worth:
                share = max(self.least, self.most * worth / gain)
        elif self.cut > 0.0 and far > 0.0 and not self.alone:
            share = min(1.0, self.faster * self.cut / far)
        self.x = self.x + share * way
        self.cut = share * far if share < 1.0 else 0.0
        self.cuts += share < 1.0

    def tell(self, s, worth=0.0):
        plays = np.array([self.A.ask(), self.B.ask()])
        self.ahead += s @ (self.x - plays[0])
        self.inner += s @ self.x
        self.calm = 0 if worth > 0.0 and not self.lasting else self.calm + 1
        self.weigh(plays @ s, self.calls.sum() + 1.0)
        dealt = 0.8 * self.p + 0.1
        self.credit += dealt
        turn = int(np.argmax(self.credit))
        self.credit[turn] -= dealt.sum()
        self.calls[turn] += 1
        for k, learner in enumerate((self.A, self.B)):
            (learner.tell if k == turn else learner.tell_without_oracle)(EvalGrad(0.0, s))
        self.approach(s, worth)


class Alone(DecisionSet):
    """A set without kernels whose oracle sees six decimals, so that rounding decides nothing."""

    dim = diameter = 0

    def __init__(self, inner):
        self.inner, self.dim, self.diameter = inner, inner.dim, inner.diameter

    def lmo(self, c):
        return self.inner.lmo(np.round(c, 6) + 0.0)

    def contains(self, x, tol=1e-9):
        return self.inner.contains(x, tol)

    def start(self):
        return self.inner.start()

    def tangent(self, c):
        return self.inner.tangent(c)


def losses_of(n, rounds, speed, seed=4):
    rng = np.random.default_rng(seed)
    phases = rng.uniform(0.0, 6.0, n)
    for t in range(rounds):
        yield np.sin(speed * t + phases) + 0.3 * rng.standard_normal(n)


def transcribed(name, steps, speed, held, cut, kind=Transcription):
    """Play both; a guard's order to play the leader alone comes in blocks of ten rounds.

    If `cut`, two rounds of seven report a violation. Return the largest difference of decisions.
    """
    X, far = Alone(SETS[name]()), 0.0
    ours, reference = TrackingOCG(X, steps, atoms=5), kind(X, steps, 5)
    for t, s in enumerate(losses_of(X.dim, 200, speed)):
        reference.alone = held > 1 and t // 10 % held == 0
        worth = 0.001 * (1.0 + t % 5) if cut and t % 7 < 2 else 0.0
        ours.rule_numbers[[ALONE, WORTH]] = reference.alone, worth
        pairs = [(ours.ask(), reference.ask()), (ours.leader_play, reference.A.ask())]
        pairs.append((ours.follower_play, reference.B.ask()))
        far = max(far, *(np.abs(mine - its).max() for mine, its in pairs))
        ours.tell(EvalGrad(0.0, s))
        reference.tell(s, worth)
    return far, ours, reference


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("held", [1, 3])
@pytest.mark.parametrize("speed", [0.0, 0.05])
@pytest.mark.parametrize("steps", [CertificateSteps(), CertificateSteps(floor=0.5)])
@pytest.mark.parametrize("name", ["simplex", "box", "k-subsets", "dag", "point"])
def test_it_is_its_transcription(name, steps, speed, held, cut):
    far, ours, reference = transcribed(name, steps, speed, held, cut)
    assert far <= 1e-9
    rule, apart = reference.A._state["rule"].copy(), ours.ask() - ours.leader_play
    rule[[ALONE, LOST, APART]] = reference.alone, reference.ahead, np.linalg.norm(apart)
    np.testing.assert_allclose(ours.rule_numbers, rule, rtol=1e-6, atol=1e-7)
    assert ours.ahead == pytest.approx(reference.ahead, abs=1e-7)
    assert ours.inner == pytest.approx(reference.inner, abs=1e-7)
    if name != "point":
        assert reference.calls.min() > 10
        assert (reference.cuts > 2) == cut


MUTANTS = {
    "no fading": {"fade": 0.0},
    "more fading": {"fade": 1.0},
    "fading that a violation does not end": {"lasting": True},
    "no limit": {"most": np.inf},
    "half the limit": {"most": 2.0},
    "no least share": {"least": 0.0},
    "at once": {"faster": np.inf},
    "no faster": {"faster": 1.0},
}


@pytest.mark.parametrize("name", MUTANTS)
def test_other_constants_are_another_learner(name):
    kind = type("Mutant", (Transcription,), MUTANTS[name])
    assert transcribed("simplex", CertificateSteps(), 0.05, 1, True, kind)[0] > 1e-4


@given(
    seed=st.integers(0, 10**6),
    worth=st.sampled_from([0.0, 1e-300, 0.01, 1.0]),
    last=st.floats(0, 9),
)
@settings(max_examples=60, deadline=None)
def test_a_step_is_cut_to_its_limit_and_goes_an_eighth_of_the_way(seed, worth, last):
    x, target, s = np.random.default_rng(seed).standard_normal((3, 5))
    before = x.copy()
    cut, way = approach(x, target, s, worth, last), target - before
    share = 1.0 if np.array_equal(x, target) else (x - before) @ way / (way @ way)
    np.testing.assert_allclose(x, before + share * way, rtol=0, atol=1e-12)
    assert cut == pytest.approx(np.linalg.norm(x - before) if share < 1.0 else 0.0)
    if worth > 0.0:
        assert s @ (before - x) <= max(4.0 * worth, s @ -way / 8.0) + 1e-12
        assert share == 1.0 or s @ (before - x) >= 4.0 * worth - 1e-12
        assert share >= 1.0 / 8.0 - 1e-12
    else:
        assert np.linalg.norm(x - before) <= 2.0 * last + 1e-12 or share == 1.0


def test_a_violation_that_is_only_rounding_does_not_stop_it():
    """Each round may go an eighth of the way, whatever the violation is worth."""
    x, target, s = np.zeros(3), np.ones(3), -np.ones(3)
    for _ in range(60):
        approach(x, target, s, 1e-30, 0.0)
    np.testing.assert_allclose(x, target, atol=1e-3)


def test_a_follower_that_is_only_noise_costs_next_to_nothing():
    """Its share is about t^{-1/5}, and what the mixture loses to its leader goes with it.

    Without that the share of two that cannot be told apart stays near a half.
    """
    rng, T = np.random.default_rng(0), 4000
    learner, hedge, share, plain = TrackingOCG(Simplex(2)), AdaHedge(2), [], []
    for _ in range(T):
        learner._state["x_A"][:], learner._state["x_B"][:] = [0.5, 0.5], [0.0, 1.0]
        s = rng.standard_normal(2)
        hedge.tell(EvalGrad(0.0, np.array([0.5 * s.sum(), s[1]])))
        learner.tell(EvalGrad(0.0, s))
        share.append(learner.weights[1])
        plain.append(hedge.ask()[1])
    assert np.mean(share[T // 2 :]) < 0.2 < 0.25 < np.mean(plain[T // 2 :])


def test_the_worse_one_of_many_rounds_is_back_within_a_few():
    """A thousand rounds in which B loses leave it (1 + t)^{-6/5}: a few that it wins suffice."""
    learner, X = TrackingOCG(Simplex(2)), Simplex(2)
    hedge = AdaHedge(2)
    for t in range(1, 1001):
        own = learner._state
        own["x_A"][:], own["x_B"][:] = ([1.0, 0.0], [0.0, 1.0])
        s = np.array([0.0, 1.0 + 0.5 * (-1) ** t]) if t <= 980 else np.array([2.0, 0.0])
        hedge.tell(EvalGrad(0.0, s))
        learner.tell(EvalGrad(0.0, s))
        assert learner._state["p"][0] >= 1.0 / (2.0 + t) - 1e-15
        assert learner._state["p"][1] >= 1.0 / (1.0 + (1.0 + t) ** 1.2) - 1e-15
    assert learner._state["p"][1] > 0.5 > 1e-9 > hedge.ask()[1]
    assert X.contains(learner.ask())


@given(
    seed=st.integers(0, 10**6),
    name=st.sampled_from(sorted(SETS)),
    speed=st.sampled_from([0.0, 0.1, 3.0]),
    held=st.booleans(),
)
@settings(max_examples=30, deadline=None)
def test_the_play_is_the_mixture_and_the_sums_are_what_was_lost(seed, name, speed, held):
    X = SETS[name]()
    learner, ahead, inner = TrackingOCG(X, atoms=4), 0.0, 0.0
    for t, s in enumerate(losses_of(X.dim, 60, speed, seed)):
        x, A, B = learner.ask(), learner.leader_play.copy(), learner.follower_play.copy()
        shares = learner.weights
        assert shares.min() >= 0.0
        assert shares.sum() == pytest.approx(1.0, abs=1e-12)
        np.testing.assert_allclose(x, shares @ [A, B], rtol=0, atol=1e-14)
        assert X.contains(x, 1e-9)
        if learner.leader_alone:
            np.testing.assert_array_equal(x, A)
        ahead, inner = ahead + s @ (x - A), inner + s @ x
        learner.rule_numbers[ALONE] = held and t % 3 == 1
        learner.tell(EvalGrad(0.0, s))
        assert learner.ahead == pytest.approx(ahead, abs=1e-9)
        assert learner.inner == pytest.approx(inner, abs=1e-9)


def test_on_a_guards_order_the_leader_plays_alone_and_the_weights_are_learnt_on():
    """Without the order the mixture is back, at the weights that it would have had anyway."""
    X = L2Ball(4)
    free, held = TrackingOCG(X), TrackingOCG(X)
    for s in losses_of(4, 300, 0.0, seed=1):
        held.rule_numbers[ALONE] = 1.0
        free.tell(EvalGrad(0.0, s))
        held.tell(EvalGrad(0.0, s))
        np.testing.assert_array_equal(held.weights, [1.0, 0.0])
        np.testing.assert_array_equal(held.ask(), held.leader_play)
        np.testing.assert_array_equal(free.leader_play, held.leader_play)  # from the same losses
        np.testing.assert_array_equal(free.follower_play, held.follower_play)
    assert held.leader_alone
    assert free.ahead > held.ahead
    held.rule_numbers[ALONE] = 0.0
    free.tell(EvalGrad(0.0, s))
    held.tell(EvalGrad(0.0, s))
    np.testing.assert_array_equal(free.weights, held.weights)
    assert free.weights[1] > 0.0


def test_the_leaders_part_is_the_state_of_adaptive_ocg():
    """In a run where it has every call, it is that of the learner alone, number for number."""
    X, rng = Simplex(5), np.random.default_rng(0)
    learner, alone = TrackingOCG(X), AdaptiveOCG(X, CertificateSteps())
    rule = learner.rule_numbers
    names = ("x_A", "x1", "S", "t", "inner_A", "skipped", "rule")
    for t in range(12):
        s = rng.standard_normal(5)
        begin = learner.oracle_calls
        calls = learner._state["t"][0] - learner._state["skipped"][0]
        learner.tell(EvalGrad(0.0, s))
        had_it = learner._state["t"][0] - learner._state["skipped"][0] > calls
        (alone.tell if had_it else alone.tell_without_oracle)(EvalGrad(0.0, s))
        assert learner.oracle_calls == begin + 1 == t + 1
        alone.rule_numbers[[LOST, APART]] = rule[[LOST, APART]]  # which the mixture writes
        part = np.concatenate([learner._state[name] for name in names])
        np.testing.assert_array_equal(part, alone._state.array)
    assert 0 < alone.oracle_calls < 12
    learner.restore(learner.state())
    assert np.shares_memory(rule, learner._state.array)  # a live view, also after restore
    assert np.shares_memory(learner.leader_play, learner._state.array)


@pytest.mark.parametrize("steps", [CertificateSteps(), CertificateSteps(floor=0.5)])
def test_both_together_cost_one_real_oracle_call_a_round(steps):
    X = Counted()
    learner, rng, share = TrackingOCG(X, steps), np.random.default_rng(1), 0.0
    for t in range(60):
        assert learner.oracle_calls == X.calls == t
        calls = learner._state["t"][0] - learner._state["skipped"][0]
        assert abs(calls - share) < 2.0  # never far from what its weight deserves
        learner.tell(EvalGrad(0.0, rng.standard_normal(4)))
        share += 0.8 * learner.weights[0] + 0.1
        learner.ask()
        learner.state()
    assert 3 <= calls <= 57


def rule_unit(learner):
    return learner._state["rule"][UNIT] ** (4.0 / 3.0)


def test_without_its_oracle_call_a_leader_stays_and_adds_up():
    """All it would have known is known at its next call: S, the sum of <s, x>, the sizes."""
    X, rng = L2Ball(3), np.random.default_rng(2)
    learner = AdaptiveOCG(X, CertificateSteps())
    learner.tell(EvalGrad(0.0, rng.standard_normal(3)))
    x, S = learner.ask(), learner._state["S"].copy()
    losses = rng.standard_normal((4, 3))
    inner, sizes = learner._state["inner"][0], learner._state["rule"][P] * rule_unit(learner)
    for s in losses:
        learner.tell_without_oracle(EvalGrad(0.0, s))
        np.testing.assert_array_equal(learner.ask(), x)
    np.testing.assert_allclose(learner._state["S"], S + losses.sum(axis=0), rtol=1e-14)
    assert learner._state["inner"][0] == pytest.approx(inner + (losses @ x).sum())
    more = np.sum(np.linalg.norm(losses, axis=1) ** (4.0 / 3.0))
    assert learner._state["rule"][P] * rule_unit(learner) == pytest.approx(sizes + more)
    assert (learner.oracle_calls, learner._state["t"][0]) == (1, 5)


@pytest.mark.parametrize("bad", [np.ones(4), np.array([1.0, np.nan, 0.0]), np.full(3, 1e160)])
@pytest.mark.parametrize("make", [CorrectiveOMD, lambda X: AdaptiveOCG(X, CertificateSteps())])
def test_without_the_oracle_bad_losses_are_refused_too(make, bad):
    learner = make(L2Ball(3))
    before = json.dumps(learner.state(), default=np.ndarray.tolist)
    with pytest.raises(ValueError, match="the gradient of the loss"):
        learner.tell_without_oracle(EvalGrad(0.0, bad))
    assert json.dumps(learner.state(), default=np.ndarray.tolist) == before


def test_the_certificate_rule_holds_with_calls_left_out():
    """sum <s_t, x_t - u> <= (1 + c) beta_{T+1} D^2 + gap_T, for every u, also at half the calls."""
    X, rng, c = Simplex(6), np.random.default_rng(3), 0.03
    steps = CertificateSteps(c, cap=1e9)  # which does not bind
    learner, played, S = AdaptiveOCG(X, steps), 0.0, np.zeros(6)
    for t in range(400):
        s = rng.standard_normal(6) + 0.2 * np.arange(6)
        played, S = played + s @ learner.ask(), S + s
        (learner.tell_without_oracle if t % 2 else learner.tell)(EvalGrad(0.0, s))
    beta, M = learner._state["rule"][[BETA, M_]]
    D2 = X.diameter**2
    d = S + 2.0 * beta * (learner.ask() - X.start())
    gap = d @ learner.ask() - X.minimum(d)
    assert played - X.minimum(S) <= (1.0 + c) * max(beta, M / (c * D2)) * D2 + gap


@pytest.mark.parametrize("name", ["simplex", "l2ball", "box", "dag", "k-subsets"])
@pytest.mark.parametrize("speed", [0.0, 0.05])
def test_tracking_is_hardly_worse_than_its_better_learner(name, speed):
    X = SETS[name]()
    learner = TrackingOCG(X)
    played, losses, weights = [], [], []
    for s in losses_of(X.dim, 400, speed):
        plays = np.array([learner.leader_play, learner.follower_play])
        played.append(learner.ask() @ s)
        losses.append(plays @ s)
        weights.append(learner.weights)
        learner.tell(EvalGrad(0.0, s))
    losses, played = np.array(losses), np.array(played)
    V = np.sum(np.array(weights) * (losses - played[:, None]) ** 2)
    S, log = np.ptp(losses, axis=1).max(), np.log(2.0)
    bound = 2.0 * np.sqrt(V * log) + S * (4.0 / 3.0 * log + 2.0)
    regret = played.sum() - losses.sum(axis=0).min()
    assert learner.ahead == pytest.approx(played.sum() - losses.sum(axis=0)[0], abs=1e-9)
    assert learner.ahead <= regret + 1e-9 <= bound + 1e-9
    assert regret < 0.5 * np.ptp(losses.sum(axis=0)) + 2.0 * S  # far from the other learner


def test_the_bound_holds_against_losses_that_hurt_the_mixture():
    """Each loss hurts the learner with more weight; weights that do not learn break the bound.

    Against B it has h/ln 2 = log2(1 + t)/5 more, in units of Delta, for B's handicap.
    """
    learner, rng = TrackingOCG(L2Ball(3)), np.random.default_rng(0)
    variance = S = worst = behind = 0.0
    for t in range(1, 501):
        apart, (p, q) = learner.leader_play - learner.follower_play, learner.weights
        s = (apart if p > q else -apart) + 0.05 * rng.standard_normal(3)
        s *= rng.uniform(0.5, 1.0) / np.linalg.norm(s)
        variance += p * q * (s @ apart) ** 2
        S = max(S, abs(s @ apart))
        behind += s @ (learner.ask() - learner.follower_play)
        learner.tell(EvalGrad(0.0, s))
        bound = 2.0 * np.sqrt(variance * np.log(2.0)) + S * (4.0 / 3.0 * np.log(2.0) + 2.0)
        assert learner.ahead <= bound
        assert behind <= bound * (1.0 + np.log2(1.0 + t) / 10.0)
        worst = max(worst, learner.ahead, behind)
    assert worst > 0.1 * bound


def test_a_snapshot_is_taken_and_kept_in_any_round(tmp_path):
    """Also after a round in which the leader rested, whose step has no finite bound."""
    X, rng = Simplex(4), np.random.default_rng(5)
    learner, rested = TrackingOCG(X), 0
    for _ in range(12):
        learner.tell(EvalGrad(0.0, rng.standard_normal(4)))
        rested += bool(np.isinf(learner.rule_numbers).any())
        copy = TrackingOCG(X)
        learner.save(tmp_path / "learner")
        copy.load(tmp_path / "learner")
        s = rng.standard_normal(4)
        learner.tell(EvalGrad(0.0, s))
        copy.tell(EvalGrad(0.0, s))
        np.testing.assert_array_equal(learner._state.array, copy._state.array)
    assert rested > 0


@pytest.mark.parametrize("name", ["simplex", "l2ball", "box", "dag", "k-subsets"])
def test_simulated_and_played_games_are_the_same(name):
    X = SETS[name]()
    rng = np.random.default_rng(6)
    rounds = [
        (hr.Linear(s), hr.Linear(rng.standard_normal(X.dim), -0.1))
        for s in losses_of(X.dim, 150, 0.05)
    ]
    problem = hr.RecordedProblem(X, rounds)
    compiled, turns = tracking_policy(X), tracking_policy(X)
    trace = hr.simulate(compiled, problem)
    steps = list(hr.play(turns, problem))
    assert trace.compiled
    assert trace.costs.tobytes() == np.array([step.cost for step in steps]).tobytes()
    states = [policy.learner.state()["array"].tobytes() for policy in (compiled, turns)]
    assert states[0] == states[1]


def test_the_practical_policy_tracks_in_the_compiled_loop():
    problem = hr.ShortestPath.random_network(nodes=20, edges=60, horizon=40, seed=0)
    policy = hr.projection_free_coco(problem.decision_set, tracking=True)
    assert isinstance(policy.learner, TrackingOCG)
    assert hr.simulate(policy, problem).compiled


@pytest.mark.parametrize("name", SETS)
def test_the_tracking_policy_conforms_and_its_certificate_holds(name):
    check_policy(lambda: tracking_policy(SETS[name]()))


@given(i=st.integers(-60, 60), j=st.integers(-60, 60), seed=st.integers(0, 50))
@settings(max_examples=10, deadline=None)
def test_the_tracking_policy_has_no_unit(i, j, seed):
    problem = IidSimplex(n=8, horizon=60, seed=seed)
    plain, scaled = (tracking_policy(problem.decision_set) for _ in range(2))
    for cost, constraint in problem:
        x = plain.ask()
        np.testing.assert_array_equal(x, scaled.ask())
        f, g = first_order(cost, x), first_order(constraint, x)
        plain.tell(f, g)
        scaled.tell(
            EvalGrad(2.0**i * f.value, 2.0**i * f.grad), EvalGrad(2.0**j * g.value, 2.0**j * g.grad)
        )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"atoms": 1}, "atoms must be at least 2"),
        ({"start": [2.0, 0.0]}, "start must lie in the decision set"),
    ],
)
def test_bad_arguments_are_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        TrackingOCG(Simplex(2), **arguments)
