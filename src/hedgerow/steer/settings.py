"""The file of `hedgerow steer`: read and validated whole before anything starts."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.experiments.validation import Table, errors_after, one_of, parse, shown
from hedgerow.inputs import Vector
from hedgerow.steer.tables import (
    PRICE,
    SOURCES,
    TARGETS,
    UP,
    BackendTable,
    LimitTable,
    MetricsTable,
    SafetyTable,
    SteerFile,
)
from hedgerow.steer.weights import WHOLE, Weights, least_weights, whole_weights

LARGEST_FILE = 1 << 20
MOST_BACKENDS = 200
"""More backends than this would have weights of about 1 each."""


@dataclass(frozen=True, eq=False)
class Settings:
    """A validated file; paths are relative to its folder.

    Attributes:
        session: the name of the session.
        store: the file or the PostgreSQL URL of the store.
        interval: the seconds between two decisions.
        backends: in the order of shares and weights.
        limits: in the order of constraints.
        source: where readings come from.
        target: where weights go.
        safety: what keeps a mistake small.
        metrics: where to serve the metrics of steer itself.
        base: the folder of the file.

    """

    session: str
    store: str
    interval: float
    backends: tuple[BackendTable, ...]
    limits: tuple[LimitTable, ...]
    source: Any
    target: Any
    safety: SafetyTable
    metrics: MetricsTable | None
    base: Path

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the backends."""
        return tuple(backend.name for backend in self.backends)

    @property
    def min_shares(self) -> Vector:
        """The minimum share of each backend."""
        return np.array([backend.min_share for backend in self.backends])

    @property
    def least(self) -> Weights:
        """The least weight of each backend."""
        return least_weights(self.min_shares)

    @property
    def fallback(self) -> Weights | None:
        """The weights to fall back to, where the file names some."""
        if not self.safety.fallback:
            return None
        shares = np.array([self.safety.fallback[name] for name in self.names])
        return whole_weights(shares / shares.sum(), self.least)

    @property
    def equal(self) -> Weights:
        """Equal weights, as far as minimum shares allow."""
        count = len(self.backends)
        return whole_weights(np.full(count, 1.0 / count), self.least)

    def path(self, name: str) -> Path:
        """Return a path of the file, relative to its folder."""
        return self.base / name


def read_settings(path: Path) -> Settings:
    """Read and validate a file."""
    content = path.read_bytes()
    if len(content) > LARGEST_FILE:
        raise ValueError(f"{path}: the file has {len(content)} bytes, at most {LARGEST_FILE}")
    try:
        table = tomllib.loads(content.decode())
    except RecursionError:
        raise ValueError(f"{path}: lists and tables are nested too deeply; flatten them") from None
    except ValueError as error:
        raise ValueError(f"{path}: this is not TOML ({error})") from None
    with errors_after(f"{path}: "):
        return validate(table, path.resolve().parent)


def validate(table: Mapping[str, Any], base: Path) -> Settings:
    """Validate the tables of a file; `base` is the folder that its paths are relative to."""
    file: SteerFile = parse(SteerFile, table, root="the file")
    backends = _named(BackendTable, file.backends, "backends")
    limits = _named(LimitTable, file.limits, "limits")
    for i, limit in enumerate(limits):
        if limit.name in (PRICE, UP):
            raise ValueError(f"limits[{i}].name is {limit.name!r}, which means another reading")
    store = file.store if "://" in file.store else str(base / file.store)
    metrics = None if file.metrics is None else parse(MetricsTable, file.metrics, "metrics")
    settings = Settings(
        file.session,
        store,
        file.interval,
        backends,
        limits,
        _of_kind(SOURCES, file.source, "source"),
        _of_kind(TARGETS, file.target, "target"),
        parse(SafetyTable, file.safety, "safety"),
        metrics,
        base,
    )
    _check_shares(settings)
    _check_prices(settings)
    _check_queries(settings)
    _check_names(settings.safety.fallback, settings, "safety.fallback")
    if settings.safety.fallback and sum(settings.safety.fallback.values()) <= 0.0:
        raise ValueError("safety.fallback must give some backend a share above 0")
    endpoints = getattr(settings.target, "endpoints", {})
    if getattr(settings.target, "format", "") == "envoy" or endpoints:
        _check_names(endpoints, settings, "target.endpoints", needed=True)
        for name, address in endpoints.items():
            host, _, port = address.rpartition(":")
            if not host or not port.isdigit():
                raise ValueError(f"target.endpoints.{name} must be HOST:PORT, got {shown(address)}")
    return settings


def _named(model: type[Any], entries: list[Any], where: str) -> tuple[Any, ...]:
    """Parse a list of tables, each with a name of its own."""
    found = tuple(parse(model, entry, f"{where}[{i}]") for i, entry in enumerate(entries))
    first: dict[str, int] = {}
    for i, entry in enumerate(found):
        if (before := first.setdefault(entry.name, i)) != i:
            raise ValueError(
                f"{where}[{i}].name is {entry.name!r}, as is that of {where}[{before}]; give each "
                "a name of its own"
            )
    return found


def _of_kind(kinds: Mapping[str, type[Table]], table: dict[str, Any], where: str) -> Any:
    if "kind" not in table:
        raise ValueError(f"{where} lacks the key 'kind'; give one of {', '.join(kinds)}")
    return parse(kinds[one_of(table["kind"], kinds, f"{where}.kind")], table, where)


def _check_shares(settings: Settings) -> None:
    count, total = len(settings.backends), float(settings.min_shares.sum())
    if not 2 <= count <= MOST_BACKENDS:
        raise ValueError(f"backends must be 2 to {MOST_BACKENDS} tables, got {count}")
    if total >= 1.0 or int(settings.least.sum()) >= WHOLE:
        raise ValueError(
            f"the min_share of all backends sum to {total:g}, which leaves nothing to decide; "
            "they must sum to less than 1"
        )


def _check_prices(settings: Settings) -> None:
    if PRICE in getattr(settings.source, "queries", {}) or settings.source.kind in (
        "csv",
        "command",
    ):
        return
    for i, backend in enumerate(settings.backends):
        if backend.price is None:
            raise ValueError(
                f"backends[{i}] ({backend.name}) has no price; give `price`, or read it by "
                "source.queries.price"
            )


def _check_queries(settings: Settings) -> None:
    """Check that each limit has a reading."""
    names = [limit.name for limit in settings.limits]
    if settings.source.kind == "prometheus":
        for name in names:
            if name not in settings.source.queries:
                raise ValueError(f"source.queries lacks a query for the limit {name!r}; give it")
        for name in settings.source.queries:
            one_of(name, (*names, PRICE, UP), "source.queries:")
    if settings.source.kind == "haproxy":
        for i, name in enumerate(names):
            one_of(name, ("latency", "errors"), f"limits[{i}].name, with HAProxy's statistics,")


def _check_names(
    table: Mapping[str, Any], settings: Settings, where: str, needed: bool = False
) -> None:
    """Check that a table has one entry for each backend, or none at all where it may be empty."""
    for name in table:
        one_of(name, settings.names, where + ":")
    missing = [name for name in settings.names if name not in table]
    if missing and (table or needed):
        raise ValueError(f"{where} lacks the backend {missing[0]!r}; give one entry for each")
