"""At most a share of violated rounds: a margin that any policy keeps from its limit."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from hedgerow.feedback import (
    Constraints,
    EvalGrad,
    Parts,
    first_order,
    full_information,
    largest_seen,
    linear,
    semi_bandit,
)
from hedgerow.inputs import Vector, as_number
from hedgerow.policies.advised import Advice
from hedgerow.policies.certificate import Certificate
from hedgerow.policies.presets import as_budget
from hedgerow.policies.summary import Binding, Summary, add_round
from hedgerow.protocols.late_feedback import as_play, refuse_late, takes_late
from hedgerow.protocols.parts import Feedback, ResumablePolicy
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Restorable, State, Stateful
from hedgerow.surrogates.queued import checked, checked_each

STEP = 0.5
"""The margin for a debt of one violated round, in units of the mean violation.

Steps of 1 and 4 did no better in the first rounds of `ad_slots` (seeds 400 to 405): margins are at
the slack after two or three violated rounds anyway.
"""
ROOM = 0.5
"""In a violated round the margin is at most this share of what the safest action has to spare.

Shares of 0.9 and 1 had fewer violated first rounds on `ad_slots` (seeds 400 to 405) with one policy
inside and no fewer with another, so it stayed at a half.
"""
REPAY = 0.5
"""The share of p that a round pays back while rounds violated at the slack are to be made up for.

Chosen among 1, 1/2 and 1/4 on `optimal_transport`, `sensor_coverage` and `ad_slots` (seeds 400 to
403). At 1 nothing is made up for, and PI control with a target of 1 % reached 1.7 to 1.9 %; 1/2
reached 1.2 to 1.6 %; 1/4 reached a little less at a higher cost, tried with 0.9 as `ROOM`.
"""


class ViolatedShare(Stateful):
    """Keeps the share of violated rounds at most p, by a margin that it adds to the constraint.

    The policy inside plays as if the constraint were g_t + m_t. With a_t = 1 if the round is
    violated and its margin below the slack, else 0,

        d_{t+1} = max(0, d_t + a_t - p),    m_t = min(s_t d_t, slack_t).

    A violated round adds 1 to the debt d_t, and every round pays back p. The scale s_t is half the
    mean violation so far, so there is no constant to tune. The slack is what a fixed action could
    give: the largest margin at which the mean of the constraints, over all rounds with
    g_t + m_t > 0, is still satisfied; a violation above it counts as the slack in the mean. A round
    that is violated at the slack adds nothing, because no larger margin would be given for it:
    otherwise an outage would hold the margin up for long after it. It is made up for slowly: while
    `excess` is above the debt by more than half a round, a round below the slack pays back p/2.

    m_t is what the margin aims at, `margin`. `projection_free_coco` keeps it from all rounds that
    it remembers, and is told the constraint as it is. Another policy is told g_t + m_t, but in a
    violated round no more than half of what the safest action has to spare, and nothing in a round
    that no action satisfies, which is left out. A violated round takes two oracle calls.

    For every sequence of rounds, every interval of it with n counted rounds, and every M: at most
    p n + 1 + M/s rounds are violated while the aim is below M and below the slack, with the scale s
    in the last of them. Nothing is said of the margin that was given: where the safest action has
    little to spare, that is small, whatever the aim. Nor of rounds that are violated at the slack;
    `excess` says how many violated rounds are too many. The page "At most a share of violated
    rounds" has the proof.

    Several constraints have a share and a margin each if `share` has as many entries, or if the
    policy has a queue for each. Otherwise their largest value counts, and all get one margin. A
    game is played round by round in Python.

    Args:
        policy: any policy that sees values and gradients; it belongs to this one from now on.
        share: p, the allowed share of violated rounds, such as 0.01; or one for each constraint.

    >>> from hedgerow.policies.paper import projection_free_coco
    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> policy = ViolatedShare(projection_free_coco(Simplex(2)), 0.01)
    >>> for t in range(200):
    ...     x, noise = policy.ask(), 0.1 if t % 2 else -0.1
    ...     cost = EvalGrad(x[1], np.array([0.0, 1.0]))
    ...     policy.tell(cost, EvalGrad(x[0] - 0.5 + noise, np.array([1.0, 0.0])))
    >>> policy.summary().violated, bool(policy.ask()[0] < 0.45)
    (1, True)

    """

    def __init__(
        self, policy: ResumablePolicy[EvalGrad, Any], share: float | Sequence[float] = 0.01
    ):
        _check_policy(policy)
        self.policy = policy
        queues = getattr(policy, "constraints", None) or 0
        shares = (share,) * max(1, queues) if isinstance(share, int | float) else tuple(share)
        self._queues = max(1, queues)
        if not shares or (queues > 1 and len(shares) != queues):
            raise ValueError(
                f"share must have one number for each of the policy's {self._queues} constraints, "
                f"got {len(shares)}"
            )
        self.shares = tuple(map(_as_share, shares))
        k, n = len(shares), policy.decision_set.dim
        each = dict.fromkeys(("debt", "sizes", "counted", "left_out"), k)
        bound = {"slopes": k * n, "offsets": k, "binding": k, "slack": k}
        totals = dict.fromkeys(("rounds", "cost", "ccv", "violated", "calls", "mixed_units"), 1)
        self._state = State(margin=k, margins=k, ccv_each=k, **each, **bound, **totals)
        self._slopes = self._state["slopes"].reshape(k, n)

    @property
    def decision_set(self) -> DecisionSet:
        """The inner policy's."""
        return self.policy.decision_set

    @property
    def feedback(self) -> Feedback:
        """The inner policy's."""
        feedback: Feedback = getattr(self.policy, "feedback", first_order)
        return feedback

    @property
    def oblivious_only(self) -> bool:
        """As the inner policy."""
        return self.policy.oblivious_only

    @property
    def oracle_calls(self) -> int:
        """The inner policy's, and two in each violated round."""
        return self.policy.oracle_calls + int(self._state["calls"][0])

    @property
    def projections(self) -> int:
        """The inner policy's."""
        return int(getattr(self.policy, "projections", 0))

    @property
    def weight(self) -> float | None:
        """The inner policy's weight on the constraint, where it has one."""
        return getattr(self.policy, "weight", None)

    def binding(self) -> tuple[Binding, ...]:
        """Return the past rounds that hold the inner policy's decision now, the dearest first."""
        return getattr(self.policy, "binding", tuple)()

    @property
    def margin(self) -> tuple[float, ...]:
        """The margin of each constraint, in its unit."""
        return tuple(self._state["margin"].tolist())

    @property
    def excess(self) -> tuple[float, ...]:
        """By how many violated rounds each constraint misses its target so far, at least 0.

        Rounds that were left out do not count.
        """
        return tuple(map(self._excess, range(len(self.shares))))

    @property
    def reached(self) -> tuple[float, ...]:
        """The share of violated rounds of each constraint; rounds that were left out do not count.

        They are counted as violated rounds in `summary().violated`.
        """
        state = self._state
        rounds = np.maximum(1.0, state["rounds"][0] - state["left_out"])
        return tuple((state["counted"] / rounds).tolist())

    def take_units(self, one_unit: bool) -> None:
        """Remember whether all constraints of a round have one unit, for `summary`."""
        if not one_unit and len(self.shares) == 1:
            self._state["mixed_units"][0] = 1.0

    def ask(self, advice: Advice | None = None) -> Vector:
        """Return the inner policy's decision.

        Args:
            advice: for an inner policy with advisers, as it takes it.

        """
        policy: Any = self.policy
        decision: Vector = policy.ask() if advice is None else policy.ask(advice)
        return decision

    @property
    def advisers(self) -> tuple[str, ...]:
        """The inner policy's."""
        return tuple(getattr(self.policy, "advisers", ()))

    @property
    def voices(self) -> dict[str, float]:
        """The inner policy's."""
        return dict(getattr(self.policy, "voices", {}))

    def follow(self, recorded: Vector | None) -> None:
        """Let the inner policy take recorded advice from now on, or no longer."""
        policy: Any = self.policy
        policy.follow(recorded)

    def tell(
        self, cost: EvalGrad | Parts, constraint: Constraints, *, at: Vector | None = None
    ) -> None:
        """Add the margin to the constraint, report it to the inner policy, and adjust the margin.

        Args:
            cost: what was seen of the cost.
            constraint: what was seen of the constraint.
            at: the earlier play that late feedback is about, if the inner policy takes late
                feedback. The round then gets the present margin.

        """
        x = self.policy.ask()
        if at is not None and not takes_late(self.policy):
            refuse_late(self, at)
        point = x if at is None else as_play(at, self.decision_set, x)
        value = checked(largest_seen(cost), "cost", self.decision_set).value
        parts = checked_each(constraint, self.decision_set)
        before = self._state.array.copy()
        try:
            margins = [self._take(i, g, point) for i, g in enumerate(self._limits(parts))]
            if self._keeps(self.margin):
                margins = [0.0] * len(margins)
            self._state["margins"][:] += margins
            if len(margins) == 1:
                margins *= len(parts)
            reported = [
                EvalGrad(g.value + margin, g.grad, g.lipschitz)
                for g, margin in zip(parts, margins, strict=True)
            ]
            policy: Any = self.policy
            late = {} if at is None or not takes_late(policy) else {"at": at}
            several = Parts(reported) if isinstance(constraint, Parts) else reported
            policy.tell(cost, reported[0] if isinstance(constraint, EvalGrad) else several, **late)
        except Exception:
            self._state.array[:] = before  # a refused round changes nothing
            self._keeps(self.margin)
            raise
        self.take_units(isinstance(constraint, Parts) or len(parts) == 1)
        add_round(self._state, value, max(g.value for g in parts))

    def _keeps(self, margins: Sequence[float]) -> bool:
        """Whether the policy inside keeps these margins itself, so that none are reported."""
        keep = getattr(self.policy, "keep_margins", None)
        each = margins if len(margins) > 1 else tuple(margins) * self._queues
        return keep is not None and bool(keep(each))

    def _limits(self, parts: list[EvalGrad]) -> list[EvalGrad]:
        """Return the constraints that have a margin each: all, or the most violated one."""
        if len(self.shares) == 1:
            return [max(parts, key=lambda g: g.value)]
        if len(parts) != len(self.shares):
            raise ValueError(
                f"this round has {len(parts)} constraints, and there are {len(self.shares)} shares "
                "of violated rounds; report as many, or give one share for their largest value"
            )
        return parts

    def _take(self, i: int, g: EvalGrad, x: Vector) -> float:
        """Take in a round of one constraint; return the margin that is reported."""
        state, p = self._state, self.shares[i]
        margin, violated = float(state["margin"][i]), g.value > 0.0
        debt = float(state["debt"][i])
        # no margin above the slack is given, so that debt beyond it would only hold the margin up
        below = debt == 0.0 or margin < state["slack"][i]
        # half a round, so that rounding does not decide where excess and debt are one number
        pays = REPAY * p if below and self._excess(i) > debt + 0.5 else p
        here = float(g.grad @ x)
        left = self._least(g, here) if violated else 0.0
        state["ccv_each"][i] += max(0.0, g.value)
        if left > 0.0:  # no action satisfies this round
            state["left_out"][i] += 1.0
            return 0.0
        if g.value + margin > 0.0:
            self._slopes[i] += g.grad
            state["offsets"][i] += g.value - here
            state["binding"][i] += 1.0
        if violated:
            state["slack"][i] = self._slack(i)
            state["sizes"][i] += min(g.value, state["slack"][i])
            state["counted"][i] += 1.0
        state["debt"][i] = max(0.0, debt + (violated and below) - pays)
        scale = STEP * state["sizes"][i] / max(1.0, state["counted"][i])
        state["margin"][i] = min(scale * state["debt"][i], state["slack"][i])
        # with a margin above -left, no action would satisfy what is reported
        return min(margin, -ROOM * left) if violated else margin

    def _excess(self, i: int) -> float:
        state = self._state
        allowed = self.shares[i] * (state["rounds"][0] - state["left_out"][i])
        return max(0.0, float(state["counted"][i] - allowed))

    def _least(self, g: EvalGrad, here: float) -> float:
        """Return the least value of the constraint's tangent; 0 if it is within rounding of 0."""
        self._state["calls"][0] += 1.0
        least = g.value - here + self.decision_set.minimum(g.grad)
        rounding = sys.float_info.epsilon * g.grad.size * (abs(g.value) + 2.0 * abs(here))
        return least if abs(least) > rounding else 0.0

    def _slack(self, i: int) -> float:
        """Return the largest margin that a fixed action satisfies in the mean of binding rounds."""
        state = self._state
        self._state["calls"][0] += 1.0
        lowest = self.decision_set.minimum(self._slopes[i]) + float(state["offsets"][i])
        return max(0.0, -lowest / float(state["binding"][i]))

    @property
    def certificate(self) -> Callable[..., Certificate]:
        """Bound the regret so far by the inner policy's certificate; see `regret_bound`.

        There is none where the inner policy has none.
        """
        if not hasattr(self.policy, "certificate"):
            raise AttributeError(
                f"{type(self.policy).__name__} has no certificate; wrap a policy of a learner and "
                "a surrogate, such as projection_free_coco(X)"
            )
        return self.regret_bound

    def regret_bound(
        self, budget: float | Sequence[float] = 0.0, *, with_margin: bool = False
    ) -> Certificate:
        """Bound the regret so far by the inner policy's certificate, for one oracle call.

        The inner policy got g_t + m_t, and its certificate is about that. It holds for every fixed
        action that satisfies the constraint of each round by the margin of that round:
        `with_margin=True`. An action that satisfies the constraint alone exceeds what was reported
        by at most the sum of the margins. This is added to the budget, so the bound is larger by
        that sum times the largest weight.

        Args:
            budget: how much the benchmark may violate in total, of several constraints each.
            with_margin: whether the benchmark satisfies the margins, too.

        """
        inner: Any = self.policy
        if with_margin:
            return _OfMargins(*_numbers(inner.certificate(budget)))
        total = self._state["margins"]
        more = float(total.sum())  # one queue has the largest of several, at most their sum
        if self._queues > 1:
            given = np.broadcast_to(np.asarray(budget, dtype=np.float64), total.shape)
            found = inner.certificate((given + total).tolist())
            allowed: Any = tuple(given.tolist())
        else:
            allowed = as_budget(cast(float, budget), "budget")
            found = inner.certificate(allowed + more)
        value, _, least, most, _ = _numbers(found)
        return Certificate(value, allowed, max(0.0, least - more), most)

    def summary(self) -> ShareSummary:
        """Return the totals of the rounds so far, with the share of violated rounds and the margin.

        Cost and violation are those of the constraint itself, without margins.
        """
        state = self._state
        inner: Any = getattr(self.policy, "summary", None)
        weights = inner() if inner is not None else None
        several = len(self.shares) > 1
        summary = ShareSummary(
            rounds=int(state["rounds"][0]),
            cost=float(state["cost"][0]),
            ccv=None if several else float(state["ccv"][0]),
            violated=int(state["violated"][0]),
            weight=getattr(weights, "weight", None),
            largest_weight=getattr(weights, "largest_weight", None),
            oracle_calls=self.oracle_calls,
            projections=self.projections,
            ccv_each=tuple(state["ccv_each"].tolist()) if several else (),
            allowed=self.shares,
            reached=self.reached,
            margin=self.margin,
            left_out=tuple(map(int, state["left_out"])),
        )
        return summary.of_several() if state["mixed_units"][0] else summary

    @property
    def _parts(self) -> Mapping[str, Restorable]:
        return {"policy": self.policy}


@dataclass(frozen=True)
class ShareSummary(Summary):
    """The totals of a policy's rounds, with shares of violated rounds.

    Attributes:
        allowed: the share of violated rounds that each constraint allows.
        reached: its share so far, of the rounds that some action satisfies.
        margin: the present margin, in its unit.
        left_out: violated rounds that no action satisfies.

    >>> shares = {"allowed": (0.01,), "reached": (2 / 199,), "margin": (0.25,), "left_out": (1,)}
    >>> print(ShareSummary(200, 12.5, 0.75, 3, 0.5, 2.0, 201, 0, **shares))
    rounds             200
    total cost         12.5, 0.0625 per round
    CCV                0.75, in the constraint's unit
    violated           3 rounds, 1.5 %
    constraint weight  0.5 now, 2 at most
    oracle calls       201, 1 per round
    projections        0
    share              1.01 % of rounds violated, at most 1 % allowed; 1 infeasible round left out
    margin now         0.25, in the constraint's unit

    """

    allowed: tuple[float, ...] = ()
    reached: tuple[float, ...] = ()
    margin: tuple[float, ...] = ()
    left_out: tuple[int, ...] = ()

    def _lines(self) -> dict[str, str]:
        lines = super()._lines()
        several = len(self.allowed) > 1
        for k, (allowed, reached, margin, left) in enumerate(
            zip(self.allowed, self.reached, self.margin, self.left_out, strict=True), start=1
        ):
            name = f"share of {k}" if several else "share"
            rounds = f"; {left} infeasible round{'' if left == 1 else 's'} left out" if left else ""
            lines[name] = (
                f"{100.0 * reached:.3g} % of rounds violated, at most "
                f"{100.0 * allowed:.3g} % allowed{rounds}"
            )
            name, unit = "margin now", "the constraint's unit"
            if several:
                name, unit = f"margin of {k}", f"the unit of constraint {k}"
            lines[name] = f"{margin:.4g}, in {unit}"
        return lines


class _OfMargins(Certificate):
    """A certificate about the constraint with its margins."""

    @property
    def _within(self) -> str:
        text = super()._within
        return text.replace("constraint", "constraint with its margin", 1)


def _numbers(found: Certificate) -> tuple[float, Any, float, float, float]:
    return float(found), found.budget, found.least_violation, found.most, found.least


def _check_policy(policy: Any) -> None:
    """Check that this is a policy that learns from first-order feedback."""
    if not (hasattr(policy, "ask") and hasattr(policy, "tell") and hasattr(policy, "state")):
        raise TypeError(
            "a share of violated rounds is kept around a policy with ask, tell and state, such as "
            f"projection_free_coco(X), got a {type(policy).__name__}"
        )
    if getattr(policy, "feedback", first_order) in (full_information, linear, semi_bandit):
        raise TypeError(
            f"{type(policy).__name__} sees more or less than the value and gradient of a "
            "constraint, so that no margin can be added; choose a policy that learns from "
            "first_order feedback"
        )


def _as_share(share: float) -> float:
    if not 0.0 <= as_number(share, "share") < 1.0:
        raise ValueError(
            f"share must be at least 0 and below 1, got {share:g}; 0.01 means 1 % of rounds"
        )
    return float(share)
