"""Advice: the default's learner, mixed with points that somebody else proposes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hedgerow._engine.kernel import kernel, nothing, number, read, whole, write
from hedgerow._engine.signatures import AFTER_ORACLE, BEFORE_ORACLE
from hedgerow.inputs import Vector, as_vector
from hedgerow.kernels.hedge import lose, weigh
from hedgerow.kernels.vectors import copy, dot
from hedgerow.learners import tracking_ocg
from hedgerow.learners.adaptive_ocg import RULE
from hedgerow.learners.growth import Growth
from hedgerow.learners.kernel_learner import NUMBERS, KernelLearner
from hedgerow.learners.steps import ALONE, APART, LOST, CertificateSteps
from hedgerow.learners.tracking_ocg import AHEAD, OWN, TrackingOCG
from hedgerow.sets.decision_set import DecisionSet, Projectable
from hedgerow.snapshot import State

Array = Vector
Loss = tuple[float, float, float]
Advice = ArrayLike | Mapping[str, ArrayLike | None]
"""A point of the set for this round, or one for each adviser by name; None for no advice."""
VOICES, DELTA, OUTSIDE, NEAR, ADVISED, ASIDE, RECORDED, MEMORY, HEADER = range(9)
"""The numbers of the state [x | numbers | q | L | h | awake | advice | learner], after x: voices,
K + 1; AdaHedge's Delta; the sum of <s, x - y> with the learner's decision y; how far y is from its
leader; rounds with advice; what rounds with the leader alone lost to the mixture; whether the next
advice is recorded; and where `work` has memory for the losses, which the recorded advice follows.
HEADER is their count. q, L, h and awake have an entry for each voice, the learner's last: weights,
losses and handicaps of AdaHedge, which are 0, and which voices speak in this round."""
ROUNDING = 1e-6
"""Advice that is outside the set by less than this, relative to its diameter, is projected."""
ONE_ADVISER = "advice"
"""The name of the adviser where there is one alone."""


@kernel(number, write, write)
def hedge_voices(own: Array, losses: Array) -> float:
    """AdaHedge: update the weights with the losses of voices that spoke; return the mixture's loss.

    A silent voice has the mixture's loss, so that it neither gains nor loses. No weight is below
    1/(K (1 + t)) of the largest, so that each voice can return.
    """
    V = int(own[VOICES])
    q, L, h = own[HEADER : HEADER + V], own[HEADER + V :], own[HEADER + 2 * V :]
    L, h, awake, logarithm = L[:V], h[:V], own[HEADER + 3 * V :], math.log(V)
    total = mean = 0.0
    for v in range(V):
        if awake[v] > 0.0:
            total += q[v]
            mean += q[v] * losses[v]
    mean /= total
    for v in range(V):
        if awake[v] == 0.0:
            losses[v] = mean
    own[ADVISED] += 1.0
    own[DELTA] += lose(L, h, q, losses, logarithm / own[DELTA] if own[DELTA] > 0.0 else math.inf)
    if own[DELTA] > 0.0:
        deepest = own[DELTA] * math.log((V - 1.0) * (1.0 + own[ADVISED])) / logarithm
        for v in range(V):
            L[v] = min(L[v], deepest)
    weigh(q, L, h, logarithm / own[DELTA] if own[DELTA] > 0.0 else math.inf)
    return mean


@kernel(nothing, write, whole)
def mix_voices(state: Array, n: int) -> None:
    """Write the decision: the mixture of the voices that speak in this round.

    A guard that asks for the leader alone is obeyed: then advice has no share in this round.
    """
    own = state[n:]
    V = int(own[VOICES])
    q, awake, points = own[HEADER:], own[HEADER + 3 * V :], own[HEADER + 4 * V :]
    learner = points[(V - 1) * n :]
    leader = learner[n + OWN :]
    rule, x, advised, total = leader[3 * n + RULE :], state[:n], 0.0, q[V - 1]
    for v in range(V - 1):
        if awake[v] > 0.0 and rule[ALONE] == 0.0:
            advised += 1.0
            total += q[v]
    rule[LOST], rule[APART] = learner[n + AHEAD] + own[OUTSIDE], own[NEAR]
    copy(x, learner[:n])
    if advised == 0.0:
        return
    far2 = 0.0
    for i in range(n):
        x[i] *= q[V - 1] / total
    for v in range(V - 1):
        if awake[v] > 0.0:
            share, point = q[v] / total, points[v * n : (v + 1) * n]
            for i in range(n):
                x[i] += share * point[i]
    for i in range(n):
        far2 += (x[i] - leader[i]) * (x[i] - leader[i])
    rule[APART] = math.sqrt(far2)


@kernel(nothing, write, read, whole)
def take_advice(state: Array, advice: Array, n: int) -> None:
    """Store the advice for this round, NaN for none, and write the decision."""
    own = state[n:]
    V = int(own[VOICES])
    awake, points = own[HEADER + 3 * V :], own[HEADER + 4 * V :]
    for v in range(V - 1):
        point = advice[v * n : (v + 1) * n]
        awake[v] = 0.0 if math.isnan(point[0]) else 1.0
        if awake[v] > 0.0:
            copy(points[v * n :], point)
    mix_voices(state, n)


@kernel(*BEFORE_ORACLE)
def before_oracle(
    state: Array, work: Array, s: Array, inner: float, loss: Loss, steps: Any
) -> bool:
    """Update the weights of the voices with s_t, then let the learner take it in."""
    n, own = len(s), state[len(s) :]
    V = int(own[VOICES])
    awake, points = own[HEADER + 3 * V :], own[HEADER + 4 * V :]
    learner, losses = points[(V - 1) * n :], work[int(own[MEMORY]) : int(own[MEMORY]) + V]
    alone, advised = dot(s, learner[:n]), 0.0
    own[OUTSIDE] += inner - alone
    losses[V - 1] = 0.0  # less <s, y>, which changes no weight
    for v in range(V - 1):
        if awake[v] > 0.0:
            losses[v] = dot(s, points[v * n : (v + 1) * n]) - alone
            advised += 1.0
    if advised > 0.0:
        mixture = hedge_voices(own, losses)
        own[ASIDE] += max(0.0, inner - alone - mixture)  # 0 unless the leader was alone
    return tracking_ocg.before_oracle(learner, work, s, alone, loss, steps)


@kernel(*AFTER_ORACLE)
def after_oracle(state: Array, work: Array, n: int, ones: Any, steps: Any) -> None:
    """Move the learner; take the next recorded advice, or none until somebody speaks."""
    own = state[n:]
    V = int(own[VOICES])
    awake, points = own[HEADER + 3 * V :], own[HEADER + 4 * V :]
    learner, memory = points[(V - 1) * n :], work[int(own[MEMORY]) :]
    tracking_ocg.after_oracle(learner, work, n, ones, steps)
    own[NEAR] = learner[n + OWN + 3 * n + RULE + APART]
    if own[RECORDED] > 0.0:
        take_advice(state, memory[V : V + (V - 1) * n], n)
        return
    for v in range(V - 1):
        awake[v] = 0.0
    mix_voices(state, n)


class AdvisedOCG(KernelLearner):
    """Mixes its own decision y_t with the points a_{t,k} that K advisers propose.

    x_t = q_{t,0} y_t + sum over k of q_{t,k} a_{t,k}. y_t is the decision of `TrackingOCG`, which
    learns as if there were no advice. q_t is `AdaHedge` on the losses <s_t, y_t> and
    <s_t, a_{t,k}>. An adviser that is silent in a round has no share in it and keeps its weight.
    No weight is below 1/(K (1 + t)) of the largest, where t counts rounds with advice.

    For every adviser, and for y, over the T rounds in which it spoke,

        sum <s_t, x_t - a_{t,k}> <= (2 + log(1 + T)/log(K + 1)) Delta_T + A_T,
        Delta_T <= sqrt(V ln(K + 1)) + S (2/3 ln(K + 1) + 1),

    where V adds up the variances of the voices' losses under q_t, S is the largest range of their
    losses in one round, and A_T is what the mixture would have lost less in rounds that a guard
    gave to the leader alone. The guard counts what the mixture has lost to its leader, so that its
    theorem holds whatever the advice.

    Args:
        decision_set: where to play.
        advisers: their names; left out, one adviser without a name.
        atoms: as `TrackingOCG` has it.
        start: x_1; the set's own start if left out.

    Reference: de Rooij, van Erven, Grunwald and Koolen, Follow the leader if you can, hedge if you
    must (JMLR 2014); silent advisers are the specialists of Freund, Schapire, Singer and Warmuth,
    Using and combining predictors that specialize (STOC 1997).

    >>> from hedgerow.feedback import EvalGrad
    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> learner = AdvisedOCG(Simplex(2))
    >>> learner.advise([0.0, 1.0])
    >>> learner.ask()
    array([0.25, 0.75])
    >>> learner.tell(EvalGrad(1.0, np.array([1.0, 0.0])))
    >>> round(learner.voices["advice"], 2)
    0.67

    """

    before_oracle, after_oracle, takes_ones = before_oracle, after_oracle, True
    longest_rest = TrackingOCG.longest_rest

    def __init__(
        self,
        decision_set: DecisionSet,
        advisers: Sequence[str] = (ONE_ADVISER,),
        atoms: int = 24,
        start: ArrayLike | None = None,
    ):
        self.advisers = as_names(advisers)
        self.learner = learner = TrackingOCG(decision_set, atoms=atoms, start=start)
        n, V = decision_set.dim, len(self.advisers) + 1
        voices = {"q": V, "losses": V, "handicaps": V, "awake": V, "advice": (V - 1) * n}
        scratch = learner._work.size - 3 * n - NUMBERS
        super().__init__(
            decision_set,
            {"numbers": HEADER, **voices, "learner": learner._state.array.size},
            learner.rule,
            learner.ask(),
            learner.horizon,
            scratch + V + (V - 1) * n,
        )
        self._noise_at = learner._work.size + V
        state = self._state
        state["numbers"][[VOICES, MEMORY]] = V, learner._work.size
        state["q"][:], state["awake"][-1] = 1.0 / V, 1.0
        state["learner"][:] = learner._state.array
        learner._state = State(state["learner"], **learner._state.layout)  # it lives in this one
        self._recorded: Vector | None = None
        self._next = 0

    @property
    def rounds(self) -> int:
        """The number of losses that it has learnt from."""
        return self.learner.rounds

    @property
    def oracle_calls(self) -> int:
        """One per round; advisers have their own."""
        return self.learner.rounds

    @property
    def voices(self) -> dict[str, float]:
        """The weight of each adviser, and of the policy without advice."""
        return dict(zip((*self.advisers, POLICY), self._state["q"].tolist(), strict=True))

    @property
    def advice(self) -> Vector:
        """The advice for this round: which voices speak, then the points; a view of the state."""
        state = self._state.array
        begin = self.decision_set.dim + HEADER + 3 * len(self.voices)
        return state[begin : begin + len(self.voices) + self._state["advice"].size]

    @property
    def lost_to_voices(self) -> float:
        """What is proved of this run: no voice lost less by more than this, while it spoke.

        (2 + log(1 + T)/log(K + 1)) Delta_T + A_T, with the Delta_T that was seen.
        """
        T, Delta, aside = map(float, self._state["numbers"][[ADVISED, DELTA, ASIDE]])
        return (2.0 + math.log1p(T) / math.log(len(self.voices))) * Delta + aside

    @property
    def steps(self) -> CertificateSteps:
        """The leader's step rule."""
        return self.learner.steps

    @property
    def growths(self) -> tuple[Growth, ...]:
        """What is proved of a step of the leader."""
        return self.learner.growths

    @property
    def rule_numbers(self) -> Vector:
        """The numbers of the leader's step rule, a live view of the state."""
        return self.learner.rule_numbers

    @property
    def first_play(self) -> Vector:
        """x_1, the centre of the leader's regulariser."""
        return self.learner.first_play

    @property
    def ahead(self) -> float:
        """The sum of <s_t, x_t - x_A>: what the mixture has lost to its leader so far."""
        return self.learner.ahead + float(self._state["numbers"][OUTSIDE])

    def advise(self, advice: Advice) -> None:
        """Take the advice for this round, in place of any before; {} for none."""
        row = as_advice(advice, self.advisers, self.decision_set)
        take_advice(self._state.array, row, self.decision_set.dim)

    @property
    def draws(self) -> bool:  # type: ignore[override]
        """Whether recorded advice is at hand, which comes to the kernels as noise does."""
        return self._recorded is not None

    def follow(self, recorded: Vector | None) -> None:
        """Take advice from a record from now on, or no longer.

        Args:
            recorded: one row for each round, the points of all advisers one after the other, NaN
                where one is silent. The first row is the advice for the present round.

        """
        self._recorded, self._next = recorded, 1
        self._state["numbers"][RECORDED] = float(recorded is not None)
        silent = np.full(self._state["advice"].size, np.nan)
        row = recorded[0] if recorded is not None and len(recorded) else silent
        take_advice(self._state.array, row, self.decision_set.dim)

    def draw(self, rounds: int) -> Vector:
        """Return the recorded advice for the rounds after each of the next ones."""
        assert self._recorded is not None
        rows = self._recorded[self._next : self._next + rounds]
        if len(rows) == rounds:
            return rows
        missing = np.full((rounds - len(rows), self._recorded.shape[1]), np.nan)
        return np.vstack([rows, missing])

    def give_back(self, rounds: int) -> None:
        """Note how many rounds were played of those that were drawn."""
        self._next += rounds

    def _restored(self) -> None:
        # A record is no part of a snapshot: until `follow`, the next rounds have no advice.
        self._state["numbers"][RECORDED] = float(self._recorded is not None)

    def _noise(self) -> Vector:
        if self._recorded is None:
            return super()._noise()
        row: Vector = self.draw(1)[0]
        self._next += 1
        return row


POLICY = "policy"
"""The name of the policy's own voice."""


def as_names(advisers: Sequence[str]) -> tuple[str, ...]:
    """Check the advisers' names."""
    names = (advisers,) if isinstance(advisers, str) else tuple(advisers)
    if not names or len(set(names)) < len(names) or not all(isinstance(n, str) for n in names):
        raise ValueError(
            f"advisers must be different names, at least one, got {advisers!r:.60}; for example "
            "advisers=['programme', 'plan']"
        )
    if POLICY in names:
        raise ValueError(f"{POLICY!r} is the name of the policy itself; call the adviser otherwise")
    return names


def as_advice(advice: Advice, names: tuple[str, ...], X: DecisionSet) -> Vector:
    """Return the points of all advisers one after the other, NaN for one that is silent."""
    if not isinstance(advice, Mapping):
        if len(names) > 1:
            raise ValueError(
                f"there are {len(names)} advisers; give their advice by name, "
                f"advice={{{names[0]!r}: x}}"
            )
        advice = {names[0]: advice}
    unknown = [name for name in advice if name not in names]
    if unknown:
        raise ValueError(
            f"there is no adviser {unknown[0]!r:.60}, there are {', '.join(map(repr, names))}; "
            "name all advisers when the policy is built"
        )
    rows = np.full((len(names), X.dim), np.nan)
    for k, name in enumerate(names):
        if advice.get(name) is not None:
            rows[k] = _as_point(advice[name], name, X)
    return rows.ravel()


def _as_point(given: Any, name: str, X: DecisionSet) -> Vector:
    """Return a point of the set, or refuse it; one that is outside by rounding is projected."""
    point = as_vector(given, f"the advice of {name!r}", X)
    if X.contains(point):
        return point
    if X.supports(Projectable):
        inside = X.project(point)
        if float(np.linalg.norm(inside - point)) <= ROUNDING * X.diameter:
            return inside
    raise ValueError(
        f"the advice of {name!r} is outside of the decision set, {X!r:.60}; give a point of the "
        "set, or leave the adviser out of this round"
    )
