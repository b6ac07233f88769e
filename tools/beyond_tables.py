"""The tables of beyond.md."""

from __future__ import annotations

from statistics import mean
from typing import Any

from tables import read, table

METHODS = ["default", "tracking", "Sinha-Vaze", "Wang"]
SWEPT = [*METHODS[:3], "Sinha-Vaze, per game", "Wang"]
LABELS = {"Wang": "restarts around Hedgerow's learner"}
"""What the column is that the evidence calls by the name of who proposed restarts."""
STORIES = {
    "G": "paths of the paper, 1200 edges",
    "N2": "paths, 600 edges, tides",
    "S1": "simplex, 20, alike rounds",
    "N3": "simplex, 200, alike rounds",
    "S2": "ball, growing phases",
    "S2b": "ball, phases of sqrt T",
    "N1": "6 of 30, drifting",
    "S3": "box, adaptive",
    "S4": "ball, adaptive",
    "HB": "box, curved, adaptive",
}


def spread(found: dict[str, Any] | None, seeds: int) -> str:
    """Write a mean with its interval, and the number of seeds where some are missing."""
    if found is None:
        return "not reached"
    half = "" if found["half"] is None else f" ± {found['half']:.3f}"
    some = "" if found["seeds"] == seeds else f" ({found['seeds']} of {seeds})"
    return f"{found['mean']:.3f}{half}{some}"


def matched(level: str) -> str:
    """Regret at one CCV, and how far tracking is from Sinha-Vaze at its best."""
    evidence = read("beyond.json")
    rows: list[list[str]] = []
    for game in STORIES:
        cells = {
            r["method"]: r for r in evidence["matched"] if (r["game"], r["level"]) == (game, level)
        }
        if not cells:
            continue
        seeds = len({s["seed"] for s in evidence["sweeps"] if s["game"] == game})
        regrets = [spread(cells[m]["regret"], seeds) for m in SWEPT]
        apart = spread(cells["Sinha-Vaze, per game"]["tracking_minus"], seeds)
        rows.append([game, f"{cells['default']['ccv']:.3f}", *regrets, apart])
    heads = [LABELS.get(name, name) for name in SWEPT]
    return table(["game", "CCV", *heads, "tracking - Sinha-Vaze, per game"], rows)


def steps() -> str:
    """Step rules under the same potential at eagerness 1: regret / CCV."""
    sweeps = read("beyond.json")["sweeps"]
    names = ["PaperSteps", "RmsSteps(8)", "RmsSteps(16)", "CertificateSteps(0.3)", "default"]

    def pair(game: str, method: str) -> str:
        runs = [s for s in sweeps if (s["game"], s["method"]) == (game, method)]
        at = [s["eagerness"].index(1.0) for s in runs]
        regret, ccv = (
            mean(s[key][i] for s, i in zip(runs, at, strict=True)) for key in ("regret", "ccv")
        )
        return f"{regret:.3f} / {ccv:.3f}"

    present = [game for game in STORIES if any(s["game"] == game for s in sweeps)]
    head = ["game", "what", *names[:-1], "CertificateSteps(0.03)"]
    return table(head, [[g, STORIES[g], *(pair(g, m) for m in names)] for g in present])


def growth() -> str:
    """How beta, M and CCV grow with the horizon, and beta over its floor at the longest."""
    rows = []
    for row in read("beyond_growth.json"):
        slopes = [row[f"{name}_slope"] for name in ("beta", "M", "ccv")]
        cells = ["-" if slope is None else f"{slope:.2f}" for slope in slopes]
        rows.append([row["game"], *cells, f"{1.0 / row['floor_over_beta'][-1]:.0f}"])
    return table(["game", "beta", "M", "CCV", "beta over its floor"], rows)


def follower() -> str:
    """The follower alone and tracking, regret / CCV, and the leader's share of the weight."""
    rows = []
    for row in read("beyond_follower.json"):
        pairs = [f"{row[name][0]:.3f} / {row[name][1]:.3f}" for name in ("follower", "tracking")]
        rows.append([row["game"], *pairs, f"{100 * row['weight_of_leader']:.0f} %"])
    return table(["game", "follower alone", "tracking", "weight of the leader"], rows)


def wealth() -> str:
    """Log wealth without a constraint, of the mixture and of its parts."""
    played = ["tracking=False", "default", "follower", "equal weights"]
    rows = [
        [f"{row['series']}, {row['assets']} assets", f"{row['days']}"]
        + [f"{row[name]:.2f}" for name in played]
        for row in read("log_wealth.json")
    ]
    heads = ["series", "days", *played[:2], "follower alone", "equal weights"]
    return table(heads, rows)


def number(value: float | None) -> str:
    """Write three figures, and no exponent."""
    if value is None:
        return "not reached"
    return f"{value:.0f}" if abs(value) >= 100.0 else f"{value:.3g}"


def real() -> str:
    """Regret at the default's CCV on real rounds, and what more actions add to it."""
    rows = []
    for row in read("beyond_real.json")["rows"]:
        costs = {s: best["cost"] for s, best in row["benchmarks"].items()}
        regrets = [number(row["methods"][m]["regret"]["0"]) for m in METHODS]
        more = [f"+{number(costs['0'] - costs[s])}" for s in costs if s != "0"]
        rows.append([row["game"], number(row["ccv"]), *regrets, *more])
    heads = [LABELS.get(name, name) for name in METHODS]
    return table(["rounds of", "CCV", *heads, "1 switch", "3", "7"], rows)


def speed() -> str:
    """Time and oracle calls per round on two graphs."""
    rows = read("beyond_speed.json")["policies"]
    small, large = ({r["policy"]: r for r in rows if r["edges"] == n} for n in (1200, 12000))
    return table(
        ["", "1200 edges", "12000 edges", "oracle calls per round"],
        [
            [
                LABELS.get(name, name),
                f"{small[name]['ratio']:.2f} ({small[name]['us']:.0f} us)",
                f"{large[name]['ratio']:.2f} ({large[name]['us']:.0f} us)",
                f"{small[name]['oracle_calls']:.2f}"
                + (" and a projection" if small[name]["projections"] else ""),
            ]
            for name in small
        ],
    )


def lazy() -> str:
    """Lazy against plain conditional gradient where the oracle is dear."""
    rows = [r for r in read("beyond_speed.json")["lazy"] if r["learner"] == "LazyOCG"]
    return table(
        ["set", "noise", "time, of plain", "oracle calls per round"],
        [
            [r["set"], f"{r['noise']:g}", f"{r['ratio']:.2f}", f"{r['oracle_calls']:.2f}"]
            for r in rows
        ],
    )


def searched() -> str:
    """The worst that was found for both policies, and the best of the random games."""
    rows = read("beyond_adversary.json")["policies"]

    def cell(policy: str, measure: str, where: str) -> str:
        key = (policy, measure, where)
        r = next(r for r in rows if (r["policy"], r["measure"], r["set"]) == key)
        return f"{r['worst']:.3f} / {r['best_random']:.3f}"

    places = [(m, s) for m in ("hindsight_regret", "ccv") for s in ("Simplex", "L2Ball")]
    head = ["", "regret, simplex", "regret, ball", "CCV/T, simplex", "CCV/T, ball"]
    return table(head, [[p, *(cell(p, *at) for at in places)] for p in ("default", "tracking")])


def rules() -> str:
    """The worst that was found for each step rule."""
    rows = read("beyond_adversary.json")["learners"]
    worst = {(r["set"], r["steps"]): f"{r['worst']:.3f}" for r in rows}
    names = dict.fromkeys(r["steps"] for r in rows)
    return table(
        ["steps", "simplex", "ball"],
        [[name, worst["Simplex", name], worst["L2Ball", name]] for name in names],
    )
