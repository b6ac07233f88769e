"""Tables of limits that cannot be met, and of constraints of many parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tables import read, table

NUMBERS = ("regret", "ccv", "violated", "worst", "microseconds")


def caps() -> str:
    """Return avoidable CCV, cost and violated rounds of each method at each cap."""
    found = read("unattainable.json")["caps"]
    rows = [
        [f"{cap} ms" if name == next(iter(found)) else "", name, *(f"{n:,.0f}" for n in row[cap])]
        for cap in next(iter(found.values()))
        for name, row in found.items()
    ]
    return table(["cap", "method", "avoidable CCV, ms", "cost", "violated rounds"], rows)


def many_parts() -> str:
    """Return regret, CCV and more of each method; medians over seeds."""
    games: dict[str, dict[str, list[Any]]] = {}
    for row in read("many_parts.csv"):
        numbers = [float(row[key]) for key in NUMBERS]
        games.setdefault(row["game"], {}).setdefault(row["method"], []).append(numbers)
    lines = []
    for game, methods in games.items():
        for name, found in methods.items():
            regret, ccv, violated, worst, time = np.median(found, axis=0)
            cells = [f"{regret:.0f}", f"{ccv:.3g}", f"{violated:.0f}", f"{worst:.2f}"]
            title = game if name == next(iter(methods)) else ""
            lines.append([title, name, *cells, f"{time:,.0f}"])
    head = ["game", "method", "regret", "CCV", "violated", "worst round", "µs per round"]
    return table(head, lines)
