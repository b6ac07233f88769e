"""The log of requests, and Prometheus metrics of requests and sessions."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as Event

from hedgerow.live.admission import Refusal, refused
from hedgerow.live.store import Store

LOG = logging.getLogger("hedgerow.live")


class Metrics:
    """Counts requests, and reads the numbers of all sessions when they are scraped."""

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
    """Numbers of all sessions, read when they are scraped."""

    def __init__(self, store: Store):
        self.store = store

    def describe(self) -> list[Any]:
        return []

    def collect(self) -> Iterator[Metric]:
        found = self.store.sessions()
        for kind, key, about in (
            (CounterMetricFamily, "decisions", "Decisions asked for."),
            (CounterMetricFamily, "answered", "Decisions with feedback."),
            (CounterMetricFamily, "violated", "Decisions that violated a constraint."),
            (CounterMetricFamily, "ccv", "Sum of violations."),
            (GaugeMetricFamily, "unanswered", "Decisions without feedback."),
            (GaugeMetricFamily, "cost", "Sum of costs, which may be negative."),
            (GaugeMetricFamily, "weight", "Weight on the constraint."),
            (GaugeMetricFamily, "certificate", "Proved bound of the regret."),
            (GaugeMetricFamily, "lateness", "Seconds from the last decision answered to feedback."),
        ):
            unit = "seconds" if key == "lateness" else ""
            family = kind(f"hedgerow_session_{key}", about, labels=["session"], unit=unit)
            for status in found:
                if (value := getattr(status, key)) is not None:
                    family.add_metric([status.name], float(value))
            yield family
        several = CounterMetricFamily(
            "hedgerow_session_ccv_each",
            "Sum of violations of each of several constraints, in its own unit.",
            labels=["session", "constraint"],
        )
        for status in found:
            for k, totals in enumerate(status.each, start=1):
                several.add_metric([status.name, str(k)], totals.ccv)
        if several.samples:
            yield several


class RequestLog:
    """Count and log requests, and answer unexpected errors."""

    def __init__(self, app: ASGIApp, metrics: Metrics):
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begin_, status = time.perf_counter(), 0
        # Its length has two readings, so a proxy may disagree about where the next request begins.
        names = {name for name, _ in scope["headers"]}
        ambiguous = {b"content-length", b"transfer-encoding"} <= names

        async def send_and_record(event: Event) -> None:
            nonlocal status
            if event["type"] == "http.response.start":
                status = event["status"]
                safe = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))
                event["headers"] = [*event["headers"], *safe]
                if ambiguous:
                    event["headers"].append((b"connection", b"close"))
            await send(event)

        try:
            if ambiguous:
                sentence = "give either Content-Length or Transfer-Encoding, not both"
                await refused(Refusal(400, "malformed", sentence))(scope, receive, send_and_record)
            else:
                await self.app(scope, receive, send_and_record)
        except Exception:
            LOG.exception("unexpected error")
            if status == 0:
                failed = Refusal(500, "internal", "the service failed; see its log")
                await refused(failed)(scope, receive, send_and_record)
        seconds = time.perf_counter() - begin_
        method = scope["method"] if scope["method"] in ("GET", "POST") else "other"
        self.metrics.count(method, status, seconds)
        # decisions and feedback come by the thousand: metrics count them
        level = logging.DEBUG if method == "POST" and status == 200 else logging.INFO
        if LOG.isEnabledFor(level):
            path = scope["path"][:200].encode("unicode_escape").decode()
            LOG.log(level, "%s %s %d %.1f ms", method, path, status, 1e3 * seconds)
