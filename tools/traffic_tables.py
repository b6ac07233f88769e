"""Tables of docs/how-to/traffic.md: measured weeks, generated demand, and a large network."""

from __future__ import annotations

from statistics import median
from typing import Any

from tables import read, table

Row = dict[str, Any]
NAMES = {
    "projection_free_coco_plain": "`projection_free_coco_plain` (`BlockOCG`)",
    "shortest paths": "shortest paths",
    "ECMP": "ECMP",
    "last matrix": "best for the last matrix",
    "mean matrix": "best for the mean matrix",
}
DEFAULT, BLOCKS = "projection_free_coco", "projection_free_coco_plain"


def measured(network: str) -> str:
    """Return cost, CCV and rounds violating at the three limits, and the time at the middle one."""
    limits = read("traffic.json")["measured"][network]["limits"]
    rows = []
    for method in limits["0.7"]["methods"]:
        cells = [_name(method)]
        for found in limits.values():
            cells.append(_cell(found["methods"][method], found["methods"]))
        found = limits["0.7"]["methods"][method]
        cells += [_certificate(found), _time(found)]
        rows.append(cells)
    for label, key in (("hindsight", "hindsight"), ("optimum of each round", "dynamic")):
        cells = [f"*{label}*"]
        for found in limits.values():
            ccv = found[key].get("ccv", found[key].get("budget", 0.0))
            cells.append(f"{found[key]['cost']:.3f} / {ccv:.2f}")
        rows.append([*cells, "-", "-"])
    heads = [f"limit {share}: cost / CCV / rounds" for share in limits]
    return table(["method", *heads, "certificate", "µs per round"], rows)


def _name(method: str) -> str:
    return NAMES.get(method, f"`{method}`")


def _cell(found: Row, methods: dict[str, Row]) -> str:
    if "refused" in found:
        return "refused"
    whole = max(row.get("rounds", 0) for row in methods.values())
    if found["rounds"] < whole:
        return f"{found['rounds']} rounds in time"
    numbers = f"{found['cost']:.3f} / {found['ccv']:.2f} / {100.0 * found['violating']:.0f} %"
    return numbers if beaten_by(found, methods) else f"**{numbers}**"


def beaten_by(found: Row, methods: dict[str, Row]) -> list[str]:
    """Return the methods with less cost and less CCV, of those that played all rounds."""
    return [
        name
        for name, row in methods.items()
        if row.get("rounds") == found["rounds"]
        and row["cost"] < found["cost"]
        and row["ccv"] < found["ccv"]
    ]


def _certificate(found: Row) -> str:
    return f"{found['certificate']:.3g}" if "certificate" in found else "-"


def _time(found: Row) -> str:
    return "-" if "refused" in found else f"{found['microseconds']:.0f}"


def generated() -> str:
    """Return medians over networks and seeds, and how often each of ours wins."""
    games = read("traffic.json")["generated"]
    rows = []
    for method in next(iter(games.values()))["methods"]:
        found = [game["methods"][method] for game in games.values()]
        best = [game["hindsight"]["cost"] for game in games.values()]
        ratio = median(row["cost"] / cost for row, cost in zip(found, best, strict=True))
        rows.append(
            [
                _name(method),
                f"{100.0 * (ratio - 1.0):+.2f} %",
                f"{median(row['ccv'] for row in found):.2f}",
                f"{100.0 * median(row['violating'] for row in found):.1f} %",
                *(_score(games, ours, method) for ours in (DEFAULT, BLOCKS)),
                f"{median(row['microseconds'] for row in found):.0f}",
            ]
        )
    networks, seeds = ({name.split()[k] for name in games} for k in (0, 1))
    sizes = f"{len(networks)} networks, {len(seeds)} seeds each: {len(games)} games."
    heads = ["cost above hindsight's", "CCV", "rounds violating"]
    wins = [f"{_name(ours)}: less CCV, beaten" for ours in (DEFAULT, BLOCKS)]
    return f"{sizes}\n\n" + table(["method", *heads, *wins, "µs per round"], rows)


def _score(games: dict[str, Row], ours: str, method: str) -> str:
    """Return in how many games ours has less CCV, and in how many it is beaten on both numbers."""
    if ours == method:
        return "-"
    pairs = [(game["methods"][ours], game["methods"][method]) for game in games.values()]
    less = sum(a["ccv"] < b["ccv"] for a, b in pairs)
    beaten = sum(a["ccv"] > b["ccv"] and a["cost"] > b["cost"] for a, b in pairs)
    return f"{less}, {beaten} of {len(pairs)}"


def products() -> str:
    """Return cost and CCV on products of simplices, by the speed of the costs."""
    games = read("traffic.json")["products"]
    methods = list(next(iter(games.values())))
    rows = [
        [game, *(f"{found[method]['cost']:.0f} / {found[method]['ccv']:.2f}" for method in methods)]
        for game, found in games.items()
    ]
    return table(["simplices x arms", *map(_name, methods)], rows)


def scale() -> str:
    """Return the time of a round on a large network."""
    found = read("traffic.json")["scale"]
    rows = [
        [_name(method), f"{found['microseconds'] / 1000.0:.1f}"]
        for method, found in found["methods"].items()
    ]
    rows.append(
        ["a linear programme (HiGHS)", f"{1000.0 * found['seconds_of_a_linear_programme']:.0f}"]
    )
    return table(["method", "ms per round"], rows)
