"""The proximal penalty step: argmin over X of <c, x> + w g^+(x) + alpha ||x - y||^2.

Around a linear constraint and a projection with a kernel, all of it is one kernel: a search for
one multiplier. Around others, `penalty_step` in Python finds the multipliers of several cuts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import astuple
from functools import cached_property
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from numba import types

from hedgerow._engine.kernel import function, kernel, nothing, number, read, write
from hedgerow._engine.signatures import LABEL, MEMBERS
from hedgerow._engine.simd import WIDTH, broadcast, hsum, load, vabs
from hedgerow._engine.table import TableType
from hedgerow.baselines.projected_step import (
    EAGERNESS,
    POLICY_FIELDS,
    PROJECTIONS,
    ROUND,
    SET_FIELDS,
    Kernel,
    ProjectingPolicy,
    play_in_python,
)
from hedgerow.feedback import EvalGrad, Full, full_information, in_order, needs
from hedgerow.functions import Function, Linear, Maximum
from hedgerow.inputs import LARGEST_PART, Vector
from hedgerow.kernels.falling_root import AT, SEARCH, begin_search, goes_on
from hedgerow.kernels.rounds import SEEN_ROUND, is_accepted
from hedgerow.kernels.vectors import copy, dot, dots_and_norms, three
from hedgerow.protocols.parts import Feedback
from hedgerow.protocols.rounds import CompiledRounds
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.surrogates.queued import checked

Array = Any
Map = Callable[[Vector], Vector]
NEAR_ZERO = 1e-12
"""A value this near zero, relative to the sums in it, is zero."""
ROUNDING = 1e-14
"""A slope along the set below this times the slope's norm is zero."""
CURVED = 1e-9
"""A curved constraint may be this far above its cuts, relative to the sums in them."""
MOST_CUTS = 60
"""How many cuts of a curved constraint are made at most."""
WEIGHT, GAP, OWN = 3, 4, 5
"""The numbers of the state after those of every projecting policy, and how many it has in all."""
VECTORS = 6
"""`work` is [point | answer | grad f | grad g | that along the set | centre | saved | search]."""

search_table = TableType("SearchTable", SET_FIELDS | {"work": write})
MINIMISE = (three, search_table, number, number, number)
"""minimise(search, offset, w, alpha) solves the step around the centre in `work` and writes its
answer there. It returns the violation that is left, NaN where a projection failed, a bound of how
far the objective is above its least value, and the number of projections."""
penalised_table = TableType(
    "PenalisedTable",
    POLICY_FIELDS
    | {
        "offsets": read,  # of linear constraints
        "search": search_table,
        "minimise": function(*MINIMISE),
    },
)


@kernel(number, read, read)
def absolute(a: Array, b: Array) -> float:
    """Return the sum of |a_i b_i|."""
    lanes: Any = broadcast(0.0)
    rest, even = 0.0, len(a) - len(a) % WIDTH
    for i in range(0, even, WIDTH):
        lanes += vabs(load(a, i) * load(b, i))
    for i in range(even, len(a)):
        rest += abs(a[i] * b[i])
    return float(hsum(lanes) + rest)


@kernel(nothing, read, read, number, write)
def write_centre(x: Array, grad: Array, alpha: float, centre: Array) -> None:
    """Write x - grad/(2 alpha), where <grad, y> + alpha ||y - x||^2 is least."""
    for i in range(len(x)):
        centre[i] = x[i] - grad[i] / (2.0 * alpha)


@kernel(number, search_table, number)
def project_along(table: Any, length: float) -> float:
    """Project centre - length slope, and return <slope, answer>."""
    work, n = table.work, (len(table.work) - OWN - SEARCH) // VECTORS
    index, numbers, links, scratch, _, _ = table.space
    slope, centre = work[4 * n : 5 * n], work[5 * n : 6 * n]
    for i in range(n):
        work[i] = centre[i] - length * slope[i]
    table.project(index, numbers, work[:n], links, scratch, work[n : 2 * n])
    return dot(slope, work[n : 2 * n])


@kernel(*MINIMISE)
def minimise_linear(
    table: Any, offset: float, w: float, alpha: float
) -> tuple[float, float, float]:
    """Solve the step for g(x) = <c, x> + offset: x = P(centre - mu c/(2 alpha)), mu in [0, w].

    g(x) falls in mu, because P is monotone; mu is where it is zero, or w if it never is.
    """
    work, n = table.work, (len(table.work) - OWN - SEARCH) // VECTORS
    x, c, slope = work[n : 2 * n], work[3 * n : 4 * n], work[4 * n : 5 * n]
    search = work[VECTORS * n + OWN :]
    table.tangent(table.space[LABEL], table.space[MEMBERS], c, slope)
    steep2 = dot(slope, slope)
    if steep2 <= ROUNDING * ROUNDING * dot(c, c):
        for i in range(n):
            slope[i] = 0.0
        steep2 = 0.0
    inner, projections, mu = project_along(table, 0.0), 1.0, 0.0
    value = dot(c, x) + offset
    constant = value - inner
    tolerance = NEAR_ZERO * (absolute(slope, x) + abs(constant))
    if value > tolerance:
        if steep2 == 0.0 or w == 0.0:  # g is constant along the set: x stays
            mu = w
        else:
            begin_search(search, value, steep2 / (2.0 * alpha), w, tolerance)
            while True:
                mu = search[AT]
                value = project_along(table, mu / (2.0 * alpha)) + constant
                projections += 1.0
                if value != value or not goes_on(search, value):
                    break
    left = max(0.0, dot(c, x) + offset) if value == value else math.nan
    return left, max(0.0, w * left - mu * value), projections


@kernel(types.boolean, penalised_table, *SEEN_ROUND)
def play_penalised(
    table: Any,
    a: Array,
    cost: float,
    c: Array,
    value: float,
    products: tuple[float, float, float, float],
    k: int,
) -> bool:
    """Take in a round by a penalised step, as `kernels/rounds.py` describes it.

    The k-th of the table's offsets belongs to a constraint that is linear.
    """
    offset, search = table.offsets[k], table.search
    if not (is_accepted(cost, value, products) and abs(offset) <= LARGEST_PART):
        return False
    n, work, rates = len(a), table.work, table.rates
    x, own = table.state[:n], table.state[n:]
    answer, grad_f = work[n : 2 * n], work[2 * n : 3 * n]
    saved = work[VECTORS * n : VECTORS * n + OWN]
    search.tangent(search.space[LABEL], search.space[MEMBERS], a, grad_f)
    copy(work[3 * n : 4 * n], c)
    copy(saved, own[:OWN])
    own[ROUND] += 1.0
    w, alpha = table.step_weights(own, rates, value)
    w *= rates[EAGERNESS]
    # x_{t+1} = argmin of <grad f_t, x> + w g_t^+(x) + alpha ||x - x_t||^2
    write_centre(x, grad_f, alpha, work[5 * n : 6 * n])
    left, gap, projections = table.minimise(search, offset, w, alpha)
    if left != left:  # NaN: a projection failed, so take the round back
        copy(own, saved)
        return False
    own[WEIGHT], own[GAP] = w, max(own[GAP], gap)
    own[PROJECTIONS] += projections
    copy(x, answer)
    table.after_step(own, rates, value, left)
    return True


def falling_root(
    f: Callable[[float], float], at_zero: float, rate: float, end: float, tolerance: float
) -> float:
    """Find where a continuous, nonincreasing f on [0, end] comes within `tolerance` of zero.

    Returns `end` if f is still above there. First steps outward, by the secant through the last two
    points, a little further each time, and never less than f/rate, which cannot overshoot; then
    false position (Illinois), with a bisection where three steps have not halved the bracket.
    Exact after a few calls where f is piecewise linear. The last call of f is at the answer.

    Args:
        f: the function; its value at 0 is known.
        at_zero: f(0), above `tolerance`.
        rate: f(s) - f(s + r) <= rate r.
        end: the end of the interval.
        tolerance: how near to zero is near enough.

    >>> falling_root(lambda s: 1.0 - s * s, 1.0, 4.0, 2.0, 1e-12)
    1.0

    """
    search = np.empty(SEARCH)
    begin_search(search, at_zero, rate, end, tolerance)
    while goes_on(search, f(float(search[AT]))):
        pass
    return float(search[AT])


class PenaltyStep(NamedTuple):
    """The answer x, a bound of how far its objective is above the least, and projections asked."""

    x: Vector
    gap: float
    projections: int


def penalty_step(
    project: Map, tangent: Map, c: Vector, w: float, g: Function, alpha: float, y: Vector
) -> PenaltyStep:
    """Minimise <c, x> + w max(0, g(x)) + alpha ||x - y||^2 over a set that projects.

    By the dual: with cuts <a_i, x> + b_i <= g(x) and multipliers mu_i >= 0 of sum at most w,
    x(mu) = P(y - (c + sum mu_i a_i)/(2 alpha)).

    Linear g: one multiplier. g(x(mu)) falls in mu, because P is monotone, and its root in [0, w] is
    the answer, up to rounding, for w of any size; two or three projections as a rule.
    Several linear parts, or a curved g: cuts at each answer until g is within 1e-9 of them,
    relative to its size, at most 60; multipliers by SLSQP, in a range that grows up to w.
    That may take hundreds of projections. Always ||x - x*||^2 <= gap/alpha.
    Slopes are taken along the set: a constraint that is constant there moves nothing, however large
    its weight.

    Args:
        project: the Euclidean projection P on the set.
        tangent: the part of a vector along the set, such as `DecisionSet.tangent`.
        c: the linear part.
        w: the weight on the violation, 0 or more.
        g: the constraint.
        alpha: the proximal weight, above 0.
        y: the proximal centre.

    >>> from hedgerow.sets.balls.boxes import Box
    >>> X, g = Box(np.zeros(2), np.ones(2)), Linear([1.0, 1.0], -1.0)
    >>> step = penalty_step(X.project, X.tangent, np.full(2, -2.0), 1e9, g, 1.0, np.zeros(2))
    >>> step.x, step.projections
    (array([0.5, 0.5]), 2)

    """
    return _solved(project, tangent, y - c / (2.0 * alpha), w, g, alpha)


def _solved(
    project: Map, tangent: Map, centre: Vector, w: float, g: Function, alpha: float
) -> PenaltyStep:
    """Minimise w max(0, g(x)) + alpha ||x - centre||^2, as `penalty_step` describes it."""
    dual = _Dual(project, tangent, centre, w, alpha)
    for cut in _linear_parts(g):
        dual.add(cut)
    dual.solve()
    for _ in range(0 if isinstance(g, Linear) else MOST_CUTS):
        value = g(dual.x)
        if value <= dual.largest + CURVED * dual.size:
            break
        slope = g.grad(dual.x)
        dual.drop_idle()
        dual.add(Linear(slope, value - float(slope @ dual.x)))
        dual.solve()
    return PenaltyStep(dual.x, dual.gap(w * max(0.0, g(dual.x))), dual.projections)


def _linear_parts(g: Function) -> list[Linear]:
    """Return the cuts that are known from the start."""
    if isinstance(g, Linear):
        return [g]
    parts = g.parts if isinstance(g, Maximum) else ()
    return [cut for part in parts for cut in _linear_parts(part)]


class _Dual:
    """Multipliers of the cuts, and x(mu) with the values of the cuts there."""

    def __init__(self, project: Map, tangent: Map, centre: Vector, w: float, alpha: float):
        self.project, self.tangent = project, tangent
        self.centre, self.w, self.alpha = centre, w, alpha
        self.slopes, self.offsets = np.zeros((0, centre.size)), np.zeros(0)
        self.projections = 0
        self._move_to(np.zeros(0))

    def _move_to(self, mu: Vector) -> Vector:
        """Compute x(mu) and return the values of the cuts, the dual's gradient."""
        self.mu = mu
        self.x = self.project(self.centre - (mu @ self.slopes) / (2.0 * self.alpha))
        self.projections += 1
        self.values: Vector = self.slopes @ self.x + self.offsets
        return self.values

    @property
    def largest(self) -> float:
        """The largest value of a cut at x, or 0."""
        return float(self.values.max(initial=0.0))

    @property
    def size(self) -> float:
        """The size of the sums of which the values are made."""
        sums = np.abs(self.slopes) @ np.abs(self.x) + np.abs(self.offsets)
        return float(sums.max(initial=0.0))

    def gap(self, price: float) -> float:
        """Return the objective minus the dual value, where w g^+(x) is `price`."""
        return max(0.0, price - float(self.mu @ self.values))

    def add(self, cut: Linear) -> None:
        """Add a cut along the set, with multiplier zero: the same values there."""
        value, slope = cut(self.x), self.tangent(cut.coefficients)
        if np.linalg.norm(slope) <= ROUNDING * np.linalg.norm(cut.coefficients):
            slope = np.zeros_like(slope)
        self.slopes = np.vstack([self.slopes, slope])
        self.offsets = np.append(self.offsets, value - float(slope @ self.x))
        self.mu, self.values = np.append(self.mu, 0.0), np.append(self.values, value)

    def drop_idle(self) -> None:
        """Drop the cuts without a multiplier: the dual value stays."""
        busy = self.mu > 0.0
        self.slopes, self.offsets = self.slopes[busy], self.offsets[busy]
        self.mu, self.values = self.mu[busy], self.values[busy]

    def solve(self) -> None:
        """Find the multipliers of the cuts that maximise the dual."""
        if self.largest <= NEAR_ZERO * self.size and not self.mu.any():
            return
        steep = float((self.slopes**2).sum(axis=1).max()) / (2.0 * self.alpha)
        if steep == 0.0 or self.w == 0.0:  # all cuts are constant along the set: x(mu) stays
            self.mu = np.where(np.arange(self.mu.size) == self.values.argmax(), self.w, 0.0)
            return
        if self.mu.size == 1 and not self.mu.any():
            falling_root(self._single, self.largest, steep, self.w, NEAR_ZERO * self.size)
            return
        reach = min(self.w, 2.0 * max(float(self.mu.sum()), self.largest / steep))
        self._maximise(reach)
        while reach < self.w and self.mu.sum() > 0.9 * reach:
            reach = min(self.w, 10.0 * reach)
            self._maximise(reach)

    def _single(self, mu: float) -> float:
        return float(self._move_to(np.array([mu]))[0])

    def _maximise(self, reach: float) -> None:
        """Maximise the dual over multipliers whose sum is at most `reach`, in that unit."""
        from scipy.optimize import minimize

        size = self.size

        def loss(u: Vector) -> tuple[float, Vector]:
            mu = reach * np.maximum(u, 0.0)
            slopes = self._move_to(mu)
            away = self.x - self.centre
            value = self.alpha * float(away @ away) + float(mu @ slopes)
            return -value / (reach * size), -slopes / size

        at_most_1 = {
            "type": "ineq",
            "fun": lambda u: 1.0 - u.sum(),
            "jac": lambda u: -np.ones(u.size),
        }
        solve: Any = minimize  # value and gradient in one call
        found = solve(
            loss,
            self.mu / reach,
            jac=True,
            method="SLSQP",
            bounds=[(0.0, 1.0)] * self.mu.size,
            constraints=[at_most_1],
            options={"ftol": 1e-16, "maxiter": 100},
        )
        u = np.maximum(found.x, 0.0)
        self._move_to(reach * u / max(1.0, float(u.sum())))


Rates = TypeVar("Rates")


class Penalised(ProjectingPolicy, Generic[Rates]):
    """x_{t+1} = argmin over X of <grad f_t, x> + w_t g_t^+(x) + alpha_t ||x - x_t||^2.

    Args:
        decision_set: where to play; it must know its projection.
        rates: the numbers from which w_t and alpha_t are made.
        eagerness: the factor on w_t.
        unit: the unit in which distances are measured.

    """

    feedback: Feedback = staticmethod(full_information)
    play, convex = play_penalised, False
    step_weights: ClassVar[Kernel]
    """The kernel that returns w_t and alpha_t, see `STEP_WEIGHTS`."""

    def __init__(
        self,
        decision_set: DecisionSet,
        rates: Rates,
        eagerness: float = 1.0,
        unit: float = 1.0,
    ):
        for name in ("alpha", "eta", "gamma"):
            if callable(getattr(rates, name, None)):
                raise TypeError(
                    f"{type(rates).__name__} has a schedule {name}(t) of its own, and rates are "
                    f"numbers that the kernels of {type(self).__name__} read; write a subclass of "
                    "the policy with a kernel `step_weights` instead"
                )
        numbers = (unit, eagerness, *astuple(rates))  # type: ignore[call-overload]
        memory = VECTORS * decision_set.dim + OWN + SEARCH
        step_weights, sizes = type(self).step_weights, {"queue": 1, "weight": 1, "gap": 1}
        super().__init__(decision_set, step_weights, numbers, memory, **sizes)
        self.rates, self.eagerness = rates, eagerness
        self._offset = np.zeros(1)

    @property
    def queue(self) -> float:
        """The weight that violations so far have given to the constraint."""
        return float(self._state["queue"][0])

    @property
    def weight(self) -> float:
        """The last weight w_t on the constraint, eagerness included."""
        return float(self._state["weight"][0])

    @property
    def largest_gap(self) -> float:
        """By how much, at most, a step missed the least value of its objective."""
        return float(self._state["gap"][0])

    def tell(self, cost: Full, constraint: Full) -> None:
        """Solve the penalised step, then update the dual variable."""
        f, g, function = self._checked(cost, constraint)
        if self.set_kernels is not None and type(function) is Linear:
            self._offset[0], c = function.offset, function.coefficients
            if c.size == f.grad.size:
                products = dots_and_norms(f.grad, c, self._x)
                if play_penalised(self._table, f.grad, f.value, c, g.value, products, 0):
                    return
        products = dots_and_norms(f.grad, g.grad, self._x)
        now = f.grad, f.value, g.grad, g.value, products, 0
        play_in_python(play_penalised, self._table_in_python(function), *now)

    def _checked(self, cost: Full, constraint: Full) -> tuple[EvalGrad, EvalGrad, Function]:
        """Return what was seen of the cost and the constraint, and the constraint itself."""
        X = self.decision_set
        for seen, name in ((cost, "cost"), (constraint, "constraint")):
            needs(Full, seen, "this policy", name)
        constraint = in_order(constraint, X, "constraint")
        f = checked(EvalGrad(cost.value, cost.grad), "cost", X)
        g = checked(EvalGrad(constraint.value, constraint.grad), "constraint", X)
        if not isinstance(constraint.function, Function):
            raise TypeError(
                f"this policy needs the constraint as a function, got {constraint.function!r}; "
                "observe it with full_information(g, x)"
            )
        return f, g, constraint.function

    @cached_property
    def _table(self) -> Any:
        return self._table_with(self._offset)

    def _table_with(self, offsets: Vector) -> Any:
        """Return the table of linear rounds with these offsets."""
        search = search_table.filled(**(self.set_kernels or {}), work=self._work)
        fields = self._fields | {"offsets": offsets, "search": search}
        return penalised_table.filled(**fields, minimise=minimise_linear)

    def _table_in_python(self, g: Function) -> Any:
        """Return the table of one round with this constraint, solved by `penalty_step`'s cuts."""
        n, work, X = self.decision_set.dim, self._work, self.decision_set

        def minimise(_search: Any, _offset: float, w: float, alpha: float) -> tuple[float, ...]:
            centre = work[5 * n : 6 * n].copy()
            step = _solved(self._workspace.project, X.tangent, centre, w, g, alpha)
            work[n : 2 * n] = step.x
            return max(0.0, g(step.x)), step.gap, step.projections

        search = search_table.filled(**self.set_in_python, work=work)
        fields = self._fields | {"offsets": np.zeros(1), "search": search}
        return penalised_table.filled(**fields, minimise=minimise)

    def table(self, rounds: Any, first: int) -> Any:
        """Return the table with the offsets of these rounds."""
        return self._table_with(rounds.constraint_offsets[first:])

    def compiled_rounds(self, feedback: Feedback) -> CompiledRounds | None:
        """Return its linear rounds for the compiled loops; None where a part is Python."""
        return self._compiled_rounds(Penalised, feedback)
