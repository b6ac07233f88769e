"""Algorithm 3: adaptive block bandit conditional gradient."""

from __future__ import annotations

from hedgerow.feedback import LARGEST_VALUE, Eval, as_eval
from hedgerow.inputs import Vector
from hedgerow.learners.arguments import warn_beyond
from hedgerow.learners.blocks import BlockRule, Seen
from hedgerow.learners.hull_coordinates import HullCoordinates, ShrunkHull
from hedgerow.learners.one_point import OnePointEstimates
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.frankwolfe import conditional_gradient


class BlockConditionalGradient(OnePointEstimates):
    """Plays around x_m for a block of K rounds, then moves to x_{m+1} near the minimum of F_m.

    F_m(x) = <S, x> + ||x - anchor||^2/eta_m over the shrunk set, where S sums the estimates of
    whole blocks: at most K oracle calls of conditional gradient (Algorithm 6), so at most one a
    round. A block that reaches the cap before its gap is eps/eta_m is counted in `capped_blocks`.
    Which blocks S sums, from which anchor, and which Lipschitz constant goes into eta_m is
    what makes the algorithm. Works in the coordinates of the set's affine hull, about the centre
    of its inner ball, which is x_1 and the first anchor.

    Args:
        decision_set: where to play; it needs a hull and an inner ball.
        steps: the constants of a block and the rule for 1/eta_m.
        seed: fixes the perturbations.
        numbers: the names and sizes of what else it remembers.

    """

    def __init__(
        self,
        decision_set: DecisionSet,
        steps: BlockRule,
        seed: int,
        numbers: dict[str, int],
    ):
        inside, self.steps = HullCoordinates(decision_set), steps
        n, block = inside.dim, steps.begin(inside.dim, inside.radius, decision_set.diameter)
        room = ShrunkHull(decision_set, block.delta, inside)  # X_delta = (1 - delta/r) X
        window = block.length if block.centred else 0
        numbers = {"x": n, "anchor": n, "S": n, "grad": n, **numbers}  # x_1 = 0, the centre
        numbers |= {"squares": 1, "lipschitz": 1, "bound": 1, "calls": 1, "capped": 1}
        super().__init__(room, seed, window, numbers)
        self._block = block

    @property
    def dim(self) -> int:
        """The dimension of the affine hull, the paper's n."""
        return self._room.dim

    @property
    def radius(self) -> float:
        """The radius of the inner ball, the paper's r."""
        return self._room.inside.radius

    @property
    def oracle_calls(self) -> int:
        """At most one a round on average."""
        return int(self._state["calls"][0])

    @property
    def capped_blocks(self) -> int:
        """How many blocks ended at the cap of K oracle calls, their gap still above eps/eta_m.

        The regret bounds need every block to reach that gap: they hold while this is 0.
        """
        return int(self._state["capped"][0])

    def ask(self) -> Vector:
        """Return y_t = x_m + delta u_t."""
        return self._around(self._state["x"])

    def _gather(self, loss: Eval) -> bool:
        """Take the value at y_t into the block's sum of estimates; say whether the block ends."""
        loss, state = as_eval(loss, "loss", LARGEST_VALUE), self._state
        state["grad"][:] += self._estimate(loss.value)  # grad_{m,s}
        state["lipschitz"][0] = max(state["lipschitz"][0], loss.lipschitz)
        state["bound"][0] = max(state["bound"][0], loss.bound)
        self._next(loss.value)
        return bool(state["t"][0] % self._block.length == 0.0)

    def _descend(self, lipschitz: float) -> None:
        """Add grad_m to S and move to x_{m+1}; `lipschitz` goes into eta_m."""
        state, (K, _, epsilon, _) = self._state, self._block
        state["S"][:] += state["grad"]
        state["squares"][0] += state["grad"] @ state["grad"]
        state["grad"][:] = 0.0
        seen = Seen(lipschitz, float(state["bound"][0]), float(state["squares"][0]))
        beta = self.steps.beta(self.dim, self.decision_set.diameter, seen)  # 1/eta_m
        if beta > 0.0:  # else every value was zero: stay
            gap = epsilon * beta  # eps/eta_m
            end = conditional_gradient(
                self._room.lmo,
                state["S"],
                beta,
                state["anchor"],
                state["x"],
                tolerance=gap,
                cap=K,
            )  # Algorithm 6 on F_m from x_m
            state["x"][:] = end.x  # x_{m+1}
            state["calls"][0] += end.calls
            state["capped"][0] += end.gap > gap  # the cap came first


class BlockBandit(BlockConditionalGradient):
    """Adaptive block bandit conditional gradient: learns from the value of what it played.

    Each round of block m plays y_t = x_m + delta u_t with u_t uniform on the unit sphere of the
    affine hull, and estimates the gradient by (n/delta) f_t(y_t) u_t. After K rounds x_{m+1} is a
    near-minimiser over the shrunk set of F_m(x) = <sum of estimates, x> + ||x - x_1||^2/eta_m,
    found by at most K oracle calls (Algorithm 6), so at most one a round. Works in the coordinates
    of the set's affine hull, about the centre of its inner ball.

    The guarantee (Theorem 4.1, O(T^{3/4}) expected regret with `PaperBlocks`) is for losses that
    are fixed before each play, oblivious games only, and for runs in which no block reached its
    cap of K oracle calls: afterwards `capped_blocks` must be 0.

    Args:
        decision_set: where to play; it needs a hull and an inner ball.
        steps: `PaperBlocks(horizon)` or `PracticalBlocks(horizon)`.
        seed: fixes the perturbations.

    """

    def __init__(self, decision_set: DecisionSet, steps: BlockRule, seed: int):
        super().__init__(decision_set, steps, seed, {})  # x_1 = 0, the only anchor, line 3

    def tell(self, loss: Eval) -> None:
        """Take the value at y_t; at the end of a block, move."""
        ends = self._gather(loss)  # grad_m = sum of (n/delta) f_t(y_t) u_t, lines 6 to 9
        if ends:
            L = float(self._state["lipschitz"][0])  # L_{mK}, the largest so far, line 2
            self._descend(L)  # x_{m+1} by Algorithm 6 on F_m from x_m, lines 10 to 12
        warn_beyond(int(self._state["t"][0]), self.steps.horizon)
