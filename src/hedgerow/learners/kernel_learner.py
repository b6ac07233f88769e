"""A learner whose algorithm is two kernels around one oracle call; the object is their handle."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from hedgerow._engine.kernel import kernel
from hedgerow._engine.signatures import AFTER_STEP, REGULARISE, STEP_SIZE, step_rule
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import LARGEST_GRADIENT, Vector, as_gradient, as_number
from hedgerow.kernels.policy_tables import (
    UNDECLARED,
    CompiledStep,
    oracle_step,
    set_table,
    step_table,
    tell_learner,
)
from hedgerow.kernels.tangents import along, unused
from hedgerow.learners.arguments import warn_beyond
from hedgerow.protocols.player import StatefulPlayer
from hedgerow.sets.compiled import Compiled, kernel_matches, not_overridden, python_set
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
    """Return 0: the learner has no step rule."""
    return 0.0


@kernel(*STEP_SIZE)
def no_step(rule: Vector, t: float, beta: float, gap: float, distance2: float) -> float:
    """Return 0: the learner has no step rule."""
    return 0.0


@kernel(*AFTER_STEP)
def learn_nothing(rule: Vector, margin: float, left: float) -> None:
    """Do nothing: the rule learns nothing from steps."""


NO_RULE = StepKernels(no_regulariser, no_step, learn_nothing)
"""For a learner without a step rule, or with one kernel of it: `NO_RULE._replace(...)`."""


class KernelLearner(StatefulPlayer):
    """Online learning in two kernels: `before_oracle` says where to ask, `after_oracle` moves.

    `tell` checks the loss and calls `kernels.policy_tables.oracle_step`: the first kernel, the
    oracle, the second kernel. The compiled loops of `simulate` call the same kernel, for a class
    that leaves `ask` and `tell` as they are.

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
    """Whether the oracle is the Euclidean projection, and losses are taken along the set."""
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
        self._answer = self._work[n : 2 * n]
        self._noise_at = 3 * n + NUMBERS  # in `_work`
        self._workspace = X.workspace()

    def ask(self) -> Vector:
        """Return x_t."""
        return self._state["x"].copy()

    def tell(self, loss: EvalGrad) -> None:
        """Take the gradient at x_t and move to x_{t+1}."""
        s, declared = self._checked(loss)
        tell_learner(self.step_table, s, self._noise(), declared)
        if self.horizon is not None:
            warn_beyond(self.rounds, self.horizon)

    @property
    def rounds(self) -> int:
        """The number of losses that it has learnt from."""
        return int(self._state["t"][0])

    @cached_property
    def step_table(self) -> Any:
        """The arrays and kernels of a step; parts of the set that are Python are functions."""
        space = self._workspace.space
        if space is None or (self.projects and not self._projects_by_kernel(space.compiled)):
            ask = self._workspace.project if self.projects else self._workspace.lmo
            set_ = python_set(ask, self._measure)
            return self._step_table(set_, along=self._along, lists=False)
        compiled = space.compiled
        ones = compiled.list_ones if self.takes_ones else None
        return self._step_table(
            set_table.filled(
                space=(*space.arrays, compiled.label, compiled.members),
                measure=compiled.measure,
                oracle=ones or (compiled.projection if self.projects else compiled.oracle),
            ),
            along=along if self.projects else unused,
            lists=ones is not None,
        )

    def _projects_by_kernel(self, compiled: Compiled) -> bool:
        return compiled.projection is not None and kernel_matches(self.decision_set, "project")

    def _step_table(
        self, set_: Any, along: Any, lists: bool, after_oracle: Kernel | None = None
    ) -> Any:
        kind = type(self)
        return step_table.filled(
            state=self._state.array,
            work=self._work,
            before_oracle=kind.before_oracle,
            after_oracle=after_oracle or kind.after_oracle,
            steps=step_rule.filled(**self.rule._asdict()),
            set=set_,
            noise=self._noise_at,
            tangent=self.projects,
            along=along,
            lists=lists,
        )

    def _measure(self, s: Vector) -> float:
        """Return the squared norm of a loss along the set."""
        return self.decision_set.tangent_norm2(s)[0]

    def _along(self, label: Any, members: Any, s: Vector, t: Vector) -> None:  # noqa: ARG002
        t[:] = self.decision_set.tangent(s)

    def _tell_without_oracle(self, loss: EvalGrad, after_oracle: Kernel) -> None:
        """Take in a loss and move by another kernel, without an answer of the oracle."""
        s, declared = self._checked(loss)
        set_ = python_set(lambda _: self._answer, self._measure)  # which stays as it is
        tell_learner(
            self._step_table(set_, unused, False, after_oracle), s, self._noise(), declared
        )

    def compiled_step(self) -> CompiledStep | None:
        """Return its step for compiled rounds; None where a part of it is Python or replaced."""
        if self.step_table.in_python or not not_overridden(self, KernelLearner, "ask", "tell"):
            return None
        n = self.decision_set.dim
        x, loss = self._state.array[:n], self._work[2 * n : 3 * n]
        return CompiledStep(oracle_step, self.step_table, x, loss)

    def _noise(self) -> Vector:
        return NO_NOISE

    def _checked(self, loss: EvalGrad) -> tuple[Vector, float]:
        """Return the gradient and the declared Lipschitz constant, or refuse the loss."""
        as_number(loss.value, "the value of the loss")
        s = as_gradient(loss.grad, "the gradient of the loss", self.decision_set)
        if loss.lipschitz is None:
            return s, UNDECLARED
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
