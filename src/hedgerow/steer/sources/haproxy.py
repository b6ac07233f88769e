"""Readings from HAProxy's own statistics."""

from __future__ import annotations

import csv
import io

from hedgerow.experiments.validation import shown
from hedgerow.steer.haproxy_socket import HaproxyError, ask_haproxy, check_names
from hedgerow.steer.readings import SourceError
from hedgerow.steer.settings import Settings
from hedgerow.steer.tables import UP, HaproxyTable

TIMES = ("qtime", "ctime", "rtime")
"""Mean milliseconds in the queue, to connect and to the response, over the last 1024 requests."""
FAILED = ("hrsp_5xx", "econ", "eresp")
NEEDED = ("# pxname", "svname", "status", "stot", *TIMES, *FAILED)


class HaproxySource:
    """Reads `show stat`: latency in ms, the share of errors, and whether a server is up.

    A server without a request since the last reading was not observed. HAProxy's means are over
    its last 1024 requests, so they lag where an interval has fewer.

    Args:
        settings: the file.

    """

    def __init__(self, settings: Settings):
        self._table: HaproxyTable = settings.source
        check_names(self._table.backend, settings.names)
        self._names, self._path = settings.names, settings.path(self._table.socket)
        self._wanted = [limit.name for limit in settings.limits]
        self._before: dict[str, tuple[float, float]] = {}  # requests and errors of each server

    def read(self) -> dict[str, dict[str, float]]:
        """Return the readings by backend."""
        try:
            text = ask_haproxy(self._path, "show stat", self._table.timeout)
        except HaproxyError as error:
            raise SourceError(str(error)) from None
        rows = csv.DictReader(io.StringIO(text.strip()))
        missing = [name for name in NEEDED if name not in (rows.fieldnames or ())]
        if missing:
            raise SourceError(
                f"HAProxy's statistics lack the column {missing[0]!r}; they begin with "
                f"{shown(text[:40])}"
            )
        found = {}
        for row in rows:
            if row["# pxname"] == self._table.backend and row["svname"] in self._names:
                found[row["svname"]] = self._reading(row)
        absent = [name for name in self._names if name not in found]
        if absent:
            raise SourceError(
                f"HAProxy's backend {self._table.backend!r} has no server {absent[0]!r}; servers "
                "must have the names of the file's backends"
            )
        return found

    def _reading(self, row: dict[str, str]) -> dict[str, float]:
        name = row["svname"]
        try:
            requests = float(row["stot"] or 0)
            errors = sum(float(row[key] or 0) for key in FAILED)
            latency = sum(float(row[key] or 0) for key in TIMES)
        except ValueError:
            raise SourceError(f"HAProxy's statistics of {name} are no numbers") from None
        before = self._before.get(name, (0.0, 0.0))
        self._before[name] = requests, errors
        reading = {UP: float(row["status"].startswith(("UP", "no check")))}
        served = requests - before[0]
        if served < 0.0:  # HAProxy was restarted, and counts from 0
            served, errors = requests, errors + before[1]
        if served > 0.0:
            values = {"latency": latency, "errors": min(1.0, (errors - before[1]) / served)}
            reading |= {key: values[key] for key in self._wanted}
        return reading
