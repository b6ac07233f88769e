"""One decorator for every kernel: explicit signature, cached on disk, strict IEEE, no GIL."""

from __future__ import annotations

import functools
import logging
import time
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from numba import types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import NumbaExperimentalFeatureWarning

from hedgerow.kernels.cache import KernelCache, config

F = TypeVar("F", bound=Callable[..., Any])
CASTS = {types.float64: float, types.int64: int, types.boolean: bool}


def interpreted(function: F, signature: Any) -> F:
    """Run a kernel in Python, with numbers of the types that compiled code has, and as silently."""
    casts = [CASTS.get(kind, _same) for kind in signature.args]
    cast = CASTS.get(signature.return_type, _same)

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        given = [make(one) for make, one in zip(casts, arguments, strict=True)]
        with np.errstate(all="ignore"):
            return cast(function(*given))

    return call  # type: ignore[return-value]


def _same(value: Any) -> Any:
    return value


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


COMPILED = not config.DISABLE_JIT
"""False if NUMBA_DISABLE_JIT is set: kernels then run in Python, with the same results."""
SLOW = 1.0
"""Seconds of compilation after which a line in the log says why it takes so long."""
_log = logging.getLogger("hedgerow")
_spent = 0.0


def kernel(result: Any, *arguments: Any) -> Callable[[F], F]:
    """Compile for exactly these types, once per machine, in one thread at a time."""
    signature = result(*arguments)

    def compiled(function: F) -> F:
        if not COMPILED:
            return interpreted(function, signature)
        with global_compiler_lock, warnings.catch_warnings():
            begin = time.perf_counter()
            warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)  # kernels in a plan
            dispatcher: Any = numba.njit(function, nogil=True)
            dispatcher._cache = KernelCache(function)  # as its `enable_caching` does
            dispatcher.compile(signature)
            dispatcher.disable_compile()
            if sum(dispatcher.stats.cache_misses.values()):
                _note(time.perf_counter() - begin, dispatcher.stats.cache_path)
        return dispatcher

    return compiled


def function(result: Any, *arguments: Any) -> Any:
    """Return the type of a kernel that is an argument of another kernel.

    With a plain `njit` function as argument, numba would compile again in every process.
    """
    return types.FunctionType(result(*arguments))


def _note(seconds: float, cache: str | None) -> None:
    """Say once, after a second of compilation, what is going on."""
    global _spent
    if _spent < SLOW <= _spent + seconds and cache is not None:
        _log.info("compiling for this machine, once")
    _spent += seconds
