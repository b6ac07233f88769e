"""Policies that take one projected step down weighed gradients: two kernels about a projection."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numba import types

from hedgerow._engine.kernel import function, kernel, nothing, number, read, write
from hedgerow._engine.signatures import LABEL, MEMBERS, SPACE
from hedgerow._engine.table import TableType
from hedgerow.baselines.projecting import Projecting
from hedgerow.feedback import EvalGrad, first_order, needs
from hedgerow.inputs import Vector
from hedgerow.kernels.oracles import oracle_type
from hedgerow.kernels.rounds import SEEN_ROUND, policy_of
from hedgerow.kernels.tangents import along, measures
from hedgerow.kernels.units import NO_UNITS, add_told, in_units
from hedgerow.kernels.vectors import dot, dots_and_norms, two
from hedgerow.learners.arguments import before_warning, warn_beyond
from hedgerow.protocols.parts import Feedback
from hedgerow.protocols.rounds import CompiledRounds
from hedgerow.sets.compiled import NO_NUMBERS, kernel_matches, not_overridden
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.surrogates.queue import LARGEST_PART
from hedgerow.surrogates.queued import checked

Array = Any
WEIGH = (two, write, read, number)
"""weigh(own, rates, value) counts the round and returns the lengths p, q of both steps:
x_{t+1} = P(x_t - p grad f_t - q grad g_t), q = 0 where value, g_t(x_t), is not above 0."""
AFTER_STEP = (nothing, write, read, number, number)
"""after_step(own, rates, value, moved) updates the dual variable after the step, given
moved = <grad g_t, x_{t+1} - x>, where x is the point of the feedback."""
ROUND, PROJECTIONS, QUEUE = range(3)
"""`own`, the numbers of the state after the play."""
UNIT, EAGERNESS, RATES = range(3)
"""`rates`, of which the policy's own follow."""
LARGEST_PART2 = LARGEST_PART * LARGEST_PART


@kernel(*AFTER_STEP)
def no_after_step(own: Array, rates: Array, value: float, moved: float) -> None:
    """Do nothing: the policy has no update after the step."""


@kernel(nothing, write, write, number, number)
def write_target(state: Array, work: Array, p: float, q: float) -> None:
    """Write the point to project; `work` is [point | answer | grad f | grad g], along the set."""
    n = len(work) // 4
    for i in range(n):
        work[i] = state[i] - (p * work[2 * n + i] + q * work[3 * n + i])


@kernel(number, write, write, read)
def move_to_projection(state: Array, work: Array, seen_at: Array) -> float:
    """Move to the projection and return <grad g, x_{t+1} - the point where g was seen>."""
    n, moved = len(work) // 4, 0.0
    for i in range(n):
        moved += work[3 * n + i] * (work[n + i] - seen_at[i])
        state[i] = work[n + i]
    state[n + PROJECTIONS] += 1.0
    return moved


weighed_table = TableType(
    "WeighedTable",
    {
        "state": write,
        "work": write,
        "rates": read,
        "space": SPACE,
        "measure": measures,
        "project": oracle_type,
        "weigh": function(*WEIGH),
        "after_step": function(*AFTER_STEP),
    },
)


def table_of(policy: Any, weigh: Any) -> Any:
    """Return the table of a policy's steps by this kernel; None if its projection is Python."""
    space = policy._workspace.space
    if space is None or space.compiled.projection is None:
        return None
    if not kernel_matches(policy.decision_set, "project"):
        return None
    compiled = space.compiled
    return weighed_table.filled(
        state=policy._state.array,
        work=policy._work,
        rates=policy._rates,
        space=(*space.arrays, compiled.label, compiled.members),
        measure=compiled.measure,
        project=compiled.projection,
        weigh=weigh,
        after_step=type(policy).after_step,
    )


@kernel(number, weighed_table, read, number, number, number, write)
def take_part(
    table: Any, a: Array, plain2: float, value: float, factor: float, part: Array
) -> float:
    """Write factor a along the set; return factor value, or NaN for a part to be refused."""
    for i in range(len(a)):
        part[i] = factor * a[i]
    norm2 = plain2 if factor == 1.0 else dot(part, part)
    if not (norm2 <= LARGEST_PART2 and abs(factor * value) <= LARGEST_PART):
        return math.nan
    along(table.space[LABEL], table.space[MEMBERS], part, part)
    return factor * value


step_rounds = TableType(
    "StepRounds",
    {
        "step": weighed_table,
        "units": write,  # the state of a `Normalised` around the policy, empty without one
        "offsets": read,  # of linear constraints, for steps that need them
    },
)


@kernel(types.boolean, step_rounds, *SEEN_ROUND)
def play_weighed(
    rounds: Any,
    a: Array,
    cost: float,
    c: Array,
    value: float,
    products: tuple[float, float, float, float],
    k: int,
) -> bool:
    """Take in a round by a projected step, as `kernels/rounds.py` describes it."""
    table, units = rounds.step, rounds.units
    cost2, force2 = products[2], products[3]
    n, state, work, rates = len(a), table.state, table.work, table.rates
    index, numbers, links, scratch, _, _ = table.space
    if not (cost2 <= LARGEST_PART2 and force2 <= LARGEST_PART2):
        return False
    if not (abs(cost) <= LARGEST_PART and abs(value) <= LARGEST_PART):
        return False
    Gf, Gg, p, q = in_units(table.measure, table.space, units, a, cost2, c, force2)
    told = take_part(table, c, force2, value, q, work[3 * n :])
    first = take_part(table, a, cost2, cost, p, work[2 * n : 3 * n])
    if told != told or first != first:
        return False
    p, q = table.weigh(state[n:], rates, told)
    write_target(state, work, p, q)
    table.project(index, numbers, work[:n], links, scratch, work[n : 2 * n])
    table.after_step(state[n:], rates, told, move_to_projection(state, work, state[:n]))
    add_told(units, Gf, Gg, cost, value)
    return True


class ProjectedStep(Projecting):
    """x_{t+1} = P(x_t - p_t grad f_t - q_t grad g_t^+), where two kernels make p_t and q_t.

    Gradients are taken along the set (`tangent`). The compiled loop of `simulate` calls the same
    kernels, for a class that leaves `ask` and `tell` as they are.

    Args:
        decision_set: where to play; it must know its projection.
        weigh: the kernel that makes them, with the signature `WEIGH`; None where Python does.
        rates: the numbers that it reads, after the unit and the eagerness.
        unit: the unit in which distances are measured.
        eagerness: the factor on the constraint.
        horizon: the number of rounds that the rates were made for; None where they are anytime.

    """

    after_step: ClassVar[Callable[..., None]] = no_after_step
    """The kernel that looks back, with the signature `AFTER_STEP`."""
    waiting: ClassVar[str] = "queue"
    """What its number is called in the state."""

    def __init__(
        self,
        decision_set: DecisionSet,
        weigh: Callable[..., tuple[float, float]] | None,
        rates: tuple[float, ...],
        unit: float,
        eagerness: float,
        horizon: int | None,
    ):
        super().__init__(decision_set, horizon, **{self.waiting: 1})
        self.unit, self.eagerness, self._weigh_kernel = unit, eagerness, weigh
        self._rates = np.array([unit, eagerness, *rates])
        self._work = np.zeros(4 * decision_set.dim)

    def tell(self, cost: EvalGrad, constraint: EvalGrad, *, at: Vector | None = None) -> None:
        """Take one projected step, then look back.

        Args:
            cost: what was seen of the cost.
            constraint: what was seen of the constraint.
            at: the earlier play that late feedback is about.

        """
        n, seen_at = self.decision_set.dim, self._seen_at(at)
        for seen, name in ((cost, "cost"), (constraint, "constraint")):
            needs(EvalGrad, seen, "this policy", name)
        f, g = checked(cost, "cost", n), checked(constraint, "constraint", n)
        if self.weighed_table is not None and at is None:
            products = dots_and_norms(f.grad, g.grad, self._state.array[:n])
            play_weighed(self._round, f.grad, f.value, g.grad, g.value, products, 0)
        else:
            self._step(f, g, seen_at)
        warn_beyond(self.rounds, self.horizon)

    def _step(self, f: EvalGrad, g: EvalGrad, seen_at: Vector) -> None:
        """Take the step where feedback is late, or the projection or the weights are no kernels."""
        X, state, work, n = self.decision_set, self._state.array, self._work, f.grad.size
        work[2 * n : 3 * n], work[3 * n :] = X.tangent(f.grad), X.tangent(g.grad)
        write_target(state, work, *self._weigh(g.value))
        work[n : 2 * n] = self._workspace.project(work[:n])
        type(self).after_step(
            state[n:], self._rates, g.value, move_to_projection(state, work, seen_at)
        )

    def _weigh(self, value: float) -> tuple[float, float]:
        """Count the round and return p_t and q_t."""
        assert self._weigh_kernel is not None
        return self._weigh_kernel(self._state.array[self.decision_set.dim :], self._rates, value)

    @property
    def rounds(self) -> int:
        """How many rounds it was told."""
        return int(self._state["t"][0])

    @cached_property
    def weighed_table(self) -> Any:
        """The kernels and arrays of a whole step; None where a part of it is Python."""
        weigh = self._weigh_kernel
        return None if weigh is None else table_of(self, weigh)

    @cached_property
    def _round(self) -> Any:
        return step_rounds.filled(step=self.weighed_table, units=NO_UNITS, offsets=NO_NUMBERS)

    def compiled_rounds(
        self, feedback: Feedback, units: Vector = NO_UNITS
    ) -> CompiledRounds | None:
        """Return its rounds for the compiled loops, in these units; None where a part has none."""
        written = not_overridden(self, ProjectedStep, "ask", "tell") and feedback is first_order
        return StepRounds(self, units) if written and self.weighed_table is not None else None


class StepRounds(CompiledRounds):
    """Rounds of a policy that takes one projected step in each.

    Args:
        policy: who plays.
        units: the state of the `Normalised` around it, empty without one.

    """

    feedback: Feedback = staticmethod(first_order)
    play_kernel: ClassVar[Callable[..., bool]] = play_weighed

    def __init__(self, policy: Any, units: Vector):
        self._policy, self._units = policy, units
        self._known = self._filled(NO_NUMBERS)

    def _filled(self, offsets: Vector) -> Any:
        table = step_rounds.filled(
            step=self._policy.weighed_table, units=self._units, offsets=offsets
        )
        x = self._policy._state.array[: self._policy.decision_set.dim]
        return policy_of(type(self).play_kernel, table, x)

    def begin(self, rounds: Any, first: int, end: int) -> tuple[Any, int]:  # noqa: ARG002
        """Return the table, and the round in which the policy warns of its horizon."""
        return self._known, before_warning(first, end, self._policy.rounds, self._policy.horizon)

    def finish(self, played: int) -> None:
        """Leave everything as it is: the policy's state is complete after each round."""
