"""Medians of seconds of acts that take turns."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

TURNS = 25


def medians(acts: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Let the acts take turns and return their median seconds of processor time."""
    times: dict[str, list[float]] = {name: [] for name in acts}
    for act in acts.values():
        act()
    for _ in range(TURNS):
        for name, act in acts.items():
            begin = time.process_time()
            act()
            times[name].append(time.process_time() - begin)
    return {name: float(np.median(found)) for name, found in times.items()}
