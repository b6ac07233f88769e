"""Linear lower bounds of the rounds, and the linear models that they make up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import DecisionSet

if TYPE_CHECKING:
    from scipy import sparse

Numbers = NDArray[np.intp]


class Cuts(NamedTuple):
    """k bounds <slopes, x> + offsets <= g_t(x), with the round t and, if exact, the row's number.

    A linear constraint is its own cut and has a row number; a tangent of a curved one has -1.
    """

    slopes: Vector
    offsets: Vector
    rounds: Numbers
    rows: Numbers

    @classmethod
    def none(cls, dim: int) -> Cuts:
        """Return an empty collection of cuts of this dimension."""
        empty = np.zeros(0, dtype=np.intp)
        return cls(np.zeros((0, dim)), np.zeros(0), empty, empty)

    def joined(self, *others: Cuts) -> Cuts:
        """Return these cuts followed by the others."""
        return Cuts(*(np.concatenate(column) for column in zip(self, *others, strict=True)))

    def taken(self, index: Any) -> Cuts:
        """Return the cuts that a NumPy index selects."""
        return Cuts(*(column[index] for column in self))

    def highest(self, x: Vector, most: int) -> Cuts:
        """Return the cuts that are highest at x, at most so many, in their order."""
        if self.offsets.size <= most:
            return self
        return self.taken(np.sort(np.argsort(-(self.slopes @ x + self.offsets))[:most]))

    def known(self, x: Vector, horizon: int) -> Vector:
        """Return what the cuts say of max(0, g_t(x)), by round number; entry 0 is not used."""
        values = np.zeros(horizon + 1)
        np.maximum.at(values, self.rounds, self.slopes @ x + self.offsets)
        return values


@dataclass(frozen=True, eq=False)
class Model:
    """Minimise theta over x in X and s >= 0 with slopes x + offsets <= theta or s_i or 0.

    `theta` marks the rows that are bounded by theta, `slack` is the number of the s_i that bounds
    a row, or -1. If there are any s_i, the last row is their sum.
    """

    slopes: Vector
    offsets: Vector
    theta: NDArray[np.bool_]
    slack: Numbers
    slacks: int = 0

    def extra(self) -> sparse.csr_array:
        """Return the coefficients of theta and s, rows x (1 + slacks)."""
        from scipy import sparse

        k = self.offsets.size
        matrix = sparse.lil_array((k, 1 + self.slacks))
        matrix[np.flatnonzero(self.theta), 0] = -1.0
        held = np.flatnonzero(self.slack >= 0)
        matrix[held, 1 + self.slack[held]] = -1.0
        if self.slacks:
            matrix[k - 1, 1:] = 1.0
        return sparse.csr_array(matrix)

    def bound(self, X: DecisionSet, multipliers: Vector) -> tuple[float, Vector]:
        """Return a lower bound of theta and its multipliers, by one oracle call.

        Weak duality: the Lagrangian's least value over X bounds theta for all multipliers y >= 0
        of which those of theta's rows sum to 1 and those of each s_i to at most the last one. The
        solver's multipliers are made to keep that, so nothing rests on its word.
        """
        y = np.maximum(0.0, multipliers)
        total = float(y[self.theta].sum())
        if not total > 0.0:
            return -np.inf, y
        y = y / total
        if self.slacks:
            held = self.slack >= 0
            sums = np.bincount(self.slack[held], y[held], self.slacks)
            share = np.divide(y[-1], sums, out=np.ones(self.slacks), where=sums > y[-1])
            y[held] *= share[self.slack[held]]
        return X.minimum(y @ self.slopes) + float(y @ self.offsets), y


def cheapest(costs: Cuts, limits: Cuts, budget: float, slack: float = 0.0) -> Model:
    """Return the model of the least cost, with each limit <= slack or a positive sum <= budget."""
    k, m = costs.offsets.size, limits.offsets.size
    if budget > 0.0 and m:
        part = _summed(limits)
        offsets = np.concatenate([costs.offsets, part.offsets])
        offsets[-1] = -budget - slack
        theta = np.arange(offsets.size) < k
        held = np.concatenate([np.full(k, -1), part.slack])
        return Model(np.vstack([costs.slopes, part.slopes]), offsets, theta, held, part.slacks)
    offsets = np.concatenate([costs.offsets, limits.offsets - slack])
    slopes = np.vstack([costs.slopes, limits.slopes])
    return Model(slopes, offsets, np.arange(k + m) < k, np.full(k + m, -1))


def least_worst(limits: Cuts) -> Model:
    """Return the model of the least worst limit."""
    m = limits.offsets.size
    return Model(limits.slopes, limits.offsets, np.ones(m, np.bool_), np.full(m, -1))


def least_sum(limits: Cuts) -> Model:
    """Return the model of the least sum of the limits' positive parts."""
    return _summed(limits)


def _summed(limits: Cuts) -> Model:
    names, slack = np.unique(limits.rounds, return_inverse=True)
    m, n = limits.slopes.shape
    return Model(
        np.vstack([limits.slopes, np.zeros((1, n))]),
        np.append(limits.offsets, 0.0),
        np.arange(m + 1) == m,
        np.append(slack, -1),
        names.size,
    )
