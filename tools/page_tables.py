"""Tables of one page each: problems, policies, searched games and the default."""

from __future__ import annotations

import math
import re
from statistics import linear_regression, median
from typing import Any

from tables import read, table

Row = dict[str, Any]


def number(value: float) -> str:
    """Write a number with the digits that a reader can use."""
    if abs(value) >= 1000.0:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10.0 else f"{value:.3f}"


COLUMNS = {
    "benchmark": "benchmark_cost",
    "regret": "regret",
    "certificate": "certificate",
    "CCV": "ccv",
    "unconstrained regret": "blind_regret",
    "unconstrained CCV": "blind_ccv",
}
RENAMED = {"LatencyCap, intercloud45, range given": "the same, `violation_range=cap`"}


def problems() -> str:
    """Return how the default plays every problem; seeds of one problem are one row."""
    groups: dict[str, list[Row]] = {}
    for row in read("problems.json")["rows"]:
        groups.setdefault(re.sub(r", seed \d+$", "", row["problem"]), []).append(row)
    stories = "ShortestPath, LatencyCap, Portfolio, LogPortfolio, Ranking, AdSlots, Caching"
    order = stories.split(", ")
    names = sorted(groups, key=lambda name: order.index(name.partition(",")[0]))
    lines = []
    for name in names:
        rows = groups[name]
        seeds = f", seeds 0 to {len(rows) - 1}" if len(rows) > 1 else ""
        cells = [_range([row[key] for row in rows]) for key in COLUMNS.values()]
        lines.append([RENAMED.get(name, name) + seeds, str(rows[0]["rounds"]), *cells])
    return table(["problem", "rounds", *COLUMNS], lines)


def pairs() -> str:
    """Return how the default does on random pairs where the cap on latency binds."""
    found = read("problems.json")["latency_cap_on_random_pairs"]
    units = {"ccv": "learnt", "ccv_range_given": "the cap"}
    lines = []
    for network in dict.fromkeys(pair["network"] for pair in found):
        mine = [pair for pair in found if pair["network"] == network]
        binding = [pair for pair in mine if pair["blind_ccv"] > 0.0]
        for key, unit in units.items():
            halved = sum(pair[key] <= 0.5 * pair["blind_ccv"] for pair in binding)
            same = sum(pair[key] == pair["blind_ccv"] for pair in binding)
            counts = map(str, (len(mine), len(binding), halved, same))
            lines.append([network, unit, *counts])
    return table(
        ["network", "unit of violations", "pairs", "binding", "halved", "unchanged"], lines
    )


def _range(values: list[float]) -> str:
    low, high = number(min(values)), number(max(values))
    return low if len(values) == 1 else f"{low} to {high}"


def measured() -> str:
    """Return what was measured of the policies of choosing.md, one line each."""
    rows = [
        _atlas(
            "`projection_free_coco` on the paper's game, 5 held-out seeds, T = 1600", "practical"
        ),
        _atlas("the same with the theorem's constants", "theory"),
        _synthetic(),
        _bandit(),
        _bandit_theory(),
        _ftpl(),
    ]
    return table(["what", "where", "figures"], rows)


def _file(name: str) -> str:
    return f"[{name}](../../evidence/{name})"


def _ends(values: list[float], form: str) -> str:
    low, high = sorted((min(values), max(values)), key=abs)
    return f"{low:{form}} to {high:{form}}"


def _powers(values: list[float]) -> str:
    return f"T^{min(values):.2f} to T^{max(values):.2f}"


def _atlas(what: str, policy: str) -> list[str]:
    rows = [row for row in read("atlas_like.json") if row["policy"] == policy]
    regret = _ends([row["regret_percent"] for row in rows], ".1f")
    ccv = _ends([row["ccv_percent"] for row in rows], ".2f" if policy == "practical" else ".0f")
    text = f"regret {regret} % of the benchmark's cost, CCV {ccv} % of what all rounds ask for"
    return [what, _file("atlas_like.json"), text]


def _synthetic() -> list[str]:
    games: dict[str, list[tuple[float, float]]] = {}
    for row in read("synthetic_growth.json"):
        games.setdefault(row["game"], []).append((math.log(row["horizon"]), math.log(row["ccv"])))
    slopes = [linear_regression(*zip(*points, strict=True)).slope for points in games.values()]
    what = "the default on the synthetic games, T = 1e3 to 6.4e4, one seed"
    return [what, _file("synthetic_growth.json"), f"CCV grows like {_powers(slopes)}"]


def _exponents(file: str, key: str, policies: tuple[str, ...] = ()) -> list[float]:
    rows = read(file)["exponents"]
    return [row[key] for row in rows if not policies or row["policy"] in policies]


def _bandit() -> list[str]:
    ours = ("practical, drift",)
    ccv, queue, regret, calls = (
        _exponents("bandit_growth.json", key, ours)
        for key in (
            "ccv",
            "ccv_plus_Q0",
            "positive_regret_plus_sqrt_T",
            "largest_oracle_calls_per_round",
        )
    )
    text = (
        f"CCV grows like {_powers(ccv)} (with Q(0) added {_powers(queue)}), max(regret, 0) + "
        f"sqrt(T) like {_powers(regret)}; at most {max(calls):.2f} oracle calls per round"
    )
    what = "`projection_free_cbco`, T = 1e3 to 2.56e5, 3 seeds"
    return [what, _file("bandit_growth.json"), text]


def _bandit_theory() -> list[str]:
    ccv = _exponents("bandit_growth.json", "ccv", ("theory",))
    text = f"CCV grows like {_powers(ccv)}: the constraint is ignored"
    return ["the same with the theorem's constants", "the same file", text]


def _ftpl() -> list[str]:
    signed, regret, hard = (
        _powers(_exponents("ftpl_growth.json", key))
        for key in ("positive_signed_ccv_plus_sqrt_T", "positive_regret_plus_sqrt_T", "hard_ccv")
    )
    text = f"signed sum + sqrt(T) like {signed}, regret likewise {regret}, hard CCV like {hard}"
    what = "`ftpl_coco` on subsets, trees and paths, T = 500 to 32000, 4 seeds"
    return [what, _file("ftpl_growth.json"), text]


def searched() -> str:
    """Return the worst that the search found for each learner and policy."""
    rows = read("adversary_search.json")
    places = [(m, s) for m in ("regret/(D L T^{3/4})", "ccv/T") for s in ("Simplex", "L2Ball")]
    at = {(row["policy"], row["measure"], row["set"]): row for row in rows}
    head = ["", "regret, simplex", "regret, ball", "CCV/T, simplex", "CCV/T, ball"]
    names = dict.fromkeys(row["policy"] for row in rows)
    return table(head, [[name, *(_found(at.get((name, *p))) for p in places)] for name in names])


def _found(row: Row | None) -> str:
    if row is None:
        return ""
    fresh = f" ({row['worst_fresh']:.3f})" if "worst_fresh" in row else ""
    bound = "" if row["exact"] else " *"
    return f"{row['worst']:.3f}{fresh} / {row['best_random']:.3f}{bound}"


SHOWN = ("first default", "default", "plain", "sinha_vaze_2024", "wang_2025", "guo_recoo")
"""The methods of docs/explanation/default.md, in the order of its tables."""


def default_games() -> str:
    """Return CCV / regret / rounds violated of every family, for the default and others."""
    return _compared(read("default.json")["games"], ignored=False)


def default_measured() -> str:
    """Return the same on measured networks, and how often the constraint is ignored."""
    return _compared(read("default.json")["measured"], ignored=True)


def _compared(found: dict[str, Any], ignored: bool) -> str:
    heads = ["game", "first", *SHOWN[1:], *(["ignored, now / first"] if ignored else [])]
    lines = []
    for game, of in found.items():
        cells = [_three(of[name]) for name in SHOWN]
        if ignored:
            now, first = (of[name]["ignored"] for name in ("default", "first default"))
            cells.append(f"{now} / {first} of {of['default']['instances']}")
        lines.append([game, *cells])
    return table(heads, lines)


GUARDED = {"default": "projection_free_coco", "plain": "projection_free_coco_plain"}
"""The policies with a guard: their names on the default's page, and in the registry."""


def guard_counts() -> dict[tuple[str, int], dict[str, list[int]]]:
    """Return, by game and its rounds, in how many rounds the guard acted in each instance."""
    found: dict[tuple[str, int], dict[str, list[int]]] = {}
    for row in read("default_games.csv"):
        if row["method"] in GUARDED:
            of = found.setdefault((row["game"], int(row["rounds"])), {})
            of.setdefault(row["method"], []).append(int(row["guarded"]))
    for game, played in read("traffic.json")["products"].items():
        found[f"product of {game.replace(',', ' simplices,')}", 1500] = {
            name: played[method]["guarded"] for name, method in GUARDED.items()
        }
    return found


def default_guard() -> str:
    """Return in how many rounds the guard acted, for the games where it did."""
    lines = []
    for (game, rounds), of in guard_counts().items():
        if any(map(sum, of.values())):
            lines.append([game, str(rounds), *(_acted(of[name]) for name in GUARDED)])
    return table(["game", "T", *GUARDED], lines)


def _acted(counts: list[int]) -> str:
    if not any(counts):
        return "never"
    times = f"{median(counts):g}, at most {max(counts)}"
    return f"{times}; in {sum(count > 0 for count in counts)} of {len(counts)} instances"


def _three(row: dict[str, float]) -> str:
    return f"{row['ccv']:.3g} / {row['regret']:.3g} / {row['violated']:.0f}"


def default_growth() -> str:
    """Return the exponents of CCV and regret."""
    lines = []
    for game, of in read("default.json")["growth"].items():
        longest = max(row[0] for row in of["rows"])
        lines.append([game, f"{longest:.0e}", *(_interval(of[name]) for name in ("ccv", "regret"))])
    return table(["game", "T up to", "CCV", "max(certificate, 0) + sqrt(T)"], lines)


def _interval(pair: list[float]) -> str:
    return f"{pair[0]:.2f} ± {pair[1]:.2f}"


def default_robustness() -> str:
    """Return what disturbances do."""
    lines = []
    for name, of in read("default.json")["robustness"].items():
        for method in ("first default", "default"):
            row = of[method]
            costs = " / ".join(f"{row[k]:.2f}" for k in ("before", "after", "end"))
            said = "first" if method == "first default" else "now"
            lines.append([name, said, f"{row['ccv']:.3g}", costs, f"{row['largest weight']:.2g}"])
    heads = ["disturbance", "default", "CCV %", "cost before / after / end", "largest weight"]
    return table(heads, lines)
