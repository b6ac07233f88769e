"""Policies that take one projected step per round: one kernel around the set's projection.

The kernel is the whole round. `tell` and the compiled loops call it with the set's kernels in its
table; where a part is written in Python, `tell` runs the same lines with Python functions there.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numba import types

from hedgerow._engine.kernel import function, kernel, nothing, number, read, write
from hedgerow._engine.signatures import SPACE
from hedgerow._engine.table import TableType
from hedgerow.feedback import EvalGrad, first_order
from hedgerow.inputs import Vector
from hedgerow.kernels.oracles import oracle_type
from hedgerow.kernels.rounds import SEEN_ROUND, is_accepted, policy_of
from hedgerow.kernels.tangents import along, along_type
from hedgerow.kernels.vectors import copy, dots_and_norms, two
from hedgerow.learners.arguments import before_warning, warn_beyond
from hedgerow.learners.projected_point import ProjectedPoint
from hedgerow.protocols.late_feedback import as_play
from hedgerow.protocols.parts import Feedback
from hedgerow.protocols.rounds import CompiledRounds
from hedgerow.sets.compiled import EMPTY_SPACE, kernel_matches, not_overridden
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.surrogates.queued import checked

Array = Any
Kernel = Callable[..., Any]
STEP_WEIGHTS = (two, write, read, number)
"""step_weights(own, rates, value) returns the two numbers of a step, given value = g_t(x_t) and the
round t = own[ROUND]. Of a projected step these are the lengths p, q in
x_{t+1} = P(x_t - p grad f_t - q grad g_t), q = 0 where the value is not above 0; of a penalised
step they are w_t and alpha_t."""
AFTER_STEP = (nothing, write, read, number, number)
"""after_step(own, rates, value, change) updates the dual variable after the step. Of a projected
step, change = <grad g_t, x_{t+1} - x>, where x is the point of the feedback; of a penalised one,
change = g_t^+(x_{t+1})."""
ROUND, PROJECTIONS, QUEUE = range(3)
"""`own`, the numbers of the state after the play."""
UNIT, EAGERNESS, RATES = range(3)
"""`rates`, of which the policy's own follow."""
POLICY_FIELDS = {
    "state": write,  # [x | own]
    "work": write,  # memory
    "rates": read,
    "step_weights": function(*STEP_WEIGHTS),
    "after_step": function(*AFTER_STEP),
}
SET_FIELDS = {"space": SPACE, "tangent": along_type, "project": oracle_type}
"""What tables hold of a policy, and of its set."""
projected_table = TableType(
    "ProjectedTable",
    POLICY_FIELDS | SET_FIELDS | {"at": read},  # the point of the feedback
)


@kernel(*AFTER_STEP)
def no_after_step(own: Array, rates: Array, value: float, change: float) -> None:
    """Do nothing: the policy has no update after the step."""


@kernel(nothing, read, write, number, number)
def write_target(x: Array, work: Array, p: float, q: float) -> None:
    """Write x - p grad f - q grad g, the point to project, to the first part of `work`."""
    n = len(x)
    for i in range(n):
        work[i] = x[i] - (p * work[2 * n + i] + q * work[3 * n + i])


@kernel(number, read, read, read)
def linear_change(grad: Array, x: Array, at: Array) -> float:
    """Return <grad, x - at>, summed in the order of the coordinates."""
    change = 0.0
    for i in range(len(x)):
        change += grad[i] * (x[i] - at[i])
    return change


@kernel(types.boolean, projected_table, *SEEN_ROUND)
def play_projected(
    table: Any,
    a: Array,
    cost: float,
    c: Array,
    value: float,
    products: tuple[float, float, float, float],
    k: int,
) -> bool:
    """Take in a round by a projected step, as `kernels/rounds.py` describes it."""
    if not is_accepted(cost, value, products):
        return False
    n, work, rates = len(a), table.work, table.rates
    x, own = table.state[:n], table.state[n:]
    index, numbers, links, scratch, label, members = table.space
    target, answer = work[:n], work[n : 2 * n]
    grad_f, grad_g = work[2 * n : 3 * n], work[3 * n : 4 * n]
    table.tangent(label, members, a, grad_f)  # what is constant on the set moves no projection
    table.tangent(label, members, c, grad_g)
    queue = own[QUEUE]
    own[ROUND] += 1.0
    # x_{t+1} = P(x_t - p grad f_t - q grad g_t)
    p, q = table.step_weights(own, rates, value)
    write_target(x, work, p, q)
    table.project(index, numbers, target, links, scratch, answer)
    change = linear_change(grad_g, answer, table.at)
    if change != change:  # NaN: the projection failed, so take the round back
        own[ROUND] -= 1.0
        own[QUEUE] = queue
        return False
    copy(x, answer)
    own[PROJECTIONS] += 1.0
    table.after_step(own, rates, value, change)
    return True


def play_in_python(play: Kernel, table: Any, *seen: Any) -> None:
    """Play a round by a kernel whose table has Python functions in it; it runs in Python."""
    before = table.state.copy()
    try:
        played = play(table, *seen)
    except Exception:  # a constraint or a projection that raises leaves the policy as it was
        table.state[:] = before
        raise
    if not played:
        raise ValueError(
            "the step of this round leaves the range of float64; measure cost and constraint in "
            "larger units"
        )


class ProjectingPolicy(ProjectedPoint):
    """A point that moves once per round, by a kernel around the set's projection.

    Args:
        decision_set: where to play; it must know its projection.
        step_weights: the kernel of the step's two numbers, with the signature `STEP_WEIGHTS`.
        rates: the numbers that it reads: the unit of distances, the eagerness, and its own.
        memory: how many numbers the step needs to work in.
        horizon: the number of rounds that the rates were made for; None where they are anytime.
        sizes: names and lengths of the numbers of the state after t and projections.

    """

    feedback: Feedback
    play: ClassVar[Kernel]
    """The kernel of a round, with the signature of `kernels/rounds.py`."""
    after_step: ClassVar[Kernel] = no_after_step
    """The kernel that updates the dual variable, with the signature `AFTER_STEP`."""
    convex: ClassVar[bool] = True
    """Whether the compiled loops may give it other functions than linear ones."""

    def __init__(
        self,
        decision_set: DecisionSet,
        step_weights: Kernel,
        rates: tuple[float, ...],
        memory: int,
        horizon: int | None = None,
        **sizes: int,
    ):
        super().__init__(decision_set, None, **sizes)
        self.horizon, self._step_weights = horizon, step_weights
        self._rates, self._work = np.array(rates), np.zeros(memory)

    @property
    def rounds(self) -> int:
        """The number of rounds so far."""
        return int(self._state["t"][0])

    @property
    def _x(self) -> Vector:
        return self._state.array[: self.decision_set.dim]

    @property
    def _fields(self) -> dict[str, Any]:
        """What `POLICY_FIELDS` names."""
        return {
            "state": self._state.array,
            "work": self._work,
            "rates": self._rates,
            "step_weights": self._step_weights,
            "after_step": type(self).after_step,
        }

    @cached_property
    def set_kernels(self) -> dict[str, Any] | None:
        """What `SET_FIELDS` names; None where a part of the step is Python."""
        space = self._workspace.space
        if space is None or not kernel_matches(self.decision_set, "project"):
            return None
        compiled = space.compiled
        if compiled.projection is None:
            return None
        whole = (*space.arrays, compiled.label, compiled.members)
        return {"space": whole, "tangent": along, "project": compiled.projection}

    @cached_property
    def set_in_python(self) -> dict[str, Any]:
        """The same as Python functions."""

        def tangent(_label: Any, _members: Any, c: Vector, t: Vector) -> None:
            t[:] = self.decision_set.tangent(c)

        def project(_i: Any, _n: Any, y: Vector, _l: Any, _s: Any, x: Vector) -> None:
            x[:] = self._workspace.project(y)

        return {"space": EMPTY_SPACE, "tangent": tangent, "project": project}

    @abstractmethod
    def table(self, rounds: Any, first: int) -> Any:
        """Return the table of the rounds of a chunk from `first` on."""

    def _compiled_rounds(self, base: type, feedback: Feedback) -> CompiledRounds | None:
        """Return the rounds of a class that leaves `ask` and `tell` of this base as they are."""
        written = not_overridden(self, base, "ask", "tell") and feedback is self.feedback
        return StepRounds(self) if written and self.set_kernels is not None else None


class StepRounds(CompiledRounds):
    """Rounds of a policy that takes one step in each.

    Args:
        policy: the policy; its set has kernels.

    """

    def __init__(self, policy: ProjectingPolicy):
        self._policy, self.feedback, self.convex = policy, policy.feedback, policy.convex
        self._known: tuple[Any, Any] = None, None  # the last table, and the policy with it

    def begin(self, rounds: Any, first: int, end: int) -> tuple[Any, int]:
        """Return the table, and the round in which the policy warns of its horizon."""
        policy = self._policy
        end = before_warning(first, end, policy.rounds, policy.horizon)
        table = policy.table(rounds, first)
        if table is not self._known[0]:
            self._known = table, policy_of(type(policy).play, table, policy._x)
        return self._known[1], end

    def finish(self, played: int) -> None:
        """Leave everything as it is: the policy's state is complete after each round."""


class ProjectedStep(ProjectingPolicy):
    """x_{t+1} = P(x_t - p_t grad f_t - q_t grad g_t^+), with p_t and q_t made by a kernel.

    Gradients are taken along the set (`tangent`).

    Args:
        decision_set: where to play; it must know its projection.
        step_weights: the kernel that makes them, with the signature `STEP_WEIGHTS`.
        rates: the numbers that it reads, after the unit and the eagerness.
        unit: the unit in which distances are measured.
        eagerness: the factor on the constraint.
        horizon: the number of rounds that the rates were made for; None where they are anytime.

    """

    feedback: Feedback = staticmethod(first_order)
    play = play_projected
    dual_name: ClassVar[str] = "queue"
    """What its dual variable is called in the state."""

    def __init__(
        self,
        decision_set: DecisionSet,
        step_weights: Kernel,
        rates: tuple[float, ...],
        unit: float,
        eagerness: float,
        horizon: int | None,
    ):
        numbers, memory = (unit, eagerness, *rates), 4 * decision_set.dim
        sizes = {self.dual_name: 1}
        super().__init__(decision_set, step_weights, numbers, memory, horizon, **sizes)
        self.unit, self.eagerness = unit, eagerness

    def tell(self, cost: EvalGrad, constraint: EvalGrad, *, at: Vector | None = None) -> None:
        """Take one projected step, then update the dual variable.

        Args:
            cost: what was seen of the cost.
            constraint: what was seen of the constraint.
            at: the earlier play that late feedback is about.

        """
        X, x = self.decision_set, self._x
        point = x if at is None else as_play(at, X, x)
        f, g = checked(cost, "cost", X), checked(constraint, "constraint", X)
        now = f.grad, f.value, g.grad, g.value, dots_and_norms(f.grad, g.grad, x), 0
        table = self._table if at is None else self._table_at(point)
        if table is None or not play_projected(table, *now):
            table = projected_table.filled(**self._fields, **self.set_in_python, at=point)
            play_in_python(play_projected, table, *now)
        warn_beyond(self.rounds, self.horizon)

    @cached_property
    def _table(self) -> Any:
        return self._table_at(self._x)

    def _table_at(self, point: Vector) -> Any:
        """Return the table of rounds seen at this point; None where a part of them is Python."""
        kernels = self.set_kernels
        return kernels and projected_table.filled(**self._fields, **kernels, at=point)

    def table(self, rounds: Any, first: int) -> Any:  # noqa: ARG002
        """Return the table, the same for all rounds."""
        return self._table

    def compiled_rounds(self, feedback: Feedback) -> CompiledRounds | None:
        """Return its rounds for the compiled loops; None where a part of them is Python."""
        return self._compiled_rounds(ProjectedStep, feedback)
