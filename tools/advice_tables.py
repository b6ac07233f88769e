"""Tables of docs/how-to/advice.md: real networks, and hostile advisers."""

from __future__ import annotations

from statistics import median
from typing import Any

from tables import read, table

Row = dict[str, Any]
NAMES = {
    "default": "default",
    "adviser": "the programme alone",
    "advised": "**default with its advice**",
    "guo_recoo": "`guo_recoo`",
    "sinha_vaze_2024": "`sinha_vaze_2024`",
}


def measured() -> str:
    """Return cost, CCV, violated rounds and worst round of each method on measured traffic."""
    rows = []
    for game, found in read("advice.json")["measured"].items():
        name, share = game.split(", ")
        title = f"{name.capitalize()}, limit {share}"
        for k, (method, row) in enumerate(found["methods"].items()):
            shares = f"{100.0 * row['violated']:.3g} %"
            cells = [f"{row['cost']:.5g}", f"{row['ccv']:.3g}", shares, f"{row['worst']:.3f}"]
            rows.append(["" if k else title, NAMES[method], *cells])
    return table(["game", "method", "cost, ms", "CCV", "violated", "worst round"], rows)


def _dominates(one: Row, other: Row) -> bool:
    """Whether a method had less cost and less CCV, by more than rounding."""
    return bool(
        one["cost"] < other["cost"] * (1.0 - 1e-4) and one["ccv"] < other["ccv"] * (1.0 - 1e-4)
    )


def generated() -> str:
    """Return medians relative to the mixture, and in how many games it is not dominated."""
    games = [game["methods"] for game in read("advice.json")["generated"].values()]
    rows = []
    for method, name in NAMES.items():
        found = [game for game in games if method in game]
        pairs = [(game[method], game["advised"]) for game in found]
        pairs = [(one, mixed) for one, mixed in pairs if one["rounds"] == mixed["rounds"]]
        cost = median(100.0 * (one["cost"] / mixed["cost"] - 1.0) for one, mixed in pairs)
        ccv = median(one["ccv"] - mixed["ccv"] for one, mixed in pairs)
        violated = median(100.0 * one["violated"] for one, _ in pairs)
        count = f"{len(pairs) - sum(_dominates(*pair) for pair in pairs)} of {len(pairs)}"
        cells = [f"{cost:+.2f} %", f"{ccv:+.3f}", f"{violated:.3g} %"]
        rows.append([name, *cells, "-" if method == "advised" else count])
    heads = ["cost above the mixture's", "CCV above it", "violated", "games where it does not win"]
    return table(["method", *heads], rows)


def hostile() -> str:
    """Return what hostile advice cost: medians and the worst seed, in per cent of no advice."""
    rows = []
    for game, seeds in read("advice.json")["hostile"].items():
        pairs = [(seed["advised"], seed["alone"]) for seed in seeds]
        costs = [100.0 * (one["cost"] - alone["cost"]) / abs(alone["cost"]) for one, alone in pairs]
        more = [one["ccv"] - alone["ccv"] for one, alone in pairs]
        rows.append(
            [
                game,
                f"{median(costs):+.2f} %, {max(costs):+.2f} %",
                f"{median(alone['ccv'] for _, alone in pairs):.3g}",
                f"{median(more):+.3g}, {max(more):+.3g}",
            ]
        )
    heads = ["cost: median, worst", "CCV alone", "CCV more: median, worst"]
    return table(["game, adviser", *heads], rows)
