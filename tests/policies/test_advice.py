"""Advice to a policy: the mixture is its text, what it promises, and games with advisers."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp
from test_fallback import attacked, never

import hedgerow as hr
from hedgerow.baselines import FixedAction, SameTime, last_round
from hedgerow.feedback import EvalGrad, Parts
from hedgerow.games import record_advice, simulate_chunks
from hedgerow.inputs import Vector
from hedgerow.policies import AdvisedMaster, RestrictedMaster, ViolatedShare
from hedgerow.policies.advised import POLICY
from hedgerow.problems.synthetic import IidSimplex
from hedgerow.surrogates.ranges import GG, NUMBERS
from hedgerow.testing import check_policy

S = hr.sets
PROBLEM = IidSimplex(6, horizon=200, seed=3)
X = PROBLEM.decision_set
SETS: dict[str, Callable[[], hr.DecisionSet]] = {
    "simplex": lambda: S.Simplex(4),
    "ball": lambda: S.L2Ball(3, radius=2.0),
    "paths": lambda: hr.ShortestPath.random_network(12, 30, 8, seed=3).decision_set,
    "simplex and box": lambda: S.Product(S.Simplex(3), S.Box(np.zeros(2), np.ones(2))),
    "without kernels": lambda: S.Birkhoff(3),
}
ADVISERS = ("a", "b", "c")
PARTS = [(1, None), (3, None), (3, 3)]
"""How many parts a constraint has, and how many count apart."""


class Losses:
    """f + w g^+ of points, by tangents; w = 2 eagerness (Gf/Gg) Q(t)/Mg for each constraint."""

    def __init__(self, X: hr.DecisionSet, eagerness: float = 1.0, constraints: int | None = None):
        self.X, self.eagerness, self.each = X, eagerness, constraints is not None
        self.Q, self.Mg, self.Gg = np.zeros((3, constraints or 1))
        self.Gf = 0.0

    def tell(self, f: EvalGrad, parts: list[EvalGrad], x: Vector) -> Callable[[Vector], float]:
        """Take in a round that was seen at x; return what a point loses in it."""
        self.Gf = max(self.Gf, self.X.tangent_norm(f.grad))
        weighed = parts if self.each else [max(parts, key=lambda g: g.value)]
        w = np.zeros(len(weighed))
        for k, g in enumerate(weighed):
            if g.value > 0.0:
                self.Q[k] += g.value
                self.Mg[k] = max(self.Mg[k], g.value)
                self.Gg[k] = max(self.Gg[k], self.X.tangent_norm(g.grad))
                w[k] = 2.0 * self.eagerness * self.Gf / self.Gg[k] * self.Q[k] / self.Mg[k]

        def loss(point: Vector) -> float:
            e = point - x
            above = [max(0.0, g.value + float(g.grad @ e)) for g in parts]
            return float(f.grad @ e) + float(w @ (above if self.each else [max(above)]))

        return loss


class Text:
    """The mixture as its docstring has it, with every sum formed."""

    def __init__(self, X: hr.DecisionSet, K: int, eagerness: float, constraints: int | None):
        self.master = RestrictedMaster(X, eagerness, constraints)
        self.losses, self.K = Losses(X, eagerness, constraints), K
        self.q, self.L = np.full(K + 1, 1.0 / (K + 1)), np.zeros(K + 1)
        self.Delta, self.t = 0.0, 0

    def ask(self, advice: list[Vector | None]) -> Vector:
        self.points: list[Vector | None] = [*advice, self.master.ask()]
        self.shares = self.q * [point is not None for point in self.points]
        self.shares /= self.shares.sum()
        pairs = zip(self.shares, self.points, strict=True)
        x: Vector = np.sum([share * p for share, p in pairs if p is not None], axis=0)
        return x

    def tell(self, f: EvalGrad, parts: list[EvalGrad], x: Vector) -> None:
        """Take in a round that was seen at x; a silent voice loses what the mixture does."""
        self.master.tell(f, Parts(parts) if len(parts) > 1 else parts[0], at=x)
        loss = self.losses.tell(f, parts, x)
        losses = np.array([0.0 if point is None else loss(point) for point in self.points])
        silent = np.array([point is None for point in self.points])
        if not silent[:-1].all():
            self._hedge(np.where(silent, self.shares @ losses, losses))

    def _hedge(self, losses: Vector) -> None:
        """AdaHedge (de Rooij et al. 2014), whose weights are at least 1/(K (1 + t)) of the best."""
        self.t, log = self.t + 1, math.log(self.K + 1)
        eta = log / self.Delta if self.Delta > 0.0 else math.inf

        def mixed(L: Vector) -> float:
            more = 0.0 if eta == math.inf else float(logsumexp(eta * (L.min() - L))) / eta
            return float(L.min()) - more

        self.Delta += max(0.0, float(self.q @ losses) - (mixed(self.L + losses) - mixed(self.L)))
        self.L = self.L + losses
        self.L -= self.L.min()
        if self.Delta == 0.0:
            self.q = (self.L == 0.0) / np.count_nonzero(self.L == 0.0)
            return
        eta = log / self.Delta
        self.L = np.minimum(self.L, math.log(self.K * (1 + self.t)) / eta)
        self.q = np.exp(-eta * self.L - logsumexp(-eta * self.L))


def drawn(
    rng: np.random.Generator, X: hr.DecisionSet, x: Vector, parts: int
) -> tuple[EvalGrad, list[EvalGrad]]:
    """Return a round that reacts to the decision, of any size."""
    size = 10.0 ** rng.integers(-1, 2)
    a, *cs = rng.standard_normal((1 + parts, X.dim)) + 0.5 * (x - X.start())
    seen = [
        EvalGrad(float(size * (c @ (x - X.start()) - rng.uniform(-0.2, 0.4))), size * c) for c in cs
    ]
    return EvalGrad(float(a @ x), a), seen


def advised_by(rng: np.random.Generator, X: hr.DecisionSet, t: int) -> list[Vector | None]:
    """Return what three advisers propose: a plan, any vertex now and then, and a rare third."""
    plan = X.lmo(np.arange(1.0, X.dim + 1.0)) if t < 100 else X.lmo(-np.arange(1.0, X.dim + 1.0))
    speaks = (t % 40 > 3, rng.random() < 0.5, rng.random() < 0.1)
    points = plan, X.lmo(rng.standard_normal(X.dim)), X.start()
    return [point if now else None for point, now in zip(points, speaks, strict=True)]


def apart(policy: AdvisedMaster, seed: int, parts: int, m: int | None, rounds: int = 150) -> float:
    """Return how far the decisions of a policy are from those of the text."""
    rng, X, most = np.random.default_rng(seed), policy.decision_set, 0.0
    text = Text(X, len(ADVISERS), policy.eagerness, m)
    for t in range(rounds):
        advice = advised_by(rng, X, t)
        x = policy.ask(dict(zip(ADVISERS, advice, strict=True)))
        most = max(most, float(np.abs(x - text.ask(advice)).max()))
        f, seen = drawn(rng, X, x, parts)
        policy.tell(f, Parts(seen) if parts > 1 else seen[0])
        text.tell(f, seen, x)
    return most


@pytest.mark.parametrize(("parts", "m"), PARTS)
@pytest.mark.parametrize("name", SETS)
def test_the_mixture_is_its_text(name: str, parts: int, m: int | None) -> None:
    for seed, eagerness in ((0, 1.0), (1, 3.0)):
        policy = AdvisedMaster(SETS[name](), ADVISERS, eagerness, m)
        assert apart(policy, seed, parts, m) < 1e-9
        assert np.ptp([*policy.voices.values()]) > 0.1


class Frozen(AdvisedMaster):
    """A mutant whose weights stay as they are."""

    def take_in(self, cost: Any, constraint: Any, at: Vector | None) -> Any:
        taken = super().take_in(cost, constraint, at)
        self._voices._state["q"][:] = 1.0 / len(self.voices)
        self._voices._state["L"][:] = 0.0
        return taken


class Uncharged(AdvisedMaster):
    """A mutant that charges no voice for violations."""

    def take_in(self, cost: Any, constraint: Any, at: Vector | None) -> Any:
        self._voices._state["ranges"].reshape(-1, NUMBERS)[:, GG] = np.inf  # so that w = 0
        return super().take_in(cost, constraint, at)


class Blamed(AdvisedMaster):
    """A mutant that charges silent advisers for what they said last."""

    def take_in(self, cost: Any, constraint: Any, at: Vector | None) -> Any:
        self._voices._state["speaks"][:] = 1.0
        return super().take_in(cost, constraint, at)


MUTANTS = [Frozen, Uncharged, Blamed]


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_are_not_the_text(mutant: type[AdvisedMaster]) -> None:
    assert apart(mutant(S.Simplex(4), ADVISERS), 0, 1, None) > 1e-3


def lost(policy: AdvisedMaster, seed: int, parts: int, m: int | None, rounds: int) -> Vector:
    """Return what each voice lost less than the mixture, as shares of the bound of the docstring.

    Over the rounds in which it spoke; T counts rounds with advice.
    """
    rng, X, K = np.random.default_rng(seed), policy.decision_set, len(policy.advisers)
    of, least, V, largest = Losses(X, policy.eagerness, m), np.zeros(K + 1), 0.0, 0.0
    turn, safe, log = rounds // 2, X.lmo(rng.standard_normal(X.dim)), math.log(K + 1)
    for t in range(rounds):
        # one is good and then bad, one is bad and then good, one breaks all limits
        good, dear = X.lmo(rng.standard_normal(X.dim)), X.lmo(rng.standard_normal(X.dim))
        points = [good if t < turn else dear, dear if t < turn else good, dear]
        points = [*points[:K], policy._state["x"].copy()]
        speaks = np.append(rng.random(K) < 0.7, True)
        said = {
            n: p if s else None for n, p, s in zip(policy.advisers, points, speaks, strict=False)
        }
        x = policy.ask(said)
        shares = np.array([*policy.voices.values()]) * speaks
        shares /= shares.sum()
        size = 10.0 ** rng.integers(-1, 2) if seed % 2 else 1.0
        a = 0.3 * size * (rng.standard_normal(X.dim) + dear - good)
        cs = 0.2 * rng.standard_normal((parts, X.dim)) + (dear - safe)
        seen = [EvalGrad(float(c @ (x - safe)), c) for c in cs]
        f = EvalGrad(float(a @ x), a)
        policy.tell(f, Parts(seen) if parts > 1 else seen[0])
        if not speaks[:-1].any():
            of.tell(f, seen, x)
            continue
        loss = of.tell(f, seen, x)
        losses = np.array([loss(point) for point in points])
        mean = float(shares @ losses)
        assert loss(x) <= mean + 1e-9 * (1.0 + np.abs(losses).max())
        V += float(shares @ (losses - mean) ** 2)
        largest = max(largest, np.ptp(losses[speaks]))
        least += speaks * (loss(x) - losses)
    Delta = float(policy._voices._state["Delta"][0])
    most = math.sqrt(V * log) + largest * (2.0 / 3.0 * log + 1.0)
    assert isinstance(policy, tuple(MUTANTS)) or Delta <= most * (1.0 + 1e-9)
    assert isinstance(policy, tuple(MUTANTS)) or (least <= policy.lost_to_voices + 1e-9).all()
    T = float(policy._voices._state["advised"][0])
    return np.asarray(least / ((2.0 + math.log1p(T) / log) * most))


@pytest.mark.parametrize(("parts", "m"), PARTS)
@pytest.mark.parametrize("name", SETS)
def test_no_voice_loses_much_less_than_the_mixture(name: str, parts: int, m: int | None) -> None:
    """sum f + w g^+ of the mixture is at most that of each adviser, and of y, plus the bound."""
    most = -math.inf
    for seed in range(8):
        policy = AdvisedMaster(SETS[name](), ADVISERS[: 1 + seed % 3], constraints=m)
        most = max(most, lost(policy, seed, parts, m, 150).max())
    assert 0.01 < most <= 1.0


@pytest.mark.parametrize("mutant", [Frozen, Uncharged])
def test_mutants_lose_more(mutant: type[AdvisedMaster]) -> None:
    assert lost(mutant(S.Simplex(4), ["a"]), 0, 1, None, 4000).max() > 1.0
    assert lost(AdvisedMaster(S.Simplex(4), ["a"]), 0, 1, None, 4000).max() <= 1.0


class Whispered(AdvisedMaster):
    """Has two advisers that propose the dearest and the most violated vertex of the last round."""

    def __init__(self, X: hr.DecisionSet, constraints: int | None, harm: str, seed: int):
        super().__init__(X, ("dear", "violated"), constraints=constraints)
        self.harm, self.trusting = harm, seed % 2 == 0

    def take_in(self, cost: Any, constraint: Any, at: Vector | None) -> Any:
        taken = super().take_in(cost, constraint, at)
        if self.trusting:  # as if they had never been found out
            self._voices._state["q"][:] = [0.49, 0.49, 0.02]
        self.advise({name: self.decision_set.lmo(-g.grad) for name, g in self.told(cost, taken)})
        return taken

    def told(self, cost: EvalGrad, taken: Any) -> Any:
        return zip(self.advisers, (cost, taken[2]), strict=True)


@pytest.mark.parametrize("m", [None, 2])
def test_theorem_r_holds_whatever_advisers_do(m: int | None) -> None:
    """Also where they are trusted for ever: then Theorem F takes over."""
    switched, most = np.zeros(2), np.zeros(2)
    for seed in range(60):
        policy, _, shares = attacked(seed, m=m, harmful=Whispered)
        switched[seed % 2] += policy.switched is not None
        most = np.maximum(most, shares)
    assert (most <= 1.0 + 1e-9).all()
    assert switched[0] > 20 > 2 > switched[1]
    broken = [attacked(seed, never, m, Whispered)[2] for seed in range(0, 32, 2)]
    assert np.max(broken) > 1.05


# Games with advisers


def advised(*names: str, **options: Any) -> Any:
    return hr.projection_free_coco(X, advisers=names or ("plan",), **options)


def silent_now_and_then(seed: int = 0) -> Vector:
    """Recorded advice: the programme of the last round, silent in a third of the rounds."""
    rows = record_advice(last_round(X), PROBLEM)
    rows[np.random.default_rng(seed).random(len(rows)) < 1 / 3] = np.nan
    return rows


def report(policy: Any, functions: Any, x: Vector) -> None:
    policy.tell(*(hr.first_order(f, x) for f in functions))


def assert_same(one: Any, other: Any) -> None:
    """Nothing that they know differs, in any bit."""
    np.testing.assert_array_equal(one.ask(), other.ask())
    assert one.state()["checksum"] == other.state()["checksum"]


def test_a_policy_with_advisers_conforms() -> None:
    for m in (None, 2):
        check_policy(lambda: advised("a", "b", constraints=m), constraints=m or 1)  # noqa: B023


def test_without_advice_it_is_the_default_bit_for_bit() -> None:
    plain, policy = hr.projection_free_coco(X), advised("a", "b", "c")
    first, second = hr.simulate(plain, PROBLEM), hr.simulate(policy, PROBLEM)
    assert second.compiled
    np.testing.assert_array_equal(first.costs, second.costs)
    np.testing.assert_array_equal(plain.ask(), policy.ask())
    assert plain.certificate() == policy.certificate()


def test_recorded_advice_is_played_alike_in_all_three_ways() -> None:
    rows = silent_now_and_then()
    compiled, stepwise, by_hand = advised(), advised(), advised()
    trace = hr.simulate(compiled, PROBLEM, advice=rows)
    steps = list(hr.play(stepwise, PROBLEM, advice={"plan": rows}))
    for functions, row in zip(PROBLEM, rows, strict=True):
        x = by_hand.ask(advice={} if np.isnan(row[0]) else row)
        report(by_hand, functions, x)
    assert trace.compiled
    np.testing.assert_array_equal(trace.costs, [step.cost for step in steps])
    assert_same(compiled, stepwise)
    assert_same(compiled, by_hand)
    assert compiled.certificate() == by_hand.certificate()
    assert str(compiled.summary()) == str(by_hand.summary())


def test_chunks_and_skips_play_on_bit_for_bit() -> None:
    rows, policy, whole = silent_now_and_then(), advised(), advised()
    hr.simulate(whole, PROBLEM, advice=rows)
    next(simulate_chunks(policy, PROBLEM, size=70, advice=rows))
    heir = advised()
    heir.restore(policy.state())
    for _ in simulate_chunks(heir, PROBLEM, size=33, skip=70, advice=rows):
        pass
    assert_same(heir, whole)


def test_a_copy_in_the_middle_of_a_record_has_no_record() -> None:
    """Its next rounds have no advice until somebody speaks, whatever its memory held."""
    policy = advised()
    next(simulate_chunks(policy, PROBLEM, size=50, advice=silent_now_and_then()))
    heir = copy.copy(policy)
    report(heir, next(iter(PROBLEM)), heir.ask())
    np.testing.assert_array_equal(heir.ask(), heir.policy._state["x"])


def test_a_saved_policy_remembers_the_advice_for_its_round(tmp_path: Any) -> None:
    policy, heir, functions = advised(), advised(), next(iter(PROBLEM))
    x = policy.ask(advice=X.lmo(np.arange(6.0)))
    policy.save(tmp_path / "policy.npz")
    heir.load(tmp_path / "policy.npz")
    np.testing.assert_array_equal(heir.ask(), x)
    for one in (policy, heir):
        report(one, functions, x)
    assert_same(policy, heir)


def test_late_feedback_comes_with_the_advice_of_its_decision() -> None:
    """Whoever reports it asks with that advice again, as a live session does."""
    plans, late, rounds = np.eye(6)[:2], advised(), list(PROBLEM)[:2]
    decided = [late.ask(advice=plan) for plan in plans]
    for functions, plan, x in zip(rounds, plans, decided, strict=True):
        late.ask(advice=plan)
        late.tell(*(hr.first_order(f, x) for f in functions), at=x)
    (totals,) = late.summary().advisers
    assert totals.rounds == 2
    assert totals.cost == pytest.approx(sum(f(p) for (f, _), p in zip(rounds, plans, strict=True)))
    cost = sum(f(x) for (f, _), x in zip(rounds, decided, strict=True))
    assert cost - hr.hindsight(X, rounds).cost <= late.certificate()


def test_late_feedback_during_a_record_takes_the_next_recorded_advice() -> None:
    rows, policy = np.tile(np.eye(6)[2], (5, 1)), advised()
    x = policy.ask()
    seen = [hr.first_order(f, x) for f in next(iter(PROBLEM))]
    policy.tell(*seen, at=x)
    policy.follow(rows)
    policy.tell(*seen, at=x)
    voices = policy.policy._voices._state
    assert voices["speaks"][0] == 1.0  # the adviser speaks in the next round, too
    np.testing.assert_array_equal(voices["points"], rows[1])


def test_the_summary_has_what_each_adviser_would_have_had() -> None:
    rows, fixed = silent_now_and_then(), X.lmo(np.ones(6))
    policy = advised("lp", "fixed")
    hr.simulate(policy, PROBLEM, advice={"lp": rows, "fixed": FixedAction(X, fixed)})
    lp, plan = policy.summary().advisers
    spoke = ~np.isnan(rows[:, 0])
    values = np.array(
        [[f(x), g(x)] for (f, g), x in zip(PROBLEM, rows, strict=True) if not np.isnan(x[0])]
    )
    assert (lp.name, lp.rounds, plan.rounds) == ("lp", int(spoke.sum()), 200)
    assert lp.cost == pytest.approx(values[:, 0].sum())
    assert lp.ccv == pytest.approx(np.maximum(values[:, 1], 0.0).sum())
    assert lp.violated == (values[:, 1] > 1e-12).sum()
    assert "advice: lp" in str(policy.summary())


def test_an_adviser_may_be_a_function_of_the_past() -> None:
    seen = []

    def plan(past: Any) -> Any:
        seen.append(len(past))
        return None if not past else X.lmo(past[-1][0].coefficients)

    policy = advised()
    hr.simulate(policy, PROBLEM, advice=plan)
    assert seen == list(range(200))
    assert policy.summary().advisers[0].rounds == 199


def test_yesterdays_same_time_plays_what_the_period_before_taught() -> None:
    rule = SameTime(last_round(X), period=7)
    rows, plain = record_advice(rule, PROBLEM), record_advice(last_round(X), PROBLEM)
    np.testing.assert_allclose(rows[7:], plain[1:-6], atol=1e-9)
    np.testing.assert_allclose(rows[:7], plain[:7], atol=1e-9)


def test_the_mean_of_recent_rounds_is_steadier_than_the_last_round() -> None:
    last, mean = (record_advice(last_round(X, rounds=n), PROBLEM) for n in (1, 50))
    moved = [np.abs(np.diff(rows[50:], axis=0)).sum() for rows in (last, mean)]
    assert moved[1] < 0.5 * moved[0]


def test_a_share_of_violated_rounds_takes_advice() -> None:
    policy, again, rows = ViolatedShare(advised(), 0.1), ViolatedShare(advised(), 0.1), None
    rows = silent_now_and_then()
    for functions, row in zip(PROBLEM, rows, strict=True):
        x = policy.ask() if np.isnan(row[0]) else policy.ask(advice=row)
        report(policy, functions, x)
    trace = hr.simulate(again, PROBLEM, advice=rows)
    assert trace.cost == pytest.approx(policy.summary().cost)
    np.testing.assert_array_equal(policy.ask(), again.ask())


def test_a_good_adviser_is_followed() -> None:
    rng, Y = np.random.default_rng(0), S.Simplex(5)
    policy: Any = hr.projection_free_coco(Y, advisers=["oracle", "noise"])
    cost = ideal = 0.0
    for _ in range(600):
        a = rng.standard_normal(5)
        x = policy.ask({"oracle": Y.lmo(a), "noise": Y.lmo(rng.standard_normal(5))})
        policy.tell(EvalGrad(float(a @ x), a), EvalGrad(-1.0, np.zeros(5)))
        cost, ideal = cost + float(a @ x), ideal + float(a.min())
    assert policy.voices["oracle"] > 0.95
    assert cost - ideal <= policy.policy.lost_to_voices + 1e-9
    assert cost < 0.97 * ideal  # both are below 0


def test_what_is_wrong_with_advice_is_said() -> None:
    plain: Any = hr.projection_free_coco(X)
    with pytest.raises(TypeError, match=r"no advisers; build it with some"):
        plain.ask(advice=X.start())
    with pytest.raises(TypeError, match=r"no advisers; build it with some"):
        hr.simulate(plain, PROBLEM, advice=last_round(X))
    wrong: dict[str, Callable[[], Any]] = {
        "tracking=True": lambda: hr.projection_free_coco(X, advisers=["a"], tracking=False),
        "takes no advisers": lambda: hr.projection_free_coco(
            X, 100, preset="theory", lipschitz=1.0, advisers=["a"]
        ),
        r"must have shape \(200, 6\)": lambda: hr.simulate(
            advised(), PROBLEM, advice=np.zeros((3, 6))
        ),
        "there are 2 advisers; name whose advice this is": lambda: hr.simulate(
            advised("a", "b"), PROBLEM, advice=last_round(X)
        ),
        "there are 2 advisers; give their advice by name": lambda: advised("a", "b").ask(X.start()),
        "there is no adviser 'b', there are 'plan'": lambda: advised().ask({"b": X.start()}),
        "is outside of the decision set": lambda: advised().ask(np.ones(6)),
        "must be different names": lambda: advised("a", "a"),
        "is the name of the policy itself": lambda: advised(POLICY),
    }
    for words, use in wrong.items():
        with pytest.raises(ValueError, match=words):
            use()
