"""What a reader with ten seconds should know: what was run, and the answers to three questions."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from hedgerow.experiments.problems import KINDS
from hedgerow.report.naming import HEADLINE, in_words
from hedgerow.report.provenance import how_far, made_by
from hedgerow.report.summary import ProblemAtHorizon, Row, Summary, three_digits
from hedgerow.report.verdicts import Game, route_place

BEST = "the best fixed action that keeps every round, known only afterwards"
VERSIONS = ("python", "numpy", "scipy", "numba")
AXES = {
    "CCV": "cumulative constraint violation, the sum of max(0, g_t) so far, in % of what the blind "
    "action violates in all: the best fixed action that ignores the constraint.",
    "Regret": "cost so far above that of the best fixed action that keeps every round, in % of "
    "that action's total cost or of the blind action's, whichever is larger; below zero: cheaper.",
    "Time": "median of a round's share of the game, in microseconds; filled marks ran as one "
    "compiled loop, hollow ones in Python: one against the other compares code, not algorithms.",
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
    problems = summary.results.experiment["problems"]
    kind = next((KINDS.get(p["kind"]) for p in problems if p["label"] == place.problem), None)
    words = place.problem
    if kind is not None:
        words = f"{re.split(r'[,;(.]', kind.summary)[0].strip()} ({place.problem})"
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
    said = f"{_name(first)} violates it least: its CCV is {first.ccv} % of blind play's"
    if not others:
        return f"{said}."
    lead = game.lead(first.config.method, others[0].config.method, "ccv")
    one, decided = len(lead.values) == 1, lead.mean.below(0.0)
    verb = (
        ("decides" if one else "decide") if decided else ("does" if one else "do") + " not decide"
    )
    seeds = f"{len(lead.values)} seed{'' if one else 's'} {verb}"
    said += f"; next is {_name(others[0])}, {others[0].ccv} %, and {seeds} between the two"
    last = f"; most has {_name(others[-1])}, {others[-1].ccv} %" if len(others) > 1 else ""
    return f"{said}{last}."


def _cost(rows: Sequence[Row]) -> str:
    first, least = rows[0], min(rows, key=lambda row: row.regret.value)
    sign = first.regret.above(0.0)
    cost = "as much as" if sign is None else "more than" if sign else "less than"
    said = f"{_name(first)} costs {cost} {BEST} (regret {first.regret} %)"
    if least is first:
        return f"{said}, and none of the others costs less."
    return f"{said}; least costs {_name(least)}, {least.regret} % with a CCV of {least.ccv} %."


def _speed(rows: Sequence[Row]) -> str:
    timed = sorted(
        (row for row in rows if math.isfinite(row.microseconds)), key=lambda row: row.microseconds
    )
    first, *others = timed
    said = f"{_name(first)} takes {three_digits(first.microseconds)} µs a round{_ran(first)}"
    if rows[0] in others:
        said += f"; {_longer(rows[0], first)}"
    slowest = others[-1] if others and others[-1] is not rows[0] else None
    return f"{said}{f'; slowest is {_longer(slowest, first)}' if slowest else ''}."


def _longer(row: Row, first: Row) -> str:
    times = row.microseconds / first.microseconds
    return f"{_name(row)} {three_digits(times)} times as long{_ran(row)}"


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
