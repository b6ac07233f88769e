"""The restricted master: project, softly, onto what was seen; ask the oracle once per round."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.feedback import (
    Constraints,
    EvalGrad,
    Parts,
    first_order,
    first_order_each,
    in_order,
    largest_seen,
)
from hedgerow.inputs import LARGEST_PART, Vector, as_count, as_positive
from hedgerow.kernels.columns import hull_table, mix_columns, take_column, write_column
from hedgerow.kernels.master import master_table
from hedgerow.kernels.parts import NO_PARTS, parts_of_memory
from hedgerow.kernels.rounds import policy_of
from hedgerow.kernels.rows import extend_rows, rows_table
from hedgerow.kernels.tangents import along
from hedgerow.kernels.vectors import dots_and_norms
from hedgerow.policies.certificate import Certificate
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.policies.master_round import core_table, play_master, play_table
from hedgerow.policies.presets import as_budgets
from hedgerow.policies.summary import TOTALS, Binding, Summary, summary_of
from hedgerow.protocols.late_feedback import as_play, reach_of
from hedgerow.protocols.parts import Feedback
from hedgerow.protocols.player import StatefulPlayer
from hedgerow.protocols.rounds import CompiledRounds
from hedgerow.sets.compiled import NO_INDEX, not_overridden, python_set
from hedgerow.sets.compositions.product import Product
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Restorable, State
from hedgerow.surrogates.queued import checked, checked_each

ALL, COLUMNS = 24, 12
"""A factor whose dimension plus 2 is at most ALL has as many columns, so that a simplex has all of
its vertices. Others have COLUMNS: of 8, 12, 16, 24 and 48 the fewer had less violation on noise in
150 and 200 dimensions and the same on routes, in less time; 8 cost more on routes."""
ROWS, PRESENT, CHANGES = 64, 8, 31
"""How many rows of earlier rounds are remembered, how many rows a round has at most, and over how
many changes of rows their median is taken."""


LARGEST = 200_000
"""Sets of more coordinates are refused: what is remembered would take more than 100 MB."""
SURE = 1e-9
"""Sums must differ by more than this, relative to their terms, to prove anything."""
OF_ROWS = ("level", "norm", "weight", "alike", "born", "violated", "part", "paid", "price")
"""What is known of each row beside its gradient, as `kernels/rows.py` has it."""


OF_ROUNDS = (
    *("t", "x1", "grad2", "far", "costs", "pull", "inner", "charge", "largest_price", "size"),
    *("heaviest", "each", "totals", "calls"),
)
"""The parts of the state that a round changes beside columns and rows, as `master_round.py` has
them."""


class RestrictedMaster(StatefulPlayer):
    """Project a step for the cost, softly, onto remembered oracle answers and tangents.

    It remembers answers of the oracle (columns), whose mixtures are the points it can play, and
    tangents of violated rounds (rows), which say what an action would have violated there. Each
    round it makes a step of length distance over gradients against the cost's gradient, and solves
    a small quadratic programme exactly: the mixture that is nearest to the step, and violates
    little of the rows that resemble the present round. The programme's prices tell the oracle, once
    per round, which new column would help.

    Nothing is proved of it beforehand; `certificate()` bounds its regret after any round, and
    `Fallback` gives it a theorem.

    Args:
        decision_set: where to play. The columns of a `Product` belong to its factors.
        eagerness: divides the steps for the cost; more means less violation and more cost.
        constraints: how many constraints a round has, whose violations are to be counted apart;
            left out, they count as their maximum.

    """

    feedback: Feedback = staticmethod(first_order_each)
    oblivious_only = False
    projections = 0

    def __init__(
        self, decision_set: DecisionSet, eagerness: float = 1.0, constraints: int | None = None
    ):
        X = self.decision_set = decision_set
        if X.dim > LARGEST:
            raise ValueError(
                f"a RestrictedMaster remembers {ROWS + PRESENT} gradients, so a set has at most "
                f"{LARGEST} coordinates, got {X.dim}; play projection_free_coco(X, tracking=False)"
            )
        self.eagerness = as_positive(eagerness, "eagerness")
        self.constraints = None if constraints is None else as_count(constraints, "constraints")
        n, m = X.dim, self.constraints or 1
        factors = X.factors if isinstance(X, Product) else (X,)
        self._sizes = np.array([factor.dim for factor in factors])
        few = self._sizes + 2 <= ALL
        self._capacity = np.where(few, self._sizes + 2, COLUMNS)
        B, K, R = len(factors), int(self._capacity.sum()), ROWS + max(PRESENT, m)
        self._state = State(
            x=n,
            x1=n,
            t=1,
            # columns
            used=B,
            share=K,
            entries=int((self._capacity * self._sizes).sum()),
            # rows
            c=R * n,
            **dict.fromkeys(OF_ROWS, R),
            changes=m * CHANGES,
            # steps
            grad2=1,
            far=1,
            # sums
            costs=n,
            pull=n,
            **dict.fromkeys(("inner", "charge"), 1),
            largest_price=m,
            size=3,
            heaviest=1,
            margins=m,
            each=0 if self.constraints is None else m,
            totals=len(TOTALS),
            mixed_units=1,
            calls=1,
        )
        self._diameter = X.diameter or 1.0
        self.origin = X.lmo(np.zeros(n))
        self._workspace = X.workspace()
        self._fill(np.array([factor.diameter or 1.0 for factor in factors]))
        self._state["x1"][:] = X.start()
        self._state["far"][:] = 0.1 * self._diameter
        for b, first in enumerate(self._first.tolist()):
            self._state["used"][b] = self._state["share"][first] = 1.0
            write_column(self._hull, b, first, self._state["x1"] - self.origin)
        mix_columns(self._hull)

    def _fill(self, diameters: Vector) -> None:
        """Make the tables of the kernels, with memory to work in."""
        state, K, R = self._state, self._state["share"].size, self._state["born"].size
        grams = int((self._capacity**2).sum())
        entries = state["entries"].size
        self._first = _begins(self._capacity)[:-1]
        self._hull = hull_table.filled(
            begin=_begins(self._sizes),
            first=_begins(self._capacity),
            at=_begins(self._capacity * self._sizes),
            at_gram=_begins(self._capacity**2),
            diameter2=diameters**2,
            origin=self.origin,
            x=state["x"],
            used=state["used"],
            share=state["share"],
            entries=state["entries"],
            places=np.zeros(entries, np.uint32),
            nonzeros=np.zeros(K, np.uint32),
            gram=np.zeros(grams),
        )
        A, bound, stiffness = np.zeros((R, K)), np.zeros(R), np.zeros(R)
        slope, before = np.zeros(K), np.zeros(K)
        self._rows = rows_table.filled(
            hull=self._hull,
            c=state["c"].reshape(R, -1),
            A=A,
            **{name: state[name] for name in OF_ROWS},
            multiplier=np.zeros(R),
            bound=bound,
            stiffness=stiffness,
            changes=state["changes"].reshape(-1, CHANGES),
            sorted=np.zeros(CHANGES),
            present=np.array([R - ROWS], np.uint32),
            fresh=np.zeros(K),
        )
        master = master_table.filled(
            hull=self._hull,
            slope=slope,
            share_before=before,
            A=A,
            level=bound,
            stiffness=stiffness,
            residual=np.zeros(R),
            numbers=np.zeros(5),
            on=np.zeros(R, np.uint32),
            **{name: np.zeros(K) for name in ("moved", "grad", "d", "ones", "packed")},
            chol=np.zeros(grams),
            support=np.zeros(K, np.uint32),
            count=np.zeros(self._sizes.size),
            gone=np.zeros(self._sizes.size),
            out=np.zeros(K, np.uint32),
            solved=np.zeros((R, K)),
            schur=np.zeros((R, R)),
            force=np.zeros(R),
            slide=np.zeros(R),
        )
        n = self.decision_set.dim
        self.core = core_table.filled(
            hull=self._hull,
            rows=self._rows,
            master=master,
            eagerness=np.array([self.eagerness]),
            margins=state["margins"],
            diameter=np.array([self._diameter]),
            slope=slope,
            share_before=before,
            before=np.zeros(n),
            target=np.zeros(n),
            **{name: np.zeros(1) for name in ("norm", "eta", "loss")},
            **{name: state[name] for name in OF_ROUNDS},
        )
        self._work = np.zeros(4 * n)

    @property
    def decision(self) -> Vector:
        """The decision, a view of the state."""
        return self._state["x"]

    def ask(self, advice: Any = None) -> Vector:
        """Return the decision.

        Args:
            advice: as `AdvisedMaster.advise` takes it, for a policy with advisers.

        """
        if advice is not None:
            self.advise(advice)
        return self.decision.copy()

    def keep_margins(self, margins: Sequence[float]) -> bool:
        """Keep all rows by these margins from now on, in the units of the constraints.

        There must be one for each constraint that counts apart; return whether there is, and so
        whether they need not be added to what is reported.
        """
        fits = len(margins) == self._state["margins"].size
        if fits:
            self._state["margins"][:] = margins
        return fits

    advisers: tuple[str, ...] = ()
    """The names of the advisers: none here, `AdvisedMaster` has some."""

    @property
    def voices(self) -> dict[str, float]:
        """The weight of each adviser and of the policy itself, in a round in which all speak."""
        return {}

    def advise(self, advice: Any) -> None:  # noqa: ARG002
        """Refuse advice, as there are no advisers."""
        raise TypeError(
            "this policy has no advisers; build it with some, such as "
            "projection_free_coco(X, advisers=['plan'])"
        )

    follow = advise
    """A record of advice is refused likewise."""

    @property
    def rounds(self) -> int:
        """The number of rounds so far."""
        return int(self._state["t"][0])

    @property
    def oracle_calls(self) -> int:
        """One in each round."""
        return int(self._state["calls"][0])

    @cached_property
    def set_table(self) -> Any:
        """The set's kernels, or functions of Python in their place."""
        X, space = self.decision_set, self._workspace.space
        if space is not None:
            return space.table
        return python_set(self._workspace.lmo, lambda c: X.tangent_norm2(c)[0])

    def table(self, parts: Any = NO_PARTS, at: Vector | None = None) -> Any:
        """Return the table of `play_master`, for rounds with these parts, seen at `at`."""

        def tangent(_label: Any, _members: Any, c: Vector, t: Vector) -> None:
            t[:] = self.decision_set.tangent(c)

        return play_table.filled(
            core=self.core,
            parts=parts,
            at=self.decision if at is None else at,
            work=self._work,
            set=self.set_table,
            along=tangent if self._workspace.space is None else along,
        )

    @cached_property
    def _table(self) -> Any:
        return self.table()

    def played(self, table: Any) -> tuple[Any, Any]:
        """Return the kernel that takes in a round, and its table, given that of `table()`."""
        return play_master, table

    def tell(
        self, cost: EvalGrad | Parts, constraint: Constraints, *, at: Vector | None = None
    ) -> None:
        """Take in a round and move.

        Args:
            cost: what was seen of the cost; of several parts the largest one counts.
            constraint: what was seen of the constraint, or of each of its parts.
            at: the earlier decision that late feedback is about; left out, it is about `ask()`.

        """
        self.take_in(cost, constraint, at)

    def take_in(
        self, cost: EvalGrad | Parts, constraint: Constraints, at: Vector | None
    ) -> tuple[Vector, Any, EvalGrad]:
        """Take in a round; return grad f along the set, the table of parts, and the largest one."""
        X, x = self.decision_set, self.decision
        at = None if at is None else as_play(at, X, x)
        f = checked(in_order(largest_seen(cost), X, "cost"), "cost", X)
        parts = checked_each(in_order(constraint, X, "constraint"), X)
        self._check_count(len(parts))
        memory, table = NO_PARTS, self._table if at is None else self.table(at=at)
        if len(parts) > 1:
            gradients = np.array([part.grad for part in parts])
            values = np.array([part.value for part in parts])
            count = np.array([len(parts)], np.uint32)
            memory = parts_of_memory(gradients, values, count, np.empty(len(parts)))
            table = self.table(memory, at)
            self.take_units(isinstance(constraint, Parts))
        g = max(parts, key=lambda part: part.value)
        products = dots_and_norms(f.grad, g.grad, x if at is None else at)
        play, played = self.played(table)
        if not play(played, f.grad, f.value, g.grad, g.value, products, 0):
            raise ValueError(
                f"gradients must have norms of at most {LARGEST_PART:g}; measure cost and "
                "constraint in larger units"
            )
        return self.cost_along, memory, g

    @property
    def cost_along(self) -> Vector:
        """Where a round leaves the cost's gradient along the set."""
        return self._work[: self.decision_set.dim]

    def _check_count(self, count: int) -> None:
        if self.constraints not in (None, 1, count):
            raise ValueError(
                f"this policy was built for {self.constraints} constraints per round, this round "
                f"has {count}; report as many, of value 0 and gradient 0 where a round has none"
            )

    def compiled_rounds(self, feedback: Feedback) -> MasterRounds | None:
        """Return its rounds for the compiled loops; None where a part of them is Python."""
        written = not_overridden(self, RestrictedMaster, "ask", "tell", "take_in")
        one_part = feedback is first_order and self.constraints in (None, 1)
        if self._table.in_python or not written or not (one_part or feedback is self.feedback):
            return None
        return MasterRounds(self, feedback)

    def take_units(self, one_unit: bool) -> None:
        """Remember whether all constraints of a round have one unit, for `summary`."""
        if not one_unit and self.constraints is None:
            self._state["mixed_units"][0] = 1.0

    @property
    def weight(self) -> float | None:
        """The sum of the prices of all rows: what a unit less of violation would cost now.

        None where several constraints count apart, as their violations have no common unit.
        """
        return None if self.constraints is not None else float(self._state["price"].sum())

    def summary(self) -> Summary:
        """Return the totals of the rounds so far; `print` shows them in a few lines."""
        totals = State(self._state["totals"], **dict.fromkeys(TOTALS, 1))
        largest = None if self.weight is None else float(self._state["heaviest"][0])
        weights = self.weight, largest
        summary = summary_of(totals, weights, self.oracle_calls, 0)
        summary = replace(summary, binding=self.binding())
        if self.constraints is not None:  # neither violations nor prices have a common unit
            each = tuple(self._state["each"].tolist())
            prices = tuple(self._state["largest_price"].tolist())
            return replace(summary, ccv=None, ccv_each=each, largest_weight_each=prices)
        return summary.of_several() if self._state["mixed_units"][0] else summary

    def binding(self) -> tuple[Binding, ...]:
        """Return the past rounds that hold the decision now, the dearest first."""
        state = self._state
        held = [
            Binding(
                int(state["born"][j]),
                int(state["part"][j]),
                float(state["price"][j]),
                float(state["weight"][j]),
            )
            for j in np.flatnonzero(state["price"] > 0.0).tolist()
        ]
        return tuple(sorted(held, key=lambda one: -one.price))

    def certificate(self, budget: float | Sequence[float] = 0.0) -> Certificate:
        """Bound the regret so far, by one oracle call, whatever was decided.

        For every action u of the set, sum <grad f_t, u> + sum nu_j (b_j + <c_j, u>) is at least
        min over X of <S, .> + B with S = sum grad f_t + sum nu_j c_j, B = sum nu_j b_j, and row j
        is at most the violation of its round: Regret(u) <= sum <grad f_t, x_t> - min <S, .> - B +
        sum nu_j g_j(u)^+.

        Args:
            budget: how much the action may violate in total; it adds the largest price times that.
                Where several constraints count apart, one number for each.

        """
        return self._certified(budget, np.zeros(self.decision_set.dim))

    def certificate_with(
        self, policy: ConstrainedPolicy[Any], budget: float | Sequence[float] = 0.0
    ) -> Certificate:
        """Bound the regret of these rounds and of those that another policy has played since."""
        n, ledger = self.decision_set.dim, policy.ledger
        inner, price = ledger[2 * n], ledger[2 * n + 1]
        bound = float(inner - price) + policy._rounding()
        surrogate: Any = policy.surrogate
        each = getattr(surrogate, "surrogates", (surrogate,))
        largest = np.array([float(one.largest_weight) for one in each])
        return self._certified(budget, ledger[n : 2 * n], bound, largest, float(each[0].steepness))

    def _certified(
        self,
        budget: float | Sequence[float],
        more: Vector,
        bound: float = 0.0,
        prices: Vector | float = 0.0,
        steepness: float = 0.0,
    ) -> Certificate:
        """Bound the regret, with the losses, bound and prices of a policy that has played since."""
        state, X = self._state, self.decision_set
        budgets = as_budgets(budget, self.constraints or 1)
        own = state["costs"] + state["pull"]
        bound += float(state["inner"][0] - state["charge"][0] + own @ self.origin)
        bound += self._rounding() - X.minimum(own + more)
        largest = np.maximum(prices, state["largest_price"])
        worst = self._diameter * (float(state["size"][2]) + steepness)
        allowed = float(largest @ np.array(budgets))
        if len(budgets) > 1:  # neither violations nor prices have a common unit
            return Certificate(bound + allowed, budgets, 0.0, worst)
        price = float(largest[0])
        least = max(0.0, -worst - bound) / price if price > 0.0 else 0.0
        return Certificate(bound + allowed, budgets[0], least, worst, price=price)

    def refutes(self) -> bool:
        """Whether the remembered rows prove that no action satisfies all rounds; two oracle calls.

        They do where sum nu_j (b_j + <c_j, u>) > 0 for every action u, with any nu_j >= 0: all
        multipliers so far, or the prices now.
        """
        state, X = self._state, self.decision_set
        gradients = state["c"].reshape(-1, X.dim)
        price, size = state["price"], np.abs(state["level"]) + state["norm"] * self._diameter
        for pull, charge, terms in (
            (state["pull"], state["charge"][0], state["size"][1]),
            (price @ gradients, price @ state["level"], price @ size),
        ):
            least = X.minimum(pull) - pull @ self.origin + charge
            if least > SURE * terms:
                return True
        return False

    def _rounding(self) -> float:
        """Bound the rounding of sums over t rounds and dim entries: (t + dim) eps sum |terms|."""
        size, prices, _ = self._state["size"].tolist()
        reach = 2.0 * reach_of(self.decision_set, self.ask())
        steps = self.rounds + self.decision_set.dim
        return float(2.0 * steps * sys.float_info.epsilon * (size * reach + prices))

    def transfer(
        self, decision_set: DecisionSet, kept: ArrayLike | None = None
    ) -> RestrictedMaster:
        """Return a policy on another set that goes on from what this one has learnt.

        For networks whose links appear and disappear. Columns that are points of the new set keep
        their shares, and the oracle finds a place for the rest. Rows go on for the coordinates that
        are left; a new one has their mean. Totals and the certificate begin anew.

        Args:
            decision_set: where to play from now on.
            kept: the old coordinate of each new one, -1 where it is new; left out, edges of the
                same name are the same.

        """
        from hedgerow.policies.transfer import transferred_master

        return transferred_master(self, decision_set, kept)

    def columns(self) -> Iterator[tuple[Vector, float]]:
        """Yield the remembered points and their shares; not for a `Product`."""
        entries = self._state["entries"].reshape(-1, self.decision_set.dim)
        for i in range(int(self._state["used"][0])):
            yield entries[i] + self.origin, float(self._state["share"][i])

    def take_columns(self, points: Sequence[Vector], shares: Sequence[float]) -> None:
        """Remember these points, and play their mixture by shares that add up to 1."""
        places = int(self._capacity[0])
        order = sorted(range(len(points)), key=lambda i: -shares[i])[:places]
        total = sum(shares[i] for i in order)
        self._state["used"][0], self._state["share"][:] = len(order), 0.0
        for i, k in enumerate(order):
            self._state["share"][i] = shares[k] / total
            entries = self._state["entries"].reshape(places, -1)
            entries[i] = points[k] - self.origin
        self._derive()
        mix_columns(self._hull)

    @property
    def _parts(self) -> dict[str, Restorable]:
        return {"workspace": self._workspace}

    def _restored(self) -> None:
        super()._restored()
        self._derive()

    def _derive(self) -> None:
        """Make what is derived from the columns and the rows."""
        for b, first in enumerate(self._first.tolist()):
            used = int(self._state["used"][b])
            for i in range(first, first + used):
                take_column(self._hull, b, i)
            for i in range(first, first + used):
                extend_rows(self._rows, b, i)


def _begins(sizes: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Return where parts of these sizes begin, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint32)


class MasterRounds(CompiledRounds):
    """Rounds of the restricted master.

    Args:
        policy: the policy; its set has kernels.
        feedback: what it sees: all parts of a round, or the largest one.

    """

    def __init__(self, policy: RestrictedMaster, feedback: Feedback):
        self._policy, self.feedback = policy, feedback
        self._known: tuple[Any, Any] = None, None  # the last table, and the policy with it
        self.linear = policy.constraints in (None, 1)

    def begin(self, rounds: Any, first: int, end: int) -> tuple[Any, int]:
        """Return the policy's table, which has the memory of the rounds' parts."""
        table = self.table_of(rounds, first, end)
        if table is not self._known[0]:
            self._known = table, policy_of(*self._policy.played(table), self._policy.decision)
        return self._known[1], end

    def table_of(self, rounds: Any, first: int, end: int) -> Any:
        """Return the table of `play_master` for these rounds."""
        count = getattr(rounds, "parts_g", NO_INDEX)[first:end]  # linear rounds have one part each
        if self.feedback is first_order or not (count > 1).any():
            return self._policy._table
        levels = np.empty(len(rounds.gradients))
        return self._policy.table(parts_of_memory(rounds.gradients, rounds.values, count, levels))

    def finish(self, played: int) -> None:
        """Leave everything as it is: the policy's state is complete after each round."""
