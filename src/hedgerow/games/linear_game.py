"""Games to search among: bounded linear rounds that leave a known set feasible."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.games import hindsight
from hedgerow.inputs import Vector, as_count, as_number, as_positive, as_vector, freeze
from hedgerow.problems.problem import LinearChunk, RecordedProblem
from hedgerow.protocols.parts import Policy
from hedgerow.protocols.trace import Trace
from hedgerow.sets.decision_set import DecisionSet, HasInnerBall

TINY = 1e-300
"""Stands in for a zero norm."""


@dataclass(frozen=True, eq=False)
class LinearGame:
    """Oblivious sequences of linear rounds under declared bounds.

    f_t(x) = <c_t, x> with ||c_t|| <= Lf and g_t(x) = <a_t, x - z> - share max over X of
    <a_t, x - z> with ||a_t|| <= Lg. Every action of the shrunken set Z = z + share (X - z) then
    satisfies every constraint, whatever the a_t: if u = z + share (x - z), g_t(u) is share times
    <a_t, x - z> minus its maximum. The least cost over Z takes one oracle call, so regret against
    Z is cheap, and is never above the regret against the best feasible action.

    Args:
        decision_set: where the game is played.
        horizon: the number of rounds.
        cost_bound: Lf.
        constraint_bound: Lg.
        share: how much of the set stays feasible, from 0 (z alone) to 1 (no constraint at all).
        feasible: z; by default the centre of the set's inner ball, or its start.

    """

    decision_set: DecisionSet
    horizon: int
    cost_bound: float = 1.0
    constraint_bound: float = 1.0
    share: float = 0.5
    feasible: Vector | None = None

    def __post_init__(self) -> None:
        X, z = self.decision_set, self.feasible
        if z is None:
            z = X.ball()[0] if X.supports(HasInnerBall) else X.start()
        z = as_vector(z, "feasible", X.dim)
        if not X.contains(z):
            raise ValueError("feasible must lie in the decision set; leave it out to use a centre")
        if not 0.0 <= as_number(self.share, "share") <= 1.0:
            raise ValueError(f"share must lie between 0 and 1, got {self.share:g}")
        freeze(self, feasible=z, horizon=as_count(self.horizon, "horizon"))
        for name in ("cost_bound", "constraint_bound"):
            freeze(self, **{name: as_positive(getattr(self, name), name)})

    @property
    def centre(self) -> Vector:
        """The point z, feasible in every round of every sequence."""
        assert self.feasible is not None
        return self.feasible

    @property
    def rate(self) -> float:
        """D Lf T^{3/4}, Theorem 2.1's rate without its constant and logarithm."""
        return float(self.decision_set.diameter * self.cost_bound * self.horizon**0.75)

    def offsets(self, constraints: Vector) -> Vector:
        """Return the offsets that keep Z feasible, for rows a_t."""
        z, X = self.centre, self.decision_set
        at_z = constraints @ z
        if self.share == 0.0:
            return -at_z
        highest = np.array([-X.minimum(-a) for a in constraints])
        return -at_z - self.share * np.maximum(0.0, highest - at_z)

    def comparator(self, rounds: LinearChunk) -> Vector:
        """Return the best action of Z for the rounds."""
        v = self.decision_set.lmo(rounds.costs.sum(axis=0))
        return np.asarray((1.0 - self.share) * self.centre + self.share * v)

    def directions(self, count: int, rng: np.random.Generator) -> Vector:
        """Draw unit vectors in the directions of the set, one per row."""
        X = self.decision_set
        rows = np.array([X.tangent(row) for row in rng.standard_normal((count, X.dim))])
        return np.asarray(rows / np.maximum(TINY, np.linalg.norm(rows, axis=1, keepdims=True)))

    def draw(self, rng: np.random.Generator) -> LinearChunk:
        """Draw a random game: phases of a random length, each with one cost and one constraint.

        The length is drawn once, log-uniform between 1 (independent rounds) and the horizon; in
        half of the games the cost of a phase pulls straight into what its constraint forbids.
        """
        T = self.horizon
        length = int(T ** rng.random())
        phases = -(-T // length)
        limits = self.directions(phases, rng)
        costs = -limits if rng.random() < 0.5 else self.directions(phases, rng)
        at = np.arange(T) // length
        a = self.constraint_bound * limits
        return LinearChunk(self.cost_bound * costs[at], np.zeros(T), a[at], self.offsets(a)[at])

    def problem(self, rounds: LinearChunk) -> RecordedProblem:
        """Return the rounds as a problem to play."""
        return RecordedProblem(self.decision_set, rounds.rounds())


@dataclass(frozen=True, eq=False)
class Played:
    """One policy after one sequence: what an objective evaluates.

    Attributes:
        policy: as it was after the last round.
        game: where the rounds came from.
        rounds: the sequence.
        plays: x_t of each round, one per row.
        trace: costs and violations.

    """

    policy: Policy[Any, Any]
    game: LinearGame
    rounds: LinearChunk
    plays: Vector
    trace: Trace


Objective = Callable[[Played], float]


def hindsight_regret(played: Played) -> float:
    """The regret against the best feasible action; each evaluation costs one `hindsight`."""
    return played.trace.regret(hindsight(played.game.problem(played.rounds)))


def regret(played: Played) -> float:
    """The regret against the best action of Z: a lower bound, on sets of every kind.

    With few different constraints far more than Z is feasible and the bound is loose, so compare
    sequences by `hindsight_regret` where that is affordable. With share 1 both are the same.
    """
    best = played.game.comparator(played.rounds)
    return played.trace.cost - float(played.rounds.costs.sum(axis=0) @ best)


def regret_ratio(played: Played) -> float:
    """`regret` in units of D Lf T^{3/4}, Theorem 2.1's rate without its constant."""
    return regret(played) / played.game.rate


def ccv(played: Played) -> float:
    """The cumulative constraint violation."""
    return played.trace.ccv
