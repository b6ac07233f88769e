"""Seconds until something happens: importing the package, the first result, cached or not."""

from __future__ import annotations

import compileall
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import hedgerow

IMPORT = "import hedgerow"
RESULT = """
import hedgerow as hr
problem = hr.ShortestPath.random_network(horizon=100, seed=0)
hr.simulate(hr.projection_free_coco(problem.decision_set), problem)
"""
LIMITS = {"import": 0.3, "first result, cached": 1.0, "first result, uncached": 4.0}


def starts(repetitions: int = 5) -> list[dict[str, Any]]:
    """Start fresh processes; an uncached one compiles every kernel that it needs."""
    bare = _seconds("pass", repetitions)
    uncached, cached = [], []
    for _ in range(repetitions):
        with tempfile.TemporaryDirectory() as empty:  # kernels are kept beside the sources too
            _copy_to(Path(empty))
            uncached.append(_seconds(RESULT, 1, PYTHONPATH=empty, HOME=empty))
            cached.append(_seconds(RESULT, 1, PYTHONPATH=empty))
    times = {
        "import": _seconds(IMPORT, repetitions) - bare,
        "first result, cached": statistics.median(cached) - bare,
        "first result, uncached": statistics.median(uncached) - bare,
    }
    return [
        {"what": what, "seconds": seconds, "limit": LIMITS[what], "met": seconds <= LIMITS[what]}
        for what, seconds in times.items()
    ]


def _copy_to(folder: Path) -> None:
    """Copy the package as pip leaves it: Python's own code is compiled, kernels are not."""
    source = Path(hedgerow.__file__).parent
    shutil.copytree(source, folder / "hedgerow", ignore=shutil.ignore_patterns("__pycache__"))
    compileall.compile_dir(folder, quiet=1)


def _seconds(code: str, repetitions: int, **environment: str) -> float:
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        command = [sys.executable, "-c", code]
        subprocess.run(command, check=True, env=os.environ | environment)  # noqa: S603
        times.append(time.perf_counter() - begin)
    return statistics.median(times)
