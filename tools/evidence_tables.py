"""Tables of all methods: played, restarted, tuned alike, and judged by the paper's claims."""

from __future__ import annotations

import math
from collections import Counter
from statistics import mean
from typing import Any

from hedgerow.baselines.methods import METHODS
from hedgerow.policies.presets import Preset
from tables import named, read, table

Rows = list[dict[str, Any]]
DEFAULT = "projection_free_coco"
GROUPS = {"tuned": "", "two constants": ", two constants", "apart": ", not tuned"}
"""The groups of the tuned comparison, and what is said of them beside a name."""
WIDTH = 4
"""Problems in one table."""
LEVEL = 0.05
"""Of the corrected tests."""
STANDINGS = {
    frozenset(): "open",
    frozenset({"less"}): "better",
    frozenset({"more"}): "worse",
    frozenset({"less", "more"}): "trade",
}
"""How a method stands to the default, by the numbers that differ from the default's for sure."""
ALIKE = {"sun_safe"}
"""Plays like `mahdavi_2012` with practical constants, to about three digits: ranked once."""

STAND_INS = {
    "Garber": METHODS["garber_kretzu_2024_dpp"].remark,
    "Wang": f"practical: {METHODS['wang_2025'].practical}",
}
"""What stands in for a method in a claim that names its authors."""


def rivals() -> str:
    """Return one table for each preset: regret / CCV on every game, then what a round costs."""
    rows, parts = read("rivals.json"), list[str]()
    presets: tuple[Preset, ...] = ("practical", "theory")
    for preset in presets:
        parts += [f"**{preset.capitalize()} constants**", "", _played(rows, preset), ""]
    return "\n".join(parts).rstrip()


def _played(rows: Rows, preset: Preset) -> str:
    games = list(dict.fromkeys(row["game"] for row in rows))
    played = [row for row in rows if row["preset"] == preset and "refused" not in row]
    methods = list(dict.fromkeys(row["method"] for row in played))
    lines = []
    for name in methods:
        mine = [row for row in played if row["method"] == name]
        cells = [_cell([row for row in mine if row["game"] == game]) for game in games]
        calls = mean((row["oracle_calls"] + row["projections"]) / 1600 for row in mine)
        last = [row["ms_per_round"] for row in mine if row["game"] == "atlas_like"]
        time = f"{1e3 * mean(last):.0f}" if last else ""
        lines.append([named(name, preset), *cells, f"{calls:.2f}", time])
    return table(["method", *games, "calls", "µs"], lines)


def _cell(rows: Rows) -> str:
    if not rows:
        return "-"
    regret = mean(100.0 * row["regret"] / (1600 * row["regret_unit"]) for row in rows)
    ccv = mean(100.0 * row["ccv"] / (1600 * row["ccv_unit"]) for row in rows)
    return f"{regret:.2f} / {ccv:.2f}"


def restarts() -> str:
    """Return regret / CCV of {adaptive, restarted} x {exponential, power}, on every game."""
    rows = [row for row in read("restarts.json") if row["steps"].startswith("Certificate")]
    games = list(dict.fromkeys(row["game"] for row in rows))
    lines = []
    for learner, potential in dict.fromkeys((row["learner"], row["potential"]) for row in rows):
        mine = [r for r in rows if (r["learner"], r["potential"]) == (learner, potential)]
        cells = []
        for game in games:
            at = [row for row in mine if row["game"] == game]
            cells.append(f"{mean(r['regret'] for r in at):.3g} / {mean(r['ccv'] for r in at):.2g}")
        count = mean(row["restarts"] for row in mine)
        lines.append([learner, potential, *cells, f"{count:.1f}"])
    return table(["learner", "potential", *games, "restarts"], lines)


def paired_restarts(anchor: str) -> tuple[int, int, int]:
    """Count pairs alike but for the restart, where one learner is better in regret and CCV.

    Returns:
        How many there are, how often the adaptive learner is, how often the restarted one.

    """
    rows = {
        (r["learner"], r["potential"], r["steps"], r["game"], r["seed"]): (r["regret"], r["ccv"])
        for r in read("restarts.json")
    }
    pairs = [(rows["adaptive", *key[1:]], rows[key]) for key in rows if key[0] == anchor]
    return len(pairs), sum(map(_better, pairs)), sum(_better((b, a)) for a, b in pairs)


def paired_potentials() -> tuple[int, int]:
    """Return how many pairs differ in the potential alone, and in how many neither is better."""
    rows = {
        (r["potential"], r["learner"], r["steps"], r["game"], r["seed"]): (r["regret"], r["ccv"])
        for r in read("restarts.json")
        if r["learner"] == "adaptive"
    }
    pairs = [(rows["exponential", *key[1:]], rows[key]) for key in rows if key[0] == "power"]
    neither = sum(not _better((a, b)) and not _better((b, a)) for a, b in pairs)
    return len(pairs), neither


def _better(pair: tuple[tuple[float, float], tuple[float, float]]) -> bool:
    one, other = pair
    return one[0] < other[0] and one[1] < other[1]


def fair_rows() -> Rows:
    """Return every row of the tuned comparison."""
    return [*read("fair.csv"), *read("fair_networks.csv")]


def problems() -> list[str]:
    """Return the problems of the tuned comparison."""
    return list(dict.fromkeys(row["problem"] for row in fair_rows()))


def grouped(group: str) -> dict[tuple[str, str], dict[str, str]]:
    """Return the rows of a group by method and problem."""
    rows = [row for row in fair_rows() if row["group"] == group]
    return {(row["method"], row["problem"]): row for row in rows}


def fair() -> str:
    """Return regret and CCV of everyone on what was held out, a few problems in each table."""
    columns, parts, refused = problems(), list[str](), grouped("refused")
    for i in range(0, len(columns), WIDTH):
        some, lines = columns[i : i + WIDTH], []
        for group in GROUPS:
            at = grouped(group)
            for method in dict.fromkeys(name for name, _ in at):
                about = f"{named(method)}{GROUPS[group]}"
                cells = [
                    "refuses" if (method, p) in refused else _tuned(at.get((method, p)))
                    for p in some
                ]
                lines.append([about, *cells])
        parts.append(table(["method", *some], lines))
    return "\n\n".join(parts)


def _tuned(row: dict[str, str] | None) -> str:
    if row is None:
        return "-"
    regret, ccv = (
        f"{float(row[name]):.1f} ± {float(row[name + '_half']):.1f}"
        for name in ("regret_percent", "ccv_percent")
    )
    best = "**" if row["undominated"] == "1" else ""
    return f"{best}{regret}, {ccv}{best}{'!' if _ends(row) else ''}"


def _ends(row: dict[str, str]) -> int:
    return int(row["at_low_end"]) + int(row["at_high_end"])


def grid_ends() -> tuple[int, int, Counter[str]]:
    """Count all choices of tuned methods, those still at an end of the grid, and of whom."""
    rows = list(grouped("tuned").values())
    ends = Counter({row["method"]: 0 for row in rows})
    for row in rows:
        ends[row["method"]] += _ends(row)
    return sum(int(row["choices"]) for row in rows), ends.total(), +ends


def rank_sums() -> dict[str, dict[str, int]]:
    """Return the sum of both ranks of each tuned method, by problem."""
    sums: dict[str, dict[str, int]] = {}
    for (method, problem), row in grouped("tuned").items():
        total = int(row["rank_by_regret"]) + int(row["rank_by_ccv"])
        sums.setdefault(method, {})[problem] = total
    return sums


def ranks() -> str:
    """Return the rank sums of all tuned methods on all problems, the least total first."""
    columns, totals = problems(), rank_totals()
    lines = []
    for method, sums in sorted(
        rank_sums().items(), key=lambda entry: totals.get(entry[0], math.inf)
    ):
        cells = [str(sums.get(problem, "-")) for problem in columns]
        lines.append([f"`{method}`", *cells, str(totals.get(method, "-"))])
    return table(["method", *columns, "total"], lines)


def rank_totals() -> dict[str, int]:
    """Return the total of each method that plays every problem."""
    columns = problems()
    return {m: sum(sums.values()) for m, sums in rank_sums().items() if len(sums) == len(columns)}


def firsts() -> dict[str, set[str]]:
    """Return, for each problem, the tuned methods with the smallest sum of ranks."""
    found = {}
    for problem in problems():
        sums = {name: at[problem] for name, at in rank_sums().items() if problem in at}
        found[problem] = {name for name in sums if sums[name] == min(sums.values())}
    return found


def standing(row: dict[str, str], ours: dict[str, str]) -> str:
    """Say how a method stands to the default, by the corrected tests of both numbers."""
    signs = set()
    for name in ("regret", "ccv"):
        if float(row[f"{name}_p"]) < LEVEL:
            less = float(row[f"{name}_percent"]) < float(ours[f"{name}_percent"])
            signs.add("less" if less else "more")
    return STANDINGS[frozenset(signs)]


def against_default(group: str = "tuned") -> dict[str, dict[str, list[str]]]:
    """Return, for each problem and standing, the methods that stand so to the default."""
    rows, found = grouped(group), dict[str, dict[str, list[str]]]()
    ours = {problem: grouped("tuned")[DEFAULT, problem] for problem in problems()}
    for (method, problem), row in rows.items():
        if method != DEFAULT:
            how = found.setdefault(problem, {kind: [] for kind in STANDINGS.values()})
            how[standing(row, ours[problem])].append(method)
    return found


def rivals_as_published() -> list[str]:
    """Return the tuned methods that are neither ours, nor reconstructed, nor out of scope."""
    names = dict.fromkeys(method for method, _ in grouped("tuned"))
    ours = (DEFAULT, f"{DEFAULT}_plain")
    return [name for name in names if name not in ours and not METHODS[name].remarks("practical")]


def tests() -> str:
    """Return how the others stand to the default on each problem, by Holm's corrected tests."""
    lines = []
    for problem, how in against_default().items():
        two = against_default("two constants")[problem]
        cells = [str(len(how["worse"]))]
        for kind in ("better", "trade", "open"):
            names = [f"`{name}`" for name in how[kind]]
            names += [f"`{name}`, two constants" for name in two[kind]]
            cells.append(", ".join(names) or "nobody")
        games = grouped("tuned")[DEFAULT, problem]["games"]
        lines.append([problem, games, *cells])
    head = [
        "problem",
        "games",
        "worse than the default",
        "better",
        "less of one, more of the other",
    ]
    return table([*head, "undecided"], lines)


def verdicts() -> str:
    """Return the verdict on each claim of the paper's experiments, for each preset."""
    lines = []
    for row in read("verdicts.json")["verdicts"]:
        said = {part["preset"]: part["verdict"] for part in row["parts"]}
        about = [text for name, text in STAND_INS.items() if name in row["claim"]]
        claim = " ".join([row["claim"], *(f"({text})" for text in about)])
        lines.append([claim, said["practical"], said["theory"]])
    return table(["claim", "practical constants", "the theorems' constants"], lines)
