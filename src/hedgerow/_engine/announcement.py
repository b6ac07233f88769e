"""Say once what takes so long, when kernels must be compiled.

The line goes to the logger `hedgerow` at level INFO, which the command line shows. Where logging is
not set up, a terminal shows it, and the seconds below it until the kernels are there; a notebook
shows both in one output. Set a level of the logger to be without it:
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

LINE = "compiling for this machine, once, about 8 s"
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
        self._watcher: Watcher | None = None

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
            if self._watcher is not None:
                self._watcher.end()

    def announce_if_slow(self) -> None:
        """Say once, in a block that compiles, that it takes long."""
        running = 0.0 if self._begin is None else time.perf_counter() - self._begin
        if not self._is_announced and self._spent + running >= SLOW:
            self._is_announced = True
            self._watcher = announce(LINE)
        elif self._watcher is not None:
            self._watcher.show(f"{self._spent + running:.0f} s so far")


class Watcher:
    """A terminal: shows a line for good, and progress below it until the end of a block."""

    def __init__(self, line: str):
        self._progress = ""
        self._write(f"hedgerow: {line}\n")

    def show(self, progress: str) -> None:
        """Replace what stands below the line."""
        if progress != self._progress:
            blank = " " * len(self._progress)
            self._write(f"\r{blank}\r{progress}" if blank else progress)
            self._progress = progress

    def end(self) -> None:
        """Leave the line alone."""
        self.show("")

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


class Notebook(Watcher):
    """A notebook: one output, which is replaced; carriage returns would be kept in its file."""

    def __init__(self, line: str):
        self._line, self._progress, self._output = line, "", None
        shown = getattr(sys.modules.get("IPython.display"), "display", None)
        if shown is None:
            self._write(f"hedgerow: {line}\n")
        else:
            self._output = shown(self._content(), raw=True, display_id=True)

    def show(self, progress: str) -> None:
        """Replace the output."""
        if progress != self._progress and self._output is not None:
            self._progress = progress
            self._output.update(self._content(), raw=True)

    def end(self) -> None:
        """Leave the output as it is."""

    def _content(self) -> dict[str, str]:
        progress = f": {self._progress}" if self._progress else ""
        return {"text/plain": f"hedgerow: {self._line}{progress}"}


compile_time = CompileTime()


def announce(line: str) -> Watcher | None:
    """Log a line, and show it in a terminal or notebook where logging is not set up.

    Returns:
        What shows the line and the progress after it; None if nothing is shown.

    """
    _log.info(line)
    is_unset = _log.level == logging.NOTSET and not _log.isEnabledFor(logging.INFO)
    if not is_unset or not _is_watched():
        return None
    return Notebook(line) if _is_notebook() else Watcher(line)


def _is_watched() -> bool:
    """Whether stderr is a terminal or a notebook, and this is not a worker process."""
    if sys.stderr is None or multiprocessing.current_process().name != "MainProcess":
        return False
    return sys.stderr.isatty() or _is_notebook()


def _is_notebook() -> bool:
    return type(sys.stderr).__module__.startswith("ipykernel.")


@functools.cache
def warn_of_unknown_numba(oldest: tuple[int, int], newest: tuple[int, int]) -> None:
    """Warn once that numba compiles by itself."""
    _log.warning(
        "numba %s is not one of the versions that are supported in full, %d.%d to %d.%d: kernels "
        "compile about four times as slowly, with the same results",
        *(numba.__version__, *oldest, *newest),
    )
