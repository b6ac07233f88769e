"""Blocks of proximal steps on cost plus penalty over a ball, followed by a feasible point."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow import kernels
from hedgerow.feedback import EvalGrad, Full, full, needs
from hedgerow.functions import Function, Linear, Maximum
from hedgerow.inputs import Vector, as_positive, squared_norm
from hedgerow.learners.arguments import warn_beyond
from hedgerow.learners.feasible_follower import FeasibleFollower
from hedgerow.learners.loo_blocks import LooRule
from hedgerow.player import StatefulPlayer
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.hull_projector import hull_projector
from hedgerow.snapshot import Restorable, Snapshot, State, Stateful
from hedgerow.surrogates.queued import checked


class Accuracy(NamedTuple):
    """The duality gap that is good enough, in units of R^2/eta, and the most dual steps."""

    gap: float
    steps: int


FINE = Accuracy(1e-14, 20_000)
"""z is within 1.5e-7 R of the minimiser."""
ROUGH = Accuracy(1e-7, 5_000)
"""For pieces that are themselves approximate."""


class Affine(NamedTuple):
    """Maxima of affine pieces: the pieces of group t are rows begin[t] to begin[t + 1] - 1."""

    slopes: NDArray[np.float64]  # (rows, dim)
    values: Vector  # (rows,), at the origin
    begin: NDArray[np.uint32]  # (groups + 1,)

    def __call__(self, z: Vector) -> Vector:
        """Return each group's largest piece at z."""
        return np.maximum.reduceat(self.slopes @ z + self.values, self.begin[:-1])


def ball_prox(
    c: Vector,
    pieces: Affine,
    weight: float,
    eta: float,
    z0: Vector,
    radius: float,
    accuracy: Accuracy = FINE,
) -> Vector:
    """Minimise <c, z> + weight sum_t g_t^+(z) + ||z - z0||^2 / (2 eta) over the ball ||z|| <= R.

    Each g_t is a maximum of affine pieces <a_i, z> + v_i. The dual has one variable mu_i >= 0 a
    piece, with a sum of at most `weight` in each group; z(mu) = P_ball(z0 - eta (c + A^T mu)), and
    the dual's slope is A z(mu) + v. Accelerated projected gradient with restarts works on the
    rows' Gram matrix, so a step costs O(rows^2) whatever the dimension.

    Args:
        c: the linear part.
        pieces: the functions g_t, with the ball's centre as origin.
        weight: the weight on each violation.
        eta: the step.
        z0: where the step starts.
        radius: R, the ball's radius.
        accuracy: when to stop; a gap of e R^2/eta puts z within sqrt(2 e) R of the minimiser.

    Reference for the method: A. Beck and M. Teboulle, A fast iterative shrinkage-thresholding
    algorithm, SIAM J. Imaging Sciences 2 (2009); restarts after B. O'Donoghue and E. Candes (2015).

    >>> pieces = Affine(np.array([[1.0, 0.0]]), np.array([-0.5]), np.array([0, 1], np.uint32))
    >>> ball_prox(np.zeros(2), pieces, 9.0, 1.0, np.array([1.0, 1.0]), 2.0).round(6)
    array([0.5, 1. ])

    """
    A, v, begin = pieces
    w = z0 - eta * c
    Q = A @ A.T
    largest = float(np.linalg.eigvalsh(Q)[-1])
    mu = np.zeros(v.size)
    if largest > 0.0:
        enough, size = accuracy.gap * radius**2 / eta, squared_norm(w)
        steepest = eta * largest
        kernels.ball_prox.ascend(
            Q, A @ w, v, begin, weight, eta, size, radius, steepest, enough, accuracy.steps, mu
        )
    z: Vector = w - eta * (mu @ A)
    return z * min(1.0, radius / float(np.linalg.norm(z) or 1.0))


class BlockConstraints(Stateful):
    """The constraints of a block's rounds, each as the largest of affine pieces.

    A linear function, or a maximum of such, is kept whole. Of all other convex functions the sum of
    positive parts is kept as one function: it begins as its linearisation at the played point and
    gains one more wherever `cut` finds that to be too low.

    Args:
        dim: the number of coordinates.

    """

    def __init__(self, dim: int):
        self._dim = dim
        self._groups: list[list[Linear]] = []
        self._curved: list[Function] = []
        self._cuts: list[Linear] = []
        self._played = np.zeros(dim)

    @property
    def curved(self) -> bool:
        """Whether some constraint is approached by cuts."""
        return bool(self._curved)

    def add(self, g: Function, x: Vector) -> None:
        """Take in the constraint of a round in which x was played."""
        parts = _affine_parts(g)
        if parts is None:
            self._curved.append(g)
            self._played = x.copy()
            return
        for part in parts:
            if part.coefficients.size != self._dim:
                raise ValueError(
                    f"a constraint on this set takes {self._dim} coordinates, got a linear one of "
                    f"{part.coefficients.size}; flatten matrices row-major"
                )
        self._groups.append([Linear(part.coefficients, part.offset) for part in parts])  # copies

    def pieces(self, origin: Vector) -> Affine:
        """Return all pieces, with values at the origin."""
        if self._curved and not self._cuts:
            self._cuts.append(self._violation(self._played))
        groups = [*self._groups, self._cuts] if self._curved else self._groups
        rows = [part for group in groups for part in group]
        slopes = np.array([part.coefficients for part in rows]).reshape(len(rows), self._dim)
        begin = np.cumsum([0, *map(len, groups)]).astype(np.uint32)
        return Affine(slopes, np.array([part(origin) for part in rows]), begin)

    def cut(self, y: Vector, enough: float) -> bool:
        """Add a linearisation at y where the pieces are too low; False if by `enough` at most."""
        if not self._curved:
            return False
        truth = self._violation(y)
        if truth(y) - max(0.0, *(part(y) for part in self._cuts)) <= enough:
            return False
        self._cuts.append(truth)
        return True

    def _violation(self, y: Vector) -> Linear:
        """Linearise the curved constraints' sum of positive parts at y."""
        slope, value = np.zeros(self._dim), 0.0
        for g in self._curved:
            if (violation := g(y)) > 0.0:
                slope += g.grad(y)
                value += violation
        return Linear(slope, value - float(slope @ y))

    def clear(self) -> None:
        """Forget the constraints: a new block begins."""
        self._groups, self._curved, self._cuts = [], [], []

    @property
    def _configuration(self) -> object:
        return self._dim

    def state(self) -> Snapshot:
        """Return a snapshot; in the middle of a block only linear constraints fit into one."""
        if self._curved:
            raise ValueError(
                "a snapshot within a block can hold linear constraints and maxima of them, this "
                f"block has a {type(self._curved[0]).__name__}; take the "
                "snapshot after the block's last round"
            )
        pieces = self.pieces(np.zeros(self._dim))
        self._state = self._layout(pieces.values.size, len(self._groups))
        for name, part in pieces._asdict().items():
            self._state[name][:] = part.ravel()
        return super().state()

    def restore(self, snapshot: Snapshot) -> None:
        """Take the constraints of the block from a snapshot."""
        layout, size = snapshot["layout"], len(snapshot["array"])
        rows, ends = int(layout.get("values", 0)), int(layout.get("begin", 1))
        if rows >= 0 and ends >= 1 and size == rows * (self._dim + 1) + ends:
            self._state = self._layout(rows, ends - 1)
        super().restore(snapshot)

    def _restored(self) -> None:
        state = self._state
        rows = zip(state["slopes"].reshape(-1, self._dim), state["values"], strict=True)
        parts = [Linear(slope, float(value)) for slope, value in rows]
        begin = state["begin"].astype(int).tolist()
        self.clear()
        self._groups = [parts[i:j] for i, j in pairwise(begin)]

    def _layout(self, rows: int, groups: int) -> State:
        return State(slopes=rows * self._dim, values=rows, begin=groups + 1)


def _affine_parts(g: Function) -> list[Linear] | None:
    """Return the linear functions of which g is the maximum, None where it is no such."""
    if isinstance(g, Linear):
        return [g]
    if not isinstance(g, Maximum):
        return None
    parts = [_affine_parts(part) for part in g.parts]
    return None if None in parts else [one for part in parts for one in part or ()]


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
        self._pursuer = FeasibleFollower(self._workspace, X.start(), X.diameter, self._block.eps)
        self._constraints = BlockConstraints(X.dim)
        self._state = State(c=X.dim, t=1, squares=1)

    @property
    def oracle_calls(self) -> int:
        """In bursts, at the ends of blocks."""
        return self._pursuer.oracle_calls

    def ask(self) -> Vector:
        """Return x_m, the play of every round of block m."""
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
