"""Which lines of the library a policy, learner or routine executes, kernels included.

    python tools/executed_lines.py < expressions.json > lines.json

Each expression is built and played as `quoted_runs.py` says, with line tracing on. Compiled code
cannot be traced, so kernels run as the plain Python that they are written in: only the decorator
of numba and the operations that are written in LLVM's language are replaced, each by its meaning.
"""

from __future__ import annotations

import inspect
import json
import sys
import types
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import extending
from numba.experimental import structref

WIDTH = 8


class Lanes:
    """Eight numbers as one value, which no operation changes in place."""

    def __init__(self, entries: Any):
        self.entries = np.array(entries)

    def __add__(self, other: Lanes) -> Lanes:
        return Lanes(self.entries + other.entries)

    def __sub__(self, other: Lanes) -> Lanes:
        return Lanes(self.entries - other.entries)

    def __mul__(self, other: Lanes) -> Lanes:
        return Lanes(self.entries * other.entries)


STAND_INS = {
    "load": lambda a, i: Lanes(a[i : i + WIDTH]),
    "store": lambda a, i, value: a.__setitem__(slice(i, i + WIDTH), value.entries),
    "spread": lambda number: Lanes([number] * WIDTH),
    "total": lambda value: float(value.entries.sum()),
    "size": lambda value: Lanes(np.abs(value.entries)),
    "borrowed": lambda array: array,
    "apply": None,  # sums, differences and products, which `Lanes` has
}
"""What the operations that are written in LLVM's language mean, by name."""


def not_compiled(*_: Any, **__: Any) -> Any:
    """Stand in for `numba.njit`: leave the function as it is."""

    def same(function: Any) -> Any:
        function.stats = types.SimpleNamespace(cache_misses={}, cache_path="")
        return function

    return same


def meaning(function: Any) -> Any:
    """Stand in for `intrinsic`: what the operation does."""
    if function.__name__ not in STAND_INS:
        raise KeyError(f"say in {__file__} what the operation {function.__name__} means")
    return STAND_INS[function.__name__]


def stop_compiling() -> None:
    """Replace what numba would compile; to be called before `hedgerow` is imported."""
    numba.njit = not_compiled
    extending.intrinsic = meaning
    structref.new = lambda _: types.SimpleNamespace()


def executed(expression: str) -> dict[str, Any]:
    """Return the lines that are executed, by file, and the last point played."""
    import hedgerow
    from quoted_runs import play

    source = Path(hedgerow.__file__).parent
    lines: dict[str, set[int]] = defaultdict(set)
    inside: dict[Any, str | None] = {}

    def file_of(code: Any) -> str | None:
        if code not in inside:
            path = Path(code.co_filename)
            body = code.co_flags & inspect.CO_OPTIMIZED  # modules and classes run when imported
            known = body and path.is_relative_to(source)
            inside[code] = path.relative_to(source).as_posix() if known else None
        return inside[code]

    def trace(frame: Any, event: str, _: Any) -> Any:
        file = file_of(frame.f_code)
        if file is None:
            return None
        if event == "line":
            lines[file].add(frame.f_lineno)
        return trace

    sys.settrace(trace)
    try:
        last = play(expression)
    finally:
        sys.settrace(None)
    return {"lines": {file: sorted(found) for file, found in lines.items()}, "last": last}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    stop_compiling()
    json.dump({text: executed(text) for text in json.load(sys.stdin)}, sys.stdout)
