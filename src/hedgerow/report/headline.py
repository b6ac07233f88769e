"""The head of a page: what was run, and short answers for each problem."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from hedgerow.experiments.problems import KINDS
from hedgerow.report.naming import HEADLINE, is_own
from hedgerow.report.picture import Styles, styles_with
from hedgerow.report.provenance import how_far, made_by
from hedgerow.report.summary import ProblemAtHorizon, Row, Summary, Which, three_digits
from hedgerow.report.verdicts import IGNORED, Game, route_place

BEST = "the best fixed action that satisfies every round's constraint, known only afterwards"
EVERY_ONE = f"Every method has a CCV of {IGNORED:g} % or more: all ignore the constraint."
VERSIONS = ("python", "numpy", "scipy", "numba")
AXES = {
    "CCV": "cumulative constraint violation, the sum of max(0, g_t) so far, in % of the total of "
    "the unconstrained action: the best fixed action that ignores the constraint.",
    "Regret": "cost so far above that of the best fixed action that satisfies every round's "
    "constraint, in % of that action's total cost or of the unconstrained action's, whichever is "
    "larger; below zero: cheaper.",
    "Time": "median of a round's share of the game, in microseconds; filled marks ran as one "
    "compiled loop, hollow ones in Python: one against the other compares code, not algorithms.",
}
"""One line for each axis."""
RANKS = (
    "Ranks are among all methods that played, by mean regret and by mean CCV; methods that ignore "
    "the constraint may have the lowest regret. A difference is called significant where the 95 % "
    "interval of the paired differences, seed by seed, excludes 0 (Student's t)."
)


class Answer(NamedTuple):
    """A question and its answer in one sentence."""

    question: str
    answer: str


def headline_place(summary: Summary) -> ProblemAtHorizon:
    """Return the problem that the page opens with: the first route, or else the first of all."""
    return route_place(summary) or summary.places[0]


def headline_rows(summary: Summary, place: ProblemAtHorizon, preset: str) -> list[Row]:
    """Return the rows that the page opens with.

    The methods that stand out, those of Sarkar et al. 2026, the user's own, and those with the
    lowest CCV and regret; all methods where these are fewer than two.
    """
    rows = summary.at(place, preset)
    played = {row.config.method: row for row in rows}
    names = [*summary.names.highlighted, *HEADLINE, *(name for name in played if is_own(name))]
    names += [row.config.method for row in (_least_ccv(rows), _least_regret(rows)) if row]
    found = [played[name] for name in dict.fromkeys(names) if name in played]
    return found if len(found) > 1 else rows


def headline_styles(summary: Summary) -> Styles:
    """Return a style for each method that the page opens with, and for each of the user's own."""
    opening = headline_rows(summary, headline_place(summary), summary.presets[0])
    own = [name for name in summary.results.experiment["methods"] if is_own(name)]
    return styles_with([*own, *(row.config.method for row in opening)], summary.names)


def _least_ccv(rows: Sequence[Row]) -> Row | None:
    return min(rows, key=lambda row: row.ccv.value, default=None)


def _least_regret(rows: Sequence[Row]) -> Row | None:
    """Return the lowest regret among methods that do not ignore the constraint."""
    kept = [row for row in rows if row.ccv.value < IGNORED]
    return min(kept, key=lambda row: row.regret.value, default=None)


def place_title(summary: Summary, place: ProblemAtHorizon) -> str:
    """Return the title of a problem: the summary of its kind, and its label."""
    problems = summary.results.experiment["problems"]
    kind = next((KINDS.get(p["kind"]) for p in problems if p["label"] == place.problem), None)
    if kind is None:
        return str(place)
    return f"{re.split(r'[,;(.]', kind.summary)[0].strip()} ({place.problem}), T = {place.horizon}"


def answers(summary: Summary, place: ProblemAtHorizon, preset: str) -> list[Answer]:
    """Return which method violates least, at what cost, and how fast it is, of all that played."""
    rows = sorted(summary.at(place, preset), key=lambda row: row.ccv.value)
    game = Game(summary, place, preset)
    found = [Answer("Which method violates least?", _least_violation(game, rows))]
    found.append(Answer("At what cost?", _cost(game, rows)))
    if any(math.isfinite(row.microseconds) for row in rows):
        found.append(Answer("How fast?", _speed(game, rows)))
    return found


def _least_violation(game: Game, rows: Sequence[Row]) -> str:
    first, *others = rows
    said = f"{game.named(first)} has a CCV of {first.ccv} % of the unconstrained action's"
    if not others:
        return f"{said}; no other method was played."
    said += f", the lowest of {1 + len(others)} methods. {_second(game, first, others[0], 'ccv')}"
    if len(others) > 1:
        said += f" {game.named(others[-1])} violates most: {others[-1].ccv} %."
    return said


def _second(game: Game, first: Row, second: Row, which: Which) -> str:
    """Name the second best, and say whether the seeds that both played tell the two apart."""
    lead = game.lead(first.config.method, second.config.method, which)
    value = second.ccv if which == "ccv" else second.regret
    said = f"Second is {game.named(second)} with {value} %"
    if len(lead.values) < 2:
        return f"{said}; one seed cannot show whether the difference is significant."
    verdict = "is" if lead.mean.below(0.0) else "is not"
    return f"{said}; the difference {verdict} significant over {len(lead.values)} seeds."


def _cost(game: Game, rows: Sequence[Row]) -> str:
    first, least = rows[0], _least_regret(rows)
    sign = first.regret.above(0.0)
    cost = "about as much as" if sign is None else "more than" if sign else "less than"
    said = f"{game.named(first)} costs {cost} {BEST} (regret {first.regret} %"
    said += ", which may be above or below 0)" if sign is None else ")"
    if least is None:
        return f"{said}. {EVERY_ONE}"
    if least is first:
        return f"{said}. No other method with a CCV below {IGNORED:g} % costs less."
    said += f". Of the methods with a CCV below {IGNORED:g} %, {game.named(least)} costs least: "
    said += f"regret {least.regret} %, CCV {least.ccv} %"
    second = _least_regret([row for row in rows if row is not least])
    assert second is not None  # the one with the lowest CCV
    return f"{said}. {_second(game, least, second, 'regret')}"


def standings(summary: Summary, preset: str) -> list[Answer]:
    """Return the best methods on each problem, and the ranks of those that stand out."""
    places = {place.problem: place for place in summary.places}
    found = []
    for problem in summary.results.experiment["problems"]:
        place = places.get(problem["label"])
        rows = summary.at(place, preset) if place else []
        if place and rows:
            found.append(Answer(str(place), _standing(Game(summary, place, preset), rows)))
        else:
            found.append(Answer(problem["label"], _unanswered(summary, problem["label"])))
    return found


def _standing(game: Game, rows: Sequence[Row]) -> str:
    first, least, count = _least_ccv(rows), _least_regret(rows), len(rows)
    assert first is not None
    said = [f"Lowest CCV: {game.named(first)}, {first.ccv} %."]
    if least is None:
        said.append(EVERY_ONE)
    else:
        said.append(
            f"Lowest regret with a CCV below {IGNORED:g} %: {game.named(least)}, {least.regret} %, "
            f"with a CCV of {least.ccv} %."
        )
    for name in game.summary.names.highlighted:
        if name in game.rows:
            by_regret, by_ccv = (_ordinal(rank) for rank in game.rows[name].rank)
            said.append(
                f"{game.named(game.rows[name])}: {by_regret} of {count} by regret, {by_ccv} by CCV."
            )
    return " ".join(said)


def _unanswered(summary: Summary, label: str) -> str:
    why = {game.why for game in summary.unjudged if game.place.problem == label}
    return f"No answer: {'; '.join(sorted(why)) or 'no finished run with these constants'}."


def _ordinal(n: int) -> str:
    """Return a rank as a word.

    >>> [_ordinal(n) for n in (1, 2, 3, 4, 11, 21, 112)]
    ['1st', '2nd', '3rd', '4th', '11th', '21st', '112th']
    """
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{n}{'th' if n % 100 in (11, 12, 13) else ends.get(n % 10, 'th')}"


def _speed(game: Game, rows: Sequence[Row]) -> str:
    timed = sorted(
        (row for row in rows if math.isfinite(row.microseconds)), key=lambda row: row.microseconds
    )
    first, *others = timed
    time = f"{three_digits(first.microseconds)} µs per round{_ran(first)}"
    said = [f"{game.named(first)} is fastest: {time}."]
    slowest = others[-1] if others else None
    for row in dict.fromkeys((rows[0], slowest)):
        if row is not None and row in others:
            times = three_digits(row.microseconds / first.microseconds)
            who = "The slowest, " if row is slowest and len(others) > 1 else ""
            comma = "," if who else ""
            said.append(f"{who}{game.named(row)}{comma} takes {times} times as long{_ran(row)}.")
    return " ".join(said)


def _ran(row: Row) -> str:
    return {"compiled": " (compiled)", "through play": " (in Python)"}.get(row.ran, "")


def what_was_run(summary: Summary) -> list[str]:
    """Return what was run, on what, when, and with which versions."""
    experiment, runs = summary.results.experiment, summary.results.runs
    played = {run.record["method"] for run in runs if run.record["status"] == "done"}
    count = len(experiment["methods"])
    methods = f"{count} methods" if len(played) == count else f"{len(played)} of {count} methods"
    left_out = sum(game.runs for game in summary.unjudged)
    problems = "; ".join(place_title(summary, place) for place in summary.places)
    return [
        f"Played: {methods} on {problems}; {_seeds(experiment)}. {how_far(summary.results)}"
        f"{f', {left_out} of them without a benchmark' if left_out else ''}.{_shorter(summary)}",
        _made_with(summary),
    ]


def _shorter(summary: Summary) -> str:
    """Return where shorter games are; the page shows the longest of each problem."""
    shorter = sorted({row.place.horizon for row in summary.rows if row.place not in summary.places})
    if not shorter:
        return ""
    horizons = ", ".join(map(str, shorter))
    return f" Shorter games, T = {horizons}, are counted here; table.csv has their results."


def _seeds(experiment: dict[str, Any]) -> str:
    seeds, few = experiment["seeds"], experiment.get("common_seeds")
    said = f"{len(seeds)} seed{'s' if len(seeds) > 1 else ''} ({min(seeds)} to {max(seeds)})"
    if few is None:
        return said
    return f"{said} for {len(experiment['all_seeds'])} of the methods, {few} for the others"


def _environment(summary: Summary) -> dict[str, Any]:
    """Return what the last sweep of the folder ran on; nothing where that was not stored."""
    try:
        found = json.loads((summary.results.folder / "environment.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _made_with(summary: Summary) -> str:
    """Return when the sweep began, on what machine, and the versions."""
    known, when = _environment(summary), ""
    if {"begun", "processors", "platform"} <= known.keys():
        many = f"{known['processors']} processor{'s' if known['processors'] != 1 else ''}"
        when = f"Begun {known['begun']}, on {many} ({known['platform']}). "
    versions = "".join(f", {name} {known[name]}" for name in VERSIONS if name in known)
    hedgerow = summary.results.experiment["hedgerow"]
    return f"{when}Hedgerow {hedgerow}{made_by(summary.results)}{versions}."
