"""A leader and a follower, mixed: for worlds that may drift, at one oracle call per round."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import ArrayLike

from hedgerow._engine.kernel import kernel, nothing, number, read, write
from hedgerow._engine.signatures import AFTER_ORACLE, BEFORE_ORACLE
from hedgerow.inputs import Vector, as_count
from hedgerow.kernels.hedge import combine, compare, lose, weigh
from hedgerow.kernels.ocg import write_vertex
from hedgerow.kernels.vectors import copy, descent
from hedgerow.learners import adaptive_ocg, corrective_omd
from hedgerow.learners.adaptive_ocg import ROUND, RULE
from hedgerow.learners.approach import approach
from hedgerow.learners.arguments import first_play
from hedgerow.learners.growth import Growth, growths_of_one_step
from hedgerow.learners.kernel_learner import KernelLearner
from hedgerow.learners.steps import ALONE, APART, LOST, WORTH, CertificateSteps
from hedgerow.sets.compiled import NO_INDEX
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import LINE_NUMBERS

Array = Vector
Loss = tuple[float, float, float]
INNER, AHEAD, LEADS, DELTA, LEADER = range(5)
SHARES, P, L, CREDIT, HANDICAP, CUT, CALM = *range(5, 16, 2), 16
"""The numbers of the state [x | sum of <s, x>, sum of <s, x - x_A>, whether the leader has the
turn, AdaHedge's Delta, length of the leader's part, shares in the mixture, AdaHedge's p and L,
credit, handicap, length of the last step if it was cut, rounds since the last violation | leader |
follower], after x. Those from the shares to the handicap are pairs: leader, follower."""
OWN = 24
"""The size of these numbers: three cache lines, so that the leader's part begins with a line."""
EQUAL = 0.2
"""The share of the oracle calls that is divided equally; the rest goes by weight."""
FADE = 0.2
"""After n rounds without a violation the follower's weight has the factor (1 + n)^{-1/5}: where it
is only noise, so that its losses tell it from the leader no better than chance, its share goes to
0, and with it what it costs. A violation ends this, because the follower reacts sooner. Of 1/5, 1/3
and 1/2 the largest one that made no development game dearer and more violated at once. With all
rounds for n, outages of a few rounds were ignored."""
PAID = 7
"""The number that the first kernel passes to the second, behind those of A and B: w_t v_t."""
TIE = 1e-9
"""Credits that differ by less are equal. Then the leader has the call, within ten rounds."""


@kernel(nothing, write, write, read, number, number)
def hedge(own: Array, handicap: Array, losses: Array, t: float, calm: float) -> None:
    """AdaHedge: update both weights with their losses, after calm rounds without a violation.

    A's share is at least 1/(2 + t), B's at least 1/(1 + (1 + t)^{6/5}), and 1/(2 + t) if calm = 0.
    """
    p, lost = own[P : P + 2], own[L : L + 2]
    eta = math.log(2.0) / own[DELTA] if own[DELTA] > 0.0 else math.inf
    own[DELTA] += lose(lost, handicap, p, losses, eta)
    log, eta = math.log(1.0 + t), math.inf
    handicap[1] = FADE * math.log(1.0 + calm)
    if own[DELTA] > 0.0:
        eta = math.log(2.0) / own[DELTA]
        lost[0] = min(lost[0], (log + handicap[1]) / eta)
        lost[1] = min(lost[1], log / eta)
    weigh(p, lost, handicap, eta)


@kernel(nothing, write)
def assign_turn(own: Array) -> None:
    """Add this round's credit; the learner with the most credit gets the oracle call."""
    p, credit = own[P : P + 2], own[CREDIT : CREDIT + 2]
    dealt = 0.0
    for k in range(2):
        share = (1.0 - EQUAL) * p[k] + EQUAL / 2.0
        credit[k] += share
        dealt += share
    own[LEADS] = credit[0] >= credit[1] - TIE
    credit[0 if own[LEADS] > 0.0 else 1] -= dealt


@kernel(*BEFORE_ORACLE)
def before_oracle(
    state: Array, work: Array, s: Array, inner: float, loss: Loss, steps: Any
) -> bool:
    """Update weights and learners with s_t; write the direction of the one that has the turn."""
    n = len(s)
    own, parts = state[n : n + OWN], state[n + OWN :]
    leader, follower = parts[: int(own[LEADER])], parts[int(own[LEADER]) :]
    lead, apart = compare(s, leader[:n], follower[:n])
    own[INNER] += inner
    if own[CUT] > 0.0:  # x is on its way to the mixture
        own[AHEAD] += compare(s, state[:n], leader[:n])[1]
    else:
        own[AHEAD] -= own[SHARES + 1] * apart
    losses, worth = work[3 * n : 3 * n + 2], leader[3 * n + RULE + WORTH]
    losses[0], losses[1] = apart, 0.0  # less <s, x_B>, which changes no weight
    own[CALM] = 0.0 if worth > 0.0 else own[CALM] + 1.0
    handicap = own[HANDICAP : HANDICAP + 2]
    hedge(own, handicap, losses, leader[3 * n + ROUND] + 1.0, own[CALM])
    assign_turn(own)
    work[3 * n + PAID] = worth
    if worth > 0.0:
        copy(work[2 * n : 3 * n], s)
    if own[LEADS] > 0.0:
        corrective_omd.correct_alone(follower, work, s, loss[0])
        return adaptive_ocg.before_oracle(leader, work, s, lead, loss, steps)
    adaptive_ocg.before_oracle(leader, work, s, lead, loss, steps)
    adaptive_ocg.without_oracle(leader, work, n, NO_INDEX, steps)
    return corrective_omd.before_oracle(follower, work, s, lead - apart, loss, steps)


@kernel(*AFTER_ORACLE)
def after_oracle(state: Array, work: Array, n: int, ones: Any, steps: Any) -> None:
    """Move the learner that had the turn, and mix, or play the leader alone if a guard asks."""
    own, parts = state[n : n + OWN], state[n + OWN :]
    leader, follower = parts[: int(own[LEADER])], parts[int(own[LEADER]) :]
    if own[LEADS] > 0.0:
        adaptive_ocg.after_oracle(leader, work, n, ones, steps)
    else:
        if len(ones) > 0:
            write_vertex(ones, work[n : 2 * n])
        corrective_omd.after_oracle(follower, work, n, ones[:0], steps)
    rule = leader[3 * n + RULE :]
    if rule[ALONE] > 0.0:
        own[SHARES], own[SHARES + 1] = 1.0, 0.0
    else:
        own[SHARES], own[SHARES + 1] = own[P], own[P + 1]
    worth = work[3 * n + PAID]
    free = rule[ALONE] > 0.0 or (worth == 0.0 and own[CUT] == 0.0)
    target = state[:n] if free else work[:n]
    far2 = combine(target, own[SHARES], leader[:n], own[SHARES + 1], follower[:n])
    rule[LOST], rule[APART] = own[AHEAD], own[SHARES + 1] * math.sqrt(far2)
    own[CUT] = 0.0 if free else approach(state[:n], target, work[2 * n : 3 * n], worth, own[CUT])
    if own[CUT] > 0.0:
        rule[APART] = math.sqrt(descent(target, state[:n], leader[:n])[2])


class TrackingOCG(KernelLearner):
    """Plays x_t = p_t x_A + (1 - p_t) x_B: A leads, B follows, both learn from the same s_t.

    A is `AdaptiveOCG`, which sums all gradients and is the better one where rounds are alike. B is
    `CorrectiveOMD`, which forgets and is the better one where they drift; it forgets step sizes,
    too, so that an outage does not slow it down for long. p_t is `AdaHedge` on the losses
    <s_t, x_A> and <s_t, x_B>, with the factor (1 + n)^{-1/5} on B's weight after n rounds
    without a violation: where B is only noise, its share goes to 0. Shares do not sink below about
    1/t and t^{-6/5}, so that the worse one of many rounds is back within a few. As long as no guard
    limits the loss to A, and no step is cut, sum <s_t, x_t - x_k> <=
    (2 + log2(1 + T) + sum of log2(1 + n_i)/5) (sqrt(sum v_t ln 2) + S (2/3 ln 2 + 1)), where n_i
    are the lengths of the runs without violation, and v_t and S variances and the largest range
    of these losses (Theorem C of beyond.md).

    After a violation that a guard's surrogate reports, x approaches the mixture in steps instead
    (`learners/approach.py`): the first gains at most four times what the violation cost.

    They share one oracle call per round: each round adds 0.8 p_k + 0.1 to the credit of learner k,
    and the one with the most credit has the call and pays for it. So a learner that is hardly
    played still learns, at little cost to the other.

    The state has A's part as `AdaptiveOCG` lays it out, [x | x_1 | S | t, inner, skipped | rule].

    Args:
        decision_set: where to play.
        steps: the step rule of A; `CertificateSteps()` if left out.
        atoms: how many points B remembers, at least 2; more than 24 hardly helps.
        start: x_1 of both; the set's own start if left out.

    Reference: de Rooij, van Erven, Grunwald and Koolen, Follow the leader if you can, hedge if you
    must (JMLR 2014).

    >>> import numpy as np
    >>> from hedgerow.feedback import EvalGrad
    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> learner = TrackingOCG(Simplex(2))
    >>> for _ in range(3):
    ...     learner.tell(EvalGrad(0.0, np.array([2.0, 0.0])))
    >>> learner.oracle_calls
    3

    """

    before_oracle, after_oracle, takes_ones = before_oracle, after_oracle, True
    longest_rest = 10.0
    """Credits stay above -1/2 and grow by at least 0.1 per round, so A steps once in 10 rounds."""

    def __init__(
        self,
        decision_set: DecisionSet,
        steps: CertificateSteps | None = None,
        atoms: int = 24,
        start: ArrayLike | None = None,
    ):
        self.steps = CertificateSteps() if steps is None else steps
        if not isinstance(self.steps, CertificateSteps):  # a guard writes to its numbers
            raise TypeError(f"steps must be a CertificateSteps, got {self.steps!r}")
        n, x1, K = decision_set.dim, first_play(decision_set, start), as_count(atoms, "atoms", 2)
        diameter = decision_set.diameter or 1.0  # a single point: any length will do
        rule = self.steps.begin(diameter)
        own = {"inner": 1, "ahead": 1, "leads": 1, "Delta": 1, "leader": 1}
        pairs = {"shares": 2, "p": 2, "L": 2, "credit": 2, "handicap": 2, "cut": 1, "calm": 1}
        pairs |= {"room": OWN - CALM - 1}
        leader = {"x_A": n, "x1": n, "S": n, "t": 1, "inner_A": 1, "skipped": 1, "rule": rule.size}
        leader |= {"room_A": -(RULE + rule.size) % LINE_NUMBERS}
        follower = {"x_B": n} | {f"{k}_B": v for k, v in corrective_omd.state_sizes(n, K).items()}
        numbers = own | pairs | leader | follower
        scratch = corrective_omd.scratch_size(n, K)
        super().__init__(
            decision_set, numbers, self.steps.kernels(), x1, self.steps.horizon, scratch
        )
        state = self._state
        state["leader"][0] = sum(leader.values())
        state["shares"][:] = state["p"][:] = 0.5
        state["x_A"][:] = state["x1"][:] = x1
        state["rule"][:] = rule
        corrective_omd.begin(state.array[-sum(follower.values()) :], x1, K, 1.0, diameter)

    @property
    def oracle_calls(self) -> int:
        """One per round, for both together."""
        return self.rounds

    @property
    def weights(self) -> Vector:
        """The shares of A and B in the mixture that is played, or approached after a violation."""
        return self._state["shares"].copy()

    @property
    def leader_play(self) -> Vector:
        """x_A, a live view of the state."""
        return self._state["x_A"]

    @property
    def follower_play(self) -> Vector:
        """x_B, a live view of the state."""
        return self._state["x_B"]

    @property
    def growths(self) -> tuple[Growth, ...]:
        """What is proved of a step of A."""
        return growths_of_one_step(self.decision_set)

    @property
    def rule_numbers(self) -> Vector:
        """The numbers of A's step rule, a live view of the state."""
        return self._state["rule"]

    @property
    def first_play(self) -> Vector:
        """x_1, the centre of A's regulariser."""
        return self._state["x1"].copy()

    @property
    def inner(self) -> float:
        """The sum of <s_t, x_t>."""
        return float(self._state["inner"][0])

    @property
    def ahead(self) -> float:
        """The sum of <s_t, x_t - x_A>: what the mixture has lost to its leader so far."""
        return float(self._state["ahead"][0])

    @property
    def leader_alone(self) -> bool:
        """Whether a guard asked for the leader alone in the next round.

        Then `ahead` stays as it is, and AdaHedge learns on as before.
        """
        return bool(self._state["rule"][ALONE])
