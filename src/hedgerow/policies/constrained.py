"""Algorithm 2's shape: a learner that plays the losses of a surrogate."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.feedback import (
    Constraints,
    EvalGrad,
    Parts,
    each_seen,
    first_order,
    first_order_each,
    in_order,
    largest_seen,
    needs,
)
from hedgerow.inputs import Vector, level_outside
from hedgerow.kernels.certificate import ADVISER_TOTALS, store_play
from hedgerow.kernels.parts import NO_PARTS, parts_of_memory
from hedgerow.kernels.policy_tables import UNDECLARED, UNMEASURED
from hedgerow.kernels.retreat import largest_part
from hedgerow.kernels.vectors import dot
from hedgerow.learners.advised_ocg import Advice, AdvisedOCG
from hedgerow.learners.arguments import warn_beyond
from hedgerow.learners.kernel_learner import KernelLearner
from hedgerow.policies.certificate import Certificate
from hedgerow.policies.composition import Composition, check_parts
from hedgerow.policies.presets import IgnoredConstraintWarning, as_budget
from hedgerow.policies.retreat import Retreat
from hedgerow.policies.summary import AdviserTotals, Summary
from hedgerow.policies.theorem import Theorem
from hedgerow.protocols.late_feedback import as_play, reach_of
from hedgerow.protocols.parts import Feedback, Learner, ReadsLedger, Surrogate
from hedgerow.protocols.rounds import CompiledRounds
from hedgerow.sets.compiled import NO_NUMBERS, not_overridden
from hedgerow.sets.compositions.product import Product
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Restorable
from hedgerow.surrogates.make_loss import WRITTEN
from hedgerow.surrogates.per_constraint import PerConstraintSurrogate
from hedgerow.surrogates.queued import GradientSurrogate, checked, checked_each, is_plain
from hedgerow.surrogates.ranges import COSTS2, GF, INFEASIBLE, ObservedRanges, WorstCaseRanges
from hedgerow.surrogates.rounds import (
    NO_NOISE,
    LossRounds,
    advisers_of,
    round_table,
    tell_round,
)

Seen = TypeVar("Seen", bound=Constraints, contravariant=True)


class ConstrainedPolicy(Composition[EvalGrad, Seen]):
    """A policy for first-order feedback: a surrogate builds one loss per round, a learner plays it.

    The learner and the surrogate determine the guarantee. `AdaptiveOCG` with `CurrentSurrogate` is
    Algorithm 2. For every pair, `certificate()` bounds the regret of the rounds so far; its oracle
    calls are not counted.

    Args:
        learner: plays one sequence of losses.
        surrogate: turns cost and constraint into the loss.
        theorems: what is proved of the pair, for `guarantees()`.
        retreat: keeps decisions where the last constraint allows them, with as many queues as the
            surrogate; left out, the learner decides.

    """

    def __init__(
        self,
        learner: Learner[EvalGrad],
        surrogate: Surrogate[EvalGrad, Seen],
        theorems: tuple[Theorem, ...] = (),
        retreat: Retreat | None = None,
    ):
        check_parts(learner, surrogate)  # before the set is measured
        sums = dict.fromkeys(("inner", "price", "rounds", "size", "prices"), 1)
        totals = {"cost": 1, "ccv": 1, "violated": 1}
        if queues := len(getattr(surrogate, "surrogates", ())):
            totals["ccv_each"] = queues
        totals["mixed_units"] = 1
        if names := getattr(learner, "advisers", ()):
            totals["advisers"] = ADVISER_TOTALS * len(names)  # the last part
        super().__init__(
            learner, surrogate, theorems, {"s": learner.decision_set.dim} | sums | totals
        )
        self._warned, self._dim = False, learner.decision_set.dim
        self._part_tables: dict[int, tuple[Any, Any]] = {}
        if retreat is not None and retreat.queues != max(1, queues):
            raise ValueError(
                f"the retreat is made for {retreat.queues} queues, the surrogate has "
                f"{max(1, queues)}; give Retreat as many"
            )
        self.retreat = retreat
        if retreat is not None:
            self._charged.append(retreat.array)
            for part in getattr(surrogate, "surrogates", (surrogate,)):
                # on a product the safest action moves every factor at once, and overshoots
                if isinstance(part, GradientSurrogate) and not isinstance(
                    learner.decision_set, Product
                ):
                    part.show_refuge(retreat.refuge)
        if names:
            self._charged.append(self._state["advisers"])
        if isinstance(surrogate, ReadsLedger):
            surrogate.read(self.ledger)

    @property
    def feedback(self) -> Feedback:
        """Value and subgradient; of each part of a constraint if the policy makes use of that."""
        if self.sees_parts:
            return first_order_each
        feedback: Feedback = getattr(self.surrogate, "feedback", first_order)
        return feedback

    @property
    def sees_parts(self) -> bool:
        """Whether it has one queue and retreats from every part of a constraint.

        With advisers it sees the largest part alone: advice that comes after the round is checked
        against one tangent.
        """
        return self.retreat is not None and not self.advisers and not self._queues

    @property
    def _queues(self) -> int:
        """How many constraints have a queue of their own; 0 if one is for all."""
        return self._state["ccv_each"].size if "ccv_each" in self._state.layout else 0

    def ask(self, advice: Advice | None = None) -> Vector:
        """Return the decision; advice has a share in it that follows its merits.

        Args:
            advice: a point of the set that somebody proposes for this round, or one for each
                adviser by name. It is remembered until `tell`; asking again with other advice
                replaces it, {} withdraws it. The policy must be built with `advisers`.

        """
        if advice is not None:
            learner = self.learner
            if not isinstance(learner, AdvisedOCG):
                raise TypeError(
                    "this policy has no advisers; build it with some, such as "
                    "projection_free_coco(X, advisers=['plan'])"
                )
            learner.advise(advice)
            self._take_advised()
        return self.learner.ask() if self.retreat is None else self.retreat.decision.copy()

    def reported_part(self, seen: Constraints) -> int:
        """Return which of several constraints, seen at `ask()`, would go to the surrogate.

        For a policy that sees parts it is the largest one at the learner's decision, by tangents.
        """
        parts = each_seen(seen)
        if self.sees_parts:
            return largest_part(_part_table(parts), len(parts), self.ask(), self.learner.ask())
        return max(range(len(parts)), key=lambda k: parts[k].value)

    def end_retreat(self) -> None:
        """Let the learner decide from now on, for a wrapper that chooses the decision itself."""
        if self.retreat is not None:
            self.retreat.end(self.learner.ask())

    def _take_advised(self) -> None:
        """Take the learner's decision, which advice has changed."""
        x = self.learner.ask()
        store_play(self.ledger, x)
        if self.retreat is not None:
            self.retreat.decide(x)

    @property
    def advisers(self) -> tuple[str, ...]:
        """The names of the advisers; none unless the policy was built with some."""
        return tuple(getattr(self.learner, "advisers", ()))

    @property
    def voices(self) -> dict[str, float]:
        """The weight of each adviser and of the policy itself, in a round in which all speak."""
        return cast(AdvisedOCG, self.learner).voices if self.advisers else {}

    def summary(self) -> Summary:
        """Return the totals of the rounds so far; `print` shows them in a few lines."""
        summary = super().summary()
        if not self.advisers:
            return summary
        voices = self.voices
        totals = self._state["advisers"].reshape(-1, ADVISER_TOTALS)
        return replace(
            summary,
            advisers=tuple(
                AdviserTotals(
                    name,
                    voices[name],
                    int(rounds),
                    float(cost),
                    None if summary.ccv is None else float(ccv),
                    int(violated),
                )
                for name, (rounds, cost, ccv, violated) in zip(self.advisers, totals, strict=True)
            ),
        )

    def follow(self, recorded: Vector | None) -> None:
        """Take recorded advice from now on, or no longer; see `AdvisedOCG.follow`."""
        learner = cast(AdvisedOCG, self.learner)
        learner.follow(recorded)
        self._take_advised()
        for name in ("_table", "_late_table"):  # they have no place for recorded advice
            self.__dict__.pop(name, None)
        self._part_tables = {}

    def tell(
        self,
        cost: EvalGrad | Parts,
        constraint: Seen,
        *,
        at: Vector | None = None,
        advice: Advice | None = None,
    ) -> None:
        """Make the loss of this round and pass it to the learner.

        Args:
            cost: what was seen of the cost; of several parts the largest one counts.
            constraint: what was seen of the constraint, or of each of its parts.
            at: the earlier play that late feedback is about; left out, it is about `ask()`. The
                certificate then counts the round at that play and stays a proof; theorems that
                hold beforehand assume that every round is reported at once.
            advice: the advice for that earlier decision, if it had some; left out, the advice is
                that of the last `ask`.

        """
        if advice is not None:
            self.ask(advice)
        if at is not None:
            at = as_play(at, self.decision_set, self.ask())
            at = None if np.array_equal(at, self.ask()) else at  # it is not late
        dim = self._dim
        table = self._table if at is None else self._late_table
        if table is not None and is_plain(cost, dim) and is_plain(constraint, dim):
            if at is not None:
                table.at[:] = at
            value = constraint.value
            if tell_round(table, cost.grad, cost.value, constraint.grad, value):
                self._warn(value)
                return
        elif at is None and self._tell_parts(cost, constraint):
            return
        seen = in_order(largest_seen(cost), self.decision_set, "cost")
        constraint = in_order(constraint, self.decision_set, "constraint")
        self._check(seen, constraint)
        self._check_left()
        tell_in_python(self, checked(seen, "cost"), constraint, at)
        self.take_units(isinstance(constraint, Parts) or len(each_seen(constraint)) == 1)
        if any(seen.value > 0.0 for seen in each_seen(constraint)):
            self.warn_if_ignored()

    def _tell_parts(self, cost: EvalGrad | Parts, constraint: Seen) -> bool:
        """Take in a round of several parts by one kernel; False where Python must."""
        dim, queues = self._dim, self._queues
        if not (isinstance(constraint, list | tuple) and is_plain(cost, dim)):
            return False
        if not all(is_plain(part, dim) for part in constraint):
            return False
        m = len(constraint)
        fits = m == queues if queues else m > 1 and self.sees_parts
        if not fits:
            return False
        if m not in self._part_tables:
            memory = parts_of_memory(
                np.empty((m, dim)), np.empty(m), np.array([m], np.uint32), np.empty(m)
            )
            rounds = self.compiled_rounds(first_order_each)
            table = rounds.table_of(memory) if isinstance(rounds, LossRounds) else None
            self._part_tables = {m: (memory, table)}  # of the last number of parts alone
        memory, table = self._part_tables[m]
        gradients, values = memory.gradients, memory.values
        for k, part in enumerate(constraint):
            gradients[k], values[k] = part.grad, part.value
        top = int(values.argmax())
        if table is None or not tell_round(
            table, cost.grad, cost.value, gradients[top], float(values[top])
        ):
            return False
        self.take_units(isinstance(constraint, Parts))
        self._warn(float(values[top]))
        return True

    def _warn(self, value: float) -> None:
        """Warn of rounds beyond the horizon, and of a constraint that is ignored."""
        learner = cast(KernelLearner, self.learner)
        if learner.horizon is not None:
            warn_beyond(learner.rounds, learner.horizon)
        if value > 0.0:
            self.warn_if_ignored()

    @cached_property
    def _table(self) -> Any:
        """The table by which one kernel takes in a round; None where that takes more."""
        rounds = self.compiled_rounds(first_order)
        return rounds.table if isinstance(rounds, LossRounds) else None

    @cached_property
    def _late_table(self) -> Any:
        """The same for feedback on an earlier decision."""
        rounds = self.compiled_rounds(first_order)
        return rounds.late_table if isinstance(rounds, LossRounds) else None

    def compiled_rounds(self, feedback: Feedback) -> CompiledRounds | None:
        """Return its rounds for the compiled loops, seen like this; None where a part has none."""
        make = getattr(self.surrogate, "compiled_rounds", None)
        if make is None or not not_overridden(self, ConstrainedPolicy, "ask", "tell"):
            return None
        rounds: CompiledRounds | None = make(self.learner, self.ledger)
        if isinstance(rounds, LossRounds) and feedback is first_order_each:
            rounds.feedback = first_order_each  # one queue has the largest part, if not all
            rounds.sees_parts = self.sees_parts
        if self.retreat is not None and isinstance(rounds, LossRounds):
            rounds.retreat, rounds.refuge = self.retreat.array, self.retreat.refuge
            rounds.tangent = self.retreat.tangent
        return rounds if rounds is not None and feedback is rounds.feedback else None

    def warn_if_ignored(self) -> None:
        """Warn once if after many violations the weight is still too small to move the play."""
        if self._warned or not getattr(self.surrogate, "ignored", False):
            return
        self._warned = True
        warnings.warn(
            f"after {self._state['violated'][0]:.0f} violated rounds the weight on the constraint "
            f"is {self.surrogate.largest_weight:.2g} at most, too small to move the play: the "
            "constraint is ignored; raise eagerness, or give violation_unit in its own unit",
            IgnoredConstraintWarning,
            stacklevel=level_outside(),
        )

    def _check(self, cost: EvalGrad, constraint: Seen) -> None:
        """Check that this is first-order feedback on this set."""
        parts = [("cost", cost), *(("constraint", seen) for seen in each_seen(constraint))]
        if isinstance(self.surrogate, PerConstraintSurrogate):
            self.surrogate.check_count(len(parts) - 1)
        for name, seen in parts:
            needs(EvalGrad, seen, "this policy", name)
            if np.shape(seen.grad) != (self.decision_set.dim,):
                raise ValueError(
                    f"gradients must have shape ({self.decision_set.dim},) on this set, "
                    f"got {np.shape(seen.grad)}; evaluate the functions at ask()"
                )

    @property
    def ledger(self) -> Vector:
        """What the certificate remembers, as `kernels/certificate.py` has it."""
        return self._state.array

    def certificate(self, budget: float | Sequence[float] = 0.0) -> Certificate:
        """Bound the regret so far, by one oracle call, whatever the constants.

        Regret_T(x*) <= sum <s_t, x_t> - min over X of <sum s_t, x> - sum w_t g_t(x_t) for every
        x* that satisfies the constraint in all rounds, where s_t = grad f_t + w_t grad g_t and the
        values are those that the surrogate used. A bound of the rounding errors is added, which is
        tiny unless weights became huge.

        It is a number that says which x* it holds for, `comparator`. In a round in which the
        surrogate found that no action satisfies the constraint, x* may violate it by as much as
        every action must; `infeasible_rounds` counts these. Where no x* satisfies all rounds the
        bound is vacuous. A bound below -D sum ||grad f_t|| proves that: `least_violation` is then
        above 0. `says_nothing` is a sentence where the number bounds nothing, and `print` shows it.

        Args:
            budget: the benchmark's own total violation B, sum of g_t^+(x*) <= B; it adds B times
                the largest weight so far. For a policy with a queue for each of several
                constraints, one number for each.

        """
        state, weights = self._state, _largest_weights(self.surrogate)
        budgets = _as_budgets(budget, len(weights))
        lowest = self.decision_set.minimum(state["s"])
        bound = float(state["inner"][0] - lowest - state["price"][0]) + self._rounding()
        range_ = self._cost_range()
        allowed = sum(B * weight for B, weight in zip(budgets, weights, strict=True))
        infeasible = self._infeasible_rounds
        if len(weights) > 1:  # their violations have no common unit
            return Certificate(bound + allowed, budgets, infeasible, 0.0, range_)
        least = max(0.0, -range_ - bound) / weights[0] if weights[0] > 0.0 else 0.0
        return Certificate(bound + allowed, budgets[0], infeasible, least, range_)

    def transfer(
        self, decision_set: DecisionSet, kept: ArrayLike | None = None
    ) -> ConstrainedPolicy[Seen]:
        """Return a policy on another set that goes on from what this one has learnt.

        For networks whose links appear and disappear. The sums of gradients go on for the
        coordinates that are left, and new ones begin with their mean; what is known of the
        constraint goes on; vertices of the play that are left keep their shares, and the oracle
        finds a place for the rest. Totals and the certificate begin anew: `certificate()` bounds
        the regret of the rounds since, on the new set. No theorem is claimed beforehand.

        Args:
            decision_set: where to play from now on.
            kept: the old coordinate of each new one, -1 where it is new; left out, edges of the
                same name are the same.

        """
        from hedgerow.policies.transfer import transferred

        return transferred(self, decision_set, kept)

    @property
    def _parts(self) -> dict[str, Restorable]:
        retreat = {} if self.retreat is None else {"retreat": self.retreat}
        return {**super()._parts, **retreat}

    def _ranges(self) -> list[WorstCaseRanges]:
        """Return the ranges that the surrogate, or each of several, has learnt."""
        parts = getattr(self.surrogate, "surrogates", (self.surrogate,))
        found = (getattr(part, "ranges", None) for part in parts)
        return [ranges for ranges in found if isinstance(ranges, WorstCaseRanges)]

    @property
    def _infeasible_rounds(self) -> int:
        """Rounds that no action satisfies; of several constraints, the one with the most."""
        return max((int(ranges.array[INFEASIBLE]) for ranges in self._ranges()), default=0)

    def _cost_range(self) -> float:
        """Bound |sum <grad f_t, x_t - x>| for every x by D sum ||grad f_t||.

        Without a guard, by D sqrt(T sum ||grad f_t||^2), which is at least that; infinite where the
        surrogate does not measure costs. No play has a larger regret.
        """
        guard = getattr(self.surrogate, "guard", None)
        if guard is not None:
            return float(guard.worst)
        if self.surrogate.largest_weight == 0.0:  # every loss was the cost
            return float(self.decision_set.diameter * self._state["size"][0])
        ranges, T = next(iter(self._ranges()), None), float(self._state["rounds"][0])
        if ranges is None:
            return math.inf
        seen = isinstance(ranges, ObservedRanges)
        root = math.sqrt(T * ranges.array[COSTS2]) if seen else T * ranges.array[GF]
        return float(self.decision_set.diameter * root)

    def _rounding(self) -> float:
        """Bound the rounding of sums over t rounds and dim entries: (t + dim) eps sum |terms|."""
        rounds, size, prices = (
            float(self._state[name][0]) for name in ("rounds", "size", "prices")
        )
        largest = 2.0 * reach_of(self.decision_set, self.ask())
        steps = rounds + self.decision_set.dim
        return 2.0 * steps * sys.float_info.epsilon * (size * largest + prices)


def tell_in_python(
    policy: ConstrainedPolicy[Any], cost: EvalGrad, constraint: Constraints, at: Vector | None
) -> None:
    """Take in a round by `tell_round`, with surrogate and learner as functions of Python."""
    learner, x, decision = policy.learner, policy.learner.ask(), policy.ask()
    n, point = x.size, decision if at is None else as_play(at, policy.decision_set, decision)
    parts = checked_each(constraint, n)
    worst = max(parts, key=lambda seen: seen.value, default=EvalGrad(0.0, np.zeros(n)))
    loss, retreat, each = EvalGrad(0.0, x), policy.retreat, policy._queues > 0
    by_parts = each or (policy.sees_parts and len(parts) > 1)
    table_of_parts = _part_table(parts) if by_parts else NO_PARTS

    def make_loss(*round_: Any) -> tuple[float, ...]:
        nonlocal loss
        s, c, told, seen_at = round_[1], round_[3], round_[4], round_[6]
        known: Constraints = parts
        if each:
            known = [
                replace(g, value=value)
                for g, value in zip(parts, table_of_parts.at_x.tolist(), strict=True)
            ]
        elif retreat is not None or isinstance(constraint, EvalGrad):
            known = EvalGrad(told, c, worst.lipschitz)
        loss = policy._make_loss(cost, known, at)
        s[:] = loss.grad
        return WRITTEN, policy.surrogate.price, dot(s, seen_at), dot(s, s), UNMEASURED, UNDECLARED

    def step(*_: Any) -> bool:
        learner.tell(loss)
        x[:] = learner.ask()
        return True

    table = round_table.filled(
        make_loss=make_loss,
        take_back=None,  # `_taken_back` does it
        surrogate=None,
        step=step,
        learner=None,
        x=x,
        at=point.copy(),
        late=at is not None,
        retreat=NO_NUMBERS if retreat is None else retreat.array,
        refuge=NO_NUMBERS if retreat is None else retreat.refuge,
        tangent=NO_PARTS if retreat is None else retreat.tangent,
        parts=table_of_parts,
        loss=np.empty(n),
        ledger=policy.ledger,
        each=policy._state["ccv_each"] if each else NO_NUMBERS,
        **advisers_of(learner, policy.ledger),
        noise=NO_NOISE,
    )
    with policy._taken_back():
        if not tell_round(table, cost.grad, cost.value, worst.grad, worst.value):
            raise RuntimeError("this round was refused without a reason; please report it")


def _part_table(parts: Sequence[EvalGrad]) -> Any:
    """Return the table of the parts of one round's constraint."""
    gradients, values = np.array([g.grad for g in parts]), np.array([g.value for g in parts])
    count = np.array([len(parts)], np.uint32)
    return parts_of_memory(gradients, values, count, np.empty(len(parts)))


def _largest_weights(surrogate: Any) -> list[float]:
    """Return the largest weight so far of each queue."""
    return [float(queue.largest_weight) for queue in getattr(surrogate, "surrogates", (surrogate,))]


def _as_budgets(budget: float | Sequence[float], queues: int) -> tuple[float, ...]:
    """Return how much the benchmark may violate each constraint that has a queue."""
    if queues == 1:
        return (as_budget(cast(float, budget), "budget"),)
    if isinstance(budget, int | float) and budget == 0.0:
        return (0.0,) * queues
    if isinstance(budget, int | float) or len(budget) != queues:
        raise ValueError(
            f"budget must have one number for each of {queues} constraints, which may have "
            f"different units, got {budget!r:.60}; give a list of {queues}"
        )
    return tuple(as_budget(part, "budget") for part in budget)
