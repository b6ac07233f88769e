"""The record of one run: every field of the file in one place, and the curves beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from hedgerow.inputs import Vector


def finite(value: float) -> float | None:
    """Return a number, or None where it is not finite.

    >>> finite(2.5), finite(math.inf)
    (2.5, None)
    """
    return float(value) if math.isfinite(value) else None


def sentence(error: Exception) -> str:
    """Return what an error says, on one line."""
    return " ".join(str(error).split())


POINTS = 400
"""How many points a curve has at most."""


def curve_rounds(horizon: int) -> Vector:
    """Return the rounds that curves show: evenly spaced ones, and more of the first.

    >>> curve_rounds(5)
    array([1., 2., 3., 4., 5.])
    >>> t = curve_rounds(100_000)
    >>> t.size <= POINTS, t[:3], t[-1]
    (True, array([1., 2., 3.]), np.float64(100000.0))
    """
    even = np.linspace(1, horizon, POINTS - POINTS // 4)
    early = np.geomspace(1, horizon, POINTS // 4)
    return np.unique(np.rint(np.concatenate((even, early))))


def curves(costs: Vector, violations: Vector) -> Vector:
    """Return rows t, cumulative cost, CCV and signed CCV at the sampled rounds."""
    t = curve_rounds(len(costs))
    rows = costs, np.maximum(violations, 0.0), violations
    return np.stack((t, *(np.cumsum(row)[t.astype(np.intp) - 1] for row in rows)))


@dataclass(frozen=True)
class RunRecord:
    """What is stored of a run; `hedgerow.experiments.results` describes the file.

    Attributes:
        key: what tells the run from others: problem, method, preset, eagerness, horizon and seed.
        id: the name of its files.
        benchmark: the id of the benchmark that it is compared with.
        status: "done", or "refused" when the method does not take this problem.
        reason: why it was refused, in a sentence.
        notes: the warnings of the method.
        constants: what a theorem was told, and how it was found out.
        cost: the sum of f_t(x_t); null, like all numbers below, where it was refused.
        ccv: the sum of max(0, g_t(x_t)).
        signed_ccv: the sum of g_t(x_t).
        largest_violation: the largest g_t(x_t).
        violated_rounds: the number of rounds with g_t(x_t) > 0.
        oracle_calls: linear minimisations.
        projections: projections, and what stands for them.
        certificate: a proved bound of the regret, or null where the method has none.
        dim: the dimension of the decision set.
        ccv_each: the CCV of each constraint; absent unless all rounds have equally many, several.
        service: how often, how far and how long each constraint was violated, one object for each.

    """

    key: Mapping[str, Any]
    id: str
    benchmark: str
    status: Literal["done", "refused"] = "done"
    reason: str | None = None
    notes: list[str] = field(default_factory=list)
    constants: dict[str, Any] | None = None
    cost: float | None = None
    ccv: float | None = None
    signed_ccv: float | None = None
    largest_violation: float | None = None
    violated_rounds: int | None = None
    oracle_calls: int | None = None
    projections: int | None = None
    certificate: float | None = None
    dim: int | None = None
    ccv_each: list[float] | None = None
    service: list[dict[str, Any]] | None = None

    def plain(self) -> dict[str, Any]:
        """Return it as plain data, the key's entries beside the others."""
        found = asdict(self)
        for name in ("ccv_each", "service"):
            if found[name] is None:
                del found[name]
        return {**found.pop("key"), **found}
