"""Seconds until something happens: importing the package, the first result, cached or not."""

from __future__ import annotations

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
problem = hr.ShortestPath.atlas_like(horizon=100, seed=0)
hr.simulate(hr.projection_free_coco(problem.decision_set), problem)
"""
LIMITS = {"import": 0.3, "first result, cached": 1.0, "first result, uncached": 4.0}


def starts(repetitions: int = 5) -> list[dict[str, Any]]:
    """Start fresh processes; the uncached one compiles every kernel that it needs."""
    bare = _seconds("pass", repetitions)
    source = Path(hedgerow.__file__).parent
    with tempfile.TemporaryDirectory() as empty:  # compiled kernels lie beside the sources too
        shutil.copytree(
            source, Path(empty) / "hedgerow", ignore=shutil.ignore_patterns("__pycache__")
        )
        first = _seconds(RESULT, 1, PYTHONPATH=empty, HOME=empty)
        times = {
            "import": _seconds(IMPORT, repetitions) - bare,
            "first result, cached": _seconds(RESULT, repetitions, PYTHONPATH=empty) - bare,
            "first result, uncached": first - bare,
        }
    return [
        {"what": what, "seconds": seconds, "limit": LIMITS[what], "met": seconds <= LIMITS[what]}
        for what, seconds in times.items()
    ]


def _seconds(code: str, repetitions: int, **environment: str) -> float:
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        command = [sys.executable, "-c", code]
        subprocess.run(command, check=True, env=os.environ | environment)  # noqa: S603
        times.append(time.perf_counter() - begin)
    return statistics.median(times)
