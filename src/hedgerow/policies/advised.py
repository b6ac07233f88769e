"""Advice: the decision of a restricted master, mixed with points that somebody else proposes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numba import types
from numpy.typing import ArrayLike

from hedgerow._engine.kernel import kernel, nothing, number, read, rows, whole, write, write_rows
from hedgerow._engine.table import TableType
from hedgerow.inputs import Vector, as_vector
from hedgerow.kernels.hedge import lose, weigh
from hedgerow.kernels.parts import parts_in
from hedgerow.kernels.rounds import SEEN_ROUND
from hedgerow.kernels.vectors import copy, descent, dot
from hedgerow.policies.master import RestrictedMaster
from hedgerow.policies.master_round import from_origin, play_master, play_table
from hedgerow.policies.summary import AdviserTotals, Summary
from hedgerow.sets.decision_set import DecisionSet, Projectable
from hedgerow.snapshot import Restorable, State, Stateful
from hedgerow.surrogates.ranges import NUMBERS
from hedgerow.surrogates.square_weight import QUEUE, weigh_square

Array = Any
Advice = ArrayLike | Mapping[str, ArrayLike | None]
"""A point of the set for this round, or one for each adviser by name; None for no advice."""
ROUNDING = 1e-6
"""Advice that is outside the set by less than this, relative to its diameter, is projected."""
POLICY = "policy"
"""The name of the policy's own voice."""

voices_table = TableType(
    "Voices",
    {
        "x": write,  # the decision: the mixture of the voices that speak
        "q": write,  # the weight of each adviser, then that of the policy
        "L": write,  # their losses, as `kernels/hedge.py` has them
        "speaks": write,  # 1 for an adviser that speaks in this round; the policy always does
        "points": write_rows,  # what each adviser proposes
        "Delta": write,
        "advised": write,  # how many rounds had advice
        "weight": write,  # of each constraint that counts apart, in this round
        "queues": write_rows,  # its violations and units, as `surrogates/square_weight.py` has them
        "ranges": write_rows,
        "totals": write_rows,  # of each adviser: rounds, cost, violation, violated rounds
        "losses": write,  # memory
        "recorded": rows,  # all advisers' points, a row for each round; empty without a record
        "next": write,  # the record's next row
    },
)
advised_table = TableType("AdvisedMaster", {"inner": play_table, "voices": voices_table})


@kernel(nothing, voices_table, read)
def mix_voices(voices: Any, y: Array) -> None:
    """Write the decision: the mixture of y, the policy's own, and of the advisers that speak."""
    K, n, x = len(voices.points), len(y), voices.x
    total = 0.0
    for v in range(K + 1):
        total += voices.q[v] * voices.speaks[v]
    for i in range(n):
        x[i] = voices.q[K] / total * y[i]
    for v in range(K):
        if voices.speaks[v] > 0.0:
            share, point = voices.q[v] / total, voices.points[v]
            for i in range(n):
                x[i] += share * point[i]
    if total == voices.q[K]:
        copy(x, y)


@kernel(nothing, voices_table, read, read)
def take_advice(voices: Any, advice: Array, y: Array) -> None:
    """Take the points that advisers propose for this round, NaN for none, and mix them with y."""
    n = len(y)
    for v in range(len(voices.points)):
        point = advice[v * n : (v + 1) * n]
        voices.speaks[v] = 0.0 if math.isnan(point[0]) else 1.0
        if voices.speaks[v] > 0.0:
            copy(voices.points[v], point)
    mix_voices(voices, y)


@kernel(nothing, voices_table)
def hedge_voices(voices: Any) -> None:
    """AdaHedge: update the weights with the losses of the voices that spoke.

    A silent voice has the mixture's loss, so that it neither gains nor loses. No weight is below
    1/(K (1 + t)) of the largest, so that each voice can return.
    """
    q, L, losses, K = voices.q, voices.L, voices.losses, len(voices.points)
    total = mean = 0.0
    for v in range(K + 1):
        if voices.speaks[v] > 0.0:
            total += q[v]
            mean += q[v] * losses[v]
    mean /= total
    for v in range(K + 1):
        if voices.speaks[v] == 0.0:
            losses[v] = mean
    logarithm, Delta = math.log(K + 1.0), voices.Delta
    voices.advised[0] += 1.0
    Delta[0] += lose(L, q, losses, logarithm / Delta[0] if Delta[0] > 0.0 else math.inf)
    if Delta[0] > 0.0:
        deepest = Delta[0] * math.log(K * (1.0 + voices.advised[0])) / logarithm
        for v in range(K + 1):
            L[v] = min(L[v], deepest)
    weigh(q, L, logarithm / Delta[0] if Delta[0] > 0.0 else math.inf)


@kernel(nothing, advised_table, number, whole)
def weigh_violations(policy: Any, value: float, m: int) -> None:
    """Write the weight of each constraint that counts apart, after the round.

    Prices of rows would not do: where the policy's own decision satisfies all rows they are small,
    and an adviser could violate for little, round after round.
    """
    inner, voices = policy.inner, policy.voices
    core, rows, weight = inner.core, inner.core.rows, voices.weight
    cost2 = core.norm[0] * core.norm[0]
    if len(weight) == 1:
        norm = rows.norm[len(rows.born) - int(rows.present[0])]  # of the largest part
        sizes = (cost2, norm * norm, norm * norm)
        queue, ranges = voices.queues[0], voices.ranges[0]
        weight[0] = weigh_square(queue, ranges, core.eagerness[0], value, sizes)
        return
    for part in range(m):
        c = inner.parts.gradients[part]
        sizes = (cost2, dot(c, c), dot(c, c))
        queue, ranges = voices.queues[part], voices.ranges[part]
        g = inner.parts.values[part]
        weight[part] = weigh_square(queue, ranges, core.eagerness[0], g, sizes)


@kernel(nothing, voices_table, read, read, number, read, number)
def add_totals(voices: Any, at: Array, a: Array, cost: float, c: Array, value: float) -> None:
    """Add what each adviser that spoke would have cost and violated, by tangents at `at`."""
    for v in range(len(voices.points)):
        if voices.speaks[v] > 0.0:
            own, point = voices.totals[v], voices.points[v]
            violation = value + descent(c, point, at)[0]
            own[0] += 1.0
            own[1] += cost + descent(a, point, at)[0]
            own[2] += max(0.0, violation)
            own[3] += violation > 0.0


@kernel(number, advised_table, read, read, read, number, read, whole)
def loss_at(
    policy: Any, point: Array, a: Array, c: Array, value: float, at: Array, m: int
) -> float:
    """Return <a, point - at> and the weighed violations there, by tangents at `at`.

    Slack earns nothing. m is how many parts the constraint has; c, value are those of the largest.
    """
    inner, weight = policy.inner, policy.voices.weight
    loss, worst = descent(a, point, at)[0], value
    if m == 1:
        worst += descent(c, point, at)[0]
    for part in range(m if m > 1 else 0):
        tangent = inner.parts.levels[part]
        tangent += from_origin(inner.core, inner.parts.gradients[part], point)
        if len(weight) > 1:
            loss += weight[part] * max(0.0, tangent)
        elif part == 0 or tangent > worst:
            worst = tangent
    return loss + weight[0] * max(0.0, worst) if len(weight) == 1 else loss


@kernel(types.boolean, advised_table, *SEEN_ROUND)
def play_advised(
    policy: Any,
    a: Array,
    cost: float,
    c: Array,
    value: float,
    products: tuple[float, float, float, float],
    k: int,
) -> bool:
    """Take in a round, as `kernels/rounds.py` describes it."""
    inner, voices = policy.inner, policy.voices
    if not play_master(inner, a, cost, c, value, products, k):
        return False
    n, K, core = len(a), len(voices.points), inner.core
    at, losses, advised, m = inner.work[n : 2 * n], voices.losses, 0.0, parts_in(inner.parts, k)
    weigh_violations(policy, value, m)
    losses[K] = loss_at(policy, core.before, a, c, value, at, m)
    for v in range(K):
        if voices.speaks[v] > 0.0:
            advised += 1.0
            losses[v] = loss_at(policy, voices.points[v], a, c, value, at, m)
    if advised > 0.0:
        add_totals(voices, at, a, cost, c, value)
        hedge_voices(voices)
    row = int(voices.next[0])
    voices.next[0] += 1.0
    if row < len(voices.recorded):
        take_advice(voices, voices.recorded[row], core.hull.x)
        return True
    for v in range(K):
        voices.speaks[v] = 0.0
    copy(voices.x, core.hull.x)
    return True


class Voices(Stateful):
    """What is known of advisers: weights, losses, and what they propose for this round.

    Args:
        advisers: their names.
        dim: the dimension of the set.
        constraints: how many constraints count apart.

    """

    def __init__(self, advisers: Sequence[str], dim: int, constraints: int):
        K = len(advisers)
        voices = dict.fromkeys(("q", "L", "speaks"), K + 1)
        sums = {"Delta": 1, "advised": 1, "weight": constraints, "totals": 4 * K}
        sums |= {"queues": QUEUE * constraints, "ranges": NUMBERS * constraints}
        self._state = State(x=dim, **voices, points=K * dim, **sums)
        self._state["q"][:] = 1.0 / (K + 1)
        self._state["speaks"][-1] = 1.0
        self.next, self._losses = np.zeros(1), np.zeros(K + 1)

    def table(self, recorded: Vector | None) -> Any:
        """Return the table for the kernels, with this record of advice."""
        state, own = self._state, ("x", "q", "L", "speaks", "Delta", "advised", "weight")
        return voices_table.filled(
            **{name: state[name] for name in own},
            points=state["points"].reshape(-1, state["x"].size),
            queues=state["queues"].reshape(-1, QUEUE),
            ranges=state["ranges"].reshape(-1, NUMBERS),
            totals=state["totals"].reshape(-1, 4),
            losses=self._losses,
            recorded=np.empty((0, 0)) if recorded is None else recorded,
            next=self.next,
        )


class AdvisedMaster(RestrictedMaster):
    """A restricted master whose decision y_t is mixed with points a_{t,k} that K advisers propose.

    x_t = q_{t,0} y_t + sum over k of q_{t,k} a_{t,k}. The master learns as if there were no advice,
    from what was seen at x_t. q_t is `AdaHedge` on the losses f_t + w_t g_t^+ of y_t and a_{t,k},
    by tangents at x_t. w_t is the weight of `projection_free_coco(tracking=False)` for the
    violations of x_t. An adviser that is silent in a round has no share in it and keeps its weight.
    No weight is below 1/(K (1 + t)) of the largest, where t counts rounds with advice.

    For every adviser, and for y, over the rounds in which it spoke, with T rounds with advice,

        sum f_t(x_t) + w_t g_t(x_t)^+ <= sum f_t(a_{t,k}) + w_t g_t(a_{t,k})^+
                                         + (2 + log(1 + T)/log(K + 1)) Delta_T,
        Delta_T <= sqrt(V ln(K + 1)) + S (2/3 ln(K + 1) + 1),

    where V adds up the variances of the voices' losses under q_t, and S is the largest range of
    their losses in one round.

    Args:
        decision_set: where to play.
        advisers: their names.
        eagerness: as `RestrictedMaster` has it.
        constraints: as `RestrictedMaster` has it.

    Reference: de Rooij, van Erven, Grunwald and Koolen, Follow the leader if you can, hedge if you
    must (JMLR 2014); silent advisers are the specialists of Freund, Schapire, Singer and Warmuth,
    Using and combining predictors that specialize (STOC 1997).

    >>> from hedgerow.feedback import EvalGrad
    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> policy = AdvisedMaster(Simplex(2), ["plan"])
    >>> policy.ask({"plan": [0.0, 1.0]})
    array([0.25, 0.75])
    >>> nothing_asked = EvalGrad(-1.0, np.zeros(2))
    >>> policy.tell(EvalGrad(0.25, np.array([1.0, 0.0])), nothing_asked)
    >>> round(policy.voices["plan"], 2)
    0.67

    """

    def __init__(
        self,
        decision_set: DecisionSet,
        advisers: Sequence[str],
        eagerness: float = 1.0,
        constraints: int | None = None,
    ):
        names = as_names(advisers)
        super().__init__(decision_set, eagerness, constraints)
        self.advisers = names
        self._voices = Voices(names, decision_set.dim, self.constraints or 1)
        self._voices._state["x"][:] = self._state["x"]
        self._take_record(None)

    @property
    def decision(self) -> Vector:
        """The mixture."""
        return self._voices._state["x"]

    @property
    def voices(self) -> dict[str, float]:
        """The weight of each adviser, and of the policy without advice."""
        return dict(zip((*self.advisers, POLICY), self._voices._state["q"].tolist(), strict=True))

    @property
    def lost_to_voices(self) -> float:
        """What is proved of this run: no voice lost less by more than this, while it spoke.

        (2 + log(1 + T)/log(K + 1)) Delta_T, with the Delta_T that was seen.
        """
        T, Delta = (float(self._voices._state[name][0]) for name in ("advised", "Delta"))
        return (2.0 + math.log1p(T) / math.log(len(self.voices))) * Delta

    def advise(self, advice: Advice) -> None:
        """Take the advice for this round, in place of any before; {} for none."""
        row = as_advice(advice, self.advisers, self.decision_set)
        take_advice(self._voices_table, row, self._state["x"])

    def follow(self, recorded: Vector | None) -> None:
        """Take advice from a record from now on, or no longer.

        Args:
            recorded: one row for each round, the points of all advisers one after the other, NaN
                where one is silent. The first row is the advice for the present round.

        """
        self._take_record(recorded)
        silent = np.full(len(self.advisers) * self.decision_set.dim, np.nan)
        row = recorded[0] if recorded is not None and len(recorded) else silent
        take_advice(self._voices_table, row, self._state["x"])

    def _take_record(self, recorded: Vector | None) -> None:
        self._voices_table = self._voices.table(recorded)
        self._voices.next[0] = 1.0
        self._around: tuple[Any, Any] = None, None  # the master's last table, and the one around it

    def played(self, table: Any) -> tuple[Any, Any]:
        """Return `play_advised`, and its table around that of the master."""
        if table is not self._around[0]:
            self._around = table, advised_table.filled(inner=table, voices=self._voices_table)
        return play_advised, self._around[1]

    def summary(self) -> Summary:
        """Return the totals of the rounds so far, and those of the advisers."""
        summary, weights = super().summary(), self.voices
        totals = self._voices._state["totals"].reshape(-1, 4).tolist()
        advisers = tuple(
            AdviserTotals(
                name,
                weights[name],
                int(rounds),
                cost,
                None if summary.ccv is None else ccv,
                int(violated),
            )
            for name, (rounds, cost, ccv, violated) in zip(self.advisers, totals, strict=True)
        )
        return replace(summary, advisers=advisers)

    @property
    def _parts(self) -> dict[str, Restorable]:
        return super()._parts | {"voices": self._voices}


def as_names(advisers: Sequence[str]) -> tuple[str, ...]:
    """Check the advisers' names."""
    names = (advisers,) if isinstance(advisers, str) else tuple(advisers)
    if not names or len(set(names)) < len(names) or not all(isinstance(n, str) for n in names):
        raise ValueError(
            f"advisers must be different names, at least one, got {advisers!r:.60}; for example "
            "advisers=['programme', 'plan']"
        )
    if POLICY in names:
        raise ValueError(f"{POLICY!r} is the name of the policy itself; call the adviser otherwise")
    return names


def as_advice(advice: Advice, names: tuple[str, ...], X: DecisionSet) -> Vector:
    """Return the points of all advisers one after the other, NaN for one that is silent."""
    if not isinstance(advice, Mapping):
        if len(names) > 1:
            raise ValueError(
                f"there are {len(names)} advisers; give their advice by name, "
                f"advice={{{names[0]!r}: x}}"
            )
        advice = {names[0]: advice}
    unknown = [name for name in advice if name not in names]
    if unknown:
        raise ValueError(
            f"there is no adviser {unknown[0]!r:.60}, there are {', '.join(map(repr, names))}; "
            "name all advisers when the policy is built"
        )
    points = np.full((len(names), X.dim), np.nan)
    for k, name in enumerate(names):
        if advice.get(name) is not None:
            points[k] = _as_point(advice[name], name, X)
    return points.ravel()


def _as_point(given: Any, name: str, X: DecisionSet) -> Vector:
    """Return a point of the set, or refuse it; one that is outside by rounding is projected."""
    point = as_vector(given, f"the advice of {name!r}", X)
    if X.contains(point):
        return point
    if X.supports(Projectable):
        inside = X.project(point)
        if float(np.linalg.norm(inside - point)) <= ROUNDING * X.diameter:
            return inside
    raise ValueError(
        f"the advice of {name!r} is outside of the decision set, {X!r:.60}; give a point of the "
        "set, or leave the adviser out of this round"
    )
