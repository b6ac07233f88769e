"""What a method can be called with, found out once for each function."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import MethodType


def signature_of(method: Callable[..., object]) -> inspect.Signature:
    """Return the signature of a bound method, or of whatever else can be called."""
    if isinstance(method, MethodType):
        return _of_function(method.__func__)
    return inspect.signature(method)


@functools.lru_cache(maxsize=256)
def _of_function(function: Callable[..., object]) -> inspect.Signature:
    return inspect.signature(MethodType(function, function))  # bound to anything
