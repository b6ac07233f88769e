"""What policies share that stand alone and move by Euclidean projections: no units, and presets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Generic, Literal, TypeVar, cast

import numpy as np

from hedgerow.feedback import EvalGrad, Full, first_order, needs
from hedgerow.functions import scaled
from hedgerow.inputs import Vector, as_count, as_positive
from hedgerow.kernels.units import NO_UNITS, inverse
from hedgerow.learners.arguments import warn_beyond
from hedgerow.learners.projected_point import ProjectedPoint
from hedgerow.policies.presets import (
    Lipschitz,
    Preset,
    check_preset,
    needed_lipschitz,
    refuse_eagerness,
)
from hedgerow.policies.summary import TOTALS, Summary, add_round, summary_of
from hedgerow.protocols.late_feedback import as_play, refuse_late, takes_late
from hedgerow.protocols.parts import Feedback, ResumablePolicy
from hedgerow.protocols.rounds import CompiledRounds
from hedgerow.sets.compiled import not_overridden
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Restorable, State, Stateful
from hedgerow.surrogates.queued import checked

Seen = TypeVar("Seen", bound=EvalGrad | Full)


class Normalised(Stateful, Generic[Seen]):
    """Tells a policy f_t / Gf and g_t / Gg, so that it needs to know no Lipschitz constant.

    Gf and Gg are the largest tangent norms of grad f and grad g so far. The wrapped policy is
    built for Lipschitz constant 1. Multiplying all costs by a power of two, or all constraints by
    another, leaves the plays unchanged; other factors change them by rounding. What was told in
    earlier rounds keeps the unit it had then, so no theorem about the wrapped policy is claimed.
    Where no constraint's gradient has been felt the constraint is told as zero: no play can help.

    Args:
        policy: built for Lipschitz constant 1; the set's diameter is its own.

    """

    def __init__(self, policy: ResumablePolicy[Seen, Seen]):
        self.policy = policy
        self._late = policy if takes_late(policy) else None
        self._state = State(G=2, **dict.fromkeys(TOTALS, 1))

    @property
    def decision_set(self) -> DecisionSet:
        """Where the wrapped policy plays."""
        return self.policy.decision_set

    @property
    def feedback(self) -> Feedback:
        """What the wrapped policy learns from."""
        return self.policy.feedback

    @property
    def oracle_calls(self) -> int:
        """How many linear minimisations the wrapped policy has asked for."""
        return self.policy.oracle_calls

    @property
    def projections(self) -> int:
        """The wrapped policy's; 0 where it never projects."""
        return int(getattr(self.policy, "projections", 0))

    @property
    def oblivious_only(self) -> bool:
        """Whether the wrapped policy's guarantee fails against rounds that react to its plays."""
        return self.policy.oblivious_only

    def ask(self) -> Vector:
        """Return the wrapped policy's play."""
        return self.policy.ask()

    def compiled_rounds(
        self, feedback: Feedback, units: Vector = NO_UNITS
    ) -> CompiledRounds | None:
        """Return the wrapped policy's rounds for the compiled loops, in units of this one."""
        make = getattr(self.policy, "compiled_rounds", None)
        if make is None or units.size or not not_overridden(self, Normalised, "ask", "tell"):
            return None
        rounds: CompiledRounds | None = make(feedback, self._state.array)
        return rounds

    def summary(self) -> Summary:
        """Return the totals of the rounds so far, in their own units."""
        return summary_of(self._state, (None, None), self.oracle_calls, self.projections)

    def tell(self, cost: Seen, constraint: Seen, *, at: Vector | None = None) -> None:
        """Measure both gradients, then tell the round without units.

        Args:
            cost: what was seen of the cost.
            constraint: what was seen of the constraint.
            at: the earlier play that late feedback is about, for a wrapped policy that takes it.

        """
        if self._late is None:
            refuse_late(self.policy, at)
        X = self.decision_set
        f, g = _checked(cost, "cost", X.dim), _checked(constraint, "constraint", X.dim)
        sizes = [X.tangent_norm(f.grad), X.tangent_norm(g.grad)]
        Gf, Gg = np.maximum(self._state["G"], sizes)
        told = _times(f, inverse(Gf)), _times(g, inverse(Gg))
        if at is None or self._late is None:
            self.policy.tell(*told)
        else:
            self._late.tell(*told, at=at)
        self._state["G"][:] = Gf, Gg
        add_round(self._state, f.value, g.value)

    @property
    def _parts(self) -> dict[str, Restorable]:
        return {"policy": self.policy}


def _checked(seen: Seen, name: str, dim: int) -> Seen:
    if not isinstance(seen, Full):
        needs(EvalGrad, seen, "this policy", name)
    whole = checked(EvalGrad(seen.value, seen.grad), name, dim)
    return replace(seen, value=whole.value, grad=whole.grad)


def _times(seen: Seen, factor: float) -> Seen:
    """Return what would be seen of the function times a factor."""
    told = replace(seen, value=factor * seen.value, grad=factor * seen.grad)
    if isinstance(told, Full):
        return cast(Seen, replace(told, function=scaled(told.function, factor)))
    declared = told.lipschitz
    return cast(Seen, replace(told, lipschitz=None if declared is None else factor * declared))


class Projecting(ProjectedPoint):
    """A point that moves by projections, told of costs and constraints.

    Args:
        decision_set: where to play; it must know its projection.
        horizon: the round after which it warns once, or None.
        sizes: names and lengths of further numbers of the state.

    """

    feedback: Feedback = staticmethod(first_order)

    def __init__(
        self,
        decision_set: DecisionSet,
        horizon: int | None = None,
        **sizes: int,
    ):
        super().__init__(decision_set, None, **sizes)
        self.horizon = horizon

    def _seen(self, kind: type[Seen], cost: Seen, constraint: Seen) -> tuple[Seen, Seen]:
        """Return both feedbacks, checked, with gradients along the set."""
        return self._part(kind, cost, "cost"), self._part(kind, constraint, "constraint")

    def _part(self, kind: type[Seen], seen: Seen, name: str) -> Seen:
        needs(kind, seen, "this policy", name)
        X = self.decision_set
        whole = checked(EvalGrad(seen.value, seen.grad), name, X.dim)
        return replace(seen, value=whole.value, grad=X.tangent(whole.grad))

    def _seen_at(self, at: Vector | None) -> Vector:
        """Return the point that feedback is about: the present play unless it is late."""
        x = self.ask()
        return x if at is None else as_play(at, self.decision_set, x)

    def _round(self) -> int:
        """Begin to work on a round and return its number, from 1 on."""
        self._state["t"][0] += 1.0
        t = int(self._state["t"][0])
        warn_beyond(t, self.horizon)
        return t


def stand_alone(
    build: Callable[[float, float], ResumablePolicy[Seen, Seen]],
    decision_set: DecisionSet,
    horizon: int | None,
    preset: Preset,
    lipschitz: Lipschitz | Literal["not needed"],
    eagerness: float,
    tuned: float = 1.0,
) -> ResumablePolicy[Seen, Seen]:
    """Build a stand-alone policy in one of its presets; a horizon is checked, not needed.

    Args:
        build: makes the policy from (G, eagerness).
        decision_set: where to play.
        horizon: the number of rounds, or None.
        preset: "theory" builds it with G = lipschitz, "practical" with G = 1 and no units.
        lipschitz: a bound of all gradients' norms, which the theory preset needs; "not needed"
            where the theorem's constants know none.
        eagerness: the user's factor on the constraint's weight; 1 in the theory preset.
        tuned: the factor on it that eagerness 1 means in the practical preset.

    How `tuned` was chosen, for all alike: the score is the mean of 100 (regret^+/(Gf D T) +
    CCV/(Gg D T)) over `IidSimplex`, `QuadraticBox`, `HalfspaceBox`, `OrthogonalBall`,
    `SwitchingBall` and `ShortestPath.atlas_like(nodes=60, edges=300)`, T = 1600, seeds 1 and 2. The
    grid is 0.1, 0.3, 1, 3, ..., 1000, for `yu_neely_2020` also 0.01 and 0.03, and for `guo_recoo`,
    `yi_2021` and `yi_2023`, which are slow, the neighbours of the value that was best at T = 400.
    The best score wins; where it is flat above some factor, within about a twentieth
    (`liakopoulos_cold`, `guo_recoo` and both of Yi), the factor that was best at T = 400 stays. One
    grid step above the choice, `jenatton_2016` and `yuan_lamperski_2018` swing.

    """
    check_preset(preset, decision_set, horizon)
    if preset == "theory":
        refuse_eagerness(eagerness)
        return build(1.0 if lipschitz == "not needed" else needed_lipschitz(lipschitz), 1.0)
    if lipschitz not in (None, "not needed"):
        raise ValueError("the practical preset learns lipschitz; leave it out, or use 'theory'")
    return Normalised(build(1.0, tuned * as_positive(eagerness, "eagerness")))


def rounds_needed(horizon: int | None, name: str, least: int = 1) -> int:
    """Return the horizon, which the steps of this policy are made of in both presets."""
    if horizon is None:
        raise ValueError(
            f"{name} needs a horizon in both presets, its steps are made of it; give the number "
            "of rounds, or take an anytime policy: jenatton_2016, guo_recoo, yi_2021 or yi_2023"
        )
    return as_count(horizon, "horizon", least=least)


def units(preset: Preset, decision_set: DecisionSet) -> tuple[float, float]:
    """Return the unit of length and the set's reach R in it, a bound of all distances to x_1.

    Theory: 1 and the diameter. Practical: the diameter and 1, so that a set of twice the size has
    the same plays, twice as large.
    """
    diameter = decision_set.diameter or 1.0  # a single point: any length will do
    return (1.0, diameter) if preset == "theory" else (diameter, 1.0)
