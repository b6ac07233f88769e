"""The parts of the page as HTML: verdicts, figures, tables, lists."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from hedgerow.report.escaping import in_html
from hedgerow.report.growth_figure import Rate
from hedgerow.report.picture import Picture
from hedgerow.report.summary import ProblemAtHorizon, Row, Summary, described
from hedgerow.report.verdicts import RULE, STAND_INS, Part, Verdict

HEADS = (
    "method", "e", "regret %", "CCV %", "ranks", "calls", "projections", "µs a round", "ran",
    "seeds",
)  # fmt: skip


def verdict_section(judged: Sequence[Verdict], place: ProblemAtHorizon) -> str:
    """Return the claims with verdicts; each preset has a line of its own."""
    rows = "".join(map(_claim, judged))
    names = ("claim", "constants", "verdict", "numbers")
    head = "".join(f"<th>{name}</th>" for name in names)
    note = f"On {place.problem}, T = {place.horizon}. {RULE} {STAND_INS}"
    return (
        f'<h2 id="verdicts">The paper\'s claims</h2><p class="soft">{in_html(note)}</p>'
        f'<table class="claims"><tr>{head}</tr>{rows}</table>'
    )


def _claim(verdict: Verdict) -> str:
    parts = verdict.parts or (Part("", verdict.outcome, verdict.verdict, ""),)
    first = f'<td class="claim" rowspan="{len(parts)}">{in_html(verdict.claim)}</td>'
    rows = ""
    for part in parts:
        judged = f'<td class="{part.outcome}">{in_html(part.verdict)}</td>'
        cells = f"<td>{in_html(part.preset)}</td>{judged}<td>{in_html(part.numbers)}</td>"
        rows += f"<tr>{first}{cells}</tr>"
        first = ""
    return rows


def figure_section(picture: Picture, folder: Path) -> str:
    """Return a figure with its picture inside."""
    data = base64.b64encode((folder / f"{picture.name}.png").read_bytes()).decode()
    heading, caption = in_html(picture.heading), in_html(picture.caption)
    screen = "pan" if picture.wide else "fit"
    return (
        f'<figure><h3>{heading}</h3><div class="{screen}"><img alt="{heading}. {caption}" '
        f'src="data:image/png;base64,{data}"></div><figcaption>{caption}</figcaption></figure>'
    )


def table_section(place: ProblemAtHorizon, preset: str, rows: Sequence[Row]) -> str:
    """Return the rows of one problem and preset, best ranks first."""
    head = "".join(f"<th{' class=n' if k else ''}>{name}</th>" for k, name in enumerate(HEADS))
    lines = []
    for row in sorted(rows, key=lambda row: sum(row.rank)):
        style = ' class="ours"' if row.config.method == "projection_free_coco" else ""
        name = in_html(described(row.config))
        cells = (
            f"{row.config.eagerness:g}",
            str(row.regret),
            str(row.ccv),
            f"{row.rank[0]} / {row.rank[1]}",
            f"{row.oracle_calls:.2f}",
            f"{row.projections:.2f}",
            f"{row.microseconds:.3g}" if math.isfinite(row.microseconds) else "",
            row.ran,
            str(row.runs),
        )
        front = ' class="front"' if row.undominated else ""
        numbers = "".join(f'<td class="n">{cell}</td>' for cell in cells)
        lines.append(f"<tr{style}><td{front}>{name}</td>{numbers}</tr>")
    title = in_html(f"{place.problem}, T = {place.horizon}, {preset} constants")
    return f'<h3>{title}</h3><div class="wide"><table><tr>{head}</tr>{"".join(lines)}</table></div>'


def growth_section(rates: Sequence[Rate]) -> str:
    """Return the growth exponents, or nothing."""
    cells = [
        (
            rate.problem,
            f"{rate.config} ({rate.config.preset})",
            f"{rate.exponent:.2f}" if math.isfinite(rate.exponent) else rate.reason,
            f"{rate.low:.2f} to {rate.high:.2f}" if math.isfinite(rate.exponent) else "",
        )
        for rate in rates
    ]
    heads = ("problem", "method", "exponent of the CCV", "95 % interval")
    return _titled("Growth with the horizon", heads, cells)


def refusal_section(summary: Summary) -> str:
    """Return the methods that a problem does not allow, or nothing."""
    cells = [
        (_at(place), f"{config} ({config.preset})", reason)
        for place, config, reason in summary.refusals
    ]
    heads = ("problem", "method", "why it was not played")
    return _titled("Methods that a problem does not allow", heads, cells)


def unjudged_section(summary: Summary) -> str:
    """Return the runs that have no regret and are in no table, or nothing."""
    cells = [(_at(place), str(seed), str(runs), why) for place, seed, runs, why in summary.unjudged]
    heads = ("problem", "seed", "runs", "why there is no regret")
    return _titled("Runs left out of all tables and figures", heads, cells)


def plain_table(heads: Sequence[str], cells: Iterable[Sequence[str]]) -> str:
    """Return a table of texts."""
    head = "".join(f"<th>{in_html(name)}</th>" for name in heads)
    lines = (
        "<tr>" + "".join(f"<td>{in_html(cell)}</td>" for cell in line) + "</tr>" for line in cells
    )
    return f'<div class="wide"><table><tr>{head}</tr>{"".join(lines)}</table></div>'


def _titled(title: str, heads: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    return f"<h3>{title}</h3>{plain_table(heads, cells)}" if cells else ""


def _at(place: ProblemAtHorizon) -> str:
    return f"{place.problem}, T = {place.horizon}"
