"""A plain verdict on each claim of the paper's experiments, with the number that decides it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hedgerow.report.experiment.summary import Mean, Place, Row, Summary

OURS, SINHA, WANG, GARBER = (
    "projection_free_coco",
    "sinha_vaze",
    "wang_ofw",
    "garber_kretzu_dpp",
)
FLAT = 0.134
"""Of the CCV in the last quarter of the rounds: what sqrt(t) collects there; linear is 0.25."""


class Verdict(NamedTuple):
    """A claim, whether it was seen, and the numbers for each preset."""

    claim: str
    verdict: str
    numbers: str


class Finding(NamedTuple):
    """Whether a claim holds with one preset, and the numbers."""

    holds: bool
    numbers: str


Check = Callable[["Game"], Finding | None]


class Game:
    """The rows of one problem with one preset, by method."""

    def __init__(self, summary: Summary, place: Place, preset: str):
        self.summary, self.place = summary, place
        self.rows = {row.entrant.method: row for row in summary.at(place, preset)}

    def has(self, *methods: str) -> bool:
        """Whether all of them were played."""
        return all(method in self.rows for method in methods)

    def lead(self, one: str, two: str, which: str) -> Mean:
        """Return by how much `one` is above `two`, seed by seed: negative is better."""
        a, b = (self._by_seed(self.rows[name], which) for name in (one, two))
        return Mean.of([a[seed] - b[seed] for seed in sorted(a.keys() & b.keys())])

    def _by_seed(self, row: Row, which: str) -> dict[int, float]:
        runs = self.summary.runs[row.place, row.entrant]
        return {
            run.record["seed"]: float(run.regret or 0.0) if which == "regret" else run.record["ccv"]
            for run in runs
        }

    def share(self, method: str, which: str) -> str:
        """Return a mean with its interval, in percent."""
        row = self.rows[method]
        mean = row.regret if which == "regret" else row.ccv
        half = f" +- {mean.half:.2g}" if math.isfinite(mean.half) else ""
        return f"{method} {mean.value:.3g}{half} %"

    def last_quarter(self, method: str) -> float:
        """Return the share of the CCV that the last quarter of the rounds adds."""
        t, ccv, _, _ = self.summary.band(self.rows[method], "ccv")
        begin = float(np.interp(0.75 * t[-1], t, ccv))
        return float(1.0 - begin / ccv[-1]) if ccv[-1] > 0.0 else 0.0


def _no_worse(mean: Mean) -> bool:
    """Whether a difference is below zero, or its interval holds zero."""
    return mean.value <= 0.0 or (math.isfinite(mean.half) and mean.value - mean.half <= 0.0)


def _best(which: str) -> Check:
    def check(game: Game) -> Finding | None:
        others = [name for name in (OURS, WANG, GARBER) if name in game.rows]
        if SINHA not in game.rows or not others:
            return None
        holds = all(_no_worse(game.lead(SINHA, name, which)) for name in others)
        return Finding(holds, "; ".join(game.share(name, which) for name in (SINHA, *others)))

    return check


def _beats(rival: str, which: str) -> Check:
    def check(game: Game) -> Finding | None:
        if not game.has(OURS, rival):
            return None
        lead = game.lead(OURS, rival, which)
        sure = math.isfinite(lead.half) and lead.value + lead.half < 0.0
        numbers = f"{game.share(OURS, which)}; {game.share(rival, which)}"
        return Finding(sure, numbers)

    return check


def _flat(method: str) -> Check:
    def check(game: Game) -> Finding | None:
        if method not in game.rows:
            return None
        share = game.last_quarter(method)
        return Finding(share <= FLAT, f"the last quarter adds {100.0 * share:.1f} % of the CCV")

    return check


def _never_flat(game: Game) -> Finding | None:
    found = _flat(WANG)(game)
    return found and Finding(not found.holds, found.numbers)


def _slower(rival: str, least: float) -> Check:
    def check(game: Game) -> Finding | None:
        if not game.has(OURS, rival):
            return None
        ratio = game.rows[rival].microseconds / game.rows[OURS].microseconds
        if not math.isfinite(ratio):
            return None
        return Finding(ratio >= least, f"{rival} takes {ratio:.3g} times as long")

    return check


CLAIMS: tuple[tuple[str, Check], ...] = (
    ("Sinha and Vaze's projection-based method has the lowest regret", _best("regret")),
    ("Sinha and Vaze's projection-based method has the lowest CCV", _best("ccv")),
    ("Algorithm 2 has less regret than Garber and Kretzu's Algorithm 3", _beats(GARBER, "regret")),
    ("Algorithm 2 has less CCV than Garber and Kretzu's Algorithm 3", _beats(GARBER, "ccv")),
    ("Algorithm 2 has less regret than Wang et al.'s method", _beats(WANG, "regret")),
    ("Algorithm 2 has less CCV than Wang et al.'s method", _beats(WANG, "ccv")),
    ("Algorithm 2's CCV curve reaches a flat region", _flat(OURS)),
    ("Wang et al.'s CCV curve never becomes flat", _never_flat),
    ("The projection-based method takes two orders of magnitude longer", _slower(SINHA, 100.0)),
    ("Garber and Kretzu's Algorithm 3 is somewhat slower than Algorithm 2", _slower(GARBER, 1.0)),
)  # fmt: skip


def verdicts(summary: Summary, place: Place) -> list[Verdict]:
    """Judge every claim on one problem; the paper says that its constants are the theorems'."""
    games = {preset: Game(summary, place, preset) for preset in summary.presets}
    return [_judge(claim, check, games) for claim, check in CLAIMS]


def _judge(claim: str, check: Check, games: dict[str, Game]) -> Verdict:
    found = {preset: finding for preset, game in games.items() if (finding := check(game))}
    if not found:
        return Verdict(claim, "not tested: a method is missing", "")
    numbers = ". ".join(f"{preset}: {finding.numbers}" for preset, finding in found.items())
    holding = [preset for preset, finding in found.items() if finding.holds]
    if len(holding) == len(found):
        verdict = "reproduced" if len(found) > 1 else f"reproduced ({holding[0]} constants)"
    elif holding:
        verdict = f"reproduced only with {holding[0]} constants"
    else:
        verdict = "not reproduced"
    return Verdict(claim, verdict, numbers)
