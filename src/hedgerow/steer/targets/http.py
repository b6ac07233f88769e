"""Weights sent by an HTTP request: a webhook, or a patch as Kubernetes takes it."""

from __future__ import annotations

import os
import re
import time
from typing import Any

import httpx

from hedgerow.steer.settings import Settings
from hedgerow.steer.tables import HttpTable
from hedgerow.steer.targets import TargetError
from hedgerow.steer.weights import WHOLE, Weights

WEIGHT = re.compile(r"\$(weight|share):([A-Za-z0-9_-]+)")
VARIABLE = re.compile(r"\$\{([A-Z_][A-Z0-9_]*)\}")
PAUSE = 0.2
"""Seconds before the first retry; each further one waits twice as long."""


class HttpTarget:
    """Sends the weights, and tries again where the answer is a failure of the server.

    The body is `{"weights": {...}}`, or the file's own, in which `"$weight:eu-1"` stands for the
    whole weight of a backend and `"$share:eu-1"` for its share. `${NAME}` in a header is read from
    the environment, so that tokens need not stand in the file. Weights cannot be read back.

    Args:
        settings: the file.

    """

    def __init__(self, settings: Settings):
        self._table: HttpTable = settings.target
        self._names = settings.names
        self._headers = {key: _filled(value) for key, value in self._table.headers.items()}
        self._replaced(self._table.body, dict.fromkeys(self._names, 0))  # refuse unknown names

    def read(self) -> None:
        """Return None: an HTTP target tells nothing."""
        return

    def write(self, weights: Weights) -> None:
        """Send the weights."""
        found = dict(zip(self._names, weights.tolist(), strict=True))
        body = self._replaced(self._table.body, found)
        content = {"weights": found} if body is None else body
        for attempt in range(self._table.retries + 1):
            if attempt:
                time.sleep(PAUSE * 2 ** (attempt - 1))
            try:
                response = httpx.request(
                    self._table.method,
                    self._table.url,
                    json=content,
                    headers=self._headers,
                    timeout=self._table.timeout,
                )
            except httpx.HTTPError as error:
                why = str(error) or type(error).__name__
                continue
            if response.is_success:
                return
            why = f"HTTP {response.status_code}"
            if response.status_code < 500 and response.status_code != 429:
                break
        raise TargetError(f"{self._table.url} did not take the weights: {why}")

    def _replaced(self, body: Any, weights: dict[str, int]) -> Any:
        """Return the body with weights in place of their marks."""
        if isinstance(body, dict):
            return {key: self._replaced(value, weights) for key, value in body.items()}
        if isinstance(body, list):
            return [self._replaced(value, weights) for value in body]
        if isinstance(body, str) and (mark := WEIGHT.fullmatch(body)):
            if mark[2] not in weights:
                raise ValueError(f"target.body names a backend {mark[2]!r} that is not there")
            weight = weights[mark[2]]
            return weight if mark[1] == "weight" else weight / WHOLE
        return body


def _filled(header: str) -> str:
    """Return a header with variables of the environment in place of their marks."""
    for name in VARIABLE.findall(header):
        if name not in os.environ:
            raise ValueError(f"target.headers needs the environment variable {name}; set it")
    return VARIABLE.sub(lambda mark: os.environ[mark[1]], header)
