"""Descent without projection: a separation oracle pulls the point back into the set."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from hedgerow import kernels
from hedgerow._engine.kernel import kernel
from hedgerow._engine.signatures import REGULARISE
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_count, as_gradient, as_number, as_positive, level_outside
from hedgerow.kernels.hulls import coordinates, place
from hedgerow.kernels.policy_tables import UNDECLARED, UNMEASURED, CompiledStep, set_table
from hedgerow.kernels.vectors import dot
from hedgerow.learners.adagrad import BEST_FACTOR, adagrad_eta
from hedgerow.learners.arguments import warn_beyond
from hedgerow.learners.hull_coordinates import HullCoordinates
from hedgerow.learners.pulls import ROUNDING, most_pulls, pull_step, pull_table, squeeze_of
from hedgerow.learners.steps import TANGENT2
from hedgerow.protocols.player import StatefulPlayer
from hedgerow.sets.compiled import kernel_matches, not_overridden
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
STEP = 2.0
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


class ExpensiveRoundWarning(UserWarning):
    """A round of this learner may ask the set many thousand times."""


@kernel(*REGULARISE)
def steady_eta(rule: Array, t: float, loss: tuple[float, float, float]) -> float:
    """eta_t = length / G, G the largest norm so far: each step is at most `length` long."""
    rule[STEEPEST] = max(rule[STEEPEST], math.sqrt(loss[TANGENT2]))
    return rule[LENGTH] / rule[STEEPEST] if rule[STEEPEST] > 0.0 else 0.0


class SeparationDescent(StatefulPlayer):
    """Descent with infeasible projections: y <- y - delta r a/||a|| while a separates y from X.

    The point is no projection, but it is no further than before from any point of the squeezed set
    (1 - delta) X: each pull shortens the squared distance by (delta r)^2 at least. Works in the
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
        """Say what a round may take, if it may take long."""
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
        """Return how many separations a round with this squeeze can need at most.

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
        s = as_gradient(loss.grad, "the gradient of the loss", self.decision_set.dim)
        if self.pull_table is None or not pull_step(self.pull_table, s, s[:0], 0.0, UNKNOWN):
            self._step(s)
        warn_beyond(self.rounds, self.horizon)

    @property
    def rounds(self) -> int:
        """How many losses it was told."""
        return int(self._state["t"][0])

    def compiled_step(self) -> CompiledStep | None:
        """Return its step for compiled rounds; None where a part of it is Python or replaced."""
        table = self.pull_table
        if table is None or not not_overridden(self, SeparationDescent, "ask", "tell"):
            return None
        place(self._centre, self._basis, self._state["y"], self._x)
        return CompiledStep(pull_step, table, self._x, np.empty(self.decision_set.dim))

    @cached_property
    def pull_table(self) -> Any:
        """What the kernel of a step reads; None where the set has no kernel that separates."""
        X, space, d = self.decision_set, self._workspace.space, self._inside.dim
        own = "squeeze", "most_separations", "_pull", "_step"
        if (
            space is None
            or isinstance(X, Affine)
            or not not_overridden(self, SeparationDescent, *own)
        ):
            return None
        compiled, projects = space.compiled, type(X).separate is ProjectableSet.separate
        if projects:
            known = kernel_matches(X, "project") and kernel_matches(X, "contains")
            oracle = compiled.projection if known else None
        else:
            oracle = compiled.separate if kernel_matches(X, "separate") else None
        if oracle is None:
            return None
        arrays = (*space.arrays, compiled.label, compiled.members)
        state = self._state.array
        return pull_table.filled(
            set=set_table.filled(space=arrays, measure=compiled.measure, oracle=oracle),
            projects=projects,
            eta_of=self._eta,
            constants=self._constants,
            centre=self._centre,
            basis=self._basis,
            state=state,
            new=state.copy(),
            work=np.empty(d + 2 * X.dim),
            x=self._x,
        )

    def _step(self, s: Vector) -> None:
        """Move where the set separates in Python."""
        state = self._state
        t, y, rule, asked = state["t"][0] + 1.0, state["y"].copy(), state["rule"].copy(), 0
        g = np.empty(y.size)
        coordinates(self._basis, s, g)
        felt = dot(g, g) > (ROUNDING * s.size) ** 2 * dot(s, s)
        norm2 = dot(g, g) if felt else 0.0
        eta = self._eta(rule, t, (norm2, norm2, UNDECLARED))
        if felt and eta > 0.0:
            kernels.projected.descend(y, y, g, eta)
            asked = self._pull(y, self.squeeze(t))
        state["t"][0], state["y"][:], state["rule"][:] = t, y, rule
        state["separations"][0] += asked
        place(self._centre, self._basis, y, self._x)

    def _pull(self, y: Vector, delta: float) -> int:
        """Take y on the ball R B, then pull it into the set; return the separations asked for."""
        X, r, most = self.decision_set, self.radius, self.most_separations(delta)
        kernels.projected.into_ball(y, X.diameter)
        for asked in range(1, most + 1):
            if (n := self._inside.separate(y)) is None:
                return asked
            y -= delta * r / np.linalg.norm(n) * n
        raise RuntimeError(
            f"{type(X).__name__} still separates the point after {most} pulls, which its inner "
            f"ball of radius {r:.3g} rules out: its separate() or ball() is wrong, or its diameter "
            f"{X.diameter:.3g} is rounding beside its coordinates; use AdaptiveOCG, which needs "
            "its oracle alone"
        )

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
        length = STEP * self.radius / (2.0 * math.sqrt(horizon))  # eta G = c_1 r / (2 sqrt T)
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
