"""The tables of a report, as parts of its page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hedgerow.report.document import folded, plain_table, soft, titled_table
from hedgerow.report.escaping import in_html
from hedgerow.report.naming import OURS, remarks_of
from hedgerow.report.paired import worded_p
from hedgerow.report.picture import words
from hedgerow.report.rates import Rate
from hedgerow.report.summary import (
    MethodConfig,
    ProblemAtHorizon,
    Row,
    Summary,
    described,
    three_digits,
)
from hedgerow.report.verdicts import RULE, STAND_INS, Part, Verdict

HEADS = (
    "method", "e", "regret %", "CCV %", "ranks", "calls", "projections", "µs per round", "ran",
    "seeds",
)  # fmt: skip

POINTS = (
    "Points: the claim's method minus the other, in percent as above, seed by seed. A verdict is "
    "about the methods that are named below it. With practical constants Algorithm 2 is our "
    "default; with the theorems' constants it is as in the paper."
)
MOST_CONSTRAINTS = 8
EACH = (
    "The CCV of each constraint by itself, in % of the blind action's CCV as above. In a method's "
    "CCV a round counts once, with its largest violation, so the columns may add up to more."
)
UNITS = (
    "Regret: cost above that of the best fixed action that keeps every round, in % of that "
    "action's cost or of the blind action's, whichever is larger; negative where violation bought "
    "cost. CCV: cumulative constraint violation, the sum of max(0, g_t), in % of the blind "
    "action's, the best fixed action that ignores the constraint. ±: half the 95 % interval over "
    "seeds. e: eagerness, the tuned factor of the methods that have one; each method is shown at "
    "the value nearest to 1, and all are in table.csv. Ranks are by regret and by CCV among those "
    "with the same kind of constants; bold: no other method is as good in both and better in one. "
    "Calls: linear minimisations per round. Time: median of the game, without "
    "drawing rounds that fit in memory. "
    "Games that ran compiled are one compiled loop, the others ran in Python through play: between "
    "the two, times compare code, not algorithms; an empty cell means that it was not recorded."
)


def verdict_section(judged: Sequence[Verdict], place: ProblemAtHorizon) -> str:
    """Return the claims in a compact table, and every number in one that is folded."""
    presets = list(dict.fromkeys(part.preset for verdict in judged for part in verdict.parts))
    first = presets[0] if presets else "practical"
    heads = ["claim", words(first), "number", "p", *(words(preset) for preset in presets[1:])]
    head = "".join(f"<th>{in_html(name)}</th>" for name in heads)
    rows = "".join(_line(verdict, first, presets[1:]) for verdict in judged)
    names = ("claim", "constants", "compared", "verdict", "p", "numbers")
    cells = [
        (
            *(verdict.claim, part.preset, part.compared, part.verdict),
            *(worded_p(part.p), part.numbers),
        )
        for verdict in judged
        for part in verdict.parts or (Part("", verdict.outcome, verdict.verdict, "", "", 1.0),)
    ]
    details = soft(RULE) + plain_table(names, cells)
    return (
        f'<h2 id="verdicts">The paper\'s claims</h2>'
        f"{soft(f'On {_at(place)}. {POINTS} {STAND_INS}')}"
        f'<table class="claims"><tr>{head}</tr>{rows}</table>'
        f"{folded('How a claim is judged, and all numbers', details)}"
    )


def _line(verdict: Verdict, first: str, others: Sequence[str]) -> str:
    parts = {part.preset: part for part in verdict.parts}
    one = parts.get(first)
    cells = [f'<td class="claim">{in_html(verdict.claim)}</td>']
    if one is None:
        cells.append(f'<td class="{verdict.outcome}">{in_html(verdict.verdict)}</td>')
        cells.append("<td></td><td></td>")
    else:
        named = f'<div class="soft">{in_html(one.compared)}</div>'
        cells.append(f'<td class="{one.outcome}">{in_html(one.verdict)}{named}</td>')
        cells.append(f"<td>{in_html(one.number)}</td>")
        cells.append(f'<td class="n" data-head="p">{in_html(worded_p(one.p))}</td>')
    for preset in others:
        part = parts.get(preset)
        said = in_html(part.verdict.split(":")[0]) if part else ""
        outcome = part.outcome if part else "untested"
        cells.append(f'<td class="{outcome}" data-head="{in_html(words(preset))}">{said}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def table_section(place: ProblemAtHorizon, preset: str, rows: Sequence[Row]) -> str:
    """Return the rows of one problem and preset, best ranks first."""
    head = "".join(f"<th{' class=n' if k else ''}>{name}</th>" for k, name in enumerate(HEADS))
    lines = []
    for row in sorted(rows, key=lambda row: sum(row.rank)):
        style = ' class="ours"' if row.config.method == OURS else ""
        name = in_html(described(row.config))
        cells = (
            f"{row.config.eagerness:g}",
            str(row.regret),
            str(row.ccv),
            f"{row.rank[0]} / {row.rank[1]}",
            f"{row.oracle_calls:.2f}",
            f"{row.projections:.2f}",
            three_digits(row.microseconds),
            row.ran,
            str(row.runs),
        )
        front = ' class="front"' if row.undominated else ""
        numbers = "".join(f'<td class="n">{cell}</td>' for cell in cells)
        method = in_html(row.config.method)
        lines.append(f'<tr{style} data-method="{method}"><td{front}>{name}</td>{numbers}</tr>')
    title = in_html(f"{_at(place)}, {words(preset)}")
    return f'<h3>{title}</h3><div class="wide"><table><tr>{head}</tr>{"".join(lines)}</table></div>'


def each_section(place: ProblemAtHorizon, preset: str, rows: Sequence[Row]) -> str:
    """Return the CCV of each constraint; empty where rounds have one, or not always as many."""
    counts = {len(row.ccv_each) for row in rows}
    if counts == {0} or len(counts) > 1:
        return ""
    (count,) = counts
    totals = [sum(row.ccv_each[k].value for row in rows) for k in range(count)]
    worst = sorted(range(count), key=lambda k: -totals[k])[:MOST_CONSTRAINTS]
    cells = [
        (described(row.config), str(row.ccv), *(str(row.ccv_each[k]) for k in sorted(worst)))
        for row in sorted(rows, key=lambda row: sum(row.rank))
    ]
    heads = ("method", "CCV %", *(f"constraint {k + 1}" for k in sorted(worst)))
    some = f" The {len(worst)} of {count} with the most are shown." if len(worst) < count else ""
    title = in_html(f"Each constraint of {_at(place)}, {words(preset)}")
    return f"<h3>{title}</h3>{soft(EACH + some)}{plain_table(heads, cells)}"


def growth_section(rates: Sequence[Rate]) -> str:
    """Return the table of growth exponents; empty where there were too few horizons."""
    cells = [
        (
            rate.problem,
            _played(rate.config),
            f"{rate.exponent:.2f}" if math.isfinite(rate.exponent) else rate.reason,
            f"{rate.low:.2f} to {rate.high:.2f}" if math.isfinite(rate.exponent) else "",
        )
        for rate in rates
    ]
    heads = ("problem", "method", "exponent of the CCV", "95 % interval")
    return titled_table("Growth with the horizon", heads, cells)


def refusal_section(summary: Summary) -> str:
    """Return the methods that a problem does not allow, or nothing."""
    cells = [(_at(place), _played(config), reason) for place, config, reason in summary.refusals]
    heads = ("problem", "method", "why it was not played")
    return titled_table("Methods that a problem does not allow", heads, cells)


def unjudged_section(summary: Summary) -> str:
    """Return the runs that have no regret and are in no table, or nothing."""
    cells = [(_at(place), str(seed), str(runs), why) for place, seed, runs, why in summary.unjudged]
    heads = ("problem", "seed", "runs", "why there is no regret")
    return titled_table("Runs left out of all tables and figures", heads, cells)


def _played(config: MethodConfig) -> str:
    remarks = remarks_of(config.method, config.preset)
    return f"{config} ({'; '.join(part for part in (config.preset, remarks) if part)})"


def _at(place: ProblemAtHorizon) -> str:
    return f"{place.problem}, T = {place.horizon}"
