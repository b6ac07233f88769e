"""The proximal penalty step: argmin over X of <c, x> + w g^+(x) + alpha ||x - y||^2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple
from functools import cached_property
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from hedgerow import kernels
from hedgerow.baselines.projecting import Projecting
from hedgerow.baselines.tell_penalised import ROUNDING, SETTLED, play_penalised, room
from hedgerow.baselines.weighed_step import StepRounds, no_after_step, step_rounds, table_of
from hedgerow.feedback import EvalGrad, Full, full, needs
from hedgerow.functions import Function, Linear, Maximum
from hedgerow.inputs import Vector
from hedgerow.kernels.units import NO_UNITS
from hedgerow.kernels.vectors import dots_and_norms
from hedgerow.protocols.parts import Feedback
from hedgerow.protocols.rounds import CompiledRounds
from hedgerow.sets.compiled import not_overridden
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.surrogates.queued import checked


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
        end: how far to look.
        tolerance: how near to zero is near enough.

    >>> falling_root(lambda s: 1.0 - s * s, 1.0, 4.0, 2.0, 1e-12)
    1.0

    """
    root = kernels.falling_root
    search = np.empty(root.SEARCH)
    root.begin_search(search, at_zero, rate, end, tolerance)
    while root.goes_on(search, f(float(search[root.AT]))):
        pass
    return float(search[root.AT])


Map = Callable[[Vector], Vector]
CURVED = 1e-9
"""A curved constraint may be this far above its cuts, relative to the sums in them."""
MOST_CUTS = 60
"""How many cuts of a curved constraint are made at most."""


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
    dual = _Dual(project, tangent, y - c / (2.0 * alpha), w, alpha)
    for cut in _linear_parts(g):
        dual.add(cut)
    dual.after_step()
    for _ in range(0 if isinstance(g, Linear) else MOST_CUTS):
        value = g(dual.x)
        if value <= dual.largest + CURVED * dual.size:
            break
        slope = g.grad(dual.x)
        dual.forget_idle()
        dual.add(Linear(slope, value - float(slope @ dual.x)))
        dual.after_step()
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

    def forget_idle(self) -> None:
        """Drop the cuts without a multiplier: the dual value stays."""
        busy = self.mu > 0.0
        self.slopes, self.offsets = self.slopes[busy], self.offsets[busy]
        self.mu, self.values = self.mu[busy], self.values[busy]

    def after_step(self) -> None:
        """Find the multipliers of the cuts that maximise the dual."""
        if self.largest <= SETTLED * self.size and not self.mu.any():
            return
        steep = float((self.slopes**2).sum(axis=1).max()) / (2.0 * self.alpha)
        if steep == 0.0 or self.w == 0.0:  # nothing that the set feels: x(mu) stays
            self.mu = np.where(np.arange(self.mu.size) == self.values.argmax(), self.w, 0.0)
            return
        if self.mu.size == 1 and not self.mu.any():
            falling_root(self._single, self.largest, steep, self.w, SETTLED * self.size)
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

        room = {"type": "ineq", "fun": lambda u: 1.0 - u.sum(), "jac": lambda u: -np.ones(u.size)}
        solve: Any = minimize  # value and gradient in one call
        found = solve(
            loss,
            self.mu / reach,
            jac=True,
            method="SLSQP",
            bounds=[(0.0, 1.0)] * self.mu.size,
            constraints=[room],
            options={"ftol": 1e-16, "maxiter": 100},
        )
        u = np.maximum(found.x, 0.0)
        self._move_to(reach * u / max(1.0, float(u.sum())))


Rates = TypeVar("Rates")


class Penalised(Projecting, Generic[Rates]):
    """x_{t+1} = argmin over X of <grad f_t, x> + w_t g_t^+(x) + alpha_t ||x - x_t||^2.

    Two kernels make w_t and alpha_t. The compiled loop of `simulate` calls the same ones, for a
    class that leaves `ask` and `tell` as they are.

    Args:
        decision_set: where to play; it must know its projection.
        rates: the numbers from which w_t and alpha_t are made.
        eagerness: the factor on w_t.
        unit: the unit in which distances are measured.

    """

    feedback = staticmethod(full)
    weigh: ClassVar[Callable[..., tuple[float, float]]]
    """The kernel that counts the round and returns w_t and alpha_t, with the signature `WEIGH`."""
    after_step: ClassVar[Callable[..., None]] = no_after_step
    """The kernel that looks back, with the signature `AFTER_STEP`, told g_t^+(x_{t+1})."""

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
                    "the policy with a kernel `weigh` instead"
                )
        super().__init__(decision_set, queue=1, weight=1, gap=1)
        self.rates, self.eagerness = rates, eagerness
        self._rates = np.array([unit, eagerness, *astuple(rates)])  # type: ignore[call-overload]
        self._work = np.zeros(room(decision_set.dim))
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
        """Solve the penalised step, then look back."""
        f, g, value = self._whole(cost, constraint)
        if self.weighed_table is not None and type(g) is Linear:
            c, x = g.coefficients, self._state.array[: f.grad.size]
            self._offset[0] = g.offset
            products = dots_and_norms(f.grad, c, x)
            if play_penalised(self._round, f.grad, f.value, c, value, products, 0):
                return
        self._step(self.decision_set.tangent(f.grad), g, value)

    def _step(self, slope: Vector, g: Function, value: float) -> None:
        """Move where the constraint is curved, or the projection no kernel."""
        state, X = self._state, self.decision_set
        own = state.array[X.dim :]
        w, alpha = type(self).weigh(own, self._rates, value)
        state["weight"][0] = w * self.eagerness
        step = penalty_step(
            self._workspace.project, X.tangent, slope, self.weight, g, alpha, state["x"].copy()
        )
        state["projections"][0] += step.projections
        state["gap"][0] = max(state["gap"][0], step.gap)
        state["x"][:] = step.x
        type(self).after_step(own, self._rates, value, max(0.0, g(step.x)))

    def _whole(self, cost: Full, constraint: Full) -> tuple[EvalGrad, Function, float]:
        """Return what was seen of the cost, the constraint and its value, checked."""
        dim = self.decision_set.dim
        for seen, name in ((cost, "cost"), (constraint, "constraint")):
            needs(Full, seen, "this policy", name)
        f = checked(EvalGrad(cost.value, cost.grad), "cost", dim)
        g = checked(EvalGrad(constraint.value, constraint.grad), "constraint", dim)
        if not isinstance(constraint.function, Function):
            raise TypeError(
                f"this policy needs the constraint as a function, got {constraint.function!r}; "
                "observe it with full(g, x)"
            )
        return f, constraint.function, g.value

    @cached_property
    def weighed_table(self) -> Any:
        """The kernels and arrays of a step on linear rounds; None if the projection is Python."""
        return table_of(self, type(self).weigh)

    @cached_property
    def _round(self) -> Any:
        return step_rounds.filled(step=self.weighed_table, units=NO_UNITS, offsets=self._offset)

    def compiled_rounds(
        self, feedback: Feedback, units: Vector = NO_UNITS
    ) -> CompiledRounds | None:
        """Return its rounds for the compiled loops, in these units; None where a part has none."""
        written = not_overridden(self, Penalised, "ask", "tell") and feedback is full
        return PenalisedRounds(self, units) if written and self.weighed_table is not None else None


class PenalisedRounds(StepRounds):
    """Linear rounds of a policy that takes one penalised step in each."""

    feedback: Feedback = staticmethod(full)
    convex = False
    play_kernel = play_penalised

    def begin(self, rounds: Any, first: int, end: int) -> tuple[Any, int]:
        """Return the table with the offsets of these rounds."""
        return self._filled(rounds.constraint_offsets[first:]), end
