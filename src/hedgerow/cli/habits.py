"""What all commands have in common: -h beside --help, and lines of the library's log on stderr."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from hedgerow.report.escaping import printable

SETTINGS = {"help_option_names": ["-h", "--help"]}
_log = logging.getLogger("hedgerow")


class _Aside(logging.Handler):
    """One line on stderr for each record.

    It is written to `sys.stderr` itself, which a live progress bar replaces to move below the line.
    """

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(f"hedgerow: {printable(record.getMessage())}\n")


@contextmanager
def quiet_log() -> Iterator[None]:
    """Show warnings alone for a while."""
    before = _log.level
    _log.setLevel(logging.WARNING)
    try:
        yield
    finally:
        _log.setLevel(before)


def show_log() -> None:
    """Show what the library logs from INFO on, in this process alone."""
    if not any(isinstance(handler, _Aside) for handler in _log.handlers):
        _log.addHandler(_Aside())
        _log.setLevel(logging.INFO)
