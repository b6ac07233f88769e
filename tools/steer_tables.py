"""Tables of docs/appendix/steer.md: steer and the rules of engineers, and the real loop."""

from __future__ import annotations

from statistics import median
from typing import Any

from tables import read, table

Row = dict[str, Any]
STEER = "steer"
ALL = ("price", "excess", "bad", "moved")
TWO = ("price", "excess")


def replayed() -> str:
    """Return what each method reached on each trace; bold where no other is better in both."""
    rows = []
    for found in read("steer_replay.json"):
        reached = found["reached"]
        cells = [f"{found['trace']}, {found['limit']:g} ms"]
        for name in _names():
            row = reached.get(name)
            cells.append("-" if row is None else _cell(row, reached))
        rows.append(cells)
    return table(["trace, limit", *_names()], rows)


def counts() -> str:
    """Return on how many traces steer is undominated by each rule, and dominates it."""
    traces = read("steer_replay.json")
    rows = []
    for rule in _names()[1:]:
        pairs = [(one["reached"][STEER], one["reached"].get(rule)) for one in traces]
        known = [(steer, other) for steer, other in pairs if other is not None]
        undominated = [
            sum(not dominates(other, steer, keys) for steer, other in known) for keys in (TWO, ALL)
        ]
        better = sum(dominates(steer, other, TWO) for steer, other in known)
        rows.append([rule, *(f"{count} of {len(known)}" for count in (*undominated, better))])
    head = "steer undominated in price and excess"
    return table(["rule", head, "in all four", "steer better in price and excess"], rows)


def middle() -> str:
    """Return medians over traces."""
    traces = read("steer_replay.json")
    rows = []
    for name in _names():
        known = [one["reached"] for one in traces if name in one["reached"]]
        ratio = [row[name]["price"] / row[STEER]["price"] for row in known]
        bad, moved = (median(100.0 * row[name][key] for row in known) for key in ("bad", "moved"))
        excess = median(
            100.0 * one["reached"][name]["excess"] / one["limit"]
            for one in traces
            if name in one["reached"]
        )
        cells = (f"{median(ratio):.3f}", f"{excess:.2f} %", f"{bad:.1f} %", f"{moved:.1f} %")
        rows.append([name, *cells])
    head = ["price / price of steer", "mean excess, of the limit", "bad intervals"]
    return table(["method", *head, "traffic moved per interval"], rows)


def real() -> str:
    """Return the events of the real loop and what was lost."""
    found = read("steer_real.json")
    latency = [one for one in found["latency"] if one is not None]
    above = sum(one > found["limit"] for one in latency)
    rows = [
        ["requests", str(found["requests"])],
        ["requests that failed, whatever the reason", str(found["failed"])],
        ["decisions reported", str(sum(_decided(line) for line in found["lines"]))],
        ["intervals in which weights were held", str(_count(found, "weights held:"))],
        ["intervals of falling back", str(_count(found, "falling back"))],
        ["seconds with a mean latency above the limit", f"{above} of {len(latency)}"],
    ]
    return table(["what", "found"], rows)


def dominates(one: Row, other: Row, keys: tuple[str, ...]) -> bool:
    """Whether one is as good in all of these, and better in some."""
    return all(one[key] <= other[key] for key in keys) and any(one[k] < other[k] for k in keys)


def _names() -> list[str]:
    found = list(read("steer_replay.json")[0]["reached"])
    return [STEER, *(name for name in found if name != STEER)]


def _cell(row: Row, reached: dict[str, Row]) -> str:
    text = f"{row['price']:.3f} / {row['excess']:.2f} / {100.0 * row['bad']:.1f} %"
    beaten = any(dominates(other, row, TWO) for other in reached.values())
    return text if beaten else f"**{text}**"


def _decided(line: str) -> bool:
    return "price" in line and "not reported" not in line


def _count(found: Row, text: str) -> int:
    return sum(text in line for line in found["lines"])
