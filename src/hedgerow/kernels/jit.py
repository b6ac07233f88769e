"""One decorator for every kernel: explicit signature, cached on disk, strict IEEE, no GIL."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba import types
from numba.core.errors import NumbaExperimentalFeatureWarning

from hedgerow.kernels.cache import kept

F = TypeVar("F", bound=Callable[..., Any])

number = types.float64
whole = types.int64
nothing = types.void
index = types.Array(types.uint32, 1, "C", readonly=True)  # signed indices cost twice the time
write_index = types.Array(types.uint32, 1, "C")
read = types.Array(types.float64, 1, "C", readonly=True)  # a writeable array fits here too
write = types.Array(types.float64, 1, "C")
flags = types.Array(types.boolean, 1, "C")
rows = types.Array(types.float64, 2, "C", readonly=True)
write_rows = types.Array(types.float64, 2, "C")


SLOW = 1.0
"""Seconds of compilation after which a line in the log says why it takes so long."""
_log = logging.getLogger("hedgerow")
_spent = 0.0


def kernel(result: Any, *arguments: Any) -> Callable[[F], F]:
    """Compile for exactly these types, once per machine."""
    decorate: Callable[[F], F] = numba.njit(result(*arguments), cache=True, nogil=True)

    def compiled(function: F) -> F:
        begin = time.perf_counter()
        with kept(Path(function.__code__.co_filename)), warnings.catch_warnings():
            warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)  # kernels in a plan
            dispatcher: Any = decorate(function)
        if sum(dispatcher.stats.cache_misses.values()):
            _note(time.perf_counter() - begin, dispatcher.stats.cache_path)
        return dispatcher

    return compiled


def function(result: Any, *arguments: Any) -> Any:
    """Return the type of a kernel that is an argument of another kernel.

    With a plain `njit` function as argument, numba would compile again in every process.
    """
    return types.FunctionType(result(*arguments))


def _note(seconds: float, cache: str) -> None:
    """Say once, after a second of compilation, what is going on."""
    global _spent
    if _spent < SLOW <= _spent + seconds:
        _log.warning(  # shown on stderr even where logging is not set up
            "compiling for this machine, once: the result is kept in %s, or in NUMBA_CACHE_DIR "
            "if that is set",
            cache,
        )
    _spent += seconds
