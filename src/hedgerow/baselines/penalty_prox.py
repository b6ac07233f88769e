"""Blocks of proximal steps on cost plus penalty over a ball, followed by a feasible point."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from hedgerow import kernels
from hedgerow._engine.kernel import kernel, read, write, write_index, write_rows
from hedgerow._engine.table import TableType
from hedgerow.baselines.block_constraints import Affine, BlockConstraints, close_group, keep_row
from hedgerow.feedback import EvalGrad, Full, full, needs
from hedgerow.functions import Function
from hedgerow.inputs import Vector, as_positive, squared_norm
from hedgerow.kernels.policy_tables import set_table
from hedgerow.kernels.rounds import SEEN_ROUND
from hedgerow.kernels.units import NO_UNITS, add_told, in_units
from hedgerow.learners.block_rules import LooRule
from hedgerow.learners.blocked_ogd import BlockRounds, FollowedBlocks
from hedgerow.protocols.parts import Feedback
from hedgerow.protocols.rounds import CompiledRounds
from hedgerow.sets.compiled import not_overridden
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Restorable
from hedgerow.surrogates.dual_rounds import is_accepted
from hedgerow.surrogates.queue import LARGEST_PART
from hedgerow.surrogates.queued import checked


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
        kernels.ball_prox.ascend(
            Q, A @ w, v, begin, weight, eta, size, radius, steepest, enough, accuracy.steps, mu
        )
    z: Vector = w - eta * (mu @ A)
    return z * min(1.0, radius / float(np.linalg.norm(z) or 1.0))


CUT_TOLERANCE = 1e-5
"""How much too low the pieces of curved constraints may be, in units of R^2/eta."""
CUTS = 100
"""The most cuts in a block."""


class PenaltyProx(FollowedBlocks):
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

    feedback = staticmethod(full)

    def __init__(self, decision_set: DecisionSet, steps: LooRule, weight: float):
        super().__init__(decision_set, steps, "c")
        self.weight = as_positive(weight, "weight")
        self.constraints = BlockConstraints(decision_set.dim)

    def tell(self, cost: EvalGrad | Full, constraint: Full) -> None:
        """Take the cost's gradient at x_m and the whole constraint; at a block's end, move."""
        needs(Full, constraint, "this policy", "constraint")
        for seen, name in ((cost, "cost"), (constraint, "constraint")):
            checked(EvalGrad(seen.value, seen.grad), name, self.decision_set.dim)
        if not isinstance(constraint.function, Function):
            raise TypeError(
                f"the constraint must come as a convex function with grad(), got "
                f"{constraint.function!r}; observe it with full(g, x)"
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

    def compiled_rounds(
        self, feedback: Feedback, units: Vector = NO_UNITS
    ) -> CompiledRounds | None:
        """Return its linear rounds for the compiled loops; None where a part has no kernels."""
        written = not_overridden(self, PenaltyProx, "ask", "tell", "_add") and feedback is full
        has_kernels = self.workspace.space is not None
        return KeptRounds(self, units) if written and has_kernels else None

    @property
    def _parts(self) -> dict[str, Restorable]:
        return super()._parts | {"constraints": self.constraints}


kept_table = TableType(
    "KeptTable",
    {
        "state": write,  # [sum of gradients | t | squares]
        "set": set_table,
        "units": write,  # of a `Normalised`, empty without one
        "slopes": write_rows,  # the constraints of the block, as `BlockConstraints` has them
        "offsets": write,
        "begin": write_index,
        "filled": write_index,
        "given": read,  # the offsets of the rounds that are played
    },
)


@kernel(types.boolean, kept_table, *SEEN_ROUND)
def play_kept(
    table: Any,
    a: Vector,
    cost: float,
    c: Vector,
    value: float,
    products: tuple[float, float, float, float],
    k: int,
) -> bool:
    """Take in a linear round of a block, and keep its constraint."""
    n, state, units, offset = len(a), table.state, table.units, table.given[k]
    cost2, force2 = products[2], products[3]
    Gf, Gg, p, q = in_units(table.set.measure, table.set.space, units, a, cost2, c, force2)
    if not (is_accepted(cost2, cost, p) and is_accepted(force2, value, q)):
        return False
    if not abs(q * offset) <= LARGEST_PART:
        return False
    keep_row(table.slopes, table.offsets, table.begin, table.filled, q, c, offset)
    close_group(table.filled)
    for i in range(n):
        state[i] += p * a[i]
    state[n] += 1.0
    add_told(units, Gf, Gg, cost, value)
    return True


class KeptRounds(BlockRounds):
    """Linear rounds of a `PenaltyProx`, which keeps the constraints of a block.

    Args:
        policy: who plays; its set has kernels.
        units: of a `Normalised` around the policy, empty without one.

    """

    feedback: Feedback = staticmethod(full)
    convex = False

    def __init__(self, policy: PenaltyProx, units: Vector):
        super().__init__(policy, play_kept, policy._pursuer._state["x"])
        assert policy.workspace.space is not None
        self._constraints, self._units = policy.constraints, units
        self._set, self._state = policy.workspace.space.table, policy._state.array

    def table(self, rounds: Any, first: int, end: int) -> Any:
        """Return the table with memory for the constraints of these rounds."""
        slopes, offsets, begin, filled = self._constraints.with_room(end - first)
        return kept_table.filled(
            state=self._state,
            set=self._set,
            units=self._units,
            slopes=slopes,
            offsets=offsets,
            begin=begin,
            filled=filled,
            given=rounds.constraint_offsets[first:end],
        )
