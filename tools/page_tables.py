"""Tables of one page each: problems, growth, searched games, speed."""

from __future__ import annotations

import math
import re
from statistics import linear_regression, median
from typing import Any

from tables import named, read, table

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


def bench_row(peer: str) -> Row:
    """Return the row of bench.json that compares a round with this peer."""
    return next(row for row in read("bench.json")["loops"] if peer in row["peer"])


def seconds(method: str) -> float:
    """Return the seconds of one run of 1600 rounds."""
    rows = read("bench.json")["figure_three"]
    return next(float(row["seconds"]) for row in rows if row["method"] == method)


def round_parts() -> str:
    """Return where the time of a round goes."""
    return table(
        ["part of a round", "µs", "vectors read or written"],
        [
            [row["part"], f"{row['us_per_round']:.2f}", str(row["vectors"] or "")]
            for row in read("bench.json")["parts"]
        ],
    )


def orders() -> str:
    """Return what edges in random order cost the oracle."""
    return table(
        ["edges", "sorted, ns per edge", "random, ns per edge", "ratio", "with gathering alone"],
        [
            [f"10^{math.log10(row['edges']):.0f}" if row["edges"] > 5000 else str(row["edges"])]
            + [f"{row[key]:.2f}" for key in ("sorted", "random", "ratio", "gathering")]
            for row in read("bench.json")["orders"]
        ],
    )


def speed() -> str:
    """Return what was measured against its target."""
    bench = read("bench.json")
    floor, in_turn, live = (bench_row(p) for p in ("floor:", "floor in turn", "ask and tell"))
    naive, scipy, oracle = (bench_row(p) for p in ("networkx", "SciPy", "our compiled oracle"))
    mixed = {row["game"]: row["ratio"] for row in bench["tracking"]}
    bandits = {row["set"]: row["ratio"] for row in bench["bandits"]}
    run, projected = seconds("projection_free_coco"), seconds("sinha_vaze_2024")
    imported, cached, uncached = (row["seconds"] for row in bench["starts"])
    two, slope = bench["threads"][1], bench["exponents"]["edges"]
    long, large = bench["horizon"][-1], bench["edges"][-1]
    plain = "compiled round, without tracking, against"
    rows = [
        (
            f"{plain} NumPy + networkx Bellman-Ford",
            f"{naive['ratio']:.0f}x faster ({_micro(naive['ours'])} against "
            f"{_micro(naive['theirs'])})",
            "at least 350x",
            _met(naive["ratio"] >= 350.0),
        ),
        (f"{plain} NumPy + SciPy Bellman-Ford", f"{scipy['ratio']:.0f}x faster", "", ""),
        (
            f"{plain} NumPy + our compiled oracle ({_micro(oracle['theirs'])})",
            f"{oracle['ratio']:.1f}x faster",
            "at least 8x",
            _met(oracle["ratio"] >= 8.0),
        ),
        (
            f"{plain} the floor: read both rows, pass once over the graph "
            f"({_micro(floor['theirs'])})",
            f"{1.0 / floor['ratio']:.2f}x the time",
            "at most 2x",
            _met(floor["ratio"] >= 0.5),
        ),
        (
            f"{plain} a floor that reads rows and finds paths in turn, with new costs each time "
            f"({_micro(in_turn['theirs'])})",
            f"{1.0 / in_turn['ratio']:.2f}x the time",
            "",
            "",
        ),
        (
            "`ask`, feedback and `tell`, against the compiled round",
            f"{live['ratio']:.1f}x the time ({_micro(live['theirs'])})",
            "at most 3x",
            _met(live["ratio"] <= 3.0),
        ),
        (
            "compiled round of the default, against one without tracking",
            _each(mixed, ".1f"),
            "at most 2.5x",
            _met_by([ratio <= 2.5 for ratio in mixed.values()]),
        ),
        (
            "compiled round of `projection_free_cbco`, against objects",
            _each(bandits, ".0f"),
            "at least 20x",
            _met_by([ratio >= 20.0 for ratio in bandits.values()]),
        ),
        (
            "growth of the time per round with the edges, from 10^4 to 10^7",
            f"exponent {slope:.2f}",
            "at most 1.1",
            _met(slope <= 1.1),
        ),
        (
            "two threads",
            f"{two['speed_up']:.2f}x the runs per second ({two['runs_per_second']:.0f} runs of "
            "1600 rounds)",
            "at least 1.9x",
            _met(two["speed_up"] >= 1.9),
        ),
        (
            "projection-based run (`sinha_vaze_2024`), against `projection_free_coco`",
            f"{projected / run:.0f}x the time ({projected:.2f} s against {1e3 * run:.1f} ms)",
            "at most 20x",
            _met(projected / run <= 20.0),
        ),
        (
            "import / first result cached / uncached",
            f"{imported:.2f} s / {cached:.1f} s / {uncached:.1f} s",
            "at most 0.3 / 1 / 4 s",
            ", ".join(map(_met, (imported <= 0.3, cached <= 1.0, uncached <= 4.0))),
        ),
        ("10^7 rounds, 1200 edges", f"{long['seconds']:.0f} s", "completes", "met"),
        (
            "10^7 edges",
            f"{1e-6 * large['us_per_round']:.2f} s per round, {large['build_seconds']:.0f} s to "
            f"build, {large['peak_MB'] / 1000.0:.1f} GB at the peak, rounds included",
            "completes",
            "met",
        ),
    ]
    return table(["what", "measured", "target", ""], rows)


def _micro(seconds: float) -> str:
    return f"{1e6 * seconds:.1f} µs" if seconds < 1e-4 else f"{1e3 * seconds:.1f} ms"


def _each(ratios: dict[str, float], form: str) -> str:
    return ", ".join(f"{ratio:{form}}x ({name})" for name, ratio in ratios.items())


def _met(yes: bool) -> str:
    return "met" if yes else "not met"


def _met_by(each: list[bool]) -> str:
    return f"met by {sum(each)} of {len(each)}"


def growth() -> str:
    """Return the time of a round by edges and by horizon."""
    bench = read("bench.json")
    rows = [
        (f"10^{math.log10(row['edges']):.0f} edges", _two_digits(row["us_per_round"]),
         _two_digits(row["floor_us_per_round"]))
        for row in bench["edges"]
    ]  # fmt: skip
    rows += [
        (f"10^{math.log10(row['horizon']):.0f} rounds", _two_digits(row["us_per_round"]), "")
        for row in bench["horizon"]
    ]
    return table(["size", "µs per round", "µs of the floor"], rows)


def warm() -> str:
    """Return the time of a warm projection and of an oracle call."""
    return table(
        ["edges", "projection, µs", "oracle, µs", "ratio"],
        [
            [str(row["edges"])]
            + [_two_digits(row[key]) for key in ("projection_us", "oracle_us", "ratio")]
            for row in read("bench.json")["projection"]
        ],
    )


def runs() -> str:
    """Return the seconds of one run of every method that was timed."""
    rows = read("bench.json")["figure_three"]
    lines = []
    for row in rows:
        name, _, by_hand = str(row["method"]).partition(", ")
        label = f"`{name}` in {by_hand}" if by_hand else named(name)
        how = "" if by_hand else "compiled" if row["compiled"] else "through `play`"
        lines.append([label, f"{row['seconds']:.3g}", how])
    return table(["one run of 1600 rounds", "seconds", "ran"], lines)


def round_times() -> dict[str, tuple[float, float, float, str]]:
    """Return the microseconds of a round on each problem of the tuned comparison.

    They are of the default, the default without tracking, and the quickest method that projects in
    most rounds, whose name comes last.
    """
    found = {}
    rows = [
        row for row in [*read("fair.csv"), *read("fair_networks.csv")] if row["group"] == "tuned"
    ]
    for problem in dict.fromkeys(row["problem"] for row in rows):
        mine = [row for row in rows if row["problem"] == problem]
        times = {row["method"]: float(row["microseconds_per_round"]) for row in mine}
        project = [row["method"] for row in mine if float(row["projections_per_round"]) > 0.5]
        least = min(project, key=times.__getitem__)
        ours = times["projection_free_coco"], times["projection_free_coco_plain"]
        found[problem] = (*ours, times[least], least)
    return found


def projecting() -> str:
    """Return the time of a round of the default beside that of methods that project."""
    lines = []
    for problem, (ours, plain, least, name) in round_times().items():
        cells = [_two_digits(value) for value in (ours, plain, least)]
        lines.append([f"`{problem}`", *cells, f"`{name}`", _two_digits(least / ours)])
    head = ["problem", "default, µs", "without tracking, µs", "quickest that projects, µs", "which"]
    return table([*head, "over the default"], lines)


def _two_digits(value: float) -> str:
    return f"{value:.2g}" if value < 10.0 else f"{value:.0f}"


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
