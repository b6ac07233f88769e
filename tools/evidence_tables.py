"""Tables of all methods: played, restarted, tuned alike, and judged by the paper's claims."""

from __future__ import annotations

import math
import tomllib
from statistics import mean
from typing import Any

from hedgerow.baselines.methods import METHODS
from hedgerow.experiments.problems import find_kind
from hedgerow.experiments.reading import shipped
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
ADDED = {"traffic": "Demands on Abilene split over paths, no link used above a limit, synthetic."}
"""The problem that `evidence/fair.py` adds to those of the experiment files."""
NOT_YET = "not played yet"
"""What stands in place of numbers for a problem, or a method, that the evidence lacks."""

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
        last = [row["ms_per_round"] for row in mine if row["game"] == "random_network"]
        time = f"{1e3 * mean(last):.0f}" if last else ""
        lines.append([named(name, preset), *cells, f"{calls:.2f}", time])
    known = {row["method"] for row in rows}
    missing = [name for name in METHODS if name not in known]
    lines += [[named(name, preset), NOT_YET, *[""] * (len(games) + 1)] for name in missing]
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


def restart_pairs() -> str:
    """Return how often one of two runs that differ in one part alone is better in both numbers."""
    rows = {
        (r["learner"], r["potential"], r["steps"], r["game"], r["seed"]): (r["regret"], r["ccv"])
        for r in read("restarts.json")
    }
    adaptive = {key: pair for key, pair in rows.items() if key[0] == "adaptive"}
    lines = []
    for other in ("restart at x_1", "restart at x_t"):
        pairs = [(pair, rows[other, *key[1:]]) for key, pair in adaptive.items()]
        lines.append(["adaptive", other, *_wins(pairs)])
    pairs = [
        (pair, adaptive["adaptive", "exponential", *key[2:]])
        for key, pair in adaptive.items()
        if key[1] == "power"
    ]
    lines.append(["power", "exponential", *_wins(pairs)])
    return table(["one", "the other", "pairs", "one is better", "the other is better"], lines)


def _wins(pairs: list[tuple[tuple[float, float], tuple[float, float]]]) -> list[str]:
    one = sum(a[0] < b[0] and a[1] < b[1] for a, b in pairs)
    other = sum(b[0] < a[0] and b[1] < a[1] for a, b in pairs)
    return [str(count) for count in (len(pairs), one, other)]


def fair_rows() -> Rows:
    """Return every row of the tuned comparison."""
    return [*read("fair.csv"), *read("fair_networks.csv")]


def experiment_files() -> dict[str, dict[str, Any]]:
    """Return the experiment files that the tuned comparison plays, by name."""
    names = ("fair", "fair_network", "fair_latency")
    return {name: tomllib.loads(shipped()[name].read_text(encoding="utf-8")) for name in names}


def setting() -> str:
    """Return every problem of the tuned comparison with what its choices rest on."""
    listed = [problem for file in experiment_files().values() for problem in file["problems"]]
    kinds = {p.get("label", p["kind"]).partition(":")[0]: p["kind"] for p in listed}
    about = {label: find_kind(kind).summary for label, kind in kinds.items()} | ADDED
    at, lines = grouped("tuned"), list[list[str]]()
    for problem in problems():
        row = at[DEFAULT, problem]
        cells = [row["trained_on"], row["horizon"], row["games"]]
        lines.append([f"`{problem}`", about.pop(problem), *cells])
    lines += [[f"`{name}`", what, NOT_YET, "", ""] for name, what in about.items()]
    return table(["problem", "what it is", "chosen on", "T", "games"], lines)


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
        lines += [[named(name), *[NOT_YET] * len(some)] for name in _not_tuned_yet()]
        parts.append(table(["method", *some], lines))
    return "\n\n".join(parts)


def _not_tuned_yet() -> list[str]:
    """Return the methods that an experiment file asks for and that no row has."""
    known = {row["method"] for row in fair_rows()}
    left_out = {name for file in experiment_files().values() for name in file["without"]}
    return [name for name in METHODS if name not in known | left_out]


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


def tests() -> str:
    """Return how the others stand to the default on each problem, by Holm's corrected tests."""
    lines = []
    for problem, how in against_default().items():
        two = against_default("two constants")[problem]
        cells = [str(len(how["worse"]))]
        for kind in ("better", "trade", "open"):
            names = [f"`{name}`" for name in how[kind]]
            names += [f"`{name}`, two constants" for name in two[kind]]
            cells.append(", ".join(names) or "none")
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
