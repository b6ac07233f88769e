"""Blocks of proximal steps on cost plus penalty over a ball, followed by a feasible point."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from hedgerow import kernels
from hedgerow._engine.kernel import (
    kernel,
    nothing,
    number,
    read,
    rows,
    write,
    write_index,
    write_rows,
)
from hedgerow._engine.table import TableType
from hedgerow.feedback import EvalGrad, Full, full_information, in_order, needs
from hedgerow.functions import Function, Linear, Maximum
from hedgerow.inputs import LARGEST_PART, Vector, as_positive, squared_norm
from hedgerow.kernels.rounds import SEEN_ROUND, is_accepted
from hedgerow.kernels.vectors import dot
from hedgerow.learners.block_rules import LooRule
from hedgerow.learners.blocked_ogd import BlockRounds, FollowedBlocks
from hedgerow.protocols.parts import Feedback
from hedgerow.protocols.rounds import CompiledRounds
from hedgerow.sets.compiled import not_overridden
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Restorable, Snapshot, State, Stateful
from hedgerow.surrogates.queued import checked

Array = Any
ROWS, GROUPS = range(2)
"""The numbers of `filled`: how many rows are stored, and how many groups are closed."""


@kernel(nothing, write_rows, write, write_index, write_index, read, number)
def store_row(
    slopes: Array, offsets: Array, begin: Array, filled: Array, c: Array, offset: float
) -> None:
    """Add <c, y> + offset to the group that is open."""
    row = filled[ROWS]
    for i in range(len(c)):
        slopes[row, i] = c[i]
    offsets[row] = offset
    filled[ROWS] = np.uint32(row + 1)
    begin[filled[GROUPS] + 1] = filled[ROWS]


@kernel(nothing, write_index)
def close_group(filled: Array) -> None:
    """End a group: the next row belongs to another constraint."""
    filled[GROUPS] = np.uint32(filled[GROUPS] + 1)


@kernel(nothing, rows, read, read, write)
def values_at(slopes: Array, offsets: Array, y: Array, values: Array) -> None:
    """Write the value of each row at y."""
    for i in range(len(values)):
        values[i] = dot(slopes[i], y) + offsets[i]


class Affine(NamedTuple):
    """Maxima of affine pieces: the pieces of group t are rows begin[t] to begin[t + 1] - 1."""

    slopes: NDArray[np.float64]  # (rows, dim)
    values: Vector  # (rows,), at the origin
    begin: NDArray[np.uint32]  # (groups + 1,)

    def __call__(self, z: Vector) -> Vector:
        """Return each group's largest piece at z."""
        return np.maximum.reduceat(self.slopes @ z + self.values, self.begin[:-1])


class BlockConstraints(Stateful):
    """The constraints of a block's rounds, each as the largest of affine pieces.

    A linear function, or a maximum of such, is stored as it is. The positive parts of all other
    convex functions are summed to one more function: it begins as its linearisation at the played
    point, and `cut` adds another one where that is too low.

    Args:
        dim: the number of coordinates.

    """

    def __init__(self, dim: int):
        self._dim = dim
        self._curved: list[Function] = []
        self._cuts: list[Linear] = []
        self._played = np.zeros(dim)
        self._slopes, self._offsets = np.empty((0, dim)), np.empty(0)
        self._begin, self._filled = np.zeros(1, np.uint32), np.zeros(2, np.uint32)

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
        rows = self.memory(len(parts))
        for part in parts:
            store_row(*rows, part.coefficients, part.offset)
        close_group(self._filled)

    def memory(self, more: int) -> tuple[Array, Array, Array, Array]:
        """Return the arrays of `store_row`, enlarged where `more` rows do not fit."""
        used, have = int(self._filled[ROWS]), self._offsets.size
        if used + more > have:
            size = max(used + more, 2 * have)
            slopes, offsets, begin = self._slopes, self._offsets, self._begin
            self._slopes, self._offsets = np.empty((size, self._dim)), np.empty(size)
            self._begin = np.zeros(size + 1, np.uint32)
            self._slopes[:used], self._offsets[:used] = slopes[:used], offsets[:used]
            self._begin[: begin.size] = begin
        return self._slopes, self._offsets, self._begin, self._filled

    def pieces(self, origin: Vector) -> Affine:
        """Return all pieces, with values at the origin."""
        stored, groups = map(int, self._filled)
        slopes, offsets = self._slopes[:stored], self._offsets[:stored]
        begin = self._begin[: groups + 1]
        if self._curved:
            if not self._cuts:
                self._cuts.append(self._violation(self._played))
            slopes = np.vstack([slopes, [part.coefficients for part in self._cuts]])
            offsets = np.append(offsets, [part.offset for part in self._cuts])
            begin = np.append(begin, np.uint32(offsets.size))
        values = np.empty(offsets.size)
        values_at(slopes, offsets, origin, values)
        return Affine(slopes, values, begin)

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
        """Drop all constraints: a new block begins."""
        self._filled[:] = 0
        self._curved, self._cuts = [], []

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
        self._state = self._layout(pieces.values.size, pieces.begin.size - 1)
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
        self.clear()
        stored, groups = state["values"].size, state["begin"].size - 1
        slopes, offsets, begin, filled = self.memory(max(stored, groups))
        slopes[:stored] = state["slopes"].reshape(-1, self._dim)
        offsets[:stored], begin[: groups + 1] = state["values"], state["begin"]
        filled[:] = stored, groups

    def _layout(self, rows: int, groups: int) -> State:
        return State(slopes=rows * self._dim, values=rows, begin=groups + 1)


def _affine_parts(g: Function) -> list[Linear] | None:
    """Return the linear functions of which g is the maximum; None if it is not such a maximum."""
    if isinstance(g, Linear):
        return [g]
    if not isinstance(g, Maximum):
        return None
    parts = [_affine_parts(part) for part in g.parts]
    return None if None in parts else [one for part in parts for one in part or ()]


class Accuracy(NamedTuple):
    """The duality gap that is good enough, in units of R^2/eta, and the most dual steps."""

    gap: float
    steps: int


FINE = Accuracy(1e-14, 20_000)
"""z is within 1.5e-7 R of the minimiser."""
ROUGH = Accuracy(1e-7, 5_000)
"""For pieces that are themselves approximate."""


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
        dual = kernels.ball_prox.ball_dual.filled(
            Q=Q, Aw=A @ w, values=v, begin=begin, weight=weight, eta=eta, free2=size, radius=radius
        )
        kernels.ball_prox.ascend(dual, steepest, enough, accuracy.steps, mu)
    z: Vector = w - eta * (mu @ A)
    return z * min(1.0, radius / float(np.linalg.norm(z) or 1.0))


CUT_TOLERANCE = 1e-5
"""How much too low the pieces of curved constraints may be, in units of R^2/eta."""
CUTS = 100
"""The most cuts in a block."""


class PenaltyProx(FollowedBlocks):
    """Drift-plus-penalty by blocks: cost linearised, constraints as functions.

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

    feedback = staticmethod(full_information)

    def __init__(self, decision_set: DecisionSet, steps: LooRule, weight: float):
        super().__init__(decision_set, steps, "c")
        self.weight = as_positive(weight, "weight")
        self.constraints = BlockConstraints(decision_set.dim)

    def tell(self, cost: EvalGrad | Full, constraint: Full) -> None:
        """Take the cost's gradient at x_m and the whole constraint; at a block's end, move."""
        needs(Full, constraint, "this policy", "constraint")
        X = self.decision_set
        cost, constraint = in_order(cost, X, "cost"), in_order(constraint, X, "constraint")
        for seen, name in ((cost, "cost"), (constraint, "constraint")):
            checked(EvalGrad(seen.value, seen.grad), name, X)
        if not isinstance(constraint.function, Function):
            raise TypeError(
                f"the constraint must come as a convex function with grad(), got "
                f"{constraint.function!r}; observe it with full_information(g, x)"
            )
        self.constraints.add(constraint.function, self.ask())
        self._add(cost.grad)

    def end_block(self) -> None:
        """Take the proximal step, then follow it to x_{m+1}."""
        if self.decision_set.diameter > 0.0:
            self._move()
        self._state["c"][:] = 0.0
        self.constraints.clear()

    def _move(self) -> None:
        R, centre = self.decision_set.diameter, self._pursuer.centre
        c, eta = self._step()  # c_m
        accuracy = ROUGH if self.constraints.curved else FINE
        for _ in range(CUTS):
            pieces = self.constraints.pieces(centre)
            pieces = pieces._replace(slopes=self._along(pieces.slopes))
            z = ball_prox(c, pieces, self.weight, eta, self._pursuer.y - centre, R, accuracy)
            if not self.constraints.cut(centre + z, CUT_TOLERANCE * R**2 / (eta * self.weight)):
                break
        self._pursuer.follow(centre + z)  # y_{m+1}, then x_{m+1} and y~_{m+1}

    def compiled_rounds(self, feedback: Feedback) -> CompiledRounds | None:
        """Return its linear rounds for the compiled loops; None where a part has no kernels."""
        written = (
            not_overridden(self, PenaltyProx, "ask", "tell", "_add")
            and feedback is full_information
        )
        return StoredRounds(self) if written and self.workspace.space is not None else None

    @property
    def _parts(self) -> dict[str, Restorable]:
        return super()._parts | {"constraints": self.constraints}


stored_table = TableType(
    "StoredTable",
    {
        "state": write,  # [sum of gradients | t | squares]
        "slopes": write_rows,  # the constraints of the block, as `BlockConstraints` has them
        "offsets": write,
        "begin": write_index,
        "filled": write_index,
        "given": read,  # the offsets of the rounds that are played
    },
)


@kernel(types.boolean, stored_table, *SEEN_ROUND)
def play_stored(
    table: Any,
    a: Vector,
    cost: float,
    c: Vector,
    value: float,
    products: tuple[float, float, float, float],
    k: int,
) -> bool:
    """Take in a linear round of a block, and store its constraint."""
    n, state, offset = len(a), table.state, table.given[k]
    if not (is_accepted(cost, value, products) and abs(offset) <= LARGEST_PART):
        return False
    store_row(table.slopes, table.offsets, table.begin, table.filled, c, offset)
    close_group(table.filled)
    for i in range(n):
        state[i] += a[i]
    state[n] += 1.0
    return True


class StoredRounds(BlockRounds):
    """Linear rounds of a `PenaltyProx`, which stores the constraints of a block.

    Args:
        policy: the policy; its set has kernels.

    """

    feedback: Feedback = staticmethod(full_information)
    convex = False

    def __init__(self, policy: PenaltyProx):
        super().__init__(policy, play_stored, policy._pursuer._state["x"])
        self._constraints, self._state = policy.constraints, policy._state.array

    def table(self, rounds: Any, first: int, end: int) -> Any:
        """Return the table with memory for the constraints of these rounds."""
        slopes, offsets, begin, filled = self._constraints.memory(end - first)
        return stored_table.filled(
            state=self._state,
            slopes=slopes,
            offsets=offsets,
            begin=begin,
            filled=filled,
            given=rounds.constraint_offsets[first:end],
        )
