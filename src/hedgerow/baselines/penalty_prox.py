"""Blocks of proximal steps on cost plus penalty, followed by a feasible point."""

from __future__ import annotations

from hedgerow.baselines.ball_prox import FINE, ROUGH, ball_prox
from hedgerow.baselines.block_constraints import BlockConstraints
from hedgerow.feedback import EvalGrad, Full, full, needs
from hedgerow.functions import Function
from hedgerow.inputs import Vector, as_positive, squared_norm
from hedgerow.learners.arguments import warn_beyond
from hedgerow.learners.feasible_follower import FeasibleFollower
from hedgerow.learners.loo_blocks import LooRule
from hedgerow.player import StatefulPlayer
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.hull_projector import hull_projector
from hedgerow.snapshot import Restorable, State
from hedgerow.surrogates.queued import checked

CUT_TOLERANCE = 1e-5
"""How much too low the pieces of curved constraints may be, in units of R^2/eta."""
CUTS = 100
"""The most cuts in a block."""


class PenaltyProx(StatefulPlayer):
    """Drift-plus-penalty by blocks: cost linearised, constraints kept whole.

    Block m plays one point x_m for K rounds. With c_m the sum of the cost's gradients at x_m,
    y_{m+1} = argmin over the ball ||y - x_1|| <= R of
    <c_m, y> + lam (sum of the block's g_t^+(y)) + ||y - y~_m||^2 / (2 eta),
    and (x_{m+1}, y~_{m+1}) is an approximately feasible projection of it that starts at x_m. The
    ball's step is exact to 1.5e-7 R for linear constraints and maxima of them. Other convex
    constraints are approached by cuts until the objective is within about 1e-5 R^2/eta of its least
    value, or after 100 cuts.

    All within the affine hull of the set, exactly up to 2000 dimensions. Snapshots with curved
    constraints are refused within a block.

    Args:
        decision_set: where to play; constraints must be defined on the whole ball about it.
        steps: the blocks' length, tolerance and step.
        weight: lam, the weight on violations, in units of cost per violation.

    """

    oblivious_only = False
    feedback = staticmethod(full)

    def __init__(self, decision_set: DecisionSet, steps: LooRule, weight: float):
        X = self.decision_set = decision_set
        self.steps, self.weight = steps, as_positive(weight, "weight")
        self._block = steps.begin(X.diameter)
        self._workspace = X.workspace()
        self._along = hull_projector(X)
        self._pursuer = FeasibleFollower(
            self._workspace.lmo, X.start(), X.diameter, self._block.eps
        )
        self._constraints = BlockConstraints(X.dim)
        self._state = State(c=X.dim, t=1, squares=1)

    @property
    def oracle_calls(self) -> int:
        """In bursts, at the ends of blocks."""
        return self._pursuer.oracle_calls

    def ask(self) -> Vector:
        """Return x_m."""
        return self._pursuer.x

    def tell(self, cost: EvalGrad | Full, constraint: Full) -> None:
        """Take the cost's gradient at x_m and the whole constraint; at a block's end, move."""
        needs(Full, constraint, "this policy", "constraint")
        for seen, name in ((cost, "cost"), (constraint, "constraint")):
            checked(EvalGrad(seen.value, seen.grad), name, self.decision_set.dim)
        if not isinstance(constraint.function, Function):
            raise TypeError(
                f"the constraint must come as a convex function with grad(), got "
                f"{constraint.function!r}; look with full(g, x)"
            )
        self._constraints.add(constraint.function, self.ask())
        state = self._state
        state["c"][:] += cost.grad
        state["t"][0] += 1.0
        if state["t"][0] % self._block.length == 0.0:
            if self.decision_set.diameter > 0.0:
                self._move()
            state["c"][:] = 0.0
            self._constraints.clear()
        warn_beyond(int(state["t"][0]), self.steps.horizon)

    def _move(self) -> None:
        state, R, centre = self._state, self.decision_set.diameter, self._pursuer.centre
        c = self._along(state["c"])  # c_m
        state["squares"][0] += squared_norm(c)
        eta = self.steps.eta(R, float(state["squares"][0]))
        accuracy = ROUGH if self._constraints.curved else FINE
        for _ in range(CUTS):
            pieces = self._constraints.pieces(centre)
            pieces = pieces._replace(slopes=self._along(pieces.slopes))
            z = ball_prox(c, pieces, self.weight, eta, self._pursuer.y - centre, R, accuracy)
            if not self._constraints.cut(centre + z, CUT_TOLERANCE * R**2 / (eta * self.weight)):
                break
        self._pursuer.follow(centre + z)  # y_{m+1}, then x_{m+1} and y~_{m+1}

    @property
    def _parts(self) -> dict[str, Restorable]:
        return {
            "pursuer": self._pursuer,
            "constraints": self._constraints,
            "workspace": self._workspace,
        }
