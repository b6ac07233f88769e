"""Readings of a CSV file, one interval after the other."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from hedgerow.steer.readings import EndOfReadings, SourceError
from hedgerow.steer.settings import Settings
from hedgerow.steer.tables import PRICE, UP


class ReplaySource:
    """Reads rows of `interval,backend,price,latency,...`, sorted by interval.

    An empty field was not observed. The columns are `interval`, `backend`, a limit each, and,
    where they are known, `price` and `up`.

    Args:
        settings: the file.

    """

    def __init__(self, settings: Settings):
        self._path = settings.path(settings.source.path)
        self._keys = [limit.name for limit in settings.limits]
        if not self._path.is_file():
            raise ValueError(f"there is no file {self._path} to replay; check source.path")
        self._intervals = self._groups()

    def read(self) -> dict[str, dict[str, float]]:
        """Return the readings of the next interval."""
        try:
            return next(self._intervals)
        except StopIteration:
            raise EndOfReadings from None

    def _groups(self) -> Iterator[dict[str, dict[str, float]]]:
        with self._path.open(newline="") as file:
            rows = csv.DictReader(file)
            for name in ("interval", "backend", *self._keys):
                if name not in (rows.fieldnames or ()):
                    raise SourceError(f"{self._path} has no column {name!r}; add it")
            for _, group in groupby(rows, lambda row: row["interval"]):
                yield {str(row["backend"]): self._reading(row, rows.line_num) for row in group}

    def _reading(self, row: dict[str, Any], line: int) -> dict[str, float]:
        found = {}
        for key in (PRICE, UP, *self._keys):
            if text := row.get(key):
                try:
                    found[key] = float(text)
                except ValueError:
                    raise SourceError(
                        f"{self._path}, line {line}: {key} must be a number, got {text[:40]!r}"
                    ) from None
        return found
