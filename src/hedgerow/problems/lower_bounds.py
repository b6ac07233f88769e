"""Games with a proved lower bound: what every learner, or every one of a kind, must lose."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from hedgerow.inputs import DEFAULT_SEED, Vector, as_count, as_positive, as_vector, freeze
from hedgerow.problems.problem import LinearChunk
from hedgerow.problems.synthetic import SyntheticRounds
from hedgerow.sets.balls.boxes import Box
from hedgerow.sets.balls.l1_l2_balls import L2Ball
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.simplices.simplex import Simplex


@dataclass(frozen=True, eq=False)
class RandomSigns(SyntheticRounds):
    """f_t(x) = e_t <c, x> with fair random signs e_t, no constraint: order sqrt(T) for everyone.

    Whoever plays x_t before e_t is drawn pays 0 on average. With E the sum of the signs and w the
    set's width along c, the best fixed action pays -(w/2)|E| plus a multiple of E, whose mean is 0.
    So the mean regret over the signs is (w/2) mean|E| for every learner, which lies between
    w sqrt(T/8) and w sqrt(T)/2. With c along a diameter, w = D L.

    Args:
        decision_set: where the game is played.
        direction: the vector c; its norm is the Lipschitz constant L.
        horizon: the number of rounds.
        seed: fixes the signs.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.

    Reference: Cesa-Bianchi and Lugosi, "Prediction, Learning, and Games" (2006), section 3.7;
    mean|E| = 2 m binom(T, m) / 2^T with m = ceil(T/2).

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> round(RandomSigns(Simplex(2), np.array([1.0, -1.0]), horizon=4).expected_regret, 9)
    1.5

    """

    decision_set: DecisionSet
    direction: Vector
    horizon: int = 4000
    seed: int = DEFAULT_SEED
    feasible: Vector = field(init=False)

    def _build(self, rng: Generator) -> None:  # noqa: ARG002 - only the signs are drawn
        c = as_vector(self.direction, "the direction", self.decision_set)
        freeze(self, direction=c, feasible=self.decision_set.start())

    def _generator(self, stream: int) -> Generator:  # noqa: ARG002 - one stream, of signs
        return np.random.default_rng(self.seed)

    @property
    def expected_regret(self) -> float:
        """The mean regret over the signs, the same for every learner."""
        X, T = self.decision_set, self.horizon
        width = -X.minimum(-self.direction) - X.minimum(self.direction)
        m = (T + 1) // 2
        log_chance = math.lgamma(T + 1) - math.lgamma(m + 1) - math.lgamma(T - m + 1)
        return width * m * math.exp(log_chance - T * math.log(2.0))

    def _draw(self, t: NDArray[np.intp], costs: Generator, constraints: Generator) -> LinearChunk:  # noqa: ARG002
        rows = np.outer(costs.choice([-1.0, 1.0], t.size), self.direction)
        return LinearChunk.of(rows, np.zeros(rows.shape))


@dataclass(frozen=True, eq=False)
class CyclicArms(SyntheticRounds):
    """Each of n arms is penalised in turn, just when it leads; no constraint.

    Round 1 costs i/n on arm i = 0, ..., n-1, which breaks all ties; after that arm 0, 1, ..., n-1,
    0, ... costs 1. The arm with the least total is always the one that is hit next, so following
    the leader pays T - 1 at least, the best arm (T - 1)/n + 1 at most, and the difference is
    linear in T. Frank-Wolfe steps of full length play the same vertices. A learner that
    regularises stays near the middle and pays its usual rate. With n = 2 this is the classical
    game.

    Args:
        n: the number of arms, at least 2.
        horizon: the number of rounds.

    Reference: Shalev-Shwartz, "Online Learning and Online Convex Optimization" (2012),
    Example 2.2.

    >>> [cost.coefficients.tolist() for cost, _ in CyclicArms(2, horizon=4)]
    [[0.0, 0.5], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]

    """

    n: int = 2
    horizon: int = 4000
    decision_set: Simplex = field(init=False)
    feasible: Vector = field(init=False)

    def _build(self, rng: Generator) -> None:  # noqa: ARG002 - nothing is drawn
        X = Simplex(as_count(self.n, "n", least=2))
        freeze(self, n=X.dim, decision_set=X, feasible=X.start())

    @property
    def leader_regret(self) -> float:
        """What following the leader loses at least: T - 1 minus (T - 1)/n + 1."""
        return (self.horizon - 1) * (1.0 - 1.0 / self.n) - 1.0

    def _draw(self, t: NDArray[np.intp], costs: Generator, constraints: Generator) -> LinearChunk:  # noqa: ARG002
        rows = np.eye(self.n)[(t - 1) % self.n]
        if t[0] == 0:
            rows[0] = np.arange(self.n) / self.n
        return LinearChunk.of(rows, np.zeros(rows.shape))


@dataclass(frozen=True, eq=False)
class FreshCoordinates(SyntheticRounds):
    """Round t concerns only coordinate t: worth taking, and forbidden with probability 1/2.

    On the box [0, w]^T: f_t(x) = -x_t and g_t(x) = e_t x_t with fair random signs e_t. The origin
    satisfies every constraint; the best feasible action takes w where e_t = -1. A learner that
    plays p_t in coordinate t before e_t is drawn has mean regret w T/2 - sum p_t and mean CCV
    sum p_t / 2, so that over the signs

        E[regret] + 2 E[CCV] = w T / 2

    for every learner: none can keep both below w T / 6. The default width 1/sqrt(T) makes D = 1
    and L = 1, so both of order sqrt(T) at best; what was learnt in one round never helps in
    another.

    Args:
        horizon: the number of rounds T, and the dimension.
        seed: fixes the signs.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.
        width: the side w of the box; 1/sqrt(T) if left out.

    >>> game = FreshCoordinates(horizon=4)
    >>> game.decision_set.diameter, game.trade_off
    (1.0, 1.0)

    """

    horizon: int = 400
    seed: int = DEFAULT_SEED
    width: float | None = None
    decision_set: Box = field(init=False)
    feasible: Vector = field(init=False)

    def _build(self, rng: Generator) -> None:  # noqa: ARG002 - only the signs are drawn
        T = self.horizon
        width = T**-0.5 if self.width is None else as_positive(self.width, "width")
        box = Box(np.zeros(T), np.full(T, width))
        freeze(self, width=width, decision_set=box, feasible=np.zeros(T))

    def _generator(self, stream: int) -> Generator:  # noqa: ARG002 - one stream, of signs
        return np.random.default_rng(self.seed)

    @property
    def trade_off(self) -> float:
        """The mean over the signs of regret + 2 CCV, the same for every learner."""
        return 0.5 * self.horizon * float(self.decision_set.upper[0])

    def _draw(self, t: NDArray[np.intp], costs: Generator, constraints: Generator) -> LinearChunk:  # noqa: ARG002
        rows = np.zeros((t.size, self.horizon))
        rows[np.arange(t.size), t] = 1.0
        return LinearChunk.of(-rows, costs.choice([-1.0, 1.0], (t.size, 1)) * rows)


@dataclass(frozen=True, eq=False)
class SteadyPush(SyntheticRounds):
    """The same cost f_t(x) = x_1 on the unit ball in every round; no constraint.

    Any learner that trusts its data pays O(1). Algorithm 1 with `PaperSteps` pays order T^{3/4}
    even here, so the rate of Theorem 2.1 is tight for it. Derivation: from the centre all plays
    are x_t = p_t e_1. With D = 2 and L = 1 the minimiser of F_t is -q_t e_1,
    q_t = min(1, t / (2 T^{3/4})), and sigma_t = min(1, 2/sqrt t). If p_t >= -q_t, then
    1 + p_{t+1} >= (1 - sigma_t)(1 + p_t) whatever the vertex; else the vertex is e_1 and
    1 + p_{t+1} = (1 - sigma_t)(1 + p_t) + 2 sigma_t. By induction, with sigma_{t-1} <= 2 sigma_t
    in the second case, 1 + p_{t+1} >= (1 - sigma_t)(1 - q_t). The sum of the right side, about
    T^{3/4} = D L T^{3/4} / 2, is below the regret.

    Args:
        n: the dimension.
        horizon: the number of rounds.

    >>> SteadyPush(horizon=10**6).paper_regret > 0.4 * 2.0 * (10**6) ** 0.75
    True

    """

    n: int = 3
    horizon: int = 4000
    decision_set: L2Ball = field(init=False)
    feasible: Vector = field(init=False)

    def _build(self, rng: Generator) -> None:  # noqa: ARG002 - nothing is drawn
        X = L2Ball(as_count(self.n, "n"))
        freeze(self, n=X.dim, decision_set=X, feasible=np.zeros(X.dim))

    @property
    def paper_regret(self) -> float:
        """What Algorithm 1 with `PaperSteps` loses at least, from the centre."""
        t = np.arange(1.0, self.horizon)
        sigma = np.minimum(1.0, 2.0 / np.sqrt(t))
        reached = np.minimum(1.0, t / (2.0 * self.horizon**0.75))
        return float(((1.0 - sigma) * (1.0 - reached)).sum())

    def _draw(self, t: NDArray[np.intp], costs: Generator, constraints: Generator) -> LinearChunk:  # noqa: ARG002
        rows = np.zeros((t.size, self.n))
        rows[:, 0] = 1.0
        return LinearChunk.of(rows, np.zeros(rows.shape))
