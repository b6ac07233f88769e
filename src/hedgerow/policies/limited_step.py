"""A constraint of many parts: step towards a policy's decision as far as all parts allow."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import types

from hedgerow._engine.kernel import index, kernel, nothing, number, read, rows, whole, write
from hedgerow._engine.table import TableType
from hedgerow.feedback import Constraints, EvalGrad, first_order, first_order_each
from hedgerow.inputs import Vector
from hedgerow.kernels.rounds import SEEN_ROUND, policy_of, policy_table
from hedgerow.kernels.vectors import copy, dot, dots_and_norms
from hedgerow.policies.certificate import Certificate
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.policies.summary import Summary
from hedgerow.protocols.late_feedback import refuse_late
from hedgerow.protocols.limits import refuse_sum
from hedgerow.protocols.parts import Feedback
from hedgerow.protocols.rounds import CompiledRounds
from hedgerow.sets.compiled import Index, not_overridden
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Restorable, State, Stateful
from hedgerow.surrogates.queue import LARGEST_PART
from hedgerow.surrogates.queued import checked, checked_each

Array = Any
ROUNDS, COST, CCV, VIOLATED, MORE_COST, MORE_CCV, COSTS, COST_ROOT, GRAD_ROOT, UNLIMITED = range(10)
"""Totals of the rounds: their number, the sums of costs and violations, violated rounds; what was
lost to the inner policy, in cost and in violation; the sum of ||grad f||, the roots of the sums of
||grad f||^2 and, over violated rounds, of ||grad g||^2; rounds whose step was not limited."""
BISECTIONS = 60

limited_table = TableType(
    "LimitedTable",
    {
        "inner": policy_table,
        "y": write,  # the decision
        "totals": write,
        "gradients": rows,  # of all parts at y, and their values
        "values": read,
        "parts": index,  # how many parts the constraint of each round has
        "there": write,  # memory for the parts' values elsewhere
        "scratch": write,  # two vectors
        "diameter": number,
    },
)


@kernel(types.boolean, limited_table, whole, read)
def look_ahead(table: Any, m: int, x: Array) -> bool:
    """Write the values that m parts have at x by their tangents at y; False if one is too large."""
    away, there = table.scratch[: len(x)], table.there
    for i in range(len(x)):
        away[i] = x[i] - table.y[i]
    for k in range(m):
        there[k] = table.values[k] + dot(table.gradients[k], away)
        if not (abs(there[k]) <= LARGEST_PART and abs(table.values[k]) <= LARGEST_PART):
            return False
    return True


@kernel(number, rows, read, whole, write)
def combine_parts(gradients: Array, values: Array, m: int, c: Array) -> float:
    """Write the mean gradient of the violated parts, in proportion to violation; return the value.

    Without a violated part they are those of the largest one.
    """
    total, largest = 0.0, 0
    for k in range(m):
        total += max(0.0, values[k])
        largest = k if values[k] > values[largest] else largest
    if total <= 0.0:
        copy(c, gradients[largest])
        return float(values[largest])
    for i in range(len(c)):
        c[i] = 0.0
    mean = 0.0
    for k in range(m):
        if values[k] > 0.0:
            share = values[k] / total
            mean += share * values[k]
            for i in range(len(c)):
                c[i] += share * gradients[k][i]
    return mean


@kernel(number, read, read, whole, types.boolean)
def best_share(here: Array, there: Array, m: int, cheaper: bool) -> float:
    """Return the share of a step at which the largest violation is least.

    Part k has the value here[k] before the step and there[k] after it, and is linear between. Of
    several shares it is the largest one if the step makes the round cheaper, else the smallest.
    """
    low, high = 0.0, 1.0  # between these every part is satisfied
    for k in range(m):
        if here[k] > 0.0:
            low = max(low, here[k] / (here[k] - there[k])) if there[k] <= 0.0 else 2.0
        elif there[k] > 0.0:
            high = min(high, here[k] / (here[k] - there[k]))
    if low <= high:
        return high if cheaper else low
    low, high = 0.0, 1.0  # the slope of the largest part says where the minimum lies
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        top, slope = -math.inf, 0.0
        for k in range(m):
            rise = there[k] - here[k]
            value = here[k] + middle * rise
            if value > top:
                top, slope = value, rise
        if slope < 0.0 or (slope == 0.0 and cheaper):
            low = middle
        else:
            high = middle
    return high if high == 1.0 else low


@kernel(nothing, limited_table, whole, read, read)
def step_towards(table: Any, m: int, a: Array, x: Array) -> None:
    """Move the decision towards x, the inner policy's; the whole way while too much was lost."""
    y, totals, D = table.y, table.totals, table.diameter
    behind = totals[MORE_COST] > D * totals[COST_ROOT] or totals[MORE_CCV] > D * totals[GRAD_ROOT]
    share = 1.0
    if behind or not look_ahead(table, m, x):
        totals[UNLIMITED] += 1.0
    else:
        share = best_share(table.values, table.there, m, dot(a, table.scratch[: len(y)]) < 0.0)
    if share == 1.0:
        copy(y, x)
    else:
        for i in range(len(y)):
            y[i] += share * (x[i] - y[i])


@kernel(types.boolean, limited_table, *SEEN_ROUND)
def limited_round(
    table: Any,
    a: Array,
    cost: float,
    c: Array,  # noqa: ARG001 - one part's alone
    value: float,
    products: tuple[float, float, float, float],
    k: int,
) -> bool:
    """Play a round, seen at y, as `kernels/rounds.py` describes it."""
    inner, totals, m, n = table.inner, table.totals, int(table.parts[k]), len(a)
    if not (abs(cost) <= LARGEST_PART and look_ahead(table, m, inner.x)):
        return False
    more = -dot(a, table.scratch[:n])  # <grad f, y - x>
    worst = 0.0
    for part in range(m):
        worst = max(worst, table.there[part])
    grad = table.scratch[n:]
    mean = combine_parts(table.gradients, table.there, m, grad)
    seen = dots_and_norms(a, grad, inner.x)
    if not inner.play(inner.table, a, cost - more, grad, mean, seen, k):
        return False
    norm = math.sqrt(products[2])
    totals[ROUNDS] += 1.0
    totals[COST] += cost
    totals[MORE_COST] += more
    totals[COSTS] += norm
    totals[COST_ROOT] = math.sqrt(totals[COST_ROOT] * totals[COST_ROOT] + products[2])
    totals[MORE_CCV] += max(0.0, value) - worst
    if value > 0.0:
        totals[CCV] += value
        totals[VIOLATED] += 1.0
        totals[GRAD_ROOT] = math.sqrt(totals[GRAD_ROOT] * totals[GRAD_ROOT] + products[3])
    step_towards(table, m, a, inner.x)
    return True


class LimitedStep(Stateful):
    """Steps towards the decision of a policy, as far as all parts of the last constraint allow.

    For a constraint with many parts, a `Maximum`: 24 hours, the links of a network. A policy that
    is told its largest part alone moves load from one part to the next. This wrapper sees the value
    and gradient of every part at its decision y_t. By these tangents

    - the inner policy is told, at its own decision x_t, the mean of the violated parts, weighted by
      violation, and
    - y_{t+1} = y_t + s (x_{t+1} - y_t) with the share s in [0, 1] at which the largest part of this
      round is violated least; of several shares the largest one if the step lowers this round's
      cost, else the smallest.

    Every x* that satisfies all parts satisfies their mean. So the inner policy's theorem and
    certificate hold for x_t, and `certificate()` adds what y_t has cost more. While that is more
    than D (sum ||grad f_t||^2)^{1/2}, or y_t has violated more than x_t by
    D (sum ||grad g_t||^2)^{1/2}, steps are not limited, s = 1. Both bounds of the inner policy
    therefore hold for y_t with these two sums and one round more, of order sqrt T (theory.md).

    It makes no oracle call of its own, and runs compiled where the inner policy does.

    Args:
        policy: the inner policy, such as `projection_free_coco(X)`, with one queue; it belongs to
            this one from now on.

    >>> from hedgerow.functions import Linear, Maximum
    >>> from hedgerow.policies.paper import projection_free_coco
    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> policy = LimitedStep(projection_free_coco(Simplex(4)))
    >>> price, hours = Linear([1.0, 2.0, 3.0, 4.0]), Maximum([Linear(e, -0.4) for e in np.eye(4)])
    >>> for _ in range(50):
    ...     x = policy.ask()
    ...     policy.tell(policy.feedback(price, x), policy.feedback(hours, x))
    >>> policy.summary().violated, bool(policy.ask()[0] > 0.35)
    (0, True)

    """

    feedback: Feedback = staticmethod(first_order_each)

    def __init__(self, policy: ConstrainedPolicy[Any]):
        given: object = policy
        if not isinstance(given, ConstrainedPolicy) or policy.feedback is not first_order:
            raise TypeError(
                "LimitedStep needs a policy of a learner and a surrogate with one queue, such as "
                f"projection_free_coco(X) without constraints=m, got {policy!r:.60}"
            )
        policy.end_retreat()  # the decision is chosen here
        self.policy = policy
        n = policy.decision_set.dim
        self._state = State(y=n, totals=UNLIMITED + 1)
        self._state["y"][:] = policy.ask()

    @property
    def decision_set(self) -> DecisionSet:
        """The inner policy's."""
        return self.policy.decision_set

    @property
    def oblivious_only(self) -> bool:
        """As the inner policy."""
        return self.policy.oblivious_only

    @property
    def oracle_calls(self) -> int:
        """The inner policy's."""
        return self.policy.oracle_calls

    @property
    def projections(self) -> int:
        """The inner policy's."""
        return self.policy.projections

    @property
    def more_cost(self) -> float:
        """What its decisions have cost more than the inner policy's, by linearised costs."""
        return float(self._state["totals"][MORE_COST])

    @property
    def more_ccv(self) -> float:
        """By how much its decisions have violated more, by the parts' tangents."""
        return float(self._state["totals"][MORE_CCV])

    @property
    def roots(self) -> tuple[float, float]:
        """The roots of the sums of ||grad f_t||^2 and, over violated rounds, of ||grad g_t||^2."""
        cost, constraint = self._state["totals"][[COST_ROOT, GRAD_ROOT]].tolist()
        return cost, constraint

    @property
    def unlimited(self) -> int:
        """The rounds after which the step was not limited, as too much had been lost by then."""
        return int(self._state["totals"][UNLIMITED])

    def take_units(self, one_unit: bool) -> None:
        """Refuse a game whose constraints may have different units."""
        if not one_unit:
            do = "give their Maximum in place of a list, or constraints=m without LimitedStep"
            refuse_sum((), None, "their violations cannot be compared", do)

    def ask(self) -> Vector:
        """Return the decision y_t."""
        return self._state["y"].copy()

    def tell(self, cost: EvalGrad, constraint: Constraints, *, at: Vector | None = None) -> None:
        """Report the round to the inner policy, and step towards its decision.

        Args:
            cost: what was seen of the cost.
            constraint: what was seen of every part, as a sequence; or of one constraint.
            at: must be left out; rounds are reported at once.

        """
        if at is not None:
            refuse_late(self, at)
        X = self.decision_set
        cost, parts = checked(cost, "cost", X), checked_each(constraint, X)
        x = self.policy.ask().copy()

        def play(_: Any, a: Array, cost_: float, c: Array, value: float, *__: Any) -> bool:
            self.policy.tell(EvalGrad(cost_, a, cost.lipschitz), EvalGrad(value, c.copy()))
            x[:] = self.policy.ask()
            return True

        gradients, values = np.array([g.grad for g in parts]), np.array([g.value for g in parts])
        count = np.array([len(parts)], np.uint32)
        inner, top = policy_table.filled(play=play, table=None, x=x), int(values.argmax())
        table, a, c = self.table(inner, gradients, values, count), cost.grad, gradients[top]
        products = dots_and_norms(a, c, self._state["y"])
        if not limited_round(table, a, cost.value, c, float(values[top]), products, 0):
            raise ValueError(
                f"a part of the constraint is above {LARGEST_PART:g} at the inner policy's "
                "decision; measure the constraint in a larger unit"
            )

    def table(self, inner: Any, gradients: Vector, values: Vector, parts: Index) -> Any:
        """Return the table of rounds with these arrays of gradients and values."""
        n = self.decision_set.dim
        return limited_table.filled(
            inner=inner,
            y=self._state["y"],
            totals=self._state["totals"],
            gradients=gradients,
            values=values,
            parts=parts,
            there=np.empty(len(values)),
            scratch=np.empty(2 * n),
            diameter=float(self.decision_set.diameter),
        )

    def compiled_rounds(self, feedback: Feedback) -> CompiledRounds | None:
        """Return its rounds for the compiled loops; None where the inner policy has none."""
        if feedback is not first_order_each or not not_overridden(self, LimitedStep, "ask", "tell"):
            return None
        inner = self.policy.compiled_rounds(first_order)
        return None if inner is None else LimitedRounds(self, inner)

    def certificate(self, budget: float = 0.0) -> Certificate:
        """Bound the regret so far: the inner policy's certificate, and what y_t has cost more.

        Args:
            budget: how much the benchmark may violate in total, as in
                `ConstrainedPolicy.certificate`.

        """
        found, totals = self.policy.certificate(budget), self._state["totals"]
        steps, D = totals[ROUNDS] + self.decision_set.dim, self.decision_set.diameter
        rounding = 2.0 * steps * sys.float_info.epsilon * D * totals[COSTS]
        value = float(found) + self.more_cost + rounding
        return Certificate(
            value, found.budget, found.infeasible_rounds, found.least_violation, found.most
        )

    def summary(self) -> Summary:
        """Return the totals of the rounds so far; the weights are the inner policy's."""
        rounds, cost, ccv, violated = self._state["totals"][:MORE_COST].tolist()
        inner = self.policy.summary()
        return Summary(
            int(rounds),
            cost,
            ccv,
            int(violated),
            inner.weight,
            inner.largest_weight,
            self.oracle_calls,
            self.projections,
            reaction=inner.reaction,
            infeasible_each=inner.infeasible_each,
        )

    @property
    def _parts(self) -> Mapping[str, Restorable]:
        return {"policy": self.policy}


class LimitedRounds(CompiledRounds):
    """Rounds of a `LimitedStep` for the compiled loop of functions.

    Args:
        policy: the wrapper.
        inner: the rounds of its inner policy.

    """

    feedback: Feedback = staticmethod(first_order_each)
    linear = False

    def __init__(self, policy: LimitedStep, inner: CompiledRounds):
        self._policy, self._inner = policy, inner

    def begin(self, rounds: Any, first: int, end: int) -> tuple[Any, int]:
        """Return the table of the rounds, until the first cost with several parts."""
        several = rounds.parts_f[first:end] != 1
        until = first + int(several.argmax()) if several.any() else end  # Python refuses the next
        inner, until = self._inner.begin(rounds, first, until) if until > first else (None, first)
        if until <= first:
            return None, first
        parts = rounds.parts_g[first:until]
        table = self._policy.table(inner, rounds.gradients, rounds.values, parts)
        return policy_of(limited_round, table, self._policy._state["y"]), until

    def finish(self, played: int) -> None:
        """Let the inner policy's rounds finish."""
        self._inner.finish(played)
