"""Tables of one page each: problems, policies, searched games and the default."""

from __future__ import annotations

import re
from statistics import median
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
        lines.append([name + seeds, str(rows[0]["rounds"]), *cells])
    return table(["problem", "rounds", *COLUMNS], lines)


def pairs() -> str:
    """Return how the default does on random pairs where the cap on latency binds."""
    found = read("problems.json")["latency_cap_on_random_pairs"]
    lines = []
    for network in dict.fromkeys(pair["network"] for pair in found):
        mine = [pair for pair in found if pair["network"] == network]
        binding = [pair for pair in mine if pair["blind_ccv"] > 0.0]
        halved = sum(pair["ccv"] <= 0.5 * pair["blind_ccv"] for pair in binding)
        same = sum(pair["ccv"] == pair["blind_ccv"] for pair in binding)
        lines.append([network, *map(str, (len(mine), len(binding), halved, same))])
    return table(["network", "pairs", "binding", "halved", "unchanged"], lines)


def _range(values: list[float]) -> str:
    low, high = number(min(values)), number(max(values))
    return low if len(values) == 1 else f"{low} to {high}"


def measured() -> str:
    """Return how regret and violation grow of policies that see less than gradients."""
    bandits = "a ball and a box, T = 1e3 to 2.56e5, 3 seeds"
    regret, ftpl = "positive_regret_plus_sqrt_T", "ftpl_growth.json"
    signed = _fitted(ftpl, "positive_signed_ccv_plus_sqrt_T")
    rows = [
        [
            "`projection_free_bandit`",
            bandits,
            _fitted("bandit_growth.json", regret, "practical, drift"),
            _fitted("bandit_growth.json", "ccv", "practical, drift"),
            "",
        ],
        [
            "the same, theory preset",
            bandits,
            "",
            _fitted("bandit_growth.json", "ccv", "theory"),
            "",
        ],
        [
            "`ftpl_coco`",
            "subsets, trees and paths, T = 500 to 32000, 4 seeds",
            _fitted(ftpl, regret),
            _fitted(ftpl, "hard_ccv"),
            signed,
        ],
    ]
    return table(["policy", "games", "regret", "CCV", "signed sum"], rows)


def _fitted(file: str, key: str, policy: str = "") -> str:
    rows = read(file)["exponents"]
    return _powers([row[key] for row in rows if not policy or row["policy"] == policy])


def _powers(exponents: list[float]) -> str:
    return f"T^{min(exponents):.2f} to T^{max(exponents):.2f}"


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


SHOWN = ("default", "plain", "sinha_vaze_2024", "wang_2025", "guo_recoo")
"""The methods of docs/appendix/games.md, in the order of its tables."""


def default_games() -> str:
    """Return CCV / regret / rounds violated of every family, for the default and others."""
    return _compared(read("default.json")["games"])


def default_measured() -> str:
    """Return the same on measured networks."""
    return _compared(read("default.json")["measured"])


def _compared(found: dict[str, Any]) -> str:
    lines = [[game, *(_three(of[name]) for name in SHOWN)] for game, of in found.items()]
    return table(["game", *SHOWN], lines)


def default_switches() -> str:
    """Return in how many games the default fell back to Theorem F."""
    rows = [row for row in read("default_games.csv") if row["method"] == "default"]
    switched = sum(row["switched"] != "" for row in rows)
    return f"The default fell back in {switched} of these {len(rows)} games."


def _three(row: dict[str, float]) -> str:
    return f"{row['ccv']:.3g} / {row['regret']:.3g} / {row['violated']:.0f}"


def default_growth() -> str:
    """Return the exponents of CCV and regret."""
    lines = []
    for game, of in read("default.json")["growth"].items():
        lines.append([game, *(_interval(of[name]) for name in ("ccv", "regret"))])
    return table(["game", "CCV", "max(certificate, 0) + sqrt(T)"], lines)


def _interval(pair: list[float]) -> str:
    return f"{pair[0]:.2f} ± {pair[1]:.2f}"


def default_robustness() -> str:
    """Return what disturbances do."""
    lines = []
    for name, of in read("default.json")["robustness"].items():
        for method in ("default", "plain"):
            row = of[method]
            costs = " / ".join(f"{row[k]:.2f}" for k in ("before", "after", "end"))
            lines.append([name, method, f"{row['ccv']:.3g}", costs])
    heads = ["disturbance", "policy", "CCV %", "cost before / after / end"]
    return table(heads, lines)


SHARE_METHODS = ("default", "threshold rule", "PI control")
RULES = (*SHARE_METHODS, "last round")


def _shares() -> dict[tuple[str, str, str], Row]:
    """Return the medians over seeds by game, method and target, which is empty without one."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in read("violated_share.csv"):
        groups.setdefault((row["game"], row["method"], row["target"]), []).append(row)
    numbers = ("rounds", "share", "cost", "ccv", "quarter", "half", "calls")
    return {
        key: {name: median(float(row[name]) for row in rows) for name in numbers}
        for key, rows in groups.items()
    }


def _share_cell(row: Row) -> str:
    share = 100.0 * row["share"]
    return f"{share:.3g} / {row['cost']:.4g} / {row['ccv']:.3g}"


def simple_rules() -> str:
    """Return share, cost and CCV of the default and of each rule, with a learnt margin."""
    rows = _shares()
    games = list(dict.fromkeys(game for game, _, _ in rows))
    lines = [[game, *(_share_cell(rows[game, method, ""]) for method in RULES)] for game in games]
    return table(["game", *RULES], lines)


def shares() -> str:
    """Return share, cost and CCV of each method for each target, and of the default alone."""
    rows = _shares()
    lines = []
    for game in dict.fromkeys(game for game, _, _ in rows):
        for target in dict.fromkeys(target for _, _, target in rows):
            cells = [_share_cell(rows[game, method, target]) for method in SHARE_METHODS]
            named = f"{100.0 * float(target):g} %" if target else "alone"
            lines.append(["" if target else game, named, *cells])
    return table(["game", "target", *SHARE_METHODS], lines)


def service() -> str:
    """Return pairs per second and latencies of the live service, before and now."""
    rows = {
        (row["store"], row["clients"], row["tree"]): row for row in read("service.json")["rows"]
    }
    lines = []
    for store, clients in dict.fromkeys(key[:2] for key in rows):
        before, now = (rows[store, clients, tree] for tree in ("before", "now"))
        pairs = [row["pairs per second"] for row in (before, now)]
        times = [f"{row['p50 ms']:.4g} / {row['p99 ms']:.4g}" for row in (before, now)]
        used = [f"{row['processor ms per request']:.2f}" for row in (before, now)]
        ratio = f"{pairs[1] / pairs[0]:.1f}x"
        rates = [f"{rate:.0f}" for rate in pairs]
        lines.append([store, str(clients), *rates, ratio, *times, *used])
    head = ["store", "clients", "ask + tell pairs per second, before", "now", "ratio"]
    head += ["median / 99 % of latencies in ms, before", "now"]
    return table([*head, "processor time per request in ms, before", "now"], lines)
