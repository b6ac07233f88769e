"""Algorithm 2's shape: a learner that plays the losses of a surrogate."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
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
from hedgerow.inputs import Vector
from hedgerow.kernels.certificate import add_each, certificate_add, store_play
from hedgerow.kernels.parts import parts_of_memory
from hedgerow.kernels.vectors import dot
from hedgerow.learners.arguments import warn_beyond
from hedgerow.learners.kernel_learner import KernelLearner
from hedgerow.policies.certificate import Certificate
from hedgerow.policies.composition import Composition, check_parts
from hedgerow.policies.presets import as_budgets
from hedgerow.policies.theorem import Theorem
from hedgerow.protocols.late_feedback import as_play, reach_of
from hedgerow.protocols.parts import Feedback, Learner, Surrogate
from hedgerow.protocols.rounds import CompiledRounds
from hedgerow.sets.compiled import not_overridden
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.surrogates.per_constraint import PerConstraintSurrogate
from hedgerow.surrogates.queued import checked, checked_each, is_plain
from hedgerow.surrogates.ranges import GF, WorstCaseRanges
from hedgerow.surrogates.rounds import LossRounds, tell_round
from hedgerow.surrogates.violation_weight import ViolationSurrogate

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

    """

    def __init__(
        self,
        learner: Learner[EvalGrad],
        surrogate: Surrogate[EvalGrad, Seen],
        theorems: tuple[Theorem, ...] = (),
    ):
        check_parts(learner, surrogate)  # before the set is measured
        sums = dict.fromkeys(("inner", "price", "rounds", "size", "prices"), 1)
        totals = {"cost": 1, "ccv": 1, "violated": 1}
        if queues := len(getattr(surrogate, "surrogates", ())):
            totals["ccv_each"] = queues
        totals["mixed_units"] = 1
        super().__init__(
            learner, surrogate, theorems, {"s": learner.decision_set.dim} | sums | totals
        )
        self._dim = learner.decision_set.dim
        self._part_tables: dict[int, tuple[Any, Any]] = {}

    @property
    def feedback(self) -> Feedback:
        """Value and subgradient; those of each constraint if each has a queue."""
        feedback: Feedback = getattr(self.surrogate, "feedback", first_order)
        return feedback

    @property
    def constraints(self) -> int | None:
        """How many constraints a round has, where each has a queue of its own."""
        return self._queues or None

    @property
    def _queues(self) -> int:
        """How many constraints have a queue of their own; 0 if one is for all."""
        return self._state["ccv_each"].size if "ccv_each" in self._state.layout else 0

    def tell(
        self,
        cost: EvalGrad | Parts,
        constraint: Seen,
        *,
        at: Vector | None = None,
    ) -> None:
        """Make the loss of this round and pass it to the learner.

        Args:
            cost: what was seen of the cost; of several parts the largest one counts.
            constraint: what was seen of the constraint, or of each of its parts.
            at: the earlier play that late feedback is about; left out, it is about `ask()`. The
                certificate then counts the round at that play and stays a proof; theorems that
                hold beforehand assume that every round is reported at once.

        """
        if at is not None:
            at = as_play(at, self.decision_set, self.ask())
            at = None if np.array_equal(at, self.ask()) else at  # it is not late
        dim = self._dim
        table = self._table if at is None else self._late_table
        if table is not None and is_plain(cost, dim) and is_plain(constraint, dim):
            if at is not None:
                table.at[:] = at
            if tell_round(table, cost.grad, cost.value, constraint.grad, constraint.value):
                self._warn_beyond()
                return
        elif at is None and self._tell_parts(cost, constraint):
            return
        seen = in_order(largest_seen(cost), self.decision_set, "cost")
        constraint = in_order(constraint, self.decision_set, "constraint")
        self._check(seen, constraint)
        self._check_left()
        self._tell_in_python(checked(seen, "cost"), constraint, at)
        self.take_units(isinstance(constraint, Parts) or len(each_seen(constraint)) == 1)

    def _tell_in_python(self, cost: EvalGrad, constraint: Seen, at: Vector | None) -> None:
        """Take in a round as `tell_round` does, with surrogate and learner as Python objects."""
        parts = checked_each(constraint, self._dim)
        x = self.ask() if at is None else at
        known: Any = parts[0] if isinstance(constraint, EvalGrad) else parts
        with self._taken_back():
            loss = self._make_loss(cost, known, at)
            self.learner.tell(loss)
        s, worst = loss.grad, max((part.value for part in parts), default=0.0)
        price = self.surrogate.price
        certificate_add(self.ledger, s, dot(s, x), dot(s, s), price, cost.value, worst)
        if self._queues:
            add_each(self._state["ccv_each"], np.array([part.value for part in parts]))
        store_play(self.ledger, self.learner.ask())

    def _tell_parts(self, cost: EvalGrad | Parts, constraint: Seen) -> bool:
        """Take in a round of several parts by one kernel; False where Python must."""
        dim, queues = self._dim, self._queues
        if not (isinstance(constraint, list | tuple) and is_plain(cost, dim)):
            return False
        if not all(is_plain(part, dim) for part in constraint):
            return False
        m = len(constraint)
        if m == 0 or m != queues:
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
        self._warn_beyond()
        return True

    def _warn_beyond(self) -> None:
        """Warn of rounds beyond the learner's horizon."""
        learner = cast(KernelLearner, self.learner)
        if learner.horizon is not None:
            warn_beyond(learner.rounds, learner.horizon)

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
            rounds.feedback = first_order_each  # one queue has the largest part
        return rounds if rounds is not None and feedback is rounds.feedback else None

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
        values are those that the surrogate used; one that violates them gains at most the sum of
        w_t g_t(x*)^+. A bound of the rounding errors is added, which is tiny unless weights became
        huge.

        It is a number that says which x* it holds for, `comparator`. Where no x* satisfies all
        rounds the bound is vacuous. A bound below -D sum ||grad f_t|| proves that:
        `least_violation` is then above 0. `says_nothing` is a sentence where the number bounds
        nothing, and `print` shows it.

        Args:
            budget: the benchmark's own total violation B, sum of g_t^+(x*) <= B; it adds B times
                the largest weight so far. For a policy with a queue for each of several
                constraints, one number for each.

        """
        state, weights = self._state, _largest_weights(self.surrogate)
        budgets = as_budgets(budget, len(weights))
        lowest = self.decision_set.minimum(state["s"])
        bound = float(state["inner"][0] - lowest - state["price"][0]) + self._rounding()
        range_ = self._cost_range()
        allowed = sum(B * weight for B, weight in zip(budgets, weights, strict=True))
        if len(weights) > 1:  # their violations have no common unit
            return Certificate(bound + allowed, budgets, 0.0, range_)
        least = max(0.0, -range_ - bound) / weights[0] if weights[0] > 0.0 else 0.0
        return Certificate(bound + allowed, budgets[0], least, range_, price=weights[0])

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

    def _cost_range(self) -> float:
        """Bound |sum <grad f_t, x_t - x>| for every x by D sum ||grad f_t||, or by more.

        Infinite where the surrogate does not measure costs. No play has a larger regret.
        """
        D, surrogate = self.decision_set.diameter, self.surrogate
        if surrogate.largest_weight == 0.0:  # every loss was the cost
            return float(D * self._state["size"][0])
        one = getattr(surrogate, "surrogates", (surrogate,))[0]
        if isinstance(one, ViolationSurrogate):
            return float(D * one.steepness)
        ranges = getattr(one, "ranges", None)
        if not isinstance(ranges, WorstCaseRanges):
            return math.inf
        return float(D * self._state["rounds"][0] * ranges.array[GF])

    def _rounding(self) -> float:
        """Bound the rounding of sums over t rounds and dim entries: (t + dim) eps sum |terms|."""
        rounds, size, prices = (
            float(self._state[name][0]) for name in ("rounds", "size", "prices")
        )
        largest = 2.0 * reach_of(self.decision_set, self.ask())
        steps = rounds + self.decision_set.dim
        return 2.0 * steps * sys.float_info.epsilon * (size * largest + prices)


def _largest_weights(surrogate: Any) -> list[float]:
    """Return the largest weight so far of each queue."""
    return [float(queue.largest_weight) for queue in getattr(surrogate, "surrogates", (surrogate,))]
