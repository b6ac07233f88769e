"""Tables of docs/explanation/rates.md: bounds, attacks on them, and how away steps play."""

from __future__ import annotations

from statistics import median
from typing import Any

from tables import read, table

Row = dict[str, Any]
POLICIES = ("default", "plain", "away_coco")
COUNTED = {"games": "games", "rounds": "rounds", "broken": "comparisons that failed"}
ADVERSARIAL = 5
"""The first five games are adversarial, the others ordinary."""


def counts() -> str:
    """Return how many games were played against the bounds, and how many rounds broke one."""
    rows = read("rates.json")["attack"]
    groups = {
        "policies": [row for row in rows if row["player"] in POLICIES],
        "learners alone": [row for row in rows if row["player"] not in POLICIES],
        "all": rows,
    }
    lines = []
    for who, mine in groups.items():
        lines.append([who, *(str(sum(row[key] for row in mine)) for key in COUNTED)])
    return table(["players", *COUNTED.values()], lines)


def attack() -> str:
    """Return the largest regret and CCV over their bounds."""
    rows = read("rates.json")["attack"]
    lines = []
    for name in dict.fromkeys(row["set"] for row in rows):
        mine = {row["player"]: row for row in rows if row["set"] == name}
        cells = [f"{mine[p]['regret']:.2f} / {mine[p]['ccv']:.2f}" for p in POLICIES]
        for steps in ("one step", "away steps"):
            scheduled = [
                f"{row['regret']:.2f} (q = {player[-1]})"
                for player, row in mine.items()
                if player.startswith(f"{steps}, schedule")
            ]
            cells += [", ".join(scheduled), f"{mine[f'{steps}, universal']['regret']:.2f}"]
        lines.append([name, *cells])
    alone = [f"{s}, {rule}" for s in ("one step", "away") for rule in ("schedule", "universal")]
    return table(["set", *POLICIES, *alone], lines)


def _grown() -> dict[tuple[str, str], dict[str, Row]]:
    """Return the rows of the growth by set and game, then by player."""
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in read("rates.json")["growth"]:
        found.setdefault((row["set"], row["game"]), {})[row["player"]] = row
    return found


def _fitted(row: Row, key: str) -> str:
    """Return an exponent with its interval, and the value at the longest horizon."""
    fit, last = row["exponents"][key], round(row[key][-1], 6) + 0.0  # no -0
    shown = "" if fit is None else f"{fit[0]:.2f} ({fit[1]:.2f} to {fit[2]:.2f}); "
    return shown + (f"{last:.0f}" if abs(last) >= 100.0 else f"{last:.3g}")


def alone() -> str:
    """Return how the regret of learners grows."""
    players = ("one step, universal", "away steps, universal", "one step", "away steps")
    lines = [
        [name, game, *(_fitted(of[player], "regret") for player in players)]
        for (name, game), of in _grown().items()
    ]
    heads = [*players[:2], "one step, certificate", "away steps, certificate"]
    return table(["set", "game", *heads], lines)


def constrained() -> str:
    """Return how regret and CCV of policies grow."""
    lines = []
    for (name, game), of in _grown().items():
        both = of["plain"], of["away_coco"]
        cells = [_fitted(row, key) for key in ("regret", "ccv") for row in both]
        calls = " / ".join(f"{row['calls'][-1]:.4f}" for row in both)
        lines.append([name, game, *cells, calls])
    heads = ["regret, plain", "regret, away", "CCV, plain", "CCV, away", "oracle calls per round"]
    return table(["set", "game", *heads], lines)


def compared() -> list[Row]:
    """Return away steps against one step at the longest horizon, by set and kind of game.

    Of each quantity the ratios of all games in which both values are above 0.1.
    """
    grown, found = _grown(), []
    pairs = {
        "universal": ("one step, universal", "away steps, universal", "regret"),
        "certificate": ("one step", "away steps", "regret"),
        "regret": ("plain", "away_coco", "regret"),
        "ccv": ("plain", "away_coco", "ccv"),
    }
    for name in dict.fromkeys(place[0] for place in grown):
        games = [of for place, of in grown.items() if place[0] == name]
        for kind, some in (("adversarial", games[:ADVERSARIAL]), ("ordinary", games[ADVERSARIAL:])):
            row: Row = {"set": name, "kind": kind}
            for key, (one, away, value) in pairs.items():
                ends = [(of[one][value][-1], of[away][value][-1]) for of in some]
                row[key] = sorted(b / a for a, b in ends if min(a, b) > 0.1)
            found.append(row)
    return found


def summary() -> str:
    """Return the medians of these ratios, with the least and the largest."""
    lines = [
        [row["set"], row["kind"], *(_spread(row[key]) for key in SUMMARISED)] for row in compared()
    ]
    return table(["set", "games", *SUMMARISED.values()], lines)


SUMMARISED = {
    "universal": "regret alone, universal steps",
    "certificate": "regret alone, certificate steps",
    "regret": "regret, `away_coco`/plain",
    "ccv": "CCV, `away_coco`/plain",
}


def _spread(ratios: list[float]) -> str:
    if not ratios:
        return ""
    return f"{median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}), {len(ratios)} games"


def bounds() -> str:
    """Return bounds in per cent of the trivial ones: the paper's, before, and now."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in read("rates.json")["bounds"]:
        found.setdefault((row["set"], row["player"]), []).append(row)
    lines = []
    for (name, player), rows in found.items():
        q = ", ".join(dict.fromkeys(str(row["q"]) for row in rows))
        cells = []
        for row in rows:
            cells += [_per_cents(row["regret"]), _per_cents(row.get("ccv", {}))]
        lines.append([name, player, q, *cells])
    heads = [f"{what}, T = {T}" for T in ("1600", "1e5") for what in ("regret", "CCV")]
    return table(["set", "player", "q", *heads], lines)


def _per_cents(found: dict[str, float | None]) -> str:
    return " / ".join("none" if value is None else _per_cent(value) for value in found.values())


def _per_cent(value: float) -> str:
    return f"{value:.1f}" if value < 100.0 else f"{value:.0f}"


def times() -> str:
    """Return the time per round relative to the default."""
    lines = [
        [
            row["set"],
            row["game"],
            f"{row['microseconds']:.1f}",
            *(f"{row['ratios'][policy]:.2f}" for policy in POLICIES[1:]),
        ]
        for row in read("rates.json")["time"]
    ]
    return table(["set", "game", "default, µs", "plain/default", "away_coco/default"], lines)


def games() -> str:
    """Return medians on the families of the default's page, and how away steps compare."""
    lines = []
    for row in read("rates.json")["games"]:
        cells = [f"{row[policy][0]:.3g} / {row[policy][1]:.4g}" for policy in POLICIES]
        verdicts = [verdict(row["away_coco"], row[other]) for other in ("plain", "default")]
        lines.append([row["game"], str(row["seeds"]), *cells, *verdicts])
    heads = ["game", "seeds", *POLICIES, "away against plain", "away against the default"]
    return table(heads, lines)


def verdict(ours: list[float], theirs: list[float]) -> str:
    """Say which of CCV and regret are smaller."""
    better = [a < b for a, b in zip(ours, theirs, strict=True)]
    if all(better):
        return "better in both"
    if not any(better):
        return "worse in both" if ours != theirs else "the same"
    return "less CCV" if better[0] else "less regret"
