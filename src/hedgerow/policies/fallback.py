"""Fallback: a policy while its certificate and its violation are small enough, then Theorem F."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numba import types
from numpy.typing import ArrayLike

from hedgerow._engine.kernel import kernel, nothing, number, read, write
from hedgerow._engine.table import TableType
from hedgerow.feedback import Constraints, EvalGrad, Parts, first_order_each
from hedgerow.inputs import Vector
from hedgerow.kernels.parts import parts_table
from hedgerow.kernels.policy_tables import minimise, set_table
from hedgerow.kernels.rounds import SEEN_ROUND, policy_of, policy_table
from hedgerow.kernels.vectors import copy, descent, dot
from hedgerow.learners.adaptive_ocg import AdaptiveOCG
from hedgerow.learners.away_ocg import AwayOCG
from hedgerow.learners.growth import best_growth, growths_of_one_step
from hedgerow.learners.steps import ScheduleSteps
from hedgerow.policies.advised import Advice
from hedgerow.policies.certificate import Certificate
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.policies.master import SURE, MasterRounds, RestrictedMaster
from hedgerow.policies.master_round import core_table
from hedgerow.policies.summary import Binding, Summary
from hedgerow.policies.theorem import AT_ONCE, CONVEX, EXACT, FEASIBLE, Theorem
from hedgerow.protocols.parts import Feedback
from hedgerow.protocols.player import StatefulPlayer
from hedgerow.protocols.rounds import CompiledRounds
from hedgerow.sets.compiled import not_overridden
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Restorable, State
from hedgerow.surrogates.per_constraint import one_or_each
from hedgerow.surrogates.violation_weight import ViolationSurrogate, dual_power, dual_root

Array = Any
NEEDS = (CONVEX, FEASIBLE, EXACT, AT_ONCE)
SHARE = 0.25
"""lam: the share of Theorem F's bound that pays for its weights; 1 + lam is the inner policy's."""
CCV = 3.0
"""The inner policy may violate by this many times D (sum ||grad g||^{q'})^{1/q'}."""

watch_table = TableType(
    "WatchTable",
    {
        "core": core_table,  # of the inner policy
        "set": set_table,
        "growth": read,  # D, q and C of Theorem F's learner
        "phi": write,  # sum of ||grad f||^{q'}
        "gamma": write,  # sum of ||grad g||^{q'} over violated rounds, of each constraint
        "ccv": write,
        "most": write,  # a bound of the regret
        "since": write,  # the round in which Theorem F took over; 0 before it
        "infeasible": write,  # 1 as soon as it is proved that no action satisfies all rounds
        "calls": write,
        "answer": write,  # memory
        "sum": write,
    },
)
fallback_table = TableType(
    "FallbackTable",
    {
        "inner": policy_table,
        "f": read,  # where it leaves the cost's gradient along the set
        "parts": parts_table,  # and the gradients of the constraint's parts
        "watch": watch_table,
        "plain": policy_table,
        "x": write,
    },
)


@kernel(number, watch_table, read)
def least_along(watch: Any, s: Array) -> float:
    """Return the least <s, u - origin> over the set, by an oracle call."""
    minimise(watch.set, s, watch.answer)
    watch.calls[0] += 1.0
    least: float = descent(s, watch.answer, watch.core.hull.origin)[0]
    return least


@kernel(number, watch_table)
def certified(watch: Any) -> float:
    """Return the inner policy's certificate: a bound of its regret so far."""
    core, total = watch.core, watch.sum
    for i in range(len(total)):
        total[i] = core.costs[i] + core.pull[i]
    bound: float = core.inner[0] - core.charge[0] - least_along(watch, total)
    return max(0.0, bound)


@kernel(types.boolean, watch_table)
def are_infeasible(watch: Any) -> bool:
    """Whether the remembered rows prove, at their multipliers, that no action satisfies them all.

    For every action u that does, sum nu_j (b_j + <c_j, u>) <= 0. `RestrictedMaster.refutes` asks
    the same on request, also at the prices now.
    """
    core = watch.core
    proved: bool = least_along(watch, core.pull) + core.charge[0] > SURE * core.size[1]
    return proved


@kernel(nothing, watch_table, read, parts_table, number, number)
def watch_round(watch: Any, f: Array, parts: Any, value: float, plain2: float) -> None:
    """Add a round that the inner policy has played; let Theorem F take over at the first excess.

    f is the cost's gradient along the set. `value` and plain2 = ||grad g||^2 are of the largest
    constraint, whose gradient along the set is in the present round's first row.
    """
    (D, q, C), rows = watch.growth, watch.core.rows
    norm2, several, excess = dot(f, f), len(watch.gamma) > 1, False
    c = rows.c[len(rows.born) - int(rows.present[0])]
    watch.phi[0] += dual_power(norm2, q)
    watch.most[0] += D * math.sqrt(norm2)
    for k in range(len(watch.gamma)):
        g, violation = parts.gradients[k] if several else c, parts.values[k] if several else value
        if violation > 0.0:
            grad2 = dot(g, g)
            if grad2 > 0.0:
                watch.gamma[k] += dual_power(grad2, q)
                watch.ccv[k] += violation
                continue
            size2 = parts.plain2[k] if several else plain2
            if violation > SURE * D * math.sqrt(size2):  # no action changes it
                watch.infeasible[0] = 1.0
    for k in range(len(watch.gamma)):
        excess = excess or watch.ccv[k] > CCV * D * dual_root(watch.gamma[k], q)
    if watch.infeasible[0] > 0.0:
        return
    limit = (1.0 + SHARE) * C * D * dual_root(watch.phi[0], q)
    if watch.most[0] > limit:
        watch.most[0] = certified(watch)
    if excess and are_infeasible(watch):
        watch.infeasible[0] = 1.0
    elif excess or watch.most[0] > limit:
        watch.since[0] = watch.core.t[0]


@kernel(types.boolean, fallback_table, *SEEN_ROUND)
def play_fallback(
    table: Any,
    a: Array,
    cost: float,
    c: Array,
    value: float,
    products: tuple[float, float, float, float],
    k: int,
) -> bool:
    """Take in a round, as `kernels/rounds.py` describes it."""
    watch, plain, inner = table.watch, table.plain, table.inner
    if watch.since[0] > 0.0:
        if not plain.play(plain.table, a, cost, c, value, products, k):
            return False
    else:
        if not inner.play(inner.table, a, cost, c, value, products, k):
            return False
        watch_round(watch, table.f, table.parts, value, products[3])
    copy(table.x, plain.x if watch.since[0] > 0.0 else inner.x)
    return True


def theorem_f(decision_set: DecisionSet, constraints: int | None = None) -> ConstrainedPolicy[Any]:
    """Return the policy of Theorem F: one oracle call per round, its schedule, its weights.

    It is a guarantee, not a preset: its weights hardly act before a violation is as large as it
    could be.

    Args:
        decision_set: where to play.
        constraints: how many constraints a round has, for a weight each; left out, one weight for
            their maximum.

    """
    rho = relative_radius2(decision_set)
    growth = best_growth(growths_of_one_step(decision_set), rho)
    return with_weights(AdaptiveOCG(decision_set, ScheduleSteps(growth, rho)), constraints)


def relative_radius2(decision_set: DecisionSet) -> float:
    """Return rho = (R/D)^2, R the radius around the set's start."""
    D = decision_set.diameter or 1.0
    return float(min(decision_set.radius_around(decision_set.start()), D) / D) ** 2


def with_weights(
    learner: AdaptiveOCG | AwayOCG, constraints: int | None = None
) -> ConstrainedPolicy[Any]:
    """Return a learner whose steps are `ScheduleSteps` with the weights of Theorem F."""
    steps, m = learner.steps, constraints or 1
    assert isinstance(steps, ScheduleSteps)
    C, q = steps.growth.constant(steps.rho), steps.growth.q

    def surrogate() -> ViolationSurrogate:
        return ViolationSurrogate(learner, SHARE, C, q, m)

    constants = (("C", C), ("q", q), ("D", learner.decision_set.diameter))
    theorem = Theorem("Theorem F", (*constants, ("lam", SHARE), ("constraints", m)), NEEDS)
    return ConstrainedPolicy(learner, one_or_each(surrogate, constraints), (theorem,))


class Fallback(StatefulPlayer):
    """The restricted master while it keeps within bounds, then the policy of Theorem F, for good.

    The inner policy plays while a bound of its regret, which is known, is at most 1.25 C D Phi_t,
    and its CCV at most 3 D Gamma_t. Phi_t^{q'} is the sum of ||grad f||^{q'}, Gamma_t^{q'} that of
    ||grad g||^{q'} over violated rounds, and (q, C) belong to the learner of Theorem F. At the
    first excess that learner begins afresh. So for every action that satisfies all rounds

        Regret_T <= 2^{1/q} 1.25 C D Phi_T + D max ||grad f||,
        CCV_T <= 2^{1/q} max(3, E) D Gamma_T + D max ||grad g||,

    whatever the inner policy does, E the factor of Theorem F (`bounds.theorem_f_ccv`). The bound of
    the regret is the inner policy's certificate at the last look, by one oracle call, plus
    D ||grad f|| for each round since; it looks only where that is too much. Where the remembered
    rows prove that no action satisfies all rounds there is nothing to compare with, and the inner
    policy plays on.

    Args:
        policy: the inner policy.
        plain: the policy of Theorem F; `theorem_f(X)` if left out.

    """

    feedback: Feedback = staticmethod(first_order_each)
    oblivious_only = False
    projections = 0

    def __init__(self, policy: RestrictedMaster, plain: ConstrainedPolicy[Any] | None = None):
        self.policy = policy
        X = self.decision_set = policy.decision_set
        n, m = X.dim, policy.constraints or 1
        self.plain = theorem_f(X, policy.constraints) if plain is None else plain
        sums = {"phi": 1, "gamma": m, "ccv": m, "most": 1, "since": 1, "infeasible": 1, "calls": 1}
        self._state = State(x=n, **sums)
        self._state["x"][:] = policy.ask()
        self._theorem = self.plain.guarantees()[0]
        D, q, C = X.diameter or 1.0, self._theorem["q"], self._theorem["C"]
        self._watch = watch_table.filled(
            core=policy.core,
            set=policy.set_table,
            growth=np.array([D, q, C]),
            **{name: self._state[name] for name in sums},
            answer=np.zeros(n),
            sum=np.zeros(n),
        )

    def ask(self, advice: Advice | None = None) -> Vector:
        """Return the decision.

        Args:
            advice: as `AdvisedMaster.advise` takes it, for an inner policy with advisers. It is
                remembered until `tell`. Once Theorem F decides it has no share.

        """
        if advice is not None:
            self.policy.advise(advice)
            self._take_decision()
        return self._state["x"].copy()

    @property
    def _decided(self) -> Vector:
        """The decision of the policy that decides now."""
        return self.policy.decision if self.switched is None else self.plain.ask()

    def _take_decision(self) -> None:
        self._state["x"][:] = self._decided

    @property
    def is_left(self) -> bool:
        """Whether the policies inside are as the last round left them."""
        return np.array_equal(self._decided, self._state["x"])

    def _check_left(self) -> None:
        if not self.is_left:
            raise RuntimeError(
                "the policy inside has moved without its Fallback, so that nothing could be proved "
                "about their rounds; give every Fallback a policy of its own, and tell it alone"
            )

    @property
    def advisers(self) -> tuple[str, ...]:
        """The names of the inner policy's advisers."""
        return self.policy.advisers

    @property
    def voices(self) -> dict[str, float]:
        """The weight of each adviser and of the policy itself, in a round in which all speak."""
        return self.policy.voices

    def follow(self, recorded: Vector | None) -> None:
        """Take recorded advice from now on, or no longer; see `AdvisedMaster.follow`."""
        self.policy.follow(recorded)
        self._take_decision()

    def keep_margins(self, margins: Sequence[float]) -> bool:
        """Keep all rows by these margins; False once Theorem F decides, which has no rows."""
        return self.switched is None and self.policy.keep_margins(margins)

    @property
    def constraints(self) -> int | None:
        """How many constraints a round has, where they count apart."""
        return self.policy.constraints

    @property
    def switched(self) -> int | None:
        """The round after which Theorem F decides; None while the inner policy does."""
        since = int(self._state["since"][0])
        return since if since > 0 else None

    @property
    def cost_size(self) -> float:
        """Phi, of the rounds that the inner policy has played."""
        return float(dual_root(self._state["phi"][0], self._theorem["q"]))

    @property
    def infeasible(self) -> bool:
        """Whether no action satisfies all rounds, by proof; it may take two oracle calls."""
        return bool(self._state["infeasible"][0]) or self.policy.refutes()

    @property
    def oracle_calls(self) -> int:
        """One in each round, and a few for certificates."""
        own = int(self._state["calls"][0])
        return self.policy.oracle_calls + self.plain.oracle_calls + own

    def tell(
        self, cost: EvalGrad | Parts, constraint: Constraints, *, at: Vector | None = None
    ) -> None:
        """Take in a round and move.

        Args:
            cost: what was seen of the cost; of several parts the largest one counts.
            constraint: what was seen of the constraint, or of each of its parts.
            at: the earlier decision that late feedback is about; left out, it is about `ask()`.

        """
        self._check_left()
        if self.switched is not None:
            self.plain.tell(cost, constraint, at=at)
        else:
            f, parts, largest = self.policy.take_in(cost, constraint, at)
            plain2 = dot(largest.grad, largest.grad)
            watch_round(self._watch, f, parts, largest.value, plain2)
        self._take_decision()

    def compiled_rounds(self, feedback: Feedback) -> CompiledRounds | None:
        """Return its rounds for the compiled loops; None where a part of them is Python."""
        written = not_overridden(self, Fallback, "ask", "tell")
        inner = self.policy.compiled_rounds(feedback)
        plain = self.plain.compiled_rounds(self.plain.feedback)
        if not written or inner is None or plain is None:
            return None
        return FallbackRounds(self, inner, plain)

    def take_units(self, one_unit: bool) -> None:
        """Remember whether all constraints of a round have one unit, for `summary`."""
        self.policy.take_units(one_unit)
        self.plain.take_units(one_unit)

    def summary(self) -> Summary:
        """Return the totals of the rounds so far; `print` shows them in a few lines."""
        both = self.policy.summary().plus(self.plain.summary(), self.oracle_calls)
        return replace(both, infeasible=self.infeasible, binding=self.binding())

    @property
    def weight(self) -> float | None:
        """The price of a unit of violation now, or Theorem F's weight once that decides."""
        return self.policy.weight if self.switched is None else self.plain.weight

    def binding(self) -> tuple[Binding, ...]:
        """Return the past rounds that hold the decision now, the dearest first."""
        return self.policy.binding() if self.switched is None else ()

    def certificate(self, budget: float | Sequence[float] = 0.0) -> Certificate:
        """Bound the regret so far, by one oracle call; see `RestrictedMaster.certificate`."""
        if self.switched is None:
            return self.policy.certificate(budget)
        return self.policy.certificate_with(self.plain, budget)

    def transfer(self, decision_set: DecisionSet, kept: ArrayLike | None = None) -> Fallback:
        """Return a policy on another set, by `RestrictedMaster.transfer`.

        Its theorem is about the rounds since. The policy of Theorem F begins afresh if need be.

        Args:
            decision_set: where to play from now on.
            kept: as `RestrictedMaster.transfer` has it.

        """
        return Fallback(self.policy.transfer(decision_set, kept))

    def guarantees(self) -> tuple[Theorem, ...]:
        """Return what is proved of it beforehand; `explain` computes the bounds."""
        return (Theorem("Theorem R", self._theorem.constants, NEEDS),)

    @property
    def _parts(self) -> dict[str, Restorable]:
        return {"policy": self.policy, "plain": self.plain}


class FallbackRounds(CompiledRounds):
    """Rounds of a policy that may fall back.

    Args:
        policy: the policy.
        inner: the rounds of the policy inside.
        plain: those of the policy that it falls back to.

    """

    def __init__(self, policy: Fallback, inner: MasterRounds, plain: CompiledRounds):
        self._policy, self._inner, self._plain = policy, inner, plain
        self.feedback = inner.feedback
        self.linear = inner.linear and plain.linear
        self._known: tuple[Any, Any, Any] = None, None, None

    def begin(self, rounds: Any, first: int, end: int) -> tuple[Any, int]:
        """Return the table around those of both policies."""
        if not self._policy.is_left:  # Python refuses the round
            return None, first
        inner = self._inner.table_of(rounds, first, end)
        plain, until = self._plain.begin(rounds, first, end)
        if plain is None or until <= first:
            return None, first
        if inner is not self._known[0] or plain is not self._known[1]:
            policy, x = self._policy, self._policy._state["x"]
            table = fallback_table.filled(
                inner=policy_of(*policy.policy.played(inner), policy.policy.decision),
                f=policy.policy.cost_along,
                parts=inner.parts,
                watch=policy._watch,
                plain=plain,
                x=x,
            )
            self._known = inner, plain, policy_of(play_fallback, table, x)
        return self._known[2], until

    def finish(self, played: int) -> None:
        """Do what remains for the policy of Theorem F."""
        self._plain.finish(played)
