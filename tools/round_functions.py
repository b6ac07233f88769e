"""List the functions of a round, compiled and with NUMBA_DISABLE_JIT=1: the same ones run.

`python tools/round_functions.py` compares both. Code that is compiled but not listed in Python is a
branch that this game never takes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from types import FrameType
from typing import Any

import hedgerow as hr
from hedgerow._engine import kernel as engine

POLICIES: dict[str, Callable[[Any], Any]] = {
    "default": hr.projection_free_coco,
    "plain": lambda X: hr.projection_free_coco(X, tracking=False),
}


def name_of(function: Any) -> str:
    """Return `module.function` without the package."""
    return f"{function.__module__.removeprefix('hedgerow.')}.{function.__name__}"


def play(name: str) -> None:
    """Play a few rounds by ask and tell."""
    problem = hr.ShortestPath.random_network(nodes=12, edges=40, horizon=40, seed=0)
    policy = POLICIES[name](problem.decision_set)
    for cost, constraint in problem:
        x = policy.ask()
        policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))


def compiled(name: str) -> set[str]:
    """Return the functions that are compiled for the rounds, without the kernels on disk."""
    found = set()
    inner, ready = engine.inner_code, engine.Kernel.ready

    def inner_code(function: Any, *rest: Any) -> Any:
        found.add(name_of(function))
        return inner(function, *rest)

    def noted(self: Any) -> None:
        found.add(name_of(self.py_func))
        ready(self)

    engine.inner_code, engine.Kernel.ready = inner_code, noted
    engine.KernelCache.load = lambda *_: None  # type: ignore[method-assign]
    engine.KernelCache.load_overload = lambda *_: None  # type: ignore[method-assign]
    play(name)
    return found


def interpreted(name: str) -> set[str]:
    """Return the kernels that Python runs in the rounds."""
    found = set()

    def watch(frame: FrameType, event: str, _: object) -> None:
        caller = frame.f_back  # a kernel is called by what `engine.interpreted` returns
        if event == "call" and caller is not None and caller.f_code is engine_call:
            name = f"{frame.f_globals['__name__']}.{frame.f_code.co_name}"
            if name.startswith("hedgerow.") and not name.startswith("hedgerow._engine."):
                found.add(name.removeprefix("hedgerow."))

    engine_call: Any = engine.interpreted(play, engine.types.void(engine.number)).__code__  # type: ignore[attr-defined]
    sys.setprofile(watch)
    play(name)
    sys.setprofile(None)
    return found


def listed(name: str, **variables: str) -> set[str]:
    """Return the functions in a process of its own."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, __file__, name],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout))


def main(arguments: list[str]) -> int:
    """Compare both ways for every policy, or write the functions of one."""
    if arguments:
        found = (compiled if engine.COMPILED else interpreted)(arguments[0])
        sys.stdout.write(json.dumps(sorted(found)))
        return 0
    lines, differ = [], 0
    for name in POLICIES:
        with tempfile.TemporaryDirectory() as cache:
            machine = listed(name, NUMBA_CACHE_DIR=cache)
        python = listed(name, NUMBA_DISABLE_JIT="1")
        differ += len(python - machine)
        lines.append(f"{name}: {len(python)} functions run, {len(python & machine)} compiled")
        lines += [f"  {one}{'' if one in machine else ' (not compiled)'}" for one in sorted(python)]
        lines.append(f"  not reached in this game: {', '.join(sorted(machine - python))}")
    sys.stdout.write("\n".join(lines) + "\n")
    return min(1, differ)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
