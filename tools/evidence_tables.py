"""Tables of the documents that quote evidence: all methods played, restarted, and tuned alike."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from statistics import mean
from typing import Any

EVIDENCE = Path(__file__).parents[1] / "evidence" / "rivals.json"


def rivals_markdown() -> str:
    """Return one table for each preset: regret / CCV on every game, then what a round costs."""
    rows = json.loads(EVIDENCE.read_text())
    parts = []
    for preset in ("practical", "theory"):
        parts += [f"**{preset.capitalize()} constants**", "", _table(rows, preset), ""]
    return "\n".join(parts).rstrip()


def _table(rows: list[dict[str, Any]], preset: str) -> str:
    chosen = [row for row in rows if row["preset"] == preset]
    games = list(dict.fromkeys(row["game"] for row in rows))
    names = list(dict.fromkeys(row["method"] for row in chosen))
    lines = ["| method | " + " | ".join(games) + " | calls | µs |", "|---" * (len(games) + 3) + "|"]
    for name in names:
        mine = [row for row in chosen if row["method"] == name and "refused" not in row]
        if not mine:
            continue
        cells = [_cell([row for row in mine if row["game"] == game]) for game in games]
        calls = mean((row["oracle_calls"] + row["projections"]) / 1600 for row in mine)
        last = [row["ms_per_round"] for row in mine if row["game"] == "atlas_like"]
        time = f"{1e3 * mean(last):.0f}" if last else ""
        lines.append(f"| `{name}` | " + " | ".join(cells) + f" | {calls:.2f} | {time} |")
    return "\n".join(lines)


def _cell(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return "-"
    regret = mean(100.0 * row["regret"] / (1600 * row["regret_unit"]) for row in rows)
    ccv = mean(100.0 * row["ccv"] / (1600 * row["ccv_unit"]) for row in rows)
    return f"{regret:.2f} / {ccv:.2f}"


def restarts_markdown() -> str:
    """Return regret / CCV of {adaptive, restarted} x {exponential, power}, on every game."""
    rows = json.loads(EVIDENCE.with_name("restarts.json").read_text())
    rows = [row for row in rows if row["steps"].startswith("Certificate")]
    games = list(dict.fromkeys(row["game"] for row in rows))
    pairs = list(dict.fromkeys((row["learner"], row["potential"]) for row in rows))
    lines = ["| learner | potential | " + " | ".join(games) + " | restarts |"]
    lines.append("|---" * (len(games) + 3) + "|")
    for learner, potential in pairs:
        mine = [r for r in rows if (r["learner"], r["potential"]) == (learner, potential)]
        cells = []
        for game in games:
            at = [row for row in mine if row["game"] == game]
            cells.append(f"{mean(r['regret'] for r in at):.3g} / {mean(r['ccv'] for r in at):.2g}")
        count = mean(row["restarts"] for row in mine)
        lines.append(f"| {learner} | {potential} | " + " | ".join(cells) + f" | {count:.1f} |")
    return "\n".join(lines)


def fair_markdown() -> str:
    """Return regret and CCV of everyone, tuned alike, on held-out seeds."""
    rows = []
    for name in ("fair.csv", "fair_networks.csv"):
        with EVIDENCE.with_name(name).open(encoding="utf-8") as file:
            rows += list(csv.DictReader(file))
    problems = list(dict.fromkeys(row["problem"] for row in rows))
    at = {(row["method"], row["problem"]): row for row in rows}
    lines = ["| method | " + " | ".join(problems) + " |", "|---" * (len(problems) + 1) + "|"]
    for method in dict.fromkeys(row["method"] for row in rows):
        cells = [_tuned(at.get((method, problem))) for problem in problems]
        lines.append(f"| `{method}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _tuned(row: dict[str, str] | None) -> str:
    if row is None:
        return "-"
    regret, ccv = (
        f"{float(row[name]):.1f} ± {float(row[name + '_half']):.1f}"
        for name in ("regret_percent", "ccv_percent")
    )
    best = "**" if row["undominated"] == "1" else ""
    return f"{best}{regret}, {ccv}{best}"


def verdicts_markdown() -> str:
    """Return the verdict on each claim of the paper's experiments, for each preset."""
    found = json.loads(EVIDENCE.with_name("verdicts.json").read_text())
    lines = ["| claim | practical constants | the theorems' constants |", "|---|---|---|"]
    for row in found["verdicts"]:
        said = {part["preset"]: part["verdict"] for part in row["parts"]}
        lines.append(f"| {row['claim']} | {said['practical']} | {said['theory']} |")
    return "\n".join(lines)
