"""The tables of a file of `hedgerow steer`, as pydantic models."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from hedgerow.experiments.validation import (
    FileName,
    Filled,
    Name,
    Number,
    Positive,
    ShortText,
    Table,
    Text,
    Whole,
    needs,
    one_of,
)
from hedgerow.steer.weights import WHOLE

PRICE, UP = "price", "up"
"""Readings beside those of limits: what a request costs, and whether a backend serves."""

NotNegative = Annotated[Number, needs(lambda number: number >= 0.0, "be at least 0")]
Share = Annotated[Number, needs(lambda share: 0.0 <= share < 1.0, "be at least 0 and below 1")]
Port = Annotated[Whole, needs(lambda port: port <= 65535, "be a port, 1 to 65535")]
Url = Annotated[
    Text,
    needs(lambda url: url.startswith(("http://", "https://")), "begin with http:// or https://"),
]
Command = Annotated[Filled[Text], needs(lambda argv: len(argv) <= 100, "have at most 100 words")]


class BackendTable(Table):
    """A backend: its name, its price per request and its minimum share."""

    name: Name
    price: NotNegative | None = None
    min_share: Share = 0.01


class LimitTable(Table):
    """A limit on the mean over requests of one reading."""

    name: Name
    at_most: Positive
    unit: Annotated[str, needs(lambda unit: len(unit) <= 20, "have at most 20 characters")] = ""
    bad_intervals: Share = 0.01

    def __str__(self) -> str:
        return f"{self.name} at most {self.at_most:g} {self.unit}".rstrip()


class PrometheusTable(Table):
    """Readings from Prometheus: a query for each, by name."""

    kind: str
    url: Url
    queries: dict[str, Text]
    label: Text = "server"
    timeout: Positive = 5.0


class HaproxyTable(Table):
    """HAProxy's runtime socket, for statistics or weights; servers have the names of backends."""

    kind: str
    socket: FileName
    backend: Text
    timeout: Positive = 5.0


class CsvTable(Table):
    """Readings of a file, to replay them."""

    kind: str
    path: FileName


class CommandTable(Table):
    """Readings that a command prints as JSON."""

    kind: str
    command: Command
    timeout: Positive = 10.0


class FileTable(Table):
    """Weights in a file that is replaced whole."""

    kind: str
    path: FileName
    format: str = "json"
    cluster: ShortText = "backends"
    endpoints: dict[str, Text] = Field(default_factory=dict)
    rule: Annotated[int, needs(lambda rule: rule >= 0, "be at least 0")] = 0

    @model_validator(mode="after")
    def _check_format(self) -> FileTable:
        one_of(self.format, ("json", "envoy", "httproute"), ".format")
        return self


class HttpTable(Table):
    """Weights sent by an HTTP request."""

    kind: str
    url: Url
    method: str = "POST"
    headers: dict[str, Text] = Field(default_factory=dict)
    body: Any = None
    timeout: Positive = 5.0
    retries: Annotated[int, needs(lambda count: 0 <= count <= 10, "be 0 to 10")] = 2

    @model_validator(mode="after")
    def _check_method(self) -> HttpTable:
        one_of(self.method, ("POST", "PUT", "PATCH"), ".method")
        return self


SOURCES: dict[str, type[Table]] = {
    "prometheus": PrometheusTable,
    "haproxy": HaproxyTable,
    "csv": CsvTable,
    "command": CommandTable,
}
TARGETS: dict[str, type[Table]] = {
    "haproxy": HaproxyTable,
    "file": FileTable,
    "http": HttpTable,
}


class SafetyTable(Table):
    """What keeps a mistake small."""

    max_change: Annotated[
        Number, needs(lambda change: 1.0 / WHOLE <= change <= 1.0, f"be 1/{WHOLE} to 1")
    ] = 0.3
    fallback: dict[str, NotNegative] = Field(default_factory=dict)
    fallback_after: Whole = 5
    least_observed: Annotated[
        Number, needs(lambda share: 0.0 < share <= 1.0, "be above 0 and at most 1")
    ] = 0.5
    restore: bool = False


class MetricsTable(Table):
    """Where Prometheus reads the metrics of steer itself."""

    port: Port
    host: Text = "127.0.0.1"


class SteerFile(Table):
    """All tables of a file; inner ones are parsed by themselves."""

    session: Name
    store: FileName
    interval: Positive
    backends: Filled[Any]
    limits: Filled[Any]
    source: dict[str, Any]
    target: dict[str, Any]
    safety: dict[str, Any] = Field(default_factory=dict)
    metrics: dict[str, Any] | None = None
