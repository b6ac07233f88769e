"""A sweep that cannot go on: what is finished is kept, and the next one does the rest."""

from __future__ import annotations

import errno
from pathlib import Path

FULL = (errno.ENOSPC, errno.EDQUOT)


class StoppedError(RuntimeError):
    """A sweep cannot go on; what is finished is kept."""


class WorkersLostError(StoppedError):
    """Those who do the tasks are gone for good."""


class UnwritableError(StoppedError):
    """A result cannot be written.

    Args:
        path: where it should go.
        error: what the system says.

    >>> str(UnwritableError(Path("out/runs/a.json"), OSError(errno.ENOSPC, "No space left")))
    'out/runs/a.json cannot be written: no space left; free some and run the experiment again'

    """

    def __init__(self, path: Path, error: OSError):
        why = (error.strerror or str(error)).lower()
        remedy = "free some" if error.errno in FULL else "check the path and its permissions"
        super().__init__(f"{path} cannot be written: {why}; {remedy} and run the experiment again")
