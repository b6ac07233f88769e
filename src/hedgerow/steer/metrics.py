"""Metrics of steer itself, for Prometheus."""

from __future__ import annotations

import time

from prometheus_client import CollectorRegistry, Counter, Gauge, start_http_server

from hedgerow.steer.readings import Interval
from hedgerow.steer.settings import Settings
from hedgerow.steer.weights import Weights, shares_of


class SteerMetrics:
    """Shares, readings and outcomes of intervals; served where the file names a port.

    Args:
        settings: the file.

    """

    def __init__(self, settings: Settings):
        self._settings = settings
        self.registry = own = CollectorRegistry()
        self._share = Gauge(
            "hedgerow_steer_share", "Share of the traffic.", ["backend"], registry=own
        )
        self._reading = Gauge(
            "hedgerow_steer_reading",
            "Last reading of a limit.",
            ["limit", "backend"],
            registry=own,
        )
        self._mean = Gauge(
            "hedgerow_steer_mean", "Mean over all traffic of a limit's reading.", ["limit"],
            registry=own,
        )  # fmt: skip
        self._price = Gauge("hedgerow_steer_price", "Mean price of a request.", registry=own)
        self._intervals = Counter(
            "hedgerow_steer_intervals", "Intervals by outcome.", ["outcome"], registry=own
        )
        self._bad = Counter(
            "hedgerow_steer_bad_intervals", "Intervals above a limit.", ["limit"], registry=own
        )
        self._last = Gauge(
            "hedgerow_steer_last_decision_seconds", "When it last decided.", registry=own
        )

    def serve(self) -> None:
        """Begin to serve them, if the file asks for it."""
        where = self._settings.metrics
        if where is not None:
            start_http_server(where.port, addr=where.host, registry=self.registry)

    def count(self, outcome: str) -> None:
        """Count an interval."""
        self._intervals.labels(outcome).inc()
        if outcome == "decided":
            self._last.set(time.time())

    def show(self, weights: Weights) -> None:
        """Show the weights in force."""
        for name, share in zip(self._settings.names, shares_of(weights).tolist(), strict=True):
            self._share.labels(name).set(share)

    def observe(self, interval: Interval, weights: Weights) -> None:
        """Show an interval, with the weights that were in force in it."""
        shares = shares_of(weights)
        self._price.set(interval.mean(interval.prices, shares))
        for row, limit in zip(interval.limits, self._settings.limits, strict=True):
            mean = interval.mean(row, shares)
            self._mean.labels(limit.name).set(mean)
            if mean > limit.at_most:
                self._bad.labels(limit.name).inc()
            for name, value in zip(self._settings.names, row.tolist(), strict=True):
                self._reading.labels(limit.name, name).set(value)
