"""Games with a proved lower bound: what every learner, or every one of a kind, must lose."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from hedgerow.inputs import Vector, as_count, as_positive, as_vector, read_only
from hedgerow.problems.problem import LinearChunk, LinearProblem, chunk_lengths
from hedgerow.sets.balls.boxes import Box
from hedgerow.sets.balls.l1_l2_balls import L2Ball
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.simplices.simplex import Simplex


@dataclass(frozen=True, eq=False)
class RandomSigns(LinearProblem):
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

    Reference: Cesa-Bianchi and Lugosi, "Prediction, Learning, and Games" (2006), section 3.7;
    mean|E| = 2 m binom(T, m) / 2^T with m = ceil(T/2).

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> round(RandomSigns(Simplex(2), np.array([1.0, -1.0]), horizon=4).expected_regret, 9)
    1.5

    """

    decision_set: DecisionSet
    direction: Vector
    horizon: int = 4000
    seed: int = 0
    feasible: Vector = field(init=False)

    def __post_init__(self) -> None:
        c = as_vector(self.direction, "the direction", self.decision_set.dim)
        object.__setattr__(self, "direction", read_only(c))
        object.__setattr__(self, "horizon", as_count(self.horizon, "horizon"))
        object.__setattr__(self, "feasible", self.decision_set.start())

    @property
    def expected_regret(self) -> float:
        """The mean regret over the signs, the same for every learner."""
        X, T = self.decision_set, self.horizon
        width = -X.minimum(-self.direction) - X.minimum(self.direction)
        m = (T + 1) // 2
        log_chance = math.lgamma(T + 1) - math.lgamma(m + 1) - math.lgamma(T - m + 1)
        return width * m * math.exp(log_chance - T * math.log(2.0))

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        rng = np.random.default_rng(self.seed)
        for k in chunk_lengths(self.horizon, size):
            signs = rng.choice([-1.0, 1.0], k)
            none = np.zeros((k, self.decision_set.dim))
            yield LinearChunk(np.outer(signs, self.direction), np.zeros(k), none, np.zeros(k))


@dataclass(frozen=True, eq=False)
class CyclicArms(LinearProblem):
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", as_count(self.n, "n", least=2))
        object.__setattr__(self, "horizon", as_count(self.horizon, "horizon"))
        object.__setattr__(self, "decision_set", Simplex(self.n))
        object.__setattr__(self, "feasible", self.decision_set.start())

    @property
    def leader_regret(self) -> float:
        """What following the leader loses at least: T - 1 minus (T - 1)/n + 1."""
        return (self.horizon - 1) * (1.0 - 1.0 / self.n) - 1.0

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        done = 0
        for k in chunk_lengths(self.horizon, size):
            costs = np.eye(self.n)[(np.arange(done, done + k) - 1) % self.n]
            if done == 0:
                costs[0] = np.arange(self.n) / self.n
            done += k
            yield LinearChunk(costs, np.zeros(k), np.zeros((k, self.n)), np.zeros(k))


@dataclass(frozen=True, eq=False)
class FreshCoordinates(LinearProblem):
    """Round t concerns only coordinate t: worth taking, and forbidden with probability 1/2.

    On the box [0, w]^T: f_t(x) = -x_t and g_t(x) = e_t x_t with fair random signs e_t. The origin
    keeps every constraint; the best feasible action takes w where e_t = -1. A learner that plays
    p_t in coordinate t before e_t is drawn has mean regret w T/2 - sum p_t and mean CCV
    sum p_t / 2, so that over the signs

        E[regret] + 2 E[CCV] = w T / 2

    for every learner: none can keep both below w T / 6. The default width 1/sqrt(T) makes D = 1
    and L = 1, so both of order sqrt(T) at best; what was learnt in one round never helps in
    another.

    Args:
        horizon: the number of rounds T, and the dimension.
        seed: fixes the signs.
        width: the side w of the box; 1/sqrt(T) if left out.

    >>> game = FreshCoordinates(horizon=4)
    >>> game.decision_set.diameter, game.trade_off
    (1.0, 1.0)

    """

    horizon: int = 400
    seed: int = 0
    width: float | None = None
    decision_set: Box = field(init=False)
    feasible: Vector = field(init=False)

    def __post_init__(self) -> None:
        T = as_count(self.horizon, "horizon")
        width = T**-0.5 if self.width is None else as_positive(self.width, "width")
        object.__setattr__(self, "horizon", T)
        object.__setattr__(self, "width", width)
        object.__setattr__(self, "decision_set", Box(np.zeros(T), np.full(T, width)))
        object.__setattr__(self, "feasible", np.zeros(T))

    @property
    def trade_off(self) -> float:
        """The mean over the signs of regret + 2 CCV, the same for every learner."""
        return 0.5 * self.horizon * float(self.decision_set.upper[0])

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        rng, done = np.random.default_rng(self.seed), 0
        for k in chunk_lengths(self.horizon, size):
            rows = np.zeros((k, self.horizon))
            rows[np.arange(k), np.arange(done, done + k)] = 1.0
            done += k
            signs = rng.choice([-1.0, 1.0], (k, 1))
            yield LinearChunk(-rows, np.zeros(k), signs * rows, np.zeros(k))


@dataclass(frozen=True, eq=False)
class SteadyPush(LinearProblem):
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", as_count(self.n, "n"))
        object.__setattr__(self, "horizon", as_count(self.horizon, "horizon"))
        object.__setattr__(self, "decision_set", L2Ball(self.n))
        object.__setattr__(self, "feasible", np.zeros(self.n))

    @property
    def paper_regret(self) -> float:
        """What Algorithm 1 with `PaperSteps` loses at least, from the centre."""
        t = np.arange(1.0, self.horizon)
        sigma = np.minimum(1.0, 2.0 / np.sqrt(t))
        reached = np.minimum(1.0, t / (2.0 * self.horizon**0.75))
        return float(((1.0 - sigma) * (1.0 - reached)).sum())

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        for k in chunk_lengths(self.horizon, size):
            costs = np.zeros((k, self.n))
            costs[:, 0] = 1.0
            yield LinearChunk(costs, np.zeros(k), np.zeros((k, self.n)), np.zeros(k))
