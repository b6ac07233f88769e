"""Portfolios on price relatives, with a cap on what they are exposed to."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import Vector, as_array, as_count, as_number, read_only
from hedgerow.networks.numbers import parse_number
from hedgerow.networks.source_file import SourceFile
from hedgerow.problems.enveloped import EnvelopedProblem, one_round
from hedgerow.problems.problem import LinearChunk, chunk_lengths
from hedgerow.sets.simplices import Simplex


@dataclass(frozen=True, eq=False)
class Portfolio(EnvelopedProblem):
    """Split wealth over assets each day: a large return, and a limited exposure.

    f_t(x) = 1 - <r_t, x>, the day's loss, with the price relatives r_t (closing price over the
    day before's); g_t(x) = <e_t, x> - cap, with the exposure e_t of each asset: 1 for the assets
    of a sector and 0 for others, or how volatile each asset has been of late. The asset with the
    least exposure on its worst day keeps every round's constraint; if none does, the cap is
    refused.

    Args:
        relatives: price relatives, days x assets, at least 0.
        exposures: one number for each asset, or one for each day and asset; at least 0.
        cap: the exposure allowed each day.

    >>> relatives = np.random.default_rng(0).lognormal(0.0, 0.01, (500, 6))
    >>> problem = Portfolio(relatives, exposures=[1, 1, 1, 0, 0, 0], cap=0.4)  # a sector
    >>> problem.horizon, problem.feasible, problem.violation_range
    (500, array([0., 0., 0., 1., 0., 0.]), 0.6)

    """

    relatives: Vector
    exposures: Vector
    cap: float
    decision_set: Simplex = field(init=False)
    horizon: int = field(init=False)

    def __init__(self, relatives: ArrayLike, exposures: ArrayLike, cap: float):
        r = checked_relatives(relatives, least=0.0)
        e = as_array(exposures, "exposures")
        if e.shape not in (r.shape, r.shape[1:]) or e.min() < 0.0:
            raise ValueError(
                f"exposures must be at least 0 and have shape {r.shape[1:]} or {r.shape}, "
                f"got shape {e.shape} and a least value of {e.min():g}"
            )
        least = float(np.atleast_2d(e).max(axis=0).min())
        if as_number(cap, "cap") < least:
            raise ValueError(
                f"every single asset is exposed by {least:g} or more on some day, above the cap "
                f"{cap:g}; raise the cap to at least that"
            )
        for name, value in (
            ("relatives", read_only(r)),
            ("exposures", read_only(e)),
            ("cap", float(cap)),
            ("decision_set", Simplex(r.shape[1])),
            ("horizon", len(r)),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def low_volatility(
        cls, relatives: ArrayLike, cap: float = 0.95, window: int = 60, horizon: int | None = None
    ) -> Portfolio:
        """Cap the recent volatility of what is held, in units of the average asset's.

        e_t is the standard deviation of each asset's log return over the `window` days before t,
        divided by its mean over the assets: equal weights have exposure 1. The rounds begin after
        the first window. Nothing is invented but the cap.

        Args:
            relatives: price relatives, days x assets, above 0.
            cap: the exposure allowed each day.
            window: the number of days looked back, at least 2.
            horizon: the number of rounds; None for all.

        """
        r = checked_relatives(relatives, as_count(window, "window", least=2), horizon)
        logs = np.log(r)
        past = np.lib.stride_tricks.sliding_window_view(logs[:-1], window, axis=0)
        deviation = past.std(axis=2)
        if deviation.mean(axis=1).min() <= 0.0:
            raise ValueError("no asset moved for a whole window; use a longer one")
        exposures = deviation / deviation.mean(axis=1, keepdims=True)
        return cls(r[window:], exposures, cap)

    @classmethod
    def from_csv(
        cls, path: str | Path, cap: float = 0.95, window: int = 60, horizon: int | None = None
    ) -> Portfolio:
        """Read price relatives by `price_relatives` and cap the recent volatility."""
        return cls.low_volatility(price_relatives(path), cap, window, horizon)

    @cached_property
    def envelope(self) -> tuple[LinearChunk, LinearChunk]:
        """The least and the largest coefficients of all rounds."""
        r, e = self.relatives, np.atleast_2d(self.exposures)
        return one_round(-r.max(axis=0), 1.0, e.min(axis=0), -self.cap), one_round(
            -r.min(axis=0), 1.0, e.max(axis=0), -self.cap
        )

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        exposures, done = np.broadcast_to(self.exposures, self.relatives.shape), 0
        for k in chunk_lengths(self.horizon, size):
            days = slice(done, done + k)
            done += k
            yield LinearChunk(
                -self.relatives[days], np.ones(k), exposures[days].copy(), np.full(k, -self.cap)
            )


def price_relatives(path: str | Path) -> Vector:
    """Read a CSV file, plain or gzipped, with a header, one row for each day.

    Every entry is a price relative, the day's price over the day before's. Prices themselves are
    not: divide each row by the one before first.
    """
    lines = csv.reader(SourceFile(Path(path)).lines())
    rows: list[list[float]] = []
    try:
        width = len(next(lines, []))
        for line in lines:
            rows.append(_numbers(line, f"{path}, line {lines.line_num}", width))
    except csv.Error as error:
        raise ValueError(f"{path}, line {lines.line_num}: this is no CSV ({error})") from None
    return checked_relatives(rows)


def _numbers(line: list[str], where: str, width: int) -> list[float]:
    try:
        numbers = [parse_number(entry) for entry in line]
    except ValueError as error:
        raise ValueError(f"{where}: {error}; give numbers only") from None
    if len(line) != width:
        raise ValueError(
            f"{where} has {len(line)} entries, the header {width}; give one for each asset"
        )
    return numbers


def checked_relatives(
    relatives: ArrayLike, window: int = 0, horizon: int | None = None, least: float = 1e-9
) -> Vector:
    """Return a table days x assets, cut to window + horizon days, or say what is wrong with it."""
    r = as_array(relatives, "relatives")
    if r.ndim != 2 or not r.size or r.min() < least:
        raise ValueError(
            f"relatives form a table of days x assets with values of at least {least:g}, "
            f"got shape {r.shape}{f' and a value {r.min():g}' if r.size else ''}"
        )
    if horizon is None:
        horizon = len(r) - window
    if len(r) < window + as_count(horizon, "the number of rounds"):
        raise ValueError(
            f"{horizon} rounds after a window of {window} days need {window + horizon} days, "
            f"the table has {len(r)}; ask for fewer rounds"
        )
    return r[: window + horizon]
