"""Algorithm 3: adaptive block bandit conditional gradient."""

from __future__ import annotations

import numpy as np

from hedgerow.feedback import LARGEST_VALUE, Eval, as_eval
from hedgerow.inputs import Vector, as_count
from hedgerow.learners.blocks import BlockRule, Seen
from hedgerow.learners.horizon import warn_beyond
from hedgerow.learners.hull_coordinates import HullCoordinates
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.frankwolfe import conditional_gradient
from hedgerow.snapshot import Snapshot, State


class BlockBandit:
    """Adaptive block bandit conditional gradient: learns from the value of what it played.

    Each round of block m plays y_t = x_m + delta u_t with u_t uniform on the unit sphere of the
    affine hull, and estimates the gradient by (n/delta) f_t(y_t) u_t. After K rounds x_{m+1} is a
    near-minimiser over the shrunk set of F_m(x) = <sum of estimates, x> + ||x - x_1||^2/eta_m,
    found by at most K oracle calls (Algorithm 6), so at most one a round. Works in the coordinates
    of the set's affine hull, about the centre of its inner ball.

    The guarantee (Theorem 4.1, O(T^{3/4}) expected regret with `PaperBlocks`) is for losses that
    are fixed before each play: oblivious games only.

    Args:
        decision_set: where to play; it needs a hull and an inner ball.
        steps: `PaperBlocks(horizon)` or `PracticalBlocks(horizon)`.
        seed: fixes the perturbations.

    """

    oblivious_only = True

    def __init__(self, decision_set: DecisionSet, steps: BlockRule, seed: int):
        self.decision_set, self.steps = decision_set, steps
        self._inside = HullCoordinates(decision_set)
        n, r = self._inside.dim, self._inside.radius
        self._block = steps.begin(n, r, decision_set.diameter)
        self._shrink = 1.0 - self._block.delta / r  # X_delta = (1 - delta/r) X
        self._configuration = (decision_set, steps, as_count(seed, "seed", least=0))
        self._rng = np.random.default_rng(seed)
        self._state = State(
            x=n, S=n, grad=n, u=n, t=1, sum=1, mean=1, squares=1, lipschitz=1, bound=1, calls=1
        )  # x_1 = 0, the centre
        self._draw()

    def _draw(self) -> None:
        u = self._rng.standard_normal(self._inside.dim)
        self._state["u"][:] = u / np.linalg.norm(u)  # u_t, uniform on the sphere, line 6

    @property
    def dim(self) -> int:
        """The dimension of the affine hull, the paper's n."""
        return self._inside.dim

    @property
    def radius(self) -> float:
        """The radius of the inner ball, the paper's r."""
        return self._inside.radius

    @property
    def oracle_calls(self) -> int:
        """At most one a round on average."""
        return int(self._state["calls"][0])

    def ask(self) -> Vector:
        """Return y_t = x_m + delta u_t (line 7)."""
        return self._inside.point(self._state["x"] + self._block.delta * self._state["u"])

    def tell(self, loss: Eval) -> None:
        """Take the value at y_t; at the end of a block, move."""
        value, lipschitz, bound = as_eval(loss, "loss", LARGEST_VALUE)
        state, n, (K, delta, _, centred) = self._state, self._inside.dim, self._block
        level = float(state["mean"][0]) if centred else 0.0
        state["grad"][:] += n / delta * (value - level) * state["u"]  # grad_{m,s}, line 7
        state["lipschitz"][0] = max(state["lipschitz"][0], lipschitz)
        state["bound"][0] = max(state["bound"][0], bound)
        state["sum"][0] += value
        state["t"][0] += 1.0
        if state["t"][0] % K == 0.0:
            self._move()
        self._draw()
        warn_beyond(int(state["t"][0]), self.steps.horizon)

    def _move(self) -> None:
        state, (K, _, epsilon, _) = self._state, self._block
        state["S"][:] += state["grad"]  # grad_m, line 9
        state["squares"][0] += state["grad"] @ state["grad"]
        seen = Seen(*(float(state[name][0]) for name in ("lipschitz", "bound", "squares")))
        beta = self.steps.beta(self._inside.dim, self.decision_set.diameter, seen)  # 1/eta_m
        if beta > 0.0:  # else every value was zero: stay
            end = conditional_gradient(
                lambda c: self._shrink * self._inside.lmo(c),
                state["S"],
                beta,
                np.zeros(self._inside.dim),
                state["x"],
                tolerance=epsilon * beta,
                cap=K,
            )  # Algorithm 6 on F_m from x_m, line 11
            state["x"][:] = end.x
            state["calls"][0] += end.calls
        state["mean"][0] = state["sum"][0] / K
        state["grad"][:] = state["sum"][0] = 0.0

    def state(self) -> Snapshot:
        """Return a snapshot, with the random stream."""
        return self._state.snapshot(self, self._configuration, rng=self._rng)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot."""
        self._state.restore(self, snapshot, self._configuration, rng=self._rng)
