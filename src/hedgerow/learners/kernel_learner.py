"""A learner whose algorithm is two kernels around one oracle call; the object is their handle."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from hedgerow._engine.kernel import kernel
from hedgerow._engine.signatures import AFTER_STEP, REGULARISE, STEP_SIZE
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import LARGEST_GRADIENT, Vector, as_gradient, as_number
from hedgerow.kernels import policy_tables as tables
from hedgerow.kernels.tangents import along, unused
from hedgerow.kernels.vectors import dot
from hedgerow.learners.arguments import warn_beyond
from hedgerow.protocols.player import StatefulPlayer
from hedgerow.sets.compiled import NO_INDEX, kernel_matches, not_overridden
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Restorable, State, aligned_zeros

Kernel = Callable[..., Any]
NO_NOISE = np.zeros(0)
NUMBERS = 8
"""How many numbers a learner may hand from its first kernel to its second."""


class StepKernels(NamedTuple):
    """A step rule's kernels; `_engine/signatures.py` says what each takes."""

    regularise: Kernel
    step_size: Kernel
    after_step: Kernel


@kernel(*REGULARISE)
def no_regulariser(rule: Vector, t: float, loss: tuple[float, float, float]) -> float:
    """0, of a learner that asks no rule."""
    return 0.0


@kernel(*STEP_SIZE)
def no_step(rule: Vector, t: float, beta: float, gap: float, distance2: float) -> float:
    """0, of a learner that asks no rule."""
    return 0.0


@kernel(*AFTER_STEP)
def learn_nothing(rule: Vector, margin: float, left: float) -> None:
    """A rule that does not look back."""


NO_RULE = StepKernels(no_regulariser, no_step, learn_nothing)
"""Of a learner whose kernels ask no rule, or replace the one of these that they ask."""


class KernelLearner(StatefulPlayer):
    """Online learning in two kernels: `before_oracle` says where to ask, `after_oracle` moves.

    `tell` checks the loss and calls the first kernel, the oracle, the second kernel. The compiled
    loop of `simulate` calls the same three, for a class that leaves `ask` and `tell` as they are.

    Args:
        decision_set: where to play.
        numbers: names and sizes of the state after x; `t`, the round, is one of them.
        rule: the kernels of the step rule, if it has one.
        x1: the first play, a point of the set; the set's own start if left out.
        horizon: the round after which `tell` warns, if any.
        scratch: how many numbers of scratch memory its kernels need, at the end of `work`.

    """

    oblivious_only = False
    before_oracle: ClassVar[Kernel]
    after_oracle: ClassVar[Kernel]
    projects: ClassVar[bool] = False
    """Whether the oracle is the Euclidean projection, told losses along the set."""
    draws: ClassVar[bool] = False
    """Whether its kernels need noise: `draw(rounds)` returns a row for each round, and
    `give_back(played)` notes how many were used."""
    takes_ones: ClassVar[bool] = False
    """Whether its kernels understand an answer that is the list of its ones."""

    def __init__(
        self,
        decision_set: DecisionSet,
        numbers: dict[str, int],
        rule: StepKernels = NO_RULE,
        x1: Vector | None = None,
        horizon: int | None = None,
        scratch: int = 0,
    ):
        X = self.decision_set = decision_set
        n = X.dim
        self.horizon, self.rule = horizon, rule
        self._state = State(x=n, **numbers)
        self._state["x"][:] = X.start() if x1 is None else x1
        self._work = aligned_zeros((4 if self.projects else 3) * n + NUMBERS + scratch)
        self._direction, self._answer = self._work[:n], self._work[n : 2 * n]
        self._workspace = X.workspace()

    def ask(self) -> Vector:
        """Return x_t."""
        return self._state["x"].copy()

    def tell(self, loss: EvalGrad) -> None:
        """Take the gradient at x_t and move to x_{t+1}."""
        s, declared = self._checked(loss)
        noise = self._noise()
        if self.step_table is not None:
            tables.tell_learner(self.step_table, s, noise, declared)
        elif self._before(s, declared, noise):
            ask = self._workspace.project if self.projects else self._workspace.lmo
            self._answer[:] = ask(self._direction)
            tables.after_oracle(self._table, s.size, NO_INDEX)
        if self.horizon is not None:
            warn_beyond(self.rounds, self.horizon)

    @property
    def rounds(self) -> int:
        """How many losses it was told."""
        return int(self._state["t"][0])

    @cached_property
    def _table(self) -> Any:
        return self._bound(type(self).after_oracle)

    def _bound(self, after_oracle: Kernel) -> Any:
        """Return the table of its arrays and kernels, this one after the oracle."""
        rule = self.rule
        return tables.learner_table.filled(
            state=self._state.array,
            work=self._work,
            before_oracle=type(self).before_oracle,
            after_oracle=after_oracle,
            regularise=rule.regularise,
            step_size=rule.step_size,
            after_step=rule.after_step,
        )

    @cached_property
    def step_table(self) -> Any:
        """The kernels and arrays of a whole step, its oracle too; None where that is Python."""
        space, X = self._workspace.space, self.decision_set
        if space is None:
            return None
        compiled, answer = space.compiled, space.compiled.oracle
        if self.projects:
            if compiled.projection is None or not kernel_matches(X, "project"):
                return None
            answer = compiled.projection
        ones = compiled.list_ones if self.takes_ones else None
        return tables.step_table.filled(
            learner=self._table,
            space=(*space.arrays, compiled.label, compiled.members),
            tangent=self.projects,
            lists=ones is not None,
            measure=compiled.measure,
            oracle=ones or answer,
            along=along if self.projects else unused,
        )

    def compiled_step(self) -> tables.CompiledStep | None:
        """Return its step for compiled rounds; None where a part of it is Python or replaced."""
        if self.step_table is None or not not_overridden(self, KernelLearner, "ask", "tell"):
            return None
        n = self.decision_set.dim
        x, loss = self._state.array[:n], self._work[2 * n : 3 * n]
        return tables.CompiledStep(tables.oracle_step, self.step_table, x, loss)

    def _noise(self) -> Vector:
        return NO_NOISE

    def _before(self, s: Vector, declared: float, noise: Vector) -> bool:
        """Take in a loss; return whether the oracle is to be asked for the direction."""
        X = self.decision_set
        tangent2, plain2 = X.tangent_norm2(s)
        if self.projects:
            n = s.size
            self._work[3 * n : 4 * n] = X.tangent(s)
        inner = dot(s, self._state["x"])
        needed: bool = tables.before_oracle(
            self._table, s, noise, inner, (tangent2, plain2, declared)
        )
        return needed

    def _checked(self, loss: EvalGrad) -> tuple[Vector, float]:
        """Return the gradient and the declared Lipschitz constant, or refuse the loss."""
        as_number(loss.value, "the value of the loss")
        s = as_gradient(loss.grad, "the gradient of the loss", self.decision_set.dim)
        if loss.lipschitz is None:
            return s, tables.UNDECLARED
        declared = as_number(loss.lipschitz, "the loss's lipschitz")
        if not 0.0 <= declared <= LARGEST_GRADIENT:
            raise ValueError(
                f"the loss's lipschitz must lie between 0 and {LARGEST_GRADIENT:g}, got "
                f"{declared:g}; leave it out to use the gradient's norm"
            )
        return s, declared

    @property
    def _parts(self) -> dict[str, Restorable]:
        return {"workspace": self._workspace}
