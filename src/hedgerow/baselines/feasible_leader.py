"""Follow the leader among the points that satisfy the constraints seen so far, a floor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hedgerow.feedback import EvalGrad, first_order
from hedgerow.inputs import Vector, as_count, squared_norm
from hedgerow.policies.method import baseline
from hedgerow.policies.presets import Preset, check_preset
from hedgerow.protocols.late_feedback import as_play
from hedgerow.protocols.player import StatefulPlayer
from hedgerow.sets.decision_set import DecisionSet, HasLinearDescription, Rows
from hedgerow.sets.solvers import linear_programme
from hedgerow.snapshot import State
from hedgerow.surrogates.queued import checked

if TYPE_CHECKING:
    from scipy import sparse

MOST_ROWS = 100
"""How many constraints are remembered by default."""


class FeasibleLeader(StatefulPlayer):
    """x_{t+1} = argmin over X of sum <grad f_s, x> with g_s(x) <= 0 for the remembered s <= t.

    One linear programme per round over the set's rows. Curved functions are linearised where they
    were seen. When the memory is full, the constraint with most slack at the present leader is
    dropped, so that later leaders may violate it. Where the remembered constraints exclude each
    other, it plays the point whose largest violation, in units of the gradients, is least.

    Args:
        decision_set: where to play; it must know its rows.
        most_rows: how many constraints are remembered.

    """

    oblivious_only = False
    feedback = staticmethod(first_order)

    def __init__(self, decision_set: DecisionSet, most_rows: int = MOST_ROWS):
        if not decision_set.supports(HasLinearDescription):
            raise NotImplementedError(
                f"the feasible leader is found by a linear programme, and "
                f"{type(decision_set).__name__} has no rows(); choose a set that "
                "supports(HasLinearDescription)"
            )
        X = self.decision_set = decision_set
        self.most_rows = as_count(most_rows, "most_rows")
        self._state = State(
            x=X.dim, costs=X.dim, slopes=most_rows * X.dim, limits=most_rows, kept=1, solved=1
        )
        self._state["x"][:] = X.start()
        self._slopes = self._state["slopes"].reshape(most_rows, X.dim)
        self._rows = X.rows()

    @property
    def oracle_calls(self) -> int:
        """How many linear programmes were solved."""
        return int(self._state["solved"][0])

    @property
    def projections(self) -> int:
        """How many projections it has asked for: none."""
        return 0

    def ask(self) -> Vector:
        """Return the cheapest point that satisfies the remembered constraints."""
        return self._state["x"].copy()

    def tell(self, cost: EvalGrad, constraint: EvalGrad, *, at: Vector | None = None) -> None:
        """Store the round and find the new leader.

        Args:
            cost: what was seen of the cost.
            constraint: what was seen of the constraint.
            at: the earlier play that late feedback is about.

        """
        X, state = self.decision_set, self._state
        seen_at = self.ask() if at is None else as_play(at, X, state["x"])
        f, g = checked(cost, "cost", X), checked(constraint, "constraint", X)
        state["costs"][:] += X.tangent(f.grad)
        self._remember(X.tangent(g.grad), g.value, seen_at)
        state["x"][:] = self._leader()

    def _remember(self, slope: Vector, value: float, seen_at: Vector) -> None:
        """Store <slope, x> <= limit, divided by the slope's norm; skip one of slope 0."""
        unit = self.decision_set.tangent_norm(slope)
        if unit == 0.0:
            return
        state, kept = self._state, int(self._state["kept"][0])
        if kept == self.most_rows:
            kept = int(np.argmax(state["limits"] - self._slopes @ state["x"]))
        else:
            state["kept"][0] += 1.0
        self._slopes[kept] = slope / unit
        state["limits"][kept] = float(self._slopes[kept] @ seen_at) - value / unit

    def _leader(self) -> Vector:
        state = self._state
        kept = int(state["kept"][0])
        size = squared_norm(state["costs"]) ** 0.5
        costs = state["costs"] / size if size > 0.0 else state["costs"]
        rows, limits = self._slopes[:kept], state["limits"][:kept]
        state["solved"][0] += 1.0
        x = cheapest_in_rows(self._rows, costs, rows, limits)
        if x is None:
            state["solved"][0] += 1.0
            x = cheapest_in_rows(self._rows, None, rows, limits)
        return state["x"].copy() if x is None else x


def cheapest_in_rows(
    rows: Rows, costs: Vector | None, slopes: Vector, limits: Vector
) -> Vector | None:
    """Return the cheapest point within all limits; without costs, that of least violation.

    The last variable is added to all limits: it is zero, or as small as possible.
    """
    from scipy import sparse

    if rows.shift is not None:
        limits = limits - slopes @ rows.shift
    if rows.lift is not None:
        slopes = slopes @ rows.lift
        costs = None if costs is None else costs @ rows.lift
    n, k = rows.lower.size, limits.size
    blocks = [sparse.csr_array(np.column_stack([slopes, -np.ones(k)]))]
    if rows.A_ub is not None and rows.b_ub is not None:
        blocks.append(_padded(rows.A_ub))
        limits = np.concatenate([limits, rows.b_ub])
    result = linear_programme(
        np.append(np.zeros(n), 1.0) if costs is None else np.append(costs, 0.0),
        sparse.csr_array(sparse.vstack(blocks)),
        limits,
        None if rows.A_eq is None else _padded(rows.A_eq),
        rows.b_eq,
        np.append(rows.lower, 0.0),
        np.append(rows.upper, np.inf if costs is None else 0.0),
    )
    if result.status != 0:
        return None
    z: Vector = np.clip(result.x[:n], rows.lower, rows.upper)
    x: Vector = z if rows.lift is None else rows.lift @ z
    return x if rows.shift is None else x + rows.shift


def _padded(A: sparse.csr_array) -> sparse.csr_array:
    """Return the matrix with a column of zeros at its end."""
    from scipy import sparse

    return sparse.csr_array(sparse.hstack([A, sparse.csr_array((A.shape[0], 1))]))


@baseline(
    source="Hannan 1957, with the constraints seen so far",
    regret="T: a floor, no rival",
    ccv="none",
    per_round="1 linear programme",
    sees="gradients",
    needs="a linear description of the set",
    confidence="high",
)
def follow_the_leader_feasible(
    decision_set: DecisionSet,
    horizon: int | None = None,
    *,
    preset: Preset = "practical",
    most_rows: int = MOST_ROWS,
) -> FeasibleLeader:
    """Follow the leader among points that satisfied all constraints so far: a reference only.

    It has no constants, no units and no guarantee: against costs that change sides its regret is
    linear, and each new constraint may be broken once. What it shows is the price of hindsight
    played forward. Slow: one linear programme with up to `most_rows` dense rows per round.

    Args:
        decision_set: where to play; it must know its rows (`HasLinearDescription`).
        horizon: not needed.
        preset: both are the same.
        most_rows: how many constraints are remembered, see `FeasibleLeader`.

    Reference: the follow-the-leader rule of J. Hannan, Approximation to Bayes risk in repeated
    play, Contributions to the Theory of Games 3 (1957), with the constraints seen so far.

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> policy = follow_the_leader_feasible(Simplex(2))
    >>> policy.tell(EvalGrad(0.0, np.array([0.0, 1.0])), EvalGrad(0.2, np.array([1.0, 0.0])))
    >>> policy.ask().round(9) + 0.0
    array([0.3, 0.7])

    """
    check_preset(preset, decision_set, horizon)
    return FeasibleLeader(decision_set, most_rows)
