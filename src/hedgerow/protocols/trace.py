"""What a game leaves behind."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hedgerow.inputs import Vector
from hedgerow.protocols.benchmark import Benchmark


class Step(NamedTuple):
    """One round as played: its number from 1, the play, f_t(x_t) and g_t(x_t) with its sign."""

    t: int
    x: Vector
    cost: float
    violation: float


@dataclass(frozen=True, eq=False)
class Trace:
    """The record of a game.

    Attributes:
        costs: f_t(x_t) of each round.
        violations: g_t(x_t) of each round, with its sign: at most 0 means kept.
        oracle_calls: linear minimisations that the policy asked for, where known.
        seconds: wall time of the game, rounds included.
        compiled: whether the compiled loop played it.

    """

    costs: Vector
    violations: Vector
    oracle_calls: int | None = None
    seconds: float = 0.0
    compiled: bool = False

    @classmethod
    def of(cls, steps: Iterable[Step]) -> Trace:
        """Play an iterator of steps to its end and keep costs and violations."""
        begin = time.perf_counter()
        pairs = [(step.cost, step.violation) for step in steps]
        table = np.array(pairs, dtype=np.float64).reshape(-1, 2)
        return cls(table[:, 0].copy(), table[:, 1].copy(), None, time.perf_counter() - begin)

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
        )

    @property
    def cost(self) -> float:
        """The total cost, the sum of f_t(x_t)."""
        return float(self.costs.sum())

    @property
    def ccv(self) -> float:
        """The cumulative constraint violation, the sum of max(0, g_t(x_t))."""
        return float(np.maximum(self.violations, 0.0).sum())

    @property
    def signed_ccv(self) -> float:
        """The sum of g_t(x_t), where a round's slack pays for another's violation."""
        return float(self.violations.sum())

    def regret(self, best: Benchmark) -> float:
        """The total cost minus the benchmark's; negative where violation bought cost."""
        if best.status == "infeasible":
            raise ValueError(
                "no fixed action keeps every round's constraint, so there is no regret; compare "
                "with a benchmark that has a violation budget"
            )
        return self.cost - best.cost
