"""Nested projections: a gradient step, then the projection onto all constraints revealed so far."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.baselines.normalised import Scale, stand_alone
from hedgerow.baselines.penalised_step import penalty_step
from hedgerow.feedback import EvalGrad, first_order
from hedgerow.inputs import Vector, as_positive
from hedgerow.learners.projected_point import ProjectedPoint
from hedgerow.policies.method import baseline
from hedgerow.policies.presets import Lipschitz, Preset
from hedgerow.protocols.late_feedback import as_play
from hedgerow.protocols.parts import Feedback, ResumablePolicy
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Snapshot, State
from hedgerow.surrogates.queued import checked

LEFT = 1e-7
"""The distance to a half-space that the penalty may leave where none is needed, in diameters."""
UNSATISFIED = 1e-6
"""A point farther than this from a half-space, in diameters, does not satisfy it."""
PARALLEL = 1e-15
"""Unit normals that differ less than this in each coordinate are the same."""
OWN = {"t": 1, "projections": 1, "oracle_calls": 1, "unsatisfied": 1}
"""The numbers of the state beside the play and the half-spaces."""


class HalfSpaces(NamedTuple):
    """The points with <a_i, x> <= b_i for all i, as a convex function: how far outside x is."""

    normals: NDArray[np.float64]  # (rows, dim), the unit vectors a_i
    limits: Vector  # (rows,), the numbers b_i

    def __call__(self, x: Vector) -> float:
        """Return the largest distance to a half-space that x is outside of; 0 or less inside."""
        return float((self.normals @ x - self.limits).max(initial=-math.inf))

    def grad(self, x: Vector) -> Vector:
        """Return the normal of the half-space that x is farthest outside of."""
        normal: Vector = self.normals[int((self.normals @ x - self.limits).argmax())]
        return normal

    def narrowed(self, normal: Vector, limit: float) -> HalfSpaces:
        """Return them with one more; of parallel ones the narrower stays."""
        parallel = np.abs(self.normals - normal).max(axis=1, initial=0.0) <= PARALLEL
        if parallel.any():
            return HalfSpaces(
                self.normals, np.where(parallel, np.minimum(self.limits, limit), self.limits)
            )
        return HalfSpaces(np.vstack([self.normals, normal]), np.append(self.limits, limit))


class NestedProjection(ProjectedPoint):
    """x_{t+1} = P_t(x_t - eta_t grad f_t(x_t)), P_t the projection onto X and g_1, ..., g_t <= 0.

    Each constraint is the half-space g_t(x_t) + <grad g_t(x_t), x - x_t> <= 0, which a linear one
    is. P_t is found by `penalty_step`: projections onto X, and multipliers of the half-spaces that
    matter, so that x_{t+1} is within about 1e-7 D of the exact point; where 60 of them do not
    suffice, it is the point found with these.

    The state grows by dim + 1 numbers in each round whose half-space neither contains X nor is
    parallel to one that is stored.

    Args:
        decision_set: where to play; it must know its projection.
        step: eta_1; eta_t = step / sqrt t.

    """

    feedback: Feedback = staticmethod(first_order)

    def __init__(self, decision_set: DecisionSet, step: float):
        super().__init__(decision_set)
        self.step = as_positive(step, "step")
        x = self._state["x"]
        self._state = self._layout(0)
        self._state["x"][:] = x

    def _layout(self, rows: int) -> State:
        dim = self.decision_set.dim
        return State(x=dim, **OWN, normals=rows * dim, limits=rows)

    @property
    def half_spaces(self) -> HalfSpaces:
        """The half-spaces that are stored."""
        state = self._state
        return HalfSpaces(state["normals"].reshape(-1, self.decision_set.dim), state["limits"])

    @property
    def oracle_calls(self) -> int:  # type: ignore[override]
        """How many linear minimisations it has asked for: two for each new half-space."""
        return int(self._state["oracle_calls"][0])

    @property
    def unsatisfied(self) -> int:
        """How many constraints were left out: no point satisfied them and all before."""
        return int(self._state["unsatisfied"][0])

    def tell(self, cost: EvalGrad, constraint: EvalGrad, *, at: Vector | None = None) -> None:
        """Add the constraint's half-space, take a gradient step, and project.

        Args:
            cost: what was seen of the cost.
            constraint: what was seen of the constraint.
            at: the earlier play that late feedback is about.

        """
        X, state, x = self.decision_set, self._state, self._state["x"]
        seen_at = x if at is None else as_play(at, X, x)
        f, g = checked(cost, "cost", X), checked(constraint, "constraint", X)
        eta = self.step / math.sqrt(state["t"][0] + 1.0)
        target = x - eta * X.tangent(f.grad)
        before = self.half_spaces
        narrowed, calls = self._narrowed(before, g, seen_at)
        nearest, projections = None, 0
        if narrowed is not None:
            nearest, projections = self._nearest(target, narrowed)
        if narrowed is None or nearest is None:  # empty: stay with the intersection before
            narrowed, unsatisfied = before, 1.0
            nearest, more = self._nearest(target, before)
            projections += more
        else:
            unsatisfied = 0.0
        after = self._layout(narrowed.limits.size)
        after["x"][:] = x if nearest is None else nearest
        after["normals"][:], after["limits"][:] = narrowed.normals.ravel(), narrowed.limits
        after["t"][0] = state["t"][0] + 1.0
        after["projections"][0] = state["projections"][0] + projections
        after["oracle_calls"][0] = state["oracle_calls"][0] + calls
        after["unsatisfied"][0] = state["unsatisfied"][0] + unsatisfied
        self._state = after

    def _narrowed(
        self, before: HalfSpaces, g: EvalGrad, seen_at: Vector
    ) -> tuple[HalfSpaces | None, int]:
        """Return the half-spaces with this round's, and the linear minimisations this took.

        One that contains X is left out; None stands for one that X does not meet.
        """
        X = self.decision_set
        size = X.tangent_norm(g.grad)
        if size == 0.0:  # the constraint is constant on X
            return (before if g.value <= 0.0 else None), 0
        normal = X.tangent(g.grad) / size
        limit = float(normal @ seen_at) - g.value / size
        if X.minimum(normal) > limit + UNSATISFIED * X.diameter:
            return None, 1
        if -X.minimum(-normal) <= limit:
            return before, 2
        return before.narrowed(normal, limit), 2

    def _nearest(self, y: Vector, half_spaces: HalfSpaces) -> tuple[Vector | None, int]:
        """Return the point of X and the half-spaces nearest to y, and the projections onto X.

        None stands for an empty intersection.
        """
        X, project = self.decision_set, self._workspace.project
        if half_spaces.limits.size == 0:
            return project(y), 1
        D = X.diameter or 1.0  # a single point: any length will do
        farthest = D + float(np.linalg.norm(y - self._state["x"]))  # from a point of X to y
        most = 0.5 * farthest**2  # what a point of the intersection costs, so w distance does too
        w = most / (LEFT * D)
        x, gap, projections = penalty_step(
            project, X.tangent, np.zeros_like(y), w, half_spaces, 0.5, y
        )
        distance, moved = half_spaces(x), x - y
        least = w * max(0.0, distance) + 0.5 * float(moved @ moved) - gap  # by duality
        # a search that ended early proves nothing: x is then near the intersection
        empty = distance > UNSATISFIED * D and least > most
        return (None if empty else x), projections

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot, with as many half-spaces as it has."""
        before = self._state
        self._state = self._layout(self._rows_in(snapshot))
        try:
            super().restore(snapshot)
        except BaseException:
            self._state = before
            raise

    def _rows_in(self, snapshot: Snapshot) -> int:
        """Return how many half-spaces a snapshot has; 0 where its layout and numbers differ."""
        try:
            layout, size = snapshot["layout"], len(snapshot["array"])
            rows: object = layout["limits"]
        except (KeyError, TypeError):
            return 0
        dim = self.decision_set.dim
        fits = isinstance(rows, int) and size == dim + len(OWN) + rows * (dim + 1)
        return rows if isinstance(rows, int) and fits and rows >= 0 else 0


@baseline(
    source="Sarkar and Sinha 2026",
    regret="T^{1/2}",
    ccv="T^{1/2}",
    per_round="1 convex programme, which grows with the rounds",
    sees="gradients",
    needs="none; theory: G",
    confidence="low: reconstruction from the abstract",
    remark="from the abstract",
)
def sarkar_np_ogd(
    decision_set: DecisionSet,
    horizon: int | None = None,
    *,
    preset: Preset = "practical",
    lipschitz: Lipschitz = None,
    eagerness: float = 1.0,
) -> ResumablePolicy[EvalGrad, EvalGrad]:
    """Sarkar and Sinha's nested-projection online gradient descent (NP-OGD), after Vaze and Sinha.

    x_{t+1} = P_t(x_t - eta_t grad f_t(x_t)) with the projection P_t onto the points of X with
    g_1, ..., g_t <= 0, and eta_t = D/(G sqrt t).

    The paper states regret O(sqrt T) and CCV O(sqrt T), the latter by the length of self-contracted
    curves. Its abstract and a summary were at hand, not its text: the update is as stated there,
    eta_t is a guess, and the constant of the CCV, which may grow with the dimension, is unknown.
    What follows without that theorem: regret <= (3/2) G D sqrt T, as of any projected gradient
    descent; CCV <= G D sqrt(T (1 + 4 sqrt T)), as of `ferreira_clasp`; and CCV <= G D in one
    dimension, where the intervals only shrink. The variant
    for strongly convex costs is not here.

    Constraints are linearised at the plays, which changes nothing for linear ones. For others it is
    the standard reduction: the half-space contains all points with g_t <= 0 and has the same
    violation at x_t, so the theorem about half-spaces covers them.

    The paper assumes a point that satisfies all constraints. A constraint that no point satisfies
    together with those before is left out and counted (`NestedProjection.unsatisfied`). The state
    grows with the rounds, and so does the time per round.

    Args:
        decision_set: where to play.
        horizon: not needed.
        preset: "practical" (`Normalised`, distances in the set's unit) or "theory".
        lipschitz: a bound G of all gradients' norms; `theory` needs it.
        eagerness: the divisor of the steps; more means less violation.

    Reference: D. Sarkar, A. Sinha, Improved guarantees for constrained online convex optimization
    via self-contraction, arXiv 2605.21107 (2026); the projections onto nested sets are those of
    R. Vaze, A. Sinha, O(sqrt T) static regret and instance dependent constraint violation for
    constrained online convex optimization, NeurIPS 2025.

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> sarkar_np_ogd(Simplex(2)).ask()
    array([0.5, 0.5])

    """

    def build(scale: Scale) -> ResumablePolicy[EvalGrad, EvalGrad]:
        D = scale.unit * scale.R
        return NestedProjection(decision_set, D / (scale.G * scale.eagerness))

    return stand_alone("sarkar_np_ogd", build, decision_set, horizon, preset, lipschitz, eagerness)
