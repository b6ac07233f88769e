"""Portfolios on price relatives: a cap on exposure, and growth of wealth close to an index."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import Vector, as_array, as_count, as_number, as_vector, freeze, read_only
from hedgerow.labels import Coordinates, labels_of
from hedgerow.networks.source_files import SourceFile, parse_number
from hedgerow.problems.problem import EnvelopedProblem, LinearChunk, Problem, Round, chunk_slices
from hedgerow.protocols.parts import Policy
from hedgerow.sets.simplices.simplex import Simplex


@dataclass(frozen=True, eq=False)
class Portfolio(EnvelopedProblem):
    """Split wealth over assets each day: a large return, and a limited exposure.

    f_t(x) = 1 - <r_t, x>, the day's loss, with the price relatives r_t (closing price over the
    day before's); g_t(x) = <e_t, x> - cap, with the exposure e_t of each asset: 1 for the assets
    of a sector and 0 for others, or how volatile each asset has been of late. The asset with the
    least exposure on its worst day satisfies every round's constraint; if none does, the cap is
    refused.

    Args:
        relatives: price relatives, days x assets, at least 0; the columns of a frame name the
            assets.
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
        labels = labels_of(relatives)
        e = as_array(exposures, "exposures", Coordinates(r.shape[1], labels))
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
        freeze(self, relatives=r, exposures=e, cap=float(cap))
        X = Simplex(r.shape[1])
        freeze(self, decision_set=X if labels is None else X.named(labels), horizon=len(r))

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
        made, labels = cls(r[window:], exposures, cap), labels_of(relatives)
        if labels is not None:
            freeze(made, decision_set=made.decision_set.named(labels))
        return made

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
        return LinearChunk.of(-r.max(axis=0), e.min(axis=0), -self.cap, 1.0), LinearChunk.of(
            -r.min(axis=0), e.max(axis=0), -self.cap, 1.0
        )

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        exposures = np.broadcast_to(self.exposures, self.relatives.shape)
        for days in chunk_slices(self.horizon, size):
            yield LinearChunk.of(-self.relatives[days], exposures[days].copy(), -self.cap, 1.0)


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
        raise ValueError(f"{path}, line {lines.line_num}: this is not CSV ({error})") from None
    return checked_relatives(rows)


PACKAGE = "universal-portfolios"
"""It has the classic price series of the field."""


def shipped_relatives(name: str) -> Vector:
    """Return the daily price relatives of a series of `universal-portfolios`.

    The package has the classic series of the field, such as "nyse_o" (36 stocks, 1962 to 1984) and
    "djia", as files of prices. They are read, the package is not imported: what it depends on is
    not needed.

    Args:
        name: of the series, such as "djia".

    Returns:
        Price relatives, days x assets: each day's prices over those of the day before.

    """
    try:
        folder = Path(str(distribution(PACKAGE).locate_file("universal/data")))
    except PackageNotFoundError:
        raise ModuleNotFoundError(
            f"price series come with the package {PACKAGE}, which is not installed; run "
            f"pip install {PACKAGE}"
        ) from None
    known = sorted(path.stem for path in folder.glob("*.csv"))
    if name not in known:
        raise ValueError(f"name must be one of {', '.join(known)}, got {name!r}")
    prices = price_relatives(folder / f"{name}.csv")  # positive numbers, read alike
    return prices[1:] / prices[:-1]


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


@dataclass(frozen=True, eq=False)
class NegativeLog:
    """The negative logarithm of a linear function, f(x) = -log <a, x>, for a > 0 and x >= 0.

    >>> f = NegativeLog([1.0, 2.0])
    >>> f(np.array([1.0, 0.0])), f.grad(np.array([1.0, 0.0]))
    (0.0, array([-1., -2.]))
    """

    coefficients: Vector

    def __init__(self, coefficients: ArrayLike):
        a = as_vector(coefficients, "the coefficients")
        if not a.size or a.min() <= 0.0:
            raise ValueError("the coefficients of a NegativeLog must be above 0")
        freeze(self, coefficients=a)

    def __call__(self, x: Vector) -> float:
        """Return -log <a, x>."""
        return 0.0 - math.log(float(self.coefficients @ x))

    def grad(self, x: Vector) -> Vector:
        """Return -a / <a, x>."""
        return -self.coefficients / float(self.coefficients @ x)


@dataclass(frozen=True, eq=False)
class ActiveShare:
    """How much of a portfolio differs from an index, g(x) = ||x - b||_1 / 2 - limit.

    >>> g = ActiveShare([0.5, 0.5], limit=0.2)
    >>> g(np.array([1.0, 0.0])), g.grad(np.array([1.0, 0.0]))
    (0.3, array([ 0.5, -0.5]))
    """

    index: Vector
    limit: float

    def __init__(self, index: ArrayLike, limit: float):
        freeze(self, index=read_only(as_vector(index, "the index")))
        freeze(self, limit=as_number(limit, "the limit"))

    def __call__(self, x: Vector) -> float:
        """Return ||x - b||_1 / 2 - limit."""
        return 0.5 * float(np.abs(x - self.index).sum()) - self.limit

    def grad(self, x: Vector) -> Vector:
        """Return half the signs of x - b."""
        return 0.5 * np.sign(x - self.index)


@dataclass(frozen=True, eq=False)
class LogPortfolio(Problem):
    """An index fund that may differ a little from its index, for the sake of growth.

    f_t(x) = -log <r_t, x>, so that the sum of costs is minus the log of final wealth, and
    g_t(x) = ||x - b_t||_1 / 2 - limit: the trades that would turn the fund into the index b_t, the
    "active share", are limited. The index starts from equal weights, drifts with the prices and
    returns to equal weights every `rebalance` days. Equal weights themselves satisfy every round's
    constraint; a limit that they would exceed is refused.

    Args:
        relatives: price relatives, days x assets, above 0.
        limit: the largest active share, between 0 and 1.
        rebalance: the number of days between two resets of the index.

    >>> relatives = np.random.default_rng(0).lognormal(0.0, 0.01, (500, 6))
    >>> problem = LogPortfolio(relatives, limit=0.3)
    >>> cost, constraint = next(iter(problem))
    >>> round(constraint(problem.decision_set.lmo([0, 0, 1, 1, 1, 1])), 3)
    0.533

    """

    relatives: Vector
    limit: float = 0.2
    rebalance: int = 21
    decision_set: Simplex = field(init=False)
    horizon: int = field(init=False)
    feasible: Vector = field(init=False)
    _index: Vector = field(init=False, repr=False)

    def __init__(self, relatives: ArrayLike, limit: float = 0.2, rebalance: int = 21):
        r = checked_relatives(relatives)
        equal = np.full(r.shape[1], 1.0 / r.shape[1])
        index = _drifting(r, as_count(rebalance, "rebalance"))
        farthest = 0.5 * float(np.abs(index - equal).sum(axis=1).max())
        if not farthest < as_number(limit, "limit") <= 1.0:
            raise ValueError(
                f"the index moves {farthest:.3g} away from equal weights, so the limit must be "
                f"above that and at most 1, got {limit:g}; raise it or rebalance more often"
            )
        freeze(self, relatives=r, limit=float(limit), rebalance=rebalance)
        freeze(self, decision_set=Simplex(r.shape[1]), horizon=len(r))
        freeze(self, feasible=equal, _index=index)

    @classmethod
    def from_csv(
        cls, path: str | Path, limit: float = 0.2, rebalance: int = 21, horizon: int | None = None
    ) -> LogPortfolio:
        """Read price relatives by `price_relatives`; `horizon` takes the first days only."""
        return cls(checked_relatives(price_relatives(path), 0, horizon), limit, rebalance)

    @property
    def cost_lipschitz(self) -> float:
        """No cost has a longer gradient: ||r_t|| over the day's least relative."""
        r = self.relatives
        return float((np.linalg.norm(r, axis=1) / r.min(axis=1)).max())

    @property
    def constraint_lipschitz(self) -> float:
        """No constraint has a longer gradient: half the square root of the number of assets."""
        return 0.5 * math.sqrt(self.decision_set.dim)

    @property
    def cost_range(self) -> tuple[float, float]:
        """Every cost lies between these two, at every point of the set."""
        return -math.log(float(self.relatives.max())), -math.log(float(self.relatives.min()))

    @property
    def violation_range(self) -> float:
        """No constraint has a larger value: all wealth in the asset of least weight."""
        return 1.0 - float(self._index.min()) - self.limit

    def rounds(self, policy: Policy[Any, Any] | None = None) -> Iterator[Round]:  # noqa: ARG002
        """Yield the rounds as pairs (cost, constraint)."""
        for r, b in zip(self.relatives, self._index, strict=True):
            yield NegativeLog(r), ActiveShare(b, self.limit)


def _drifting(relatives: Vector, rebalance: int) -> Vector:
    """Return the index's weights at the beginning of each day."""
    days, assets = relatives.shape
    index = np.empty((days, assets))
    for t in range(days):
        if t % rebalance == 0:
            index[t] = 1.0 / assets
        else:
            held = index[t - 1] * relatives[t - 1]
            index[t] = held / held.sum()
    return index
