"""What a reader with ten seconds should know: what was run, and the answers to three questions."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from hedgerow.experiments.problems import KINDS
from hedgerow.report.naming import HEADLINE, in_words
from hedgerow.report.provenance import how_far, made_by
from hedgerow.report.summary import ProblemAtHorizon, Row, Summary
from hedgerow.report.verdicts import Game, route_place

VERSIONS = ("python", "numpy", "scipy", "numba")
AXES = {
    "CCV": "cumulative constraint violation, the sum of max(0, g_t) so far, in % of what the blind "
    "action violates in all: the best fixed action that ignores the constraint.",
    "Regret": "cost so far above that of the best fixed action that keeps every round, in % of that "
    "action's total cost or of the blind action's, whichever is larger; below zero: cheaper.",
    "Time": "median of a round's share of the game, in microseconds; filled marks ran as one "
    "compiled loop, hollow ones in Python, so a hollow mark against a filled one compares code.",
}
"""One line for each axis."""


class Answer(NamedTuple):
    """A question and its answer in one sentence."""

    question: str
    answer: str


def headline_place(summary: Summary) -> ProblemAtHorizon:
    """Return the problem that the page opens with: the first route, or else the first of all."""
    return route_place(summary) or summary.places[0]


def headline_rows(summary: Summary, place: ProblemAtHorizon, preset: str) -> list[Row]:
    """Return the methods that the page opens with; all of them where two of those are missing."""
    rows = {row.config.method: row for row in summary.at(place, preset)}
    found = [rows[method] for method in HEADLINE if method in rows]
    return found if len(found) > 1 else list(rows.values())


def place_in_words(summary: Summary, place: ProblemAtHorizon) -> str:
    """Return what a problem is called in titles: in words, and by its label."""
    kinds = {
        problem["label"]: problem["kind"] for problem in summary.results.experiment["problems"]
    }
    kind = KINDS.get(kinds.get(place.problem, ""))
    words = f"{kind.summary.split(',')[0].rstrip('.')} ({place.problem})" if kind else place.problem
    return f"{words}, T = {place.horizon}"


def answers(summary: Summary, place: ProblemAtHorizon, preset: str) -> list[Answer]:
    """Say who keeps the constraint, at what cost, and how fast."""
    rows = sorted(headline_rows(summary, place, preset), key=lambda row: row.ccv.value)
    found = [Answer("Who keeps the constraint?", _kept(Game(summary, place, preset), rows))]
    found.append(Answer("At what cost?", _cost(rows)))
    if any(math.isfinite(row.microseconds) for row in rows):
        found.append(Answer("How fast?", _speed(rows)))
    return found


def _kept(game: Game, rows: Sequence[Row]) -> str:
    first, *others = rows
    said = f"{_name(first)} violates it least, {first.ccv} % of what blind play violates"
    if not others:
        return f"{said}."
    said += "; " + "; ".join(f"{_name(row)} {row.ccv} %" for row in others)
    lead = game.lead(first.config.method, others[0].config.method, "ccv")
    sure = {True: "decided by", False: "against", None: "not decided by"}[lead.mean.below(0.0)]
    seeds = f"{len(lead.values)} seed{'s' if len(lead.values) != 1 else ''}"
    return f"{said}. The first's lead on the second is {sure} {seeds} ({lead.mean} points)."


def _cost(rows: Sequence[Row]) -> str:
    least = min(rows, key=lambda row: row.regret.value)
    first = rows[0]
    said = f"{_name(first)} has a regret of {first.regret} %: {_against_best(first)}"
    if least is first:
        return f"{said}, and none of the others costs less."
    others = "; ".join(f"{_name(row)} {row.regret} %" for row in rows[1:])
    return f"{said}. The others: {others}. Least is {_name(least)}, with a CCV of {least.ccv} %."


def _against_best(row: Row) -> str:
    sign = row.regret.above(0.0)
    if sign is None:
        return (
            "it costs as much as the best fixed action that keeps every round, within the interval"
        )
    more = "more" if sign else "less"
    return f"it costs {more} than the best fixed action that keeps every round"


def _speed(rows: Sequence[Row]) -> str:
    timed = sorted(
        (row for row in rows if math.isfinite(row.microseconds)), key=lambda row: row.microseconds
    )
    first = timed[0]
    said = f"{_name(first)} takes {first.microseconds:.3g} µs a round{_ran(first)}"
    others = [
        f"{_name(row)} {row.microseconds / first.microseconds:.3g} times as long{_ran(row)}"
        for row in timed[1:]
    ]
    return "; ".join([said, *others]) + "."


def _ran(row: Row) -> str:
    return {"compiled": " (compiled)", "through play": " (in Python)"}.get(row.ran, "")


def _name(row: Row) -> str:
    return in_words(row.config.method)


def what_was_run(summary: Summary) -> list[str]:
    """Say what was run, on what, when, and with which versions."""
    experiment = summary.results.experiment
    refused = sum(run.record["status"] != "done" for run in summary.results.runs)
    left_out = sum(game.runs for game in summary.unjudged)
    problems = "; ".join(place_in_words(summary, place) for place in summary.places)
    return [
        f"Played: {len(experiment['methods'])} methods on {problems}; {_seeds(experiment)}. "
        f"{how_far(summary.results)}, of which {refused} refused and {left_out} without a "
        "benchmark.",
        f"{_when(summary)}Hedgerow {experiment['hedgerow']}{made_by(summary.results)}"
        f"{_versions(summary)}.",
    ]


def _seeds(experiment: dict[str, Any]) -> str:
    seeds, few = experiment["seeds"], experiment.get("few")
    said = f"{len(seeds)} seed{'s' if len(seeds) > 1 else ''} ({min(seeds)} to {max(seeds)})"
    if few is None:
        return said
    return f"{said} for {len(experiment['many'])} of the methods, {few} for the others"


def environment(summary: Summary) -> dict[str, Any]:
    """Return what the last sweep of the folder ran on; nothing where that was not stored."""
    try:
        found = json.loads((summary.results.folder / "environment.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _when(summary: Summary) -> str:
    known = environment(summary)
    if not {"begun", "processors", "platform"} <= known.keys():
        return ""
    many = f"{known['processors']} processor{'s' if known['processors'] != 1 else ''}"
    return f"Begun {known['begun']}, on {many} ({known['platform']}). "


def _versions(summary: Summary) -> str:
    known = environment(summary)
    return "".join(f", {name} {known[name]}" for name in VERSIONS if name in known)
