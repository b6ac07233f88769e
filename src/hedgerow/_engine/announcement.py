"""Say once what takes so long, when kernels must be compiled.

The line goes to the logger `hedgerow` at level INFO, which the command line shows. Where logging is
not set up, it is written to stderr if that is a terminal or a notebook, and the seconds are counted
below it until the kernels are there. Set a level of the logger to be without it:
`logging.getLogger("hedgerow").setLevel("WARNING")`.
"""

from __future__ import annotations

import functools
import logging
import multiprocessing
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numba

ABOUT = "about 8 s"
LINE = f"compiling for this machine, once, {ABOUT}"
SLOW = 1.0
"""Seconds of compilation after which the line is due: what is quicker needs no explanation."""
_log = logging.getLogger("hedgerow")


class CompileTime:
    """Time that this process has spent compiling; use it under numba's lock alone.

    Attributes:
        kernels: how many were compiled, because no folder had them.

    """

    def __init__(self) -> None:
        self.kernels = 0
        self._spent = 0.0
        self._begin: float | None = None
        self._is_announced = False
        self._is_watched = False
        self._progress = ""  # what stands below the line now

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count the time of a block; a block inside another one counts once."""
        if self._begin is not None:
            yield
            return
        self._begin = time.perf_counter()
        try:
            yield
        finally:
            self._spent += time.perf_counter() - self._begin
            self._begin = None
            self._show("")

    def announce_if_slow(self) -> None:
        """Say once, in a block that compiles, that it takes long."""
        running = 0.0 if self._begin is None else time.perf_counter() - self._begin
        if not self._is_announced and self._spent + running >= SLOW:
            self._is_announced = True
            self._is_watched = announce(LINE)
        elif self._is_watched:
            self._show(f"hedgerow: {self._spent + running:.0f} s of {ABOUT}")

    def _show(self, progress: str) -> None:
        """Replace what stands below the line."""
        if progress != self._progress:
            blank = " " * len(self._progress)
            sys.stderr.write(f"\r{blank}\r{progress}" if blank else progress)
            sys.stderr.flush()
            self._progress = progress


compile_time = CompileTime()


def announce(line: str) -> bool:
    """Log a line, and print it to a terminal or notebook where logging is not set up.

    Returns:
        Whether it was printed.

    """
    _log.info(line)
    is_unset = _log.level == logging.NOTSET and not _log.isEnabledFor(logging.INFO)
    if not is_unset or not _is_watched():
        return False
    sys.stderr.write(f"hedgerow: {line}\n")
    sys.stderr.flush()
    return True


def _is_watched() -> bool:
    """Whether stderr is a terminal or a notebook, and this is not a worker process."""
    if sys.stderr is None or multiprocessing.current_process().name != "MainProcess":
        return False
    return sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel.")


@functools.cache
def warn_of_unknown_numba(oldest: tuple[int, int], newest: tuple[int, int]) -> None:
    """Warn once that numba compiles by itself."""
    _log.warning(
        "numba %s is not one of the versions that are supported in full, %d.%d to %d.%d: kernels "
        "compile about four times as slowly, with the same results",
        *(numba.__version__, *oldest, *newest),
    )
