"""Block bandit conditional gradient by doubling: blocks that were too steep start it again."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hedgerow.feedback import LARGEST_VALUE, Eval, as_eval
from hedgerow.inputs import Vector, as_count, as_positive
from hedgerow.learners.blocks import Block, BlockRule, Seen
from hedgerow.learners.horizon import warn_beyond
from hedgerow.learners.hull_coordinates import HullCoordinates
from hedgerow.learners.restarted_ocg import doubled
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.frankwolfe import conditional_gradient
from hedgerow.snapshot import Snapshot, State


@dataclass(frozen=True)
class WangBlocks:
    """The constants of BFW-TVC: delta = c T^{-1/4}, K = ceil(sqrt T), eps = 4 D^2 / sqrt T.

    eta = c D / (n M L T^{3/4}), with L the learner's guess.

    Args:
        horizon: the number of rounds T.
        bound: M, a bound of the absolute values of the costs.
        c: how far to perturb, as a length; below r T^{1/4}, where r is the set's inner radius.

    """

    horizon: int
    bound: float
    c: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "horizon", as_count(self.horizon, "horizon"))
        object.__setattr__(self, "bound", as_positive(self.bound, "bound"))
        object.__setattr__(self, "c", as_positive(self.c, "c"))

    def begin(self, dim: int, radius: float, diameter: float) -> Block:  # noqa: ARG002
        """Refuse a set whose inner ball is smaller than the perturbation."""
        T = self.horizon
        delta = self.c * T**-0.25
        if delta >= radius:
            raise ValueError(
                f"bandit play needs delta < inner radius, got {delta:.3g} >= {radius:.3g} at "
                f"T = {T}; make c smaller than {radius * T**0.25:.3g}"
            )
        epsilon = 4.0 * diameter**2 / math.sqrt(T)
        return Block(math.ceil(math.sqrt(T)), delta, epsilon, centred=False)

    def beta(self, dim: int, diameter: float, seen: Seen) -> float:
        """Return n M L T^{3/4} / (c D)."""
        scale = dim * self.bound * seen.lipschitz / (self.c * diameter)
        return float(scale * self.horizon**0.75)


class RestartedBlockBandit:
    """Block bandit conditional gradient by doubling: learns from values, restarts when too steep.

    Each round of block m plays x_t = y_m + delta u_t, u_t uniform on the unit sphere of the affine
    hull, and estimates the gradient by (n/delta) f_t(x_t) u_t. After K rounds: if a loss of the
    block was declared steeper than the guess, the guess is doubled until it covers it and an epoch
    begins, with an empty sum and the anchor y_m. Then y_{m+1} is a near-minimiser over the shrunk
    set of F(y) = <sum of the epoch's estimates, y> + ||y - anchor||^2/eta, by at most K oracle
    calls (Wang et al. set no cap). Works in the coordinates of the set's affine hull.

    Args:
        decision_set: where to play; it needs a hull and an inner ball.
        steps: `WangBlocks(...)` or `PracticalBlocks(horizon)`; it takes the guess for the largest
            Lipschitz constant.
        seed: fixes the perturbations.
        guess: the first guess, in units of loss per length; left out, the largest Lipschitz
            constant that the first block declares.

    Reference: Wang, Wan and Zhang, Revisiting projection-free online learning with time-varying
    constraints, AAAI 2025 (the learner inside BFW-TVC).

    """

    oblivious_only = True

    def __init__(
        self, decision_set: DecisionSet, steps: BlockRule, seed: int, guess: float | None = None
    ):
        self.decision_set, self.steps = decision_set, steps
        self._inside = HullCoordinates(decision_set)
        n, r = self._inside.dim, self._inside.radius
        self._block = steps.begin(n, r, decision_set.diameter)
        self._shrink = 1.0 - self._block.delta / r  # K_delta = (1 - delta/r) K
        first = 0.0 if guess is None else as_positive(guess, "guess")
        self._configuration = (decision_set, steps, as_count(seed, "seed", least=0), first)
        self._rng = np.random.default_rng(seed)
        self._state = State(
            y=n,
            anchor=n,
            S=n,
            hat=n,
            u=n,
            t=1,
            sum=1,
            mean=1,
            squares=1,
            lipschitz=1,
            bound=1,
            calls=1,
            guess=1,
            restarts=1,
        )  # y_1 = 0, the centre
        self._state["guess"][0] = first
        self._draw()

    def _draw(self) -> None:
        u = self._rng.standard_normal(self._inside.dim)
        self._state["u"][:] = u / np.linalg.norm(u)  # u_t

    @property
    def guess(self) -> float:
        """The steepness that the current epoch allows for; 0 while none was seen or given."""
        return float(self._state["guess"][0])

    @property
    def restarts(self) -> int:
        """How often it has started again."""
        return int(self._state["restarts"][0])

    @property
    def oracle_calls(self) -> int:
        """At most one a round on average."""
        return int(self._state["calls"][0])

    def ask(self) -> Vector:
        """Return x_t = y_m + delta u_t."""
        return self._inside.point(self._state["y"] + self._block.delta * self._state["u"])

    def tell(self, loss: Eval) -> None:
        """Take the value at x_t; at the end of a block, test the guess and move."""
        value, lipschitz, bound = as_eval(loss, "loss", LARGEST_VALUE)
        state, (K, delta, _, centred) = self._state, self._block
        level = float(state["mean"][0]) if centred else 0.0
        state["hat"][:] += self._inside.dim / delta * (value - level) * state["u"]
        state["lipschitz"][0] = max(state["lipschitz"][0], lipschitz)  # over the block
        state["bound"][0] = max(state["bound"][0], bound)
        state["sum"][0] += value
        state["t"][0] += 1.0
        if state["t"][0] % K == 0.0:
            self._test(float(state["lipschitz"][0]))
            self._move()
            state["mean"][0] = state["sum"][0] / K
            state["hat"][:] = state["sum"][0] = state["lipschitz"][0] = 0.0
        self._draw()
        warn_beyond(int(state["t"][0]), self.steps.horizon)

    def _test(self, need: float) -> None:
        """Begin an epoch if the block was steeper than the guess."""
        state = self._state
        if self.guess == 0.0:
            state["guess"][0] = need
        if self.guess < need:
            state["guess"][0] = doubled(self.guess, need)
            state["anchor"][:] = state["y"]
            state["S"][:] = state["squares"][0] = 0.0
            state["restarts"][0] += 1.0

    def _move(self) -> None:
        state, (K, _, epsilon, _) = self._state, self._block
        state["S"][:] += state["hat"]
        state["squares"][0] += state["hat"] @ state["hat"]
        seen = Seen(self.guess, float(state["bound"][0]), float(state["squares"][0]))
        beta = self.steps.beta(self._inside.dim, self.decision_set.diameter, seen)  # 1/eta
        if beta > 0.0:  # else every value was zero: stay
            end = conditional_gradient(
                lambda c: self._shrink * self._inside.lmo(c),
                state["S"],
                beta,
                state["anchor"],
                state["y"],
                tolerance=epsilon * beta,
                cap=K,
            )
            state["y"][:] = end.x  # y_{m+1}
            state["calls"][0] += end.calls

    def state(self) -> Snapshot:
        """Return a snapshot, with the random stream."""
        return self._state.snapshot(self, self._configuration, rng=self._rng)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot."""
        self._state.restore(self, snapshot, self._configuration, rng=self._rng)
