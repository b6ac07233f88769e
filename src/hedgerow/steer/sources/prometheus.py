"""Readings from Prometheus' HTTP API."""

from __future__ import annotations

import json
import math
from typing import Any

import httpx

from hedgerow.experiments.validation import shown
from hedgerow.steer.readings import SourceError
from hedgerow.steer.settings import Settings
from hedgerow.steer.tables import PrometheusTable

BACKEND = "$backend"
LARGEST = 1 << 24
"""The most bytes of an answer."""


class PrometheusSource:
    """Asks one instant query for each reading.

    A query with `$backend` in it is asked for each backend and must give at most one series.
    Another is asked once, and the label that the file names says which backend a series is of. A
    series that is missing, or NaN (0/0, no requests), was not observed.

    Args:
        settings: the file.

    """

    def __init__(self, settings: Settings):
        self._table: PrometheusTable = settings.source
        self._names = settings.names
        # a series that stopped must not stand in for a reading of this interval
        self._lookback = f"{max(1.0, 2.0 * settings.interval):g}s"

    def read(self) -> dict[str, dict[str, float]]:
        """Return the readings by backend."""
        with httpx.Client(timeout=self._table.timeout, follow_redirects=False) as client:
            return self._read(client)

    def _read(self, client: httpx.Client) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = {}
        for reading, query in self._table.queries.items():
            if BACKEND in query:
                for name in self._names:
                    series = self._ask(client, query.replace(BACKEND, name), reading)
                    if len(series) > 1:
                        raise SourceError(
                            f"the query for {reading} has {len(series)} series for {name}; "
                            "aggregate them to one"
                        )
                    for _, value in series:
                        found.setdefault(name, {})[reading] = value
                continue
            for labels, value in self._ask(client, query, reading):
                name = labels.get(self._table.label, "")
                if name not in self._names:
                    continue  # of other servers
                if reading in found.setdefault(name, {}):
                    raise SourceError(
                        f"the query for {reading} has several series for {name}; aggregate them "
                        f"by ({self._table.label})"
                    )
                found[name][reading] = value
        return found

    def _ask(
        self, client: httpx.Client, query: str, reading: str
    ) -> list[tuple[dict[str, str], float]]:
        """Return the labels and the value of each series."""
        where = f"{self._table.url.rstrip('/')}/api/v1/query"
        given = {"query": query, "lookback_delta": self._lookback}
        try:
            with client.stream("POST", where, data=given) as response:
                body = b""
                for part in response.iter_bytes():
                    body += part
                    if len(body) > LARGEST:
                        raise SourceError(f"Prometheus' answer on {reading} is too large")
        except httpx.HTTPError as error:
            why = str(error) or type(error).__name__
            raise SourceError(f"Prometheus at {self._table.url} cannot be asked: {why}") from None
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            raise SourceError(
                f"Prometheus' answer on {reading} is not JSON (HTTP {response.status_code}): "
                f"{shown(body[:60])}"
            ) from None
        if not isinstance(answer, dict) or answer.get("status") != "success":
            wrong = answer.get("error") if isinstance(answer, dict) else answer
            raise SourceError(f"Prometheus refused the query for {reading}: {shown(wrong)}")
        data = answer.get("data")
        if not isinstance(data, dict) or data.get("resultType") != "vector":
            kind = data.get("resultType") if isinstance(data, dict) else data
            raise SourceError(
                f"the query for {reading} must give an instant vector, got {shown(kind)}"
            )
        series = data.get("result")
        if not isinstance(series, list):
            raise SourceError(f"Prometheus' answer on {reading} has no list of series")
        values = [_series(one, reading) for one in series]
        return [(labels, value) for labels, value in values if not math.isnan(value)]


def _series(one: Any, reading: str) -> tuple[dict[str, str], float]:
    try:
        labels, (_, text) = one["metric"], one["value"]
        value = float(text)
    except (KeyError, TypeError, ValueError):
        raise SourceError(
            f"a series of the answer on {reading} cannot be read: {shown(one)}"
        ) from None
    if not isinstance(labels, dict) or not isinstance(text, str):
        raise SourceError(f"a series of the answer on {reading} cannot be read: {shown(one)}")
    if math.isinf(value):
        raise SourceError(f"the query for {reading} is infinite; check what it divides by")
    return labels, value
