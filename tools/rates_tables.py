"""Tables of docs/explanation/rates.md: bounds, attacks on them, and what away steps win."""

from __future__ import annotations

from statistics import median
from typing import Any

from tables import read, table

Row = dict[str, Any]
COUNTED = {"games": "games", "rounds": "rounds", "broken": "comparisons that failed"}
ADVERSARIAL = 5
"""The first five games are adversarial, the others ordinary."""
SUMMARISED = {
    "universal": ("one step, universal", "away steps, universal"),
    "certificate": ("one step", "away steps"),
}
"""The steps that are compared: names in the evidence."""


def counts() -> str:
    """Return how many games were played against the bounds, and how many rounds broke one."""
    rows = read("rates.json")["attack"]
    return table(COUNTED.values(), [[str(sum(row[key] for row in rows)) for key in COUNTED]])


def attack() -> str:
    """Return the largest regret over its bound."""
    rows = read("rates.json")["attack"]
    lines = []
    for name in dict.fromkeys(row["set"] for row in rows):
        mine = {row["player"]: row for row in rows if row["set"] == name}
        cells = []
        for steps in ("one step", "away steps"):
            scheduled = [
                f"{row['regret']:.2f} (q = {player[-1]})"
                for player, row in mine.items()
                if player.startswith(f"{steps}, schedule")
            ]
            cells += [", ".join(scheduled), f"{mine[f'{steps}, universal']['regret']:.2f}"]
        lines.append([name, *cells])
    alone = [f"{s}, {rule}" for s in ("one step", "away") for rule in ("schedule", "universal")]
    return table(["set", *alone], lines)


def summary() -> str:
    """Return away steps over one step: medians at the longest horizon, least and largest ratio."""
    grown: dict[tuple[str, str], dict[str, Row]] = {}
    for row in read("rates.json")["growth"]:
        grown.setdefault((row["set"], row["game"]), {})[row["player"]] = row
    lines = []
    for name in dict.fromkeys(place[0] for place in grown):
        games = [of for place, of in grown.items() if place[0] == name]
        for kind, some in (("adversarial", games[:ADVERSARIAL]), ("ordinary", games[ADVERSARIAL:])):
            cells = []
            for one, away in SUMMARISED.values():
                ends = [(of[one]["regret"][-1], of[away]["regret"][-1]) for of in some]
                cells.append(_spread(sorted(b / a for a, b in ends if min(a, b) > 0.1)))
            lines.append([name, kind, *cells])
    return table(["set", "games", *(f"{steps} steps" for steps in SUMMARISED)], lines)


def _spread(ratios: list[float]) -> str:
    if not ratios:
        return ""
    return f"{median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}), {len(ratios)} games"


def bounds() -> str:
    """Return bounds in per cent of the trivial ones."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in read("rates.json")["bounds"]:
        found.setdefault((row["set"], row["player"]), []).append(row)
    lines = []
    for (name, player), rows in found.items():
        q = ", ".join(dict.fromkeys(str(row["q"]) for row in rows))
        cells = []
        for row in rows:
            cells += [_per_cents(row["regret"]), _per_cents(row.get("ccv", {}))]
        lines.append([name, PLAYERS[player], q, *cells])
    heads = [f"{what}, T = {T}" for T in ("1600", "1e5") for what in ("regret", "CCV")]
    return table(["set", "player", "q", *heads], lines)


PLAYERS = {
    "one step": "one step",
    "away steps": "away steps",
    "default": "default",
    "away": "`away_coco`",
}


def _per_cents(found: dict[str, float]) -> str:
    return " / ".join(f"{v:.1f}" if v < 100.0 else f"{v:.0f}" for v in found.values())
