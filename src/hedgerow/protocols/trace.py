"""What a game leaves behind."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hedgerow.display import data_frame, html_table, sparkline
from hedgerow.inputs import Vector, freeze
from hedgerow.protocols.benchmark import Benchmark
from hedgerow.protocols.limits import HasLimits, LimitName, names_of, numbered, refuse_sum
from hedgerow.protocols.service_level import ServiceLevel, service_level

if TYPE_CHECKING:
    import pandas as pd


class Step(NamedTuple):
    """One round of a game: its number from 1, the play x_t, f_t(x_t) and the signed g_t(x_t).

    `each` holds the value of each constraint, of which g_t(x_t) is the largest; None where there
    is one.
    """

    t: int
    x: Vector
    cost: float
    violation: float
    each: tuple[float, ...] | None = None


@dataclass(frozen=True, eq=False)
class Trace:
    """The record of a game.

    Attributes:
        costs: f_t(x_t) of each round.
        violations: g_t(x_t) of each round, with its sign: at most 0 means kept. Of several
            constraints it is the largest; where their units may differ only its sign means
            something.
        oracle_calls: linear minimisations that the policy asked for, where known.
        seconds: wall time of the game, rounds included.
        compiled: whether the compiled loop played it.
        violations_each: where rounds have several constraints, always equally many: a row of
            values for each, in the order of the problem; else None.
        limits: a name and a unit for each of several constraints; empty where the problem names
            none.
        one_unit: whether violations may be added: there is one constraint, or the problem says
            that all have one unit. Left out, it is assumed of one constraint alone.

    """

    costs: Vector
    violations: Vector
    oracle_calls: int | None = None
    seconds: float = 0.0
    compiled: bool = False
    violations_each: Vector | None = None
    limits: tuple[LimitName, ...] = ()
    one_unit: bool | None = None

    def __post_init__(self) -> None:
        if self.one_unit is None:
            freeze(self, one_unit=self.violations_each is None)

    @classmethod
    def of(cls, steps: Iterable[Step], problem: HasLimits | None = None) -> Trace:
        """Play an iterator of steps to its end and keep costs and violations.

        Args:
            steps: as `play` yields them.
            problem: names the constraints, and says whether they have one unit; of use where
                there are several.

        """
        begin = time.perf_counter()
        kept = [(step.cost, step.violation, step.each) for step in steps]
        table = np.array([row[:2] for row in kept], dtype=np.float64).reshape(-1, 2)
        return cls(
            table[:, 0].copy(),
            table[:, 1].copy(),
            seconds=time.perf_counter() - begin,
            violations_each=_rows([row[2] for row in kept]),
            one_unit=all(row[2] is None for row in kept),
        ).named_by(problem)

    @classmethod
    def joined(cls, parts: Iterable[Trace]) -> Trace:
        """Play an iterator of records, one after the other, and join them to one."""
        traces = list(parts)
        calls = [trace.oracle_calls for trace in traces]
        return cls(
            np.concatenate([np.empty(0), *(trace.costs for trace in traces)]),
            np.concatenate([np.empty(0), *(trace.violations for trace in traces)]),
            None if None in calls else sum(count or 0 for count in calls),
            sum(trace.seconds for trace in traces),
            bool(traces) and all(trace.compiled for trace in traces),
            _side_by_side([trace.violations_each for trace in traces]),
            traces[0].limits if len({trace.limits for trace in traces}) == 1 else (),
            all(trace.one_unit for trace in traces),
        )

    def named_by(self, problem: HasLimits | None) -> Trace:
        """Return the record with the problem's names and units of its constraints."""
        if problem is None:
            return self
        limits = () if self.violations_each is None else names_of(problem.limits)
        return replace(self, limits=limits, one_unit=problem.one_unit)

    @property
    def cost(self) -> float:
        """The total cost, the sum of f_t(x_t)."""
        return float(self.costs.sum())

    @property
    def ccv(self) -> float:
        """The cumulative constraint violation, the sum of max(0, g_t(x_t)).

        Of several constraints with one unit it adds the largest value of each round. Where their
        units may differ it is refused; `ccv_each` has the CCV of each.
        """
        self.check_unit("CCV")
        return float(np.maximum(self.violations, 0.0).sum())

    @property
    def ccv_each(self) -> Vector | None:
        """The CCV of each constraint by itself, where there are several."""
        if self.violations_each is None:
            return None
        total: Vector = np.maximum(self.violations_each, 0.0).sum(axis=1)
        return total

    @property
    def signed_ccv(self) -> float:
        """The sum of g_t(x_t), where a round's slack pays for another's violation."""
        self.check_unit("signed CCV")
        return float(self.violations.sum())

    def check_unit(self, what: str) -> None:
        """Refuse what adds violations of several constraints whose units may differ."""
        if self.one_unit:
            return
        each = self.violations_each
        agree = (
            "where all have one unit, name it: "
            "Recorded(X, rounds, limits={'first': 'ms', 'second': 'ms'})"
        )
        if each is None:  # names are for equally many
            agree = "where all have one unit, give their Maximum in place of a list"
        refuse_sum(
            self.limits,
            None if each is None else len(each),
            f"there is no {what} of all of them together",
            agree if each is None else f"use ccv_each or violations_each, or, {agree}",
        )

    def relative_to(self, sizes: Sequence[float]) -> Trace:
        """Return the record of one constraint without a unit.

        Its value is the largest of all constraints, each divided by its size, such as the limit.
        """
        rows = self.violations_each
        if rows is None or len(rows) != len(sizes):
            count = 1 if rows is None else len(rows)
            raise ValueError(f"there must be one size for each of {count} constraints, got {sizes}")
        largest = (rows / np.asarray(sizes, dtype=np.float64)[:, None]).max(axis=0)
        return replace(self, violations=largest, violations_each=None, limits=(), one_unit=True)

    def service_levels(
        self,
        limits: Sequence[tuple[str, str]] = (),
        round_minutes: float | None = None,
    ) -> tuple[ServiceLevel, ...]:
        """Return how often, how far and how long each constraint was violated.

        Args:
            limits: a name and a unit for each constraint; left out, those of the problem, or
                numbers where it has none.
            round_minutes: how long a round is, for minutes beside rounds.

        """
        rows = self.violations[None, :] if self.violations_each is None else self.violations_each
        given = tuple(LimitName(*limit) for limit in limits)
        pairs = zip(rows, numbered(given or self.limits, len(rows)), strict=True)
        return tuple(service_level(row, *name, round_minutes) for row, name in pairs)

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each round, from 1 on; it needs pandas.

        Columns: `cost` and `violation` of the round, `total_cost` and `ccv` up to it. Each of
        several constraints has columns of its own, `violation_1`, `ccv_1`, `violation_2` and so on,
        with names in place of numbers where the problem has names. `violation`, the largest value,
        and `ccv` are then there only if all have one unit.
        """
        columns = {"t": np.arange(1, len(self.costs) + 1), "cost": self.costs}
        if self.one_unit:
            columns["violation"] = self.violations
        columns["total_cost"] = self.costs.cumsum()
        if self.one_unit:
            columns["ccv"] = np.maximum(self.violations, 0.0).cumsum()
        each = () if self.violations_each is None else self.violations_each
        for k, row in enumerate(each):
            name = self.limits[k].name if self.limits else str(k + 1)
            columns |= {f"violation_{name}": row, f"ccv_{name}": np.maximum(row, 0.0).cumsum()}
        return data_frame(columns, index="t")

    def __repr__(self) -> str:
        rounds, each = len(self.costs), self.violations_each
        parts = [f"{rounds} rounds", f"cost {self.cost:.6g}"]
        parts += [f"CCV {self.ccv:.6g}"] if self.one_unit else []
        if each is not None:
            sums = zip(numbered(self.limits, len(each)), np.maximum(each, 0.0), strict=True)
            parts += [f"CCV of {name} {row.sum():.6g}" for name, row in sums]
        parts.append(f"{int((self.violations > 0.0).sum())} violated")
        return f"Trace({', '.join(parts)})"

    def _repr_html_(self) -> str:
        rounds, each = len(self.costs), self.violations_each
        named = {"": self.violations} if self.one_unit else {}
        if each is not None:
            names = numbered(self.limits, len(each))
            named |= {f" of {name}": row for name, row in zip(names, each, strict=True)}
        over = {name: np.maximum(row, 0.0) for name, row in named.items()}
        calls = "not known" if self.oracle_calls is None else self.oracle_calls
        how = " in the compiled loop" if self.compiled else ""
        rows = [
            ("cost", f"{self.cost:.6g}", sparkline(self.costs, "cost of each round")),
            *(
                (f"CCV{name}", f"{row.sum():.6g}", sparkline(row.cumsum(), f"CCV{name} so far"))
                for name, row in over.items()
            ),
            ("violated rounds", f"{int((self.violations > 0.0).sum())} of {rounds}", ""),
            *(
                (f"violated rounds{name}", f"{int((row > 0.0).sum())} of {rounds}", "")
                for name, row in over.items()
                if name
            ),
            *(
                (f"largest violation{name}", f"{row.max(initial=0.0):.6g}", "")
                for name, row in over.items()
            ),
            ("oracle calls", calls, ""),
            ("time", f"{self.seconds:.3g} s{how}", ""),
        ]
        return html_table((), rows, f"Trace of {rounds} rounds")

    def regret(self, best: Benchmark) -> float:
        """The total cost minus the benchmark's; negative where violation bought cost."""
        if not isinstance(best, Benchmark):
            raise TypeError(
                "regret compares with a Benchmark, as hindsight(problem) returns it, got "
                f"{best!r:.60}; a cost of your own is subtracted: trace.cost - cost"
            )
        if best.status == "infeasible":
            raise ValueError(
                "no fixed action satisfies all rounds, so there is no regret; compare "
                'with the one that violates least, hindsight(problem, budget="minimum"), or with '
                "one that has a budget"
            )
        return self.cost - best.cost


def _rows(each: list[tuple[float, ...] | None]) -> Vector | None:
    """Return one row for each constraint, where every round has several and equally many."""
    counts = {0 if values is None else len(values) for values in each}
    if len(counts) != 1 or counts == {0}:
        return None
    return np.ascontiguousarray(np.array(each, dtype=np.float64).T)


def _side_by_side(parts: list[Vector | None]) -> Vector | None:
    """Join the rows of one record after the other, where each has equally many."""
    rows = [part for part in parts if part is not None]
    if not rows or len(rows) < len(parts) or len({len(part) for part in rows}) != 1:
        return None
    return np.concatenate(rows, axis=1)
