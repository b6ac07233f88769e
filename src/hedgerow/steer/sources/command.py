"""Readings that a command prints as JSON."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from hedgerow.experiments.validation import shown
from hedgerow.steer.readings import SourceError
from hedgerow.steer.settings import Settings
from hedgerow.steer.tables import CommandTable

LARGEST = 1 << 20
"""The most characters that are read."""


class CommandSource:
    """Runs a command, which prints `{"eu-1": {"latency": 93.5, "price": 2.1}, ...}`.

    It is run without a shell, in the folder of the file.

    Args:
        settings: the file.

    """

    def __init__(self, settings: Settings):
        self._table: CommandTable = settings.source
        self._base = settings.base

    def read(self) -> Any:
        """Return what the command prints."""
        command = self._table.command
        try:
            done = subprocess.run(  # noqa: S603 - the file's own command, without a shell
                command,
                cwd=self._base,
                capture_output=True,
                timeout=self._table.timeout,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            raise SourceError(
                f"{command[0]} did not end within {self._table.timeout:g} s"
            ) from None
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise SourceError(f"{command[0]} cannot be run: {why}") from None
        if done.returncode:
            last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or [""]
            raise SourceError(f"{command[0]} ended with {done.returncode}: {last[0][:100]}")
        if len(done.stdout) > LARGEST:
            raise SourceError(f"{command[0]} printed more than {LARGEST} characters")
        try:
            return json.loads(done.stdout)
        except (ValueError, RecursionError):
            raise SourceError(
                f"{command[0]} must print JSON, got {shown(done.stdout[:60])}"
            ) from None
