"""Policies that need no Lipschitz constant: rounds in units of the gradients seen, and presets."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, Literal, NamedTuple, TypeVar, cast

import numpy as np
from numba import types

from hedgerow._engine.kernel import index, kernel, nothing, number, read, write
from hedgerow._engine.table import TableType
from hedgerow.feedback import (
    EvalGrad,
    Full,
    first_order,
    first_order_each,
    full_information,
    in_order,
    needs,
)
from hedgerow.functions import scaled
from hedgerow.inputs import Vector, as_count, as_positive
from hedgerow.kernels.rounds import SEEN_ROUND, is_accepted, policy_of, policy_table
from hedgerow.kernels.tangents import measures
from hedgerow.kernels.vectors import dots_and_norms
from hedgerow.policies.presets import (
    Lipschitz,
    Preset,
    check_preset,
    needed_lipschitz,
    refuse_eagerness,
)
from hedgerow.policies.summary import TOTALS, Summary, summary_of
from hedgerow.protocols.late_feedback import refuse_late, takes_late
from hedgerow.protocols.parts import Feedback, ResumablePolicy
from hedgerow.protocols.rounds import CompiledRounds
from hedgerow.sets.compiled import NO_NUMBERS, not_overridden
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Restorable, State, Stateful
from hedgerow.surrogates.queued import checked

Array = Any
Seen = TypeVar("Seen", bound=EvalGrad | Full)
FirstOrderPolicy = ResumablePolicy[EvalGrad, EvalGrad]
NEGLIGIBLE = 1e-150
"""Gradients below this are taken for zero: their inverse would leave float64."""
GF, GG, ROUNDS, COST, CCV, VIOLATED = range(6)
"""The state of a `Normalised`: the largest gradients so far, and the totals of its summary."""


@kernel(number, number)
def inverse(G: float) -> float:
    """Return 1/G, or 0 where no gradient had a part along the set."""
    return 1.0 / G if G > NEGLIGIBLE else 0.0


@kernel(nothing, write, number, number, number, number)
def record_round(state: Array, Gf: float, Gg: float, cost: float, value: float) -> None:
    """Add a round with these values, after which the largest gradients are Gf and Gg."""
    state[GF], state[GG] = Gf, Gg
    state[ROUNDS] += 1.0
    state[COST] += cost
    state[CCV] += max(0.0, value)
    state[VIOLATED] += value > 0.0


normalised_table = TableType(
    "NormalisedTable",
    {
        "policy": policy_table,  # of the wrapped policy
        "state": write,  # of the `Normalised`
        "work": write,  # [decision, a copy of the wrapped policy's | a, c in units]
        "offsets": read,  # of linear constraints, for policies that read them; else empty
        "scaled_offsets": write,  # where these policies read them
        "label": index,
        "members": read,
        "measure": measures,
    },
)


@kernel(types.boolean, normalised_table, *SEEN_ROUND)
def play_normalised(
    table: Any,
    a: Array,
    cost: float,
    c: Array,
    value: float,
    products: tuple[float, float, float, float],
    k: int,
) -> bool:
    """Let the wrapped policy play f_t / Gf and g_t / Gg, as `kernels/rounds.py` describes it."""
    if not is_accepted(cost, value, products):
        return False
    n, policy, state, work = len(a), table.policy, table.state, table.work
    label, members, x = table.label, table.members, policy.x
    Gf = max(state[GF], math.sqrt(table.measure(label, members, a, products[2])))
    Gg = max(state[GG], math.sqrt(table.measure(label, members, c, products[3])))
    p, q = inverse(Gf), inverse(Gg)
    scaled_a, scaled_c = work[n : 2 * n], work[2 * n :]
    for i in range(n):
        scaled_a[i] = p * a[i]
        scaled_c[i] = q * c[i]
    if len(table.offsets) > 0:
        table.scaled_offsets[k] = q * table.offsets[k]
    products = dots_and_norms(scaled_a, scaled_c, x)
    if not policy.play(policy.table, scaled_a, p * cost, scaled_c, q * value, products, k):
        return False
    for i in range(n):
        work[i] = x[i]
    record_round(state, Gf, Gg, cost, value)
    return True


class NormalisedRounds(CompiledRounds):
    """Rounds of a policy in units of the gradients seen.

    Args:
        normalised: the policy.
        inner: the rounds of the policy that it wraps.

    """

    def __init__(self, normalised: Normalised[Any], inner: CompiledRounds):
        self._normalised, self._inner = normalised, inner
        self.feedback, self.linear, self.convex = inner.feedback, inner.linear, inner.convex
        self._work = np.empty(3 * normalised.decision_set.dim)
        self._known: tuple[Any, Any] = None, None  # the wrapped policy's table, and that around it

    def begin(self, rounds: Any, first: int, end: int) -> tuple[Any, int]:
        """Return the table around that of the wrapped policy."""
        offsets = scaled_offsets = NO_NUMBERS
        if not self.convex:  # a policy that needs linear functions reads their offsets
            offsets = rounds.constraint_offsets
            scaled_offsets = np.empty(offsets.size)
            rounds = rounds._replace(constraint_offsets=scaled_offsets)
        policy, end = self._inner.begin(rounds, first, end)
        if end <= first:
            return None, first
        x = self._work[: self._normalised.decision_set.dim]
        x[:] = self._normalised.ask()
        if offsets.size or policy is not self._known[0]:
            self._known = policy, self._around(policy, offsets[first:], scaled_offsets[first:])
        return self._known[1], end

    def _around(self, policy: Any, offsets: Vector, scaled_offsets: Vector) -> Any:
        compiled = self._normalised.decision_set.compiled
        assert compiled is not None
        table = normalised_table.filled(
            policy=policy,
            state=self._normalised._state.array,
            work=self._work,
            offsets=offsets,
            scaled_offsets=scaled_offsets,
            label=compiled.label,
            members=compiled.members,
            measure=compiled.measure,
        )
        return policy_of(play_normalised, table, self._work[: self._work.size // 3])

    def finish(self, played: int) -> None:
        """Do what remains for the wrapped policy."""
        self._inner.finish(played)


class Normalised(Stateful, Generic[Seen]):
    """Give a policy f_t / Gf and g_t / Gg, so that it needs to know no Lipschitz constant.

    Gf and Gg are the largest tangent norms of grad f and grad g so far. The wrapped policy is
    built for Lipschitz constant 1. Multiplying all costs by a power of two, or all constraints by
    another, leaves the plays unchanged; other factors change them by rounding. Earlier rounds keep
    the unit they had then, so no theorem about the wrapped policy is claimed. While all gradients
    of constraints were zero along the set, the policy sees zero constraints: no play can help.

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
        """What the wrapped policy learns from; of a constraint's parts the largest alone."""
        feedback = self.policy.feedback
        return first_order if feedback is first_order_each else feedback

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

    def compiled_rounds(self, feedback: Feedback) -> CompiledRounds | None:
        """Return the rounds for the compiled loops; None where the wrapped policy has none."""
        make = getattr(self.policy, "compiled_rounds", None)
        if make is None or not not_overridden(self, Normalised, "ask", "tell"):
            return None
        inner: CompiledRounds | None = make(feedback)
        if inner is None or self.decision_set.compiled is None:
            return None
        # other rounds read more of a function than its value and one gradient
        return (
            NormalisedRounds(self, inner)
            if inner.feedback in (first_order, full_information)
            else None
        )

    def summary(self) -> Summary:
        """Return the totals of the rounds so far, in their own units."""
        return summary_of(self._state, (None, None), self.oracle_calls, self.projections)

    def tell(self, cost: Seen, constraint: Seen, *, at: Vector | None = None) -> None:
        """Measure both gradients, then pass on the round in their units.

        Args:
            cost: what was seen of the cost.
            constraint: what was seen of the constraint.
            at: the earlier play that late feedback is about, for a wrapped policy that takes it.

        """
        if self._late is None:
            refuse_late(self.policy, at)
        X = self.decision_set
        f, g = _checked(cost, "cost", X), _checked(constraint, "constraint", X)
        Gf = max(float(self._state["G"][0]), X.tangent_norm(f.grad))
        Gg = max(float(self._state["G"][1]), X.tangent_norm(g.grad))
        parts = _times(f, inverse(Gf)), _times(g, inverse(Gg))
        if at is None or self._late is None:
            self.policy.tell(*parts)
        else:
            self._late.tell(*parts, at=at)
        record_round(self._state.array, Gf, Gg, f.value, g.value)

    @property
    def _parts(self) -> dict[str, Restorable]:
        return {"policy": self.policy}


def _checked(seen: Seen, name: str, X: DecisionSet) -> Seen:
    if not isinstance(seen, Full):
        needs(EvalGrad, seen, "this policy", name)
    seen = in_order(seen, X, name)
    whole = checked(EvalGrad(seen.value, seen.grad), name, X)
    return replace(seen, value=whole.value, grad=whole.grad)


def _times(seen: Seen, factor: float) -> Seen:
    """Return what would be seen of the function times a factor."""
    times = replace(seen, value=factor * seen.value, grad=factor * seen.grad)
    if isinstance(times, Full):
        return cast(Seen, replace(times, function=scaled(times.function, factor)))
    declared = times.lipschitz
    return cast(Seen, replace(times, lipschitz=None if declared is None else factor * declared))


TUNED = {
    "mahdavi_2012": 100.0,
    "jenatton_2016": 10.0,
    "sun_safe": 100.0,
    "yuan_lamperski_2018": 3.0,
    "liakopoulos_cold": 100.0,
    "yu_neely_2020": 0.03,
    "guo_recoo": 1.0,
    "yi_2021": 10.0,
    "yi_2023": 100.0,
    "ferreira_clasp": 30.0,
    "sarkar_np_ogd": 3.0,
}
"""The factor on the constraint's weight that eagerness 1 means in the practical preset.

Of `ferreira_clasp` and `sarkar_np_ogd`, which project onto constraints, it divides the steps.

How they were chosen, all alike: the score is the mean of 100 (regret^+/(Gf D T) + CCV/(Gg D T))
over `IidSimplex`, `QuadraticBox`, `HalfspaceBox`, `OrthogonalBall`, `SwitchingBall` and
`ShortestPath.random_network(nodes=60, edges=300)`, T = 1600, seeds 1 and 2. The grid is 0.1, 0.3,
1, 3, ..., 1000, for `yu_neely_2020` also 0.01 and 0.03, and for `guo_recoo`, `yi_2021` and
`yi_2023`, which are slow, the neighbours of the value that was best at T = 400. The best score
wins; where it is flat above some factor, within about a twentieth (`liakopoulos_cold`, `guo_recoo`
and both of Yi), the factor that was best at T = 400 stays. `ferreira_clasp` was played with 1 to
100 at T = 1600, and `sarkar_np_ogd`, whose rounds take longer the later they are, with 0.1 to 30 at
T = 400 alone. One grid step above the choice, `jenatton_2016` and `yuan_lamperski_2018` swing.
"""


class Scale(NamedTuple):
    """The constants of which a stand-alone policy makes its steps.

    In the theory preset lengths have the unit 1, and R is the diameter. In the practical one the
    diameter is the unit and R = 1, so that a set of twice the size has the same plays, twice as
    large.
    """

    G: float  # a bound of all gradients' norms
    R: float  # a bound of all distances to x_1
    unit: float  # of length
    eagerness: float  # the factor on the constraint's weight


def stand_alone(
    name: str,
    build: Callable[[Scale], ResumablePolicy[Seen, Seen]],
    decision_set: DecisionSet,
    horizon: int | None,
    preset: Preset,
    lipschitz: Lipschitz | Literal["not needed"],
    eagerness: float,
) -> ResumablePolicy[Seen, Seen]:
    """Build a stand-alone policy in one of its presets; a horizon is checked, not needed.

    Args:
        name: of the method, for its factor in `TUNED`.
        build: makes the policy.
        decision_set: where to play.
        horizon: the number of rounds, or None.
        preset: "theory" builds it with G = lipschitz, "practical" with G = 1 in a `Normalised`.
        lipschitz: a bound of all gradients' norms, which the theory preset needs; "not needed"
            where the theorem's constants know none.
        eagerness: the user's factor on the constraint's weight; 1 in the theory preset.

    """
    check_preset(preset, decision_set, horizon)
    diameter = decision_set.diameter or 1.0  # a single point: any length will do
    if preset == "theory":
        refuse_eagerness(eagerness)
        G = 1.0 if lipschitz == "not needed" else needed_lipschitz(lipschitz)
        return build(Scale(G, R=diameter, unit=1.0, eagerness=1.0))
    if lipschitz not in (None, "not needed"):
        raise ValueError("the practical preset learns lipschitz; leave it out, or use 'theory'")
    factor = TUNED[name] * as_positive(eagerness, "eagerness")
    return Normalised(build(Scale(1.0, R=1.0, unit=diameter, eagerness=factor)))


def rounds_needed(horizon: int | None, name: str, least: int = 1) -> int:
    """Return the horizon, which the steps of this policy are made of in both presets."""
    if horizon is None:
        raise ValueError(
            f"{name} needs a horizon in both presets, its steps are made of it; give the number "
            "of rounds, or take an anytime policy: jenatton_2016, guo_recoo, yi_2021 or yi_2023"
        )
    return as_count(horizon, "horizon", least=least)
