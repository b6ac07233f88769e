"""One decorator for every kernel: explicit signature, cached on disk, strict IEEE, no GIL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba import types

F = TypeVar("F", bound=Callable[..., Any])

number = types.float64
whole = types.int64
nothing = types.void
index = types.Array(types.uint32, 1, "C", readonly=True)  # signed indices cost twice the time
write_index = types.Array(types.uint32, 1, "C")
read = types.Array(types.float64, 1, "C", readonly=True)  # a writeable array fits here too
write = types.Array(types.float64, 1, "C")
flags = types.Array(types.boolean, 1, "C")


def kernel(result: Any, *arguments: Any) -> Callable[[F], F]:
    """Compile for exactly these types, once per machine."""
    decorator: Callable[[F], F] = numba.njit(result(*arguments), cache=True, nogil=True)
    return decorator
