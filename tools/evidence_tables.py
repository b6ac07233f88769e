"""Tables of all methods: played, restarted, tuned alike, and judged by the paper's claims."""

from __future__ import annotations

from collections import Counter
from statistics import mean
from typing import Any

from hedgerow.baselines.methods import METHODS
from hedgerow.policies.presets import Preset
from tables import FIRST, named, read, table

Rows = list[dict[str, Any]]
GRID = {"0.125", "8.0"}
"""The ends of the grid of `hedgerow tune`, as the evidence writes them."""
OURS = ("first_default", "first_default_tracking")
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


def fair() -> str:
    """Return regret and CCV of everyone, tuned alike, on held-out seeds."""
    rows, columns = fair_rows(), problems()
    at = {(row["method"], row["problem"]): row for row in rows}
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        lines.append([named(method), *(_tuned(at.get((method, p))) for p in columns)])
    return table(["method", *columns], lines)


def _tuned(row: dict[str, str] | None) -> str:
    if row is None:
        return "-"
    regret, ccv = (
        f"{float(row[name]):.1f} ± {float(row[name + '_half']):.1f}"
        for name in ("regret_percent", "ccv_percent")
    )
    best = "**" if row["undominated"] == "1" else ""
    end = "!" if row["eagerness"] in GRID else ""
    return f"{best}{regret}, {ccv}{best}{end}"


def grid_ends(file: str) -> tuple[int, int, Counter[str]]:
    """Count the tuned rows of a file, those whose choice is an end of the grid, and of whom."""
    tuned = [row for row in read(file) if _tunable(row["method"])]
    ends = Counter(row["method"] for row in tuned if row["eagerness"] in GRID)
    return len(tuned), ends.total(), ends


def problems() -> list[str]:
    """Return the problems of the tuned comparison."""
    return list(dict.fromkeys(row["problem"] for row in fair_rows()))


def least_sums(problem: str) -> set[str]:
    """Return the methods with the smallest sum of ranks."""
    field = _ranked(problem)
    least = min(map(sum, field.values()))
    return {name for name, pair in field.items() if sum(pair) == least}


def ahead(problem: str) -> tuple[int, int]:
    """Return how many methods have a smaller sum of ranks than ours, and of how many others."""
    sums = {name: sum(pair) for name, pair in _ranked(problem).items()}
    return sum(total < sums[OURS[0]] for total in sums.values()), len(sums) - 1


def ranks() -> str:
    """Return, for each problem, where our methods stand by regret, by CCV, and by their sum."""
    lines = []
    for problem in problems():
        field = _ranked(problem)
        for ours in OURS:
            regret, ccv = field[ours]
            less = sorted(name for name, pair in field.items() if sum(pair) < regret + ccv)
            before = ", ".join(f"`{name}`" for name in less) or "nobody"
            count = str(len(field))
            cells = [str(regret), str(ccv), str(regret + ccv), before]
            lines.append([problem, count, f"`{ours}`", *cells])
    head = ["problem", "methods", "ours", "by regret", "by CCV", "sum", "smaller sum"]
    return table(head, lines)


def _ranked(problem: str) -> dict[str, tuple[int, int]]:
    """Return the ranks by regret and by CCV among the methods that differ."""
    rows = [row for row in fair_rows() if row["problem"] == problem]
    names = [row["method"] for row in rows if row["method"] not in ALIKE]
    means = {row["method"]: _percent(row) for row in rows}
    field = [means[name] for name in names]
    return {
        name: (
            1 + sum(r < means[name][0] for r, _ in field),
            1 + sum(c < means[name][1] for _, c in field),
        )
        for name in names
    }


def _percent(row: dict[str, Any]) -> tuple[float, float]:
    return float(row["regret_percent"]), float(row["ccv_percent"])


def both(one: str, other: str) -> int:
    """Count the problems on which one method is better than another in regret and CCV."""
    at = {(row["problem"], row["method"]): _percent(row) for row in fair_rows()}
    return sum(_better((at[problem, one], at[problem, other])) for problem in problems())


def verdicts() -> str:
    """Return the verdict on each claim of the paper's experiments, for each preset."""
    lines = []
    for row in read("verdicts.json")["verdicts"]:
        said = {part["preset"]: part["verdict"] for part in row["parts"]}
        about = [text for name, text in STAND_INS.items() if name in row["claim"]]
        claim = " ".join([row["claim"], *(f"({text})" for text in about)])
        lines.append([claim, said["practical"], said["theory"]])
    return table(["claim", "practical constants", "the theorems' constants"], lines)


def _tunable(method: str) -> bool:
    """Whether a method has the factor that the grid tunes."""
    return method in FIRST or METHODS[method].takes("eagerness")
