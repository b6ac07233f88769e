"""Live plots of what changes with the horizon, and with eagerness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hedgerow.report.interactive import own_key
from hedgerow.report.live_plot import (
    FADED,
    HEIGHT,
    MARKERS,
    Axis,
    Panel,
    colour_of,
    dash_of,
    drawn_last,
    ends_of,
    item_of,
    label_of,
    marker_of,
    models,
    new_plot,
    percent_axis,
    shown_name,
    source_of,
    tag,
    tell,
)
from hedgerow.report.naming import OURS, in_words
from hedgerow.report.picture import CCV, COLOURS, REGRET, Styles, words
from hedgerow.report.rates import Rate
from hedgerow.report.summary import ProblemAtHorizon, Row

LEVELS = (0.5, 0.75, 1.0)
"""Exponents that theorems name; 1 is no learning."""
ROW = 34
"""Pixels for each named line of a panel."""


def growth_panels(rates: Sequence[Rate], styles: Styles) -> list[Panel]:
    """Return CCV against the horizon and its exponents, for each problem and kind of constants."""
    groups: dict[tuple[str, str], list[Rate]] = {}
    for rate in rates:
        groups.setdefault((rate.problem, rate.config.preset), []).append(rate)
    found = []
    for (problem, preset), some in groups.items():
        where = f"{problem}, {words(preset)}"
        found.append(Panel(f"CCV after T rounds: {where}", _horizons(some, styles)))
        found.append(Panel(f"Exponent e in CCV ~ T^e: {where}", _exponents(some, styles)))
    return found


def _horizons(rates: Sequence[Rate], styles: Styles) -> dict[str, Any]:
    horizons = sorted({T for rate in rates for T, _ in rate.means})
    values = [mean.value for rate in rates for _, mean in rate.means]
    rounds = Axis("rounds T", horizons[0], horizons[-1], 0.0, tuple(map(float, horizons)))
    ccv = Axis("CCV, in the problem's unit", min(values), max(values), 0.0)
    plot = new_plot(rounds, ccv)
    lines = []
    for rate in sorted(rates, key=lambda rate: drawn_last(rate.config.method, styles)):
        method = rate.config.method
        count = len(rate.means)
        source = source_of(
            {
                **rounds.columns(x=[float(T) for T, _ in rate.means]),
                **ccv.columns(y=[mean.value for _, mean in rate.means]),
                "ccv": [str(mean) for _, mean in rate.means],
                "told": [_told(rate)] * count,
            }
        )
        style = {
            "name": shown_name(in_words(*rate.config[:2])),
            "source": source,
            "muted_alpha": FADED,
        }
        x, y, colour = rounds.field("x"), ccv.field("y"), colour_of(method, styles)
        width = 2.2 if method in styles else 1.2
        lines.append(
            plot.line(
                x,
                y,
                line_color=colour,
                line_dash=dash_of(method, styles),
                line_width=width,
                **style,
            )
        )
        plot.scatter(x, y, marker=marker_of(method, styles), size=7, color=colour, **style)
        tag(plot, method)
    told = [("", "$name"), ("T", "@x{0}"), ("CCV", "@ccv"), ("exponent", "@told")]
    tell(plot, lines, told, line_policy="nearest")
    return item_of(plot)


def _exponents(rates: Sequence[Rate], styles: Styles) -> dict[str, Any]:
    ordered = sorted(rates, key=lambda rate: rate.exponent)
    low = min(*LEVELS, *(rate.low for rate in ordered)) - 0.05
    high = max(*LEVELS, *(rate.high for rate in ordered)) + 0.05
    axis = Axis("exponent e, with 95 % bootstrap interval", low, high, float("inf"))
    plot = new_plot(axis, None, max(HEIGHT, 60 + ROW * len(ordered)))
    plot.x_range = models().Range1d(low, high)
    plot.y_range = models().Range1d(-0.6, max(len(ordered) - 0.2, 1.0))
    for level in LEVELS:
        span = models().Span(location=level, dimension="height", line_color="#888888")
        span.line_dash = "dotted"
        plot.add_layout(span)
    dots = []
    for k, rate in enumerate(ordered):
        method, place = rate.config.method, float(len(ordered) - 1 - k)
        columns = axis.columns(x=[rate.exponent], low=[rate.low], high=[rate.high], first=[low])
        told = {"told": [_told(rate)], "label": [label_of(shown_name(in_words(*rate.config[:2])))]}
        source = source_of({**columns, **told, "k": [place], "above": [place + 0.32]})
        style = {"name": shown_name(in_words(*rate.config[:2])), "source": source}
        plot.segment(
            "low", "k", "high", "k", line_color=colour_of(method, styles), line_width=2.0,
            muted_alpha=FADED, **style,
        )  # fmt: skip
        plot.text(
            "first", "above", "label", text_font_size="12px", text_color="#1a1a1a",
            text_baseline="middle", muted_alpha=0.25, **style,
        )  # fmt: skip
        dots.append(
            plot.scatter(
                "x",
                "k",
                marker=marker_of(method, styles),
                size=9,
                color=colour_of(method, styles),
                muted_alpha=FADED,
                **style,
            )
        )
        tag(plot, method)
    tell(plot, dots, [("", "$name"), ("exponent", "@told")])
    return item_of(plot)


def _told(rate: Rate) -> str:
    return f"{rate.exponent:.2f}, from {rate.low:.2f} to {rate.high:.2f}"


def knob_panels(eager: Mapping[ProblemAtHorizon, Sequence[Row]]) -> list[Panel]:
    """Return regret and CCV against eagerness, a line for each problem."""
    regret = {place: [(r, ends_of(r.regret)) for r in rows] for place, rows in eager.items()}
    ccv = {place: [(r, ends_of(r.ccv, 0.0)) for r in rows] for place, rows in eager.items()}
    return [
        Panel("Regret", _knob(regret, REGRET)),
        Panel("Violation (CCV)", _knob(ccv, CCV)),
    ]


def _knob(
    lines: Mapping[ProblemAtHorizon, Sequence[tuple[Row, tuple[float, float]]]], label: str
) -> dict[str, Any]:
    eagerness = sorted({row.config.eagerness for rows in lines.values() for row, _ in rows})
    knob = Axis("eagerness", eagerness[0], eagerness[-1], 0.0, tuple(eagerness))
    axis = percent_axis(label, [end for rows in lines.values() for _, ends in rows for end in ends])
    plot = new_plot(knob, axis)
    drawn = []
    for k, (place, rows) in enumerate(lines.items()):
        means = [row.regret if label == REGRET else row.ccv for row, _ in rows]
        source = source_of(
            {
                **knob.columns(x=[row.config.eagerness for row, _ in rows]),
                **axis.columns(
                    y=[mean.value for mean in means],
                    bottom=[low for _, (low, _) in rows],
                    top=[high for _, (_, high) in rows],
                ),
                "mean": [str(mean) for mean in means],
            }
        )
        name = shown_name(place.problem)
        style = {"name": name, "source": source, "muted_alpha": FADED}
        x, y, colour = knob.field("x"), axis.field("y"), COLOURS[k % len(COLOURS)]
        plot.segment(
            x, axis.field("bottom"), x, axis.field("top"), line_color=colour, line_alpha=0.5,
            **style,
        )  # fmt: skip
        drawn.append(plot.line(x, y, line_color=colour, line_width=2.0, **style))
        shapes = list(MARKERS.values())
        plot.scatter(x, y, marker=shapes[k % len(shapes)], size=8, color=colour, **style)
        tag(plot, OURS, own_key(place.problem))
    unit = "regret" if label == REGRET else "CCV"
    told = [("", "$name"), ("eagerness", "@x"), (unit, "@mean %")]
    tell(plot, drawn, told, line_policy="nearest")
    return item_of(plot)
