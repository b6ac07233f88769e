"""Descent without projection: a separation oracle pulls the point back into the set."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numba import types

from hedgerow._engine.kernel import function, kernel, number, read, rows, write
from hedgerow._engine.signatures import REGULARISE
from hedgerow._engine.table import TableType
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_count, as_gradient, as_number, as_positive, level_outside
from hedgerow.kernels.hulls import coordinates, place
from hedgerow.kernels.policy_tables import (
    STEP,
    UNDECLARED,
    UNMEASURED,
    CompiledStep,
    minimise,
    set_table,
)
from hedgerow.kernels.projected import descend, into_ball
from hedgerow.kernels.vectors import copy, dot
from hedgerow.learners.arguments import warn_beyond
from hedgerow.learners.hull_coordinates import NEGLIGIBLE, HullCoordinates
from hedgerow.learners.projected_descent import BEST_FACTOR, adagrad_eta
from hedgerow.learners.steps import TANGENT2
from hedgerow.protocols.player import StatefulPlayer
from hedgerow.sets.compiled import kernel_matches, not_overridden, python_set
from hedgerow.sets.compositions.wrappers import Affine
from hedgerow.sets.decision_set import (
    DecisionSet,
    HasAffineHull,
    HasInnerBall,
    HasSeparation,
    ProjectableSet,
)
from hedgerow.snapshot import Restorable, State

Array = Vector
SQUEEZE = 4.0
"""delta = 4 R / (r sqrt T), the paper's c."""
STEP_LENGTH = 2.0
"""The paper's c_1, which it leaves open; 2 gives its count of at most about 5/4 separations a
round."""
LARGEST_SQUEEZE = 0.5
"""Where the horizon is not known delta stays at most this, so that comparing with the squeezed set
means something from the first round on."""
LENGTH, STEEPEST = range(2)
"""The numbers of `steady_eta`: the longest step, and the largest norm so far."""
LARGEST_RATIO = 1000.0
"""R/r above which a round may need a million pulls and more."""
UNKNOWN = (UNMEASURED, UNMEASURED, UNDECLARED)
"""What a step by pulls need not know of a loss."""
EXPENSIVE = 10_000
"""A round that may need more separations than this, a second or so, is announced."""
ROUNDING = 4.0 * sys.float_info.epsilon
"""A gradient's part along the set that is below this, times the dimension, is rounding."""
INSIDE = 1e-9
"""A point this near to its projection is inside, in units of its size where that is above 1."""
RULE, T, SEPARATIONS = 0, 2, 3
"""The numbers of the state after y: the rule's two, the round, and how often it was asked."""
R, SMALL_R, RATIO, HORIZON, LARGEST = range(5)
"""The constants: R, r, 4 R / r, the horizon or 0, and the largest squeeze without one."""


class ExpensiveRoundWarning(UserWarning):
    """A round of this learner may ask the set many thousand times."""


pull_table = TableType(
    "PullTable",
    {
        "set": set_table,  # its oracle separates or, if the flag is set, projects
        "projects": types.boolean,
        "eta_of": function(*REGULARISE),
        "squeeze": function(number, read, number),
        "most": function(number, read, number),  # how many pulls a squeeze can need
        "constants": read,
        "centre": read,  # of the hull
        "basis": rows,
        "state": write,
        "new": write,  # memory for a state
        "work": write,  # memory for a direction, a point and its answer
        "x": write,  # the decision
    },
)


@kernel(number, read, number)
def squeeze_of(constants: Array, t: float) -> float:
    """Return delta of round t."""
    if constants[HORIZON] > 0.0:
        return constants[RATIO] / math.sqrt(constants[HORIZON])
    return min(constants[LARGEST], constants[RATIO] / math.sqrt(t))


@kernel(number, read, number)
def most_pulls(constants: Array, delta: float) -> float:
    """Return the most separations that a round with this squeeze can need."""
    ratio = constants[R] / constants[SMALL_R]
    return 2.0 + np.ceil(max(0.0, ratio * ratio - 1.0) / (delta * (2.0 - delta)))


@kernel(types.boolean, types.boolean, read, write)
def is_outside(projected: bool, x: Array, a: Array) -> bool:
    """Whether the direction a separates x from the set; a may be the projection of x, too."""
    far, size = 0.0, 1.0
    for i in range(len(x)):
        if projected:
            size = max(size, abs(a[i]))
            a[i] = x[i] - a[i]
        far = max(far, abs(a[i]))
    return far > INSIDE * size


@kernel(types.boolean, pull_table, *STEP)
def pull_step(
    table: Any, s: Array, noise: Array, inner: float, loss: tuple[float, float, float]
) -> bool:
    """Take in the gradient s and move.

    Return False, with nothing changed, if the set still separates the point after all pulls.
    """
    constants, centre, basis = table.constants, table.centre, table.basis
    state, new, work = table.state, table.new, table.work
    n, d = basis.shape
    g, x, a = work[:d], work[d : d + n], work[d + n : d + 2 * n]
    copy(new, state)
    y, own = new[:d], new[d:]
    coordinates(basis, s, g)
    g2, asked = dot(g, g), 0
    moves = g2 > (ROUNDING * n) * (ROUNDING * n) * dot(s, s)
    norm2 = g2 if moves else 0.0
    own[T] += 1.0
    eta = table.eta_of(own[RULE:T], own[T], (norm2, norm2, UNDECLARED))
    if moves and eta > 0.0:
        descend(y, y, g, eta)
        into_ball(y, constants[R])
        delta = table.squeeze(constants, own[T])
        most, outside = table.most(constants, delta), True
        while outside and asked < most:
            place(centre, basis, y, x)
            asked += 1
            minimise(table.set, x, a)  # which separates or projects x
            outside = is_outside(table.projects, x, a)
            if outside:
                coordinates(basis, a, g)
                size = math.sqrt(dot(g, g))
                if not size > NEGLIGIBLE * math.sqrt(dot(a, a)):
                    return False
                descend(y, y, g, delta * constants[SMALL_R] / size)
        if outside:
            return False
    own[SEPARATIONS] += float(asked)
    copy(state, new)
    place(centre, basis, state[:d], table.x)
    return True


@kernel(*REGULARISE)
def steady_eta(rule: Array, t: float, loss: tuple[float, float, float]) -> float:
    """eta_t = length / G, G the largest norm so far: each step is at most `length` long."""
    rule[STEEPEST] = max(rule[STEEPEST], math.sqrt(loss[TANGENT2]))
    return rule[LENGTH] / rule[STEEPEST] if rule[STEEPEST] > 0.0 else 0.0


class SeparationDescent(StatefulPlayer):
    """Descent with infeasible projections: y <- y - delta r a/||a|| while a separates y from X.

    The point is not a projection, but it is no further than before from any point of the squeezed
    set (1 - delta) X: each pull shortens the squared distance by (delta r)^2 at least. Works in the
    coordinates of the affine hull, about the centre of the inner ball of radius r; R = D bounds the
    distance of any point from it. Starts at the centre. A round ends after at most
    `most_separations(delta)` questions; it warns before the first one if these are many.
    """

    oblivious_only = draws = False
    oracle_calls = 0

    def __init__(self, decision_set: DecisionSet, horizon: int | None, eta: Callable[..., float]):
        X, name = decision_set, type(self).__name__
        for capability in (HasSeparation, HasAffineHull, HasInnerBall):
            if not X.supports(capability):
                raise ValueError(
                    f"{name} needs {capability.meaning}, {type(X).__name__} has no "
                    f"{capability.method}(); use AdaptiveOCG, which needs only its oracle"
                )
        if X.diameter == 0.0:
            raise ValueError(f"{name} needs a set with more than one point to choose from")
        self.decision_set, self._inside = X, HullCoordinates(X)
        self.horizon = None if horizon is None else as_count(horizon, "horizon")
        steady = 0.0 if self.horizon is None else float(self.horizon)
        r, D = self._inside.radius, X.diameter
        self._constants = np.array([D, r, SQUEEZE * D / r, steady, LARGEST_SQUEEZE])
        self._check_shape(X.diameter / self.radius)
        self._announce(X.diameter / self.radius)
        self._state = State(y=self._inside.dim, rule=2, t=1, separations=1)  # y_1 = 0, the centre
        self._eta = eta
        self._workspace = X.workspace()
        self._centre = self._inside.centre
        self._basis = np.ascontiguousarray(self._inside.basis, np.float64)
        self._x = np.empty(X.dim)

    def _check_shape(self, ratio: float) -> None:
        """Refuse a set that is too flat, R/r too large, for the horizon or for any."""
        if self.horizon is not None and self.squeeze(1.0) >= 1.0:
            raise ValueError(
                f"the squeeze 4 R / (r sqrt T) must be below 1, got {self.squeeze(1.0):.3g} for "
                f"R / r = {ratio:.3g}; use a horizon above {(SQUEEZE * ratio) ** 2:.0f}"
            )
        if self.horizon is None and ratio > LARGEST_RATIO:
            raise ValueError(
                f"{type(self).__name__} needs a set with R / r of at most {LARGEST_RATIO:g}, got "
                f"{ratio:.3g}: a round could need {ratio**2:.0e} separations; use AdaGrad, which "
                "projects, or AdaptiveOCG"
            )

    def _announce(self, ratio: float) -> None:
        """Warn if a round may take long."""
        most = self.most_separations(self.squeeze(1.0))
        if most > EXPENSIVE:
            falling = "" if self.horizon is not None else " at first"
            warnings.warn(
                f"with R / r = {ratio:.3g} and a squeeze of {self.squeeze(1.0):.2g}{falling} a "
                f"round of {type(self).__name__} may ask for up to {most} separations; AdaGrad "
                "projects instead, AdaptiveOCG asks its oracle once a round",
                ExpensiveRoundWarning,
                stacklevel=level_outside(),
            )

    def most_separations(self, delta: float) -> int:
        """Return the most separations that a round with this squeeze can need.

        A pull lowers ||y||^2 <= R^2 by delta (2 - delta) r^2 at least, because <n, y> > r for a
        unit vector n that separates y from the set and so from r B; and y in r B is inside.
        """
        return int(most_pulls(self._constants, delta))

    @property
    def radius(self) -> float:
        """The radius r of the inner ball."""
        return self._inside.radius

    @property
    def separations(self) -> int:
        """How often the separation oracle was asked."""
        return int(self._state["separations"][0])

    def squeeze(self, t: float) -> float:
        """Return delta of round t: 4 R / (r sqrt T), or with t for T and capped if T is unknown."""
        return squeeze_of(self._constants, t)

    def ask(self) -> Vector:
        """Return the point y_t, which lies in the set."""
        x = np.empty(self.decision_set.dim)
        place(self._centre, self._basis, self._state["y"], x)
        return x

    def tell(self, loss: EvalGrad) -> None:
        """Take the gradient at y_t and move to y_{t+1}."""
        as_number(loss.value, "the value of the loss")
        s = as_gradient(loss.grad, "the gradient of the loss", self.decision_set)
        if not pull_step(self.pull_table, s, s[:0], 0.0, UNKNOWN):
            self._refuse()
        warn_beyond(self.rounds, self.horizon)

    def _refuse(self) -> NoReturn:
        """Say why the pulls did not lead into the set."""
        X, r = self.decision_set, self.radius
        raise RuntimeError(
            f"{type(X).__name__} still separates the point after all pulls, which its inner ball "
            f"of radius {r:.3g} rules out, or by a direction that is the same on all of its hull: "
            f"its separate() or ball() is wrong, or its diameter {X.diameter:.3g} is rounding "
            f"beside its coordinates, of size {np.abs(self._centre).max():.3g}; measure from a "
            "point nearer to it, or use AdaptiveOCG, which needs its oracle alone"
        )

    @property
    def rounds(self) -> int:
        """The number of losses that it has learnt from."""
        return int(self._state["t"][0])

    def compiled_step(self) -> CompiledStep | None:
        """Return its step for compiled rounds; None where a part of it is Python or replaced."""
        table = self.pull_table
        if table.in_python or not not_overridden(self, SeparationDescent, "ask", "tell"):
            return None
        place(self._centre, self._basis, self._state["y"], self._x)
        return CompiledStep(pull_step, table, self._x, np.empty(self.decision_set.dim))

    @cached_property
    def pull_table(self) -> Any:
        """The arrays and kernels of a step; the set may separate in Python."""
        state = self._state.array
        new = state.copy()
        set_, projects = self._separating_set(new)
        own = not_overridden(self, SeparationDescent, "squeeze", "most_separations")
        return pull_table.filled(
            set=set_,
            projects=projects,
            eta_of=self._eta,
            squeeze=squeeze_of if own else lambda _, t: self.squeeze(t),
            most=most_pulls if own else lambda _, delta: float(self.most_separations(delta)),
            constants=self._constants,
            centre=self._centre,
            basis=self._basis,
            state=state,
            new=new,
            work=np.empty(self._inside.dim + 2 * self.decision_set.dim),
            x=self._x,
        )

    def _separating_set(self, new: Vector) -> tuple[Any, bool]:
        """Return the table of a set that separates where others minimise, or that projects.

        In Python it separates in coordinates of the hull, where the point is the beginning of
        `new`: a set far from the origin then loses nothing to cancellation.
        """
        X, space = self.decision_set, self._workspace.space
        if space is not None and not isinstance(X, Affine):
            compiled, projects = space.compiled, type(X).separate is ProjectableSet.separate
            if projects:
                known = kernel_matches(X, "project") and kernel_matches(X, "contains")
                oracle = compiled.projection if known else None
            else:
                oracle = compiled.separate if kernel_matches(X, "separate") else None
            if oracle is not None:
                arrays = (*space.arrays, compiled.label, compiled.members)
                return set_table.filled(
                    space=arrays, measure=compiled.measure, oracle=oracle
                ), projects

        def separate(_: Vector) -> Vector:
            n = self._inside.separate(new[: self._inside.dim])
            return np.zeros(X.dim) if n is None else self._basis @ (n / np.abs(n).max())

        return python_set(separate, lambda c: X.tangent_norm2(c)[0]), False

    @property
    def _parts(self) -> dict[str, Restorable]:
        return {"workspace": self._workspace}


class SeparationOGD(SeparationDescent):
    """SO-OGD: y_{t+1} = pull(y_t - eta grad_t), eta = r/(G sqrt T), squeeze 4R/(r sqrt T).

    Regret_T <= (9 D^2/(2r) + r/2) G sqrt T for convex losses: against the squeezed set it is that
    of gradient descent, D^2/(2 eta) + eta G^2 T/2, and squeezing costs delta R G T with R = D. At
    most about 5 T/4 separations in all for long horizons.

    Args:
        decision_set: where to play; it needs a separation oracle, a hull and an inner ball.
        horizon: the number of rounds T, above (4R/r)^2.
        lipschitz: G, a bound of the gradients' norms along the set; a longer gradient takes its
            place from then on.

    Reference: Garber and Kretzu, "New projection-free algorithms for online convex optimization
    with adaptive regret guarantees" (COLT 2022), Algorithm SO-OGD.

    """

    def __init__(self, decision_set: DecisionSet, horizon: int, lipschitz: float):
        super().__init__(decision_set, as_count(horizon, "horizon"), steady_eta)
        length = (
            STEP_LENGTH * self.radius / (2.0 * math.sqrt(horizon))
        )  # eta G = c_1 r / (2 sqrt T)
        self._state["rule"][:] = length, as_positive(lipschitz, "lipschitz")


class SeparationAdaGrad(SeparationDescent):
    """The same with AdaGrad's steps, eta_t = D / sqrt(2 sum of ||grad||^2): no G is needed.

    With a horizon Regret_T <= sqrt(2) D sqrt(sum of ||grad||^2) + delta R sum of ||grad||, from the
    same two facts as for `SeparationOGD`. Without one delta_t falls with t, and no rate is claimed.

    Args:
        decision_set: where to play; it needs a separation oracle, a hull and an inner ball.
        horizon: the number of rounds T, above (4R/r)^2; or None.

    Reference: the learner of Lu, Pedramfar and Aggarwal, "Order-optimal projection-free algorithm
    for adversarially constrained online convex optimization" (2025), as in `lu_bagel`.

    """

    def __init__(self, decision_set: DecisionSet, horizon: int | None = None):
        super().__init__(decision_set, horizon, adagrad_eta)
        self._state["rule"][0] = BEST_FACTOR * decision_set.diameter
