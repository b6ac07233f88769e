"""What a game leaves behind."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hedgerow.display import data_frame, html_table, sparkline
from hedgerow.inputs import Vector
from hedgerow.protocols.benchmark import Benchmark
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
            constraints it is the largest.
        oracle_calls: linear minimisations that the policy asked for, where known.
        seconds: wall time of the game, rounds included.
        compiled: whether the compiled loop played it.
        violations_each: where rounds have several constraints, always equally many: a row of
            values for each, in the order of the problem; else None.

    """

    costs: Vector
    violations: Vector
    oracle_calls: int | None = None
    seconds: float = 0.0
    compiled: bool = False
    violations_each: Vector | None = None

    @classmethod
    def of(cls, steps: Iterable[Step]) -> Trace:
        """Play an iterator of steps to its end and keep costs and violations."""
        begin = time.perf_counter()
        kept = [(step.cost, step.violation, step.each) for step in steps]
        table = np.array([row[:2] for row in kept], dtype=np.float64).reshape(-1, 2)
        return cls(
            table[:, 0].copy(),
            table[:, 1].copy(),
            seconds=time.perf_counter() - begin,
            violations_each=_rows([row[2] for row in kept]),
        )

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
        )

    @property
    def cost(self) -> float:
        """The total cost, the sum of f_t(x_t)."""
        return float(self.costs.sum())

    @property
    def ccv(self) -> float:
        """The cumulative constraint violation, the sum of max(0, g_t(x_t)).

        Of several constraints it adds the largest value of each round, which means something only
        where all have one unit; `ccv_each` has the CCV of each.
        """
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
        return float(self.violations.sum())

    def service_levels(
        self,
        limits: Sequence[tuple[str, str]] = (),
        round_minutes: float | None = None,
    ) -> tuple[ServiceLevel, ...]:
        """Return how often, how far and how long each constraint was violated.

        Args:
            limits: a name and a unit for each constraint; numbers stand for names that are left
                out.
            round_minutes: how long a round is, for minutes beside rounds.

        """
        rows = self.violations[None, :] if self.violations_each is None else self.violations_each
        named = limits or [(f"constraint {k + 1}", "") for k in range(len(rows))]
        if len(named) != len(rows):
            raise ValueError(f"there are {len(rows)} constraints, got names of {len(named)}")
        pairs = zip(rows, named, strict=True)
        return tuple(service_level(row, *name, round_minutes) for row, name in pairs)

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each round, from 1 on; it needs pandas.

        Columns: `cost` and `violation` of the round, `total_cost` and `ccv` up to it. Where there
        are several constraints, `violation` is the largest value, and each constraint has columns
        of its own, `violation_1`, `violation_2` and so on, and `ccv_1`, `ccv_2` in place of `ccv`:
        their units may differ.
        """
        each = () if self.violations_each is None else tuple(self.violations_each)
        columns = {
            "t": np.arange(1, len(self.costs) + 1),
            "cost": self.costs,
            "violation": self.violations,
            "total_cost": self.costs.cumsum(),
        }
        if not each:
            columns["ccv"] = np.maximum(self.violations, 0.0).cumsum()
        for k, row in enumerate(each, start=1):
            columns |= {f"violation_{k}": row, f"ccv_{k}": np.maximum(row, 0.0).cumsum()}
        return data_frame(columns, index="t")

    def _repr_html_(self) -> str:
        rounds, each = len(self.costs), self.violations_each
        named = {"": self.violations}
        if each is not None:
            named = {f" of constraint {k}": row for k, row in enumerate(each, start=1)}
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
                'with the one that violates least, hindsight(problem, budget="least"), or with '
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
