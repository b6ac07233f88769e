"""Algorithm 3: adaptive block bandit conditional gradient."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numba import types

from hedgerow._engine.kernel import function, kernel, nothing, number, read, whole, write
from hedgerow._engine.table import TableType
from hedgerow.feedback import LARGEST_VALUE, Eval, as_eval
from hedgerow.inputs import RNG, Vector
from hedgerow.kernels.conditional_gradient import conditional_gradient, descent_table
from hedgerow.kernels.vectors import copy, dot, four_vectors
from hedgerow.learners.arguments import warn_beyond
from hedgerow.learners.block_rules import BLOCK_BETA, BlockRule, Seen
from hedgerow.learners.hull_coordinates import Directions, HullCoordinates, ShrunkHull
from hedgerow.protocols.player import StatefulPlayer
from hedgerow.sets.compiled import NO_NUMBERS, kernel_matches, python_set
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import State

Array = Vector
NUMBERS = 10
ROUND, SUM, MEAN, SQUARES, LIPSCHITZ, BOUND, CALLS, CAPPED, GUESS, RESTARTS = range(NUMBERS)
"""The numbers of the state [u | numbers | x | anchor | S | grad]."""
DIM, DELTA, LENGTH, EPSILON, WINDOW, SHRINK = range(6)
"""The constants of a game: n, delta, K, eps, how many values a mean is of, 1 - delta/r."""
END_BLOCK = (number, write, whole)
"""A kernel that is asked for L at the end of a block, before x moves."""


@kernel(write, write, whole)
def numbers_of(state: Array, n: int) -> Array:
    """Return the numbers of the state."""
    return state[n : n + NUMBERS]


@kernel(four_vectors, write, whole)
def vectors_of(state: Array, n: int) -> tuple[Array, Array, Array, Array]:
    """Return x, the anchor, S and the block's gradient."""
    first = n + NUMBERS
    second, third, fourth = first + n, first + 2 * n, first + 3 * n
    return state[first:second], state[second:third], state[third:fourth], state[fourth:]


@kernel(nothing, write, read, read, write)
def play_around(state: Array, centre: Array, constants: Array, y: Array) -> None:
    """Write y_t = x_m + delta u_t."""
    n = len(y)
    x = vectors_of(state, n)[0]
    for i in range(n):
        y[i] = centre[i] + (x[i] + constants[DELTA] * state[i])


@kernel(types.boolean, write, read, whole, number, number, number)
def gather(
    state: Array, constants: Array, n: int, value: float, lipschitz: float, bound: float
) -> bool:
    """Take the value at y_t into the block's sum of estimates; say whether the block ends."""
    own, grad = numbers_of(state, n), vectors_of(state, n)[3]
    factor = constants[DIM] / constants[DELTA] * (value - own[MEAN])
    for i in range(n):
        grad[i] += factor * state[i]  # grad_{m,s}
    own[LIPSCHITZ], own[BOUND] = max(own[LIPSCHITZ], lipschitz), max(own[BOUND], bound)
    own[ROUND] += 1.0
    if constants[WINDOW] > 0.0:
        own[SUM] += value
        if own[ROUND] % constants[WINDOW] == 0.0:
            own[MEAN], own[SUM] = own[SUM] / constants[WINDOW], 0.0
    return own[ROUND] % constants[LENGTH] == 0.0


@kernel(nothing, write, whole)
def add_block(state: Array, n: int) -> None:
    """Add grad_m to S, and begin the next one."""
    own, (_, _, S, grad) = numbers_of(state, n), vectors_of(state, n)
    own[SQUARES] += dot(grad, grad)
    for i in range(n):
        S[i] += grad[i]
        grad[i] = 0.0


bandit_table = TableType(
    "BanditTable",
    {
        "state": write,
        "constants": read,
        "centre": read,  # of the set's inner ball
        "descent": descent_table,  # F_m over the shrunk set
        "end_block": function(*END_BLOCK),
        "regulariser": function(*BLOCK_BETA),
        "rule": read,  # its numbers
    },
)


@kernel(nothing, bandit_table, read, number, number, number)
def tell_value(table: Any, following: Array, value: float, lipschitz: float, bound: float) -> None:
    """Take in the value at y_t and its declared constants; at the end of a block, move.

    `following` is u_{t+1}.
    """
    state, n = table.state, len(table.centre)
    ends = gather(state, table.constants, n, value, lipschitz, bound)
    copy(state, following)
    if ends:
        L = table.end_block(state, n)
        add_block(state, n)
        own = numbers_of(state, n)
        beta = table.regulariser(table.rule, L, own[BOUND], own[SQUARES])  # 1/eta_m
        if beta > 0.0:  # else every value was zero: stay
            K, gap_wanted = int(table.constants[LENGTH]), table.constants[EPSILON] * beta
            x = vectors_of(state, n)[0]
            gap, calls = conditional_gradient(table.descent, x, beta, gap_wanted, K)  # x_{m+1}
            own[CALLS] += calls
            own[CAPPED] += gap > gap_wanted  # the cap of K calls came first


@kernel(*END_BLOCK)
def largest_so_far(state: Array, n: int) -> float:
    """Return L_{mK}, the largest so far, line 2."""
    return numbers_of(state, n)[LIPSCHITZ]


class BlockConditionalGradient(StatefulPlayer):
    """Plays around x_m for a block of K rounds, then moves to x_{m+1} near the minimum of F_m.

    F_m(x) = <S, x> + ||x - anchor||^2/eta_m over the shrunk set, where S sums the estimates of
    whole blocks: at most K oracle calls of conditional gradient (Algorithm 6), so at most one per
    round. A block that reaches the cap before its gap is eps/eta_m is counted in `capped_blocks`.
    Which blocks S sums, from which anchor, and which Lipschitz constant goes into eta_m is
    what makes the algorithm: the kernel `end_block` says. x, anchor, S and the estimates are
    vectors along the set, x and anchor about the centre of its inner ball, which is x_1 and the
    first anchor; u_t is uniform on the unit sphere of the affine hull.

    Args:
        decision_set: where to play; it needs a hull and an inner ball.
        steps: the constants of a block and the rule for 1/eta_m.
        seed: fixes the perturbations.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.

    Reference for the estimates: A. Flaxman, A. Kalai and B. McMahan, Online convex optimization in
    the bandit setting, SODA 2005.

    """

    oblivious_only = True
    end_block: ClassVar[Callable[..., float]]

    def __init__(
        self,
        decision_set: DecisionSet,
        steps: BlockRule,
        seed: int | None = None,
        *,
        rng: RNG | None = None,
    ):
        inside, self.steps = HullCoordinates(decision_set), steps
        self.decision_set = decision_set
        n, block = decision_set.dim, steps.begin(inside.dim, inside.radius, decision_set.diameter)
        self._shrunk = ShrunkHull(decision_set, block.delta, inside)  # X_delta = (1 - delta/r) X
        self._rng = np.random.default_rng(self._seed(seed, rng))
        names = ("t", "sum", "mean", "squares", "lipschitz", "bound", "calls", "capped")
        numbers = dict.fromkeys((*names, "guess", "restarts"), 1)
        self._state = State(u=n, **numbers, x=n, anchor=n, S=n, grad=n)  # x_1 = 0, the centre
        self._block, self._directions = block, Directions(inside)
        self._drawn: tuple[int, Any] = (0, None)
        self._state["u"][:] = self._directions.draw(self._rng, 1)[0]  # u_1, uniform on the sphere

    @cached_property
    def _constants(self) -> Vector:
        K, delta, epsilon, centred = self._block
        window = K if centred else 0
        return np.array([self.dim, delta, K, epsilon, window, self._shrunk.shrink], np.float64)

    def draw(self, rounds: int) -> Vector:
        """Return u of the next rounds, one row each."""
        self._drawn = rounds, self._rng.bit_generator.state
        return self._directions.draw(self._rng, rounds)

    def give_back(self, rounds: int) -> None:
        """Take back what was drawn for rounds that were not played."""
        drawn, before = self._drawn
        if rounds < drawn:
            self._rng.bit_generator.state = before
            self._rng.standard_normal((rounds, self.decision_set.dim))

    @property
    def rounds(self) -> int:
        """The number of losses that it has learnt from."""
        return int(self._state["t"][0])

    @property
    def horizon(self) -> int:
        """The number of rounds that its steps are made for."""
        return self.steps.horizon

    @property
    def dim(self) -> int:
        """The dimension of the affine hull, the paper's n."""
        return self._shrunk.dim

    @property
    def radius(self) -> float:
        """The radius of the inner ball, the paper's r."""
        return self._shrunk.inside.radius

    @property
    def oracle_calls(self) -> int:
        """At most one per round on average."""
        return int(self._state["calls"][0])

    @property
    def capped_blocks(self) -> int:
        """How many blocks ended at the cap of K oracle calls, their gap still above eps/eta_m.

        The regret bounds need every block to reach that gap: they hold while this is 0.
        """
        return int(self._state["capped"][0])

    def ask(self) -> Vector:
        """Return y_t = x_m + delta u_t."""
        y = np.empty(self.decision_set.dim)
        play_around(self._state.array, self._shrunk.inside.centre, self._constants, y)
        return y

    def tell(self, loss: Eval) -> None:
        """Take the value at y_t; at the end of a block, move."""
        seen = as_eval(loss, "loss", LARGEST_VALUE)
        following = self._directions.draw(self._rng, 1)[0]
        tell_value(self.table, following, seen.value, seen.lipschitz, seen.bound)
        warn_beyond(self.rounds, self.steps.horizon)

    @cached_property
    def table(self) -> Any:
        """The arrays and kernels of a round; oracle and step rule may be functions of Python."""
        X, steps, space = self.decision_set, self.steps, self.decision_set.workspace().space
        centre = self._shrunk.inside.centre

        def beta(_: Vector, lipschitz: float, bound: float, squares: float) -> float:
            return steps.beta(self.dim, X.diameter, Seen(lipschitz, bound, squares))

        regulariser: Any = beta, NO_NUMBERS
        if kernel_matches(steps, "beta", "regulariser"):
            regulariser = steps.regulariser(self.dim, X.diameter)  # type: ignore[attr-defined]
        return bandit_table.filled(
            state=self._state.array,
            constants=self._constants,
            centre=centre,
            descent=descent_table.filled(
                set=space.table if space else python_set(X.lmo, lambda c: X.tangent_norm2(c)[0]),
                S=self._state["S"],
                anchor=self._state["anchor"],
                centre=centre,
                share=self._shrunk.shrink,
                work=np.empty(2 * X.dim),
            ),
            end_block=type(self).end_block,
            regulariser=regulariser[0],
            rule=regulariser[1],
        )


class BlockBandit(BlockConditionalGradient):
    """Adaptive block bandit conditional gradient: learns from the value of what it played.

    Each round of block m plays y_t = x_m + delta u_t with u_t uniform on the unit sphere of the
    affine hull, and estimates the gradient by (n/delta) f_t(y_t) u_t. After K rounds x_{m+1} is a
    near-minimiser over the shrunk set of F_m(x) = <sum of estimates, x> + ||x - x_1||^2/eta_m,
    found by at most K oracle calls (Algorithm 6), so at most one per round. Works in the
    coordinates of the set's affine hull, about the centre of its inner ball.

    The guarantee (Theorem 4.1, O(T^{3/4}) expected regret with `PaperBlocks`) is for losses that
    are fixed before each play, oblivious games only, and for runs in which no block reached its
    cap of K oracle calls: afterwards `capped_blocks` must be 0.

    Args:
        decision_set: where to play; it needs a hull and an inner ball.
        steps: `PaperBlocks(horizon)` or `PracticalBlocks(horizon)`.
        seed: fixes the perturbations.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.

    """

    end_block = largest_so_far
