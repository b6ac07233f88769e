"""Kernels in Python, for debugging and for machines that may not make machine code."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import types

F = TypeVar("F", bound=Callable[..., Any])
CASTS = {types.float64: float, types.int64: int, types.boolean: bool}


def interpreted(function: F, signature: Any) -> F:
    """Make numbers of the types that compiled code would, and as silently."""
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
