"""Which lines of the library a policy, learner or routine executes, kernels included.

    python tools/executed_lines.py < expressions.json > lines.json

Each expression is built and played as `quoted_runs.py` says, with line tracing on. Compiled code
cannot be traced, so kernels run as the plain Python that they are written in; but they are called
through the tables of `kernels/policy_tables.py`, as when they are compiled.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any


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


def take_the_way_of_compiled_code() -> None:
    """Let objects hand their kernels to tables, which they do not where kernels are Python."""
    from hedgerow.learners import kernel_learner
    from hedgerow.surrogates import cost_only, queued

    for module in (kernel_learner, cost_only, queued):
        vars(module)["COMPILED"] = True


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # before the library is imported
    take_the_way_of_compiled_code()
    json.dump({text: executed(text) for text in json.load(sys.stdin)}, sys.stdout)
