"""Prometheus metrics: counts of requests, and gauges of sessions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily

from hedgerow.live.store import Store


class Metrics:
    """Counts requests, and reads gauges of all sessions when they are scraped."""

    def __init__(self, store: Store):
        self.registry = CollectorRegistry()
        self.registry.register(_Sessions(store))
        self._requests = Counter(
            "hedgerow_requests", "Requests.", ["method", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "hedgerow_request_seconds", "Seconds per request.", ["method"],
            registry=self.registry,
        )  # fmt: skip

    def count(self, method: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests.labels(method, str(status)).inc()
        self._seconds.labels(method).observe(seconds)


class _Sessions:
    """Gauges of all sessions, read when they are scraped."""

    def __init__(self, store: Store):
        self.store = store

    def describe(self) -> list[Any]:
        return []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        found = self.store.sessions()
        for key, about in (
            ("decisions", "Decisions asked for."),
            ("answered", "Decisions with feedback."),
            ("unanswered", "Decisions without feedback."),
            ("cost", "Sum of costs."),
            ("ccv", "Sum of violations."),
            ("certificate", "Proved bound of the regret."),
        ):
            family = GaugeMetricFamily(f"hedgerow_session_{key}", about, labels=["session"])
            for status in found:
                if (value := getattr(status, key)) is not None:
                    family.add_metric([status.name], float(value))
            yield family
