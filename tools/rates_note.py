"""The note's tables of rates: python tools/rates_note.py writes docs/note/rates.tex."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
Row = dict[str, Any]
PLAYERS = {
    "one step": "one step",
    "away steps": "away steps",
    "default": "with constraints, one step",
    "away": "with constraints, away steps",
}
"""Names in the evidence, and in the note."""
SHORT = {
    "pushed from the play": "push",
    "the nearest vertex is dear": "vertex",
    "the target turns": "target",
    "the last movement is dear": "movement",
    "pulled into the constraint": "pull",
}
"""The adversarial games, and what they are called in the note."""
HORIZONS = {1600: "1600", 100_000: r"10^5"}


def rates(evidence: dict[str, list[Row]]) -> str:
    """Return three tables in LaTeX: bounds, attacks on them, and growth."""
    tables = _bounds(evidence["bounds"]), _attack(evidence["attack"]), _growth(evidence["growth"])
    return "\n".join(tables).replace(", 1200 edges", "")


def _framed(columns: str, head: str, lines: list[str], caption: str, label: str) -> str:
    return "\n".join(
        [
            r"\begin{table}[t]\centering\scriptsize\setlength{\tabcolsep}{3.5pt}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\hline",
            head + r" \\",
            r"\hline",
            *(line + r" \\" for line in lines),
            r"\hline",
            r"\end{tabular}",
            rf"\caption{{{caption}}}\label{{{label}}}",
            r"\end{table}",
            "",
        ]
    )


def _bounds(rows: list[Row]) -> str:
    at: dict[tuple[str, str], dict[int, Row]] = {}
    for row in rows:
        at.setdefault((row["set"], row["player"]), {})[row["horizon"]] = row
    lines = []
    for name in dict.fromkeys(place[0] for place in at):
        for said, player in (("alone", "one step"), ("with constraints", "default")):
            cells = [_cells(row.get(key), ["paper"]) for row, key in _columns(at[name, player])]
            lines.append(" & ".join([name, rf"\cite{{paper}}, {said}", "", *cells]))
        for player, said in PLAYERS.items():
            of = at[name, player]
            ours = ["proved", "universal", "Theorem F", "Theorem R"]
            q = ", ".join(dict.fromkeys(str(row["q"]) for row in of.values()))
            cells = [_cells(row.get(key), ours) for row, key in _columns(of)]
            lines.append(" & ".join([name, said, f"${q}$", *cells]))
    head = ["set", "player", "$q$"]
    head += [f"{what}, $T={T}$" for T in HORIZONS.values() for what in ("regret", "CCV")]
    caption = (
        r"Bounds for gradients of norm 1, in per cent of the trivial bound $DT$; above 100 a bound "
        r"says nothing. Of a learner alone: that of its schedule / that of the rule for all sets, "
        r"Theorem~\ref{thm:one}. With constraints: that of the weights / that of a policy that may "
        r"fall back to them."
    )
    return _framed("llcrrrr", " & ".join(head), lines, caption, "ratebounds")


def _columns(of: dict[int, Row]) -> list[tuple[Row, str]]:
    """Return the row and the quantity of each column."""
    return [(of[T], key) for T in HORIZONS for key in ("regret", "ccv")]


def _cells(found: dict[str, float] | None, keys: list[str]) -> str:
    if found is None:
        return ""
    return " / ".join(_short(found[key]) for key in keys if key in found)


def _short(value: float) -> str:
    return f"{value:.1f}" if value < 100.0 else f"{value:,.0f}".replace(",", r"\,")


def _attack(rows: list[Row]) -> str:
    games, rounds, broken = (sum(row[key] for row in rows) for key in ("games", "rounds", "broken"))
    lines = []
    for name in dict.fromkeys(row["set"] for row in rows):
        mine = {row["player"]: row for row in rows if row["set"] == name}
        cells = []
        for steps in ("one step", "away steps"):
            for rule in ("schedule", "universal"):
                some = [r["regret"] for p, r in mine.items() if p.startswith(f"{steps}, {rule}")]
                cells.append(f"{max(some):.2f}")
        lines.append(" & ".join([rf"{name}", *cells]))
    head = (
        r"& \multicolumn{2}{c}{one step} & \multicolumn{2}{c}{away steps} \\"
        "\n"
        r"set & schedule & all sets & schedule & all sets"
    )
    caption = (
        f"The largest regret over its bound in {games} games of 300 rounds in which an adversary "
        r"reacts, with gradients of sizes from $10^{-6}$ to $10^6$. Bounds were compared in each "
        f"of {rounds} rounds; {broken} of the comparisons failed."
    )
    return _framed("lrrrr", head, lines, caption, "rateattack")


def _growth(rows: list[Row]) -> str:
    games = list(dict.fromkeys(row["game"] for row in rows))
    at = {(row["set"], row["game"], row["player"]): row for row in rows}
    lines = []
    for name in dict.fromkeys(row["set"] for row in rows):
        for game in games[:5]:
            cells = [_fit(at[name, game, player]) for player in ("one step", "away steps")]
            lines.append(" & ".join([name, SHORT[game], *cells]))
    head = "set & game & one step & away steps"
    caption = (
        r"Regret against five adversaries, $T=10^3$ to $10^6$ (to $10^5$ for paths): exponents "
        r"with 95\,\% intervals, and the value at the longest horizon; no exponent where a value "
        "is below 0.1. They push from the play, make the nearest vertex dear, push towards a "
        "target that moves to another face, make the last movement dear, or pull towards one side."
    )
    return _framed("llrr", head, lines, caption, "rategrowth")


def _fit(row: Row) -> str:
    fit, last = row["exponent"], round(row["regret"][-1], 6) + 0.0  # no -0
    value = f"{last:.0f}" if last >= 100.0 else f"{last:.2g}"
    return value if fit is None else f"${fit[0]:.2f}\\ [{fit[1]:.2f},{fit[2]:.2f}]$, {value}"


def main() -> None:
    """Write the tables beside the note."""
    evidence = json.loads((ROOT / "evidence" / "rates.json").read_text(encoding="utf-8"))
    (ROOT / "docs" / "note" / "rates.tex").write_text(rates(evidence), encoding="utf-8")


if __name__ == "__main__":
    main()
