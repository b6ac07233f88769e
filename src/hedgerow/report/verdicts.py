"""A plain verdict on each claim of the paper's experiments, with the numbers that decide it."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

from hedgerow.report.claim_checks import (
    Check,
    Finding,
    Game,
    flat,
    less,
    lowest,
    never_flat,
    takes,
)
from hedgerow.report.summary import ProblemAtHorizon, Summary

OURS, SINHA, WANG, GARBER = (
    "projection_free_coco",
    "sinha_vaze_2024",
    "wang_2025",
    "garber_kretzu_2024_dpp",
)
PROJECTION_FREE = (OURS, WANG, GARBER)
ROUTES = ("atlas_like", "shortest_path")
"""The kinds of problem that the paper's claims are about."""
RULE = (
    "One rule: a claim is reproduced where the 95 % interval over seeds lies wholly on the claimed "
    "side, not reproduced where it lies wholly on the other side, and undecided otherwise. Methods "
    "are compared seed by seed: differences in percent, times by the logarithm of their ratio. A "
    "claim about several methods needs every comparison, and one that fails refutes it. Times "
    "compare compiled with interpreted code where the numbers say so."
)
STAND_INS = (
    "Garber and Kretzu's Algorithm 3 is our reconstruction; with practical constants Wang et al.'s "
    "method is restarts around our learner."
)

Outcome = Literal["yes", "no", "mixed", "undecided", "untested"]
OUTCOMES: dict[bool | None, Outcome] = {True: "yes", False: "no", None: "undecided"}


class Part(NamedTuple):
    """What became of a claim with one kind of constants, and the numbers that decide it."""

    preset: str
    outcome: Outcome
    verdict: str
    numbers: str


class Verdict(NamedTuple):
    """A claim and what became of it: as a word, in words, and for each preset."""

    claim: str
    outcome: Outcome
    verdict: str
    parts: tuple[Part, ...]

    def record(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**self._asdict(), "parts": [part._asdict() for part in self.parts]}


CLAIMS: tuple[tuple[str, Check], ...] = (
    (
        "Sinha and Vaze's projection-based method has the lowest regret",
        lowest(SINHA, PROJECTION_FREE, "regret"),
    ),
    (
        "Sinha and Vaze's projection-based method has the lowest CCV",
        lowest(SINHA, PROJECTION_FREE, "ccv"),
    ),
    (
        "Algorithm 2 has less regret than Garber and Kretzu's Algorithm 3",
        less(OURS, GARBER, "regret"),
    ),
    ("Algorithm 2 has less CCV than Garber and Kretzu's Algorithm 3", less(OURS, GARBER, "ccv")),
    ("Algorithm 2 has less regret than Wang et al.'s method", less(OURS, WANG, "regret")),
    ("Algorithm 2 has less CCV than Wang et al.'s method", less(OURS, WANG, "ccv")),
    ("Algorithm 2's CCV curve reaches a flat region", flat(OURS)),
    ("Sinha and Vaze's CCV curve reaches a flat region", flat(SINHA)),
    ("Garber and Kretzu's CCV curve reaches a flat region", flat(GARBER)),
    ("Wang et al.'s CCV curve never becomes flat", never_flat(WANG)),
    (
        "The projection-based method takes two orders of magnitude longer than Algorithm 2",
        takes(SINHA, (OURS,), 100.0, math.inf),
    ),
    (
        "Each projection-free method is much faster (10 times) than the projection-based one",
        takes(SINHA, PROJECTION_FREE, 10.0, math.inf),
    ),
    (
        "Garber and Kretzu's Algorithm 3 is somewhat slower (up to twice) than Algorithm 2",
        takes(GARBER, (OURS,), 1.0, 2.0),
    ),
    (
        "Wang et al.'s method takes a similar time (half to twice) to Algorithm 2",
        takes(WANG, (OURS,), 0.5, 2.0),
    ),
)


def route_place(summary: Summary) -> ProblemAtHorizon | None:
    """Return the first route problem, at its longest horizon: where the claims are judged."""
    kinds = {p["label"]: p["kind"] for p in summary.results.experiment["problems"]}
    return next((place for place in summary.places if kinds[place.problem] in ROUTES), None)


def verdicts(summary: Summary, place: ProblemAtHorizon) -> list[Verdict]:
    """Judge every claim on one problem; the paper says that its constants are the theorems'."""
    games = {preset: Game(summary, place, preset) for preset in summary.presets}
    return [_judge(claim, check, games) for claim, check in CLAIMS]


def _judge(claim: str, check: Check, games: dict[str, Game]) -> Verdict:
    found = {preset: finding for preset, game in games.items() if (finding := check(game))}
    parts = tuple(
        Part(preset, OUTCOMES[finding.holds], _words(finding), finding.numbers)
        for preset, finding in found.items()
    )
    outcomes, words = {part.outcome for part in parts}, {part.verdict for part in parts}
    if not parts:
        return Verdict(claim, "untested", "not tested: a method or its time is missing", ())
    if len(parts) == 1:
        verdict = f"{parts[0].verdict} ({parts[0].preset} constants)"
    elif len(words) == 1:
        verdict = parts[0].verdict
    else:
        verdict = ". ".join(f"{part.preset}: {part.verdict}" for part in parts)
    return Verdict(claim, parts[0].outcome if len(outcomes) == 1 else "mixed", verdict, parts)


def _words(finding: Finding) -> str:
    word = {True: "reproduced", False: "not reproduced", None: "undecided"}[finding.holds]
    return f"{word}: {finding.remark}" if finding.remark else word
