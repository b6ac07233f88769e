"""Verdicts on the claims of the paper's experiments, by paired comparisons over seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from hedgerow.experiments.results import RunResult
from hedgerow.report.naming import GARBER, OURS, SINHA, WANG
from hedgerow.report.summary import (
    Mean,
    ProblemAtHorizon,
    Row,
    Summary,
    Which,
    every,
    percent,
    three_digits,
)


class Comparison(NamedTuple):
    """A value for each seed, claimed to be below a limit, or above it."""

    values: tuple[float, ...]
    limit: float = 0.0
    below: bool = True

    @property
    def mean(self) -> Mean:
        """The mean of the values with Student's interval."""
        return Mean.of(self.values)

    @property
    def holds(self) -> bool | None:
        """Whether the whole interval is on the claimed side; None if the limit is inside."""
        return self.mean.below(self.limit) if self.below else self.mean.above(self.limit)

    @property
    def p(self) -> float:
        """The two-sided p of Wilcoxon's signed-rank test around the limit; 1 of no values.

        >>> Comparison((1.0, 2.0, 3.0, 4.0, 5.0, 6.0)).p
        0.03125
        >>> Comparison((2.0, 2.0), limit=2.0).p
        1.0
        """
        apart = [value - self.limit for value in self.values if value != self.limit]
        if not apart:
            return 1.0
        from scipy import stats

        return float(stats.wilcoxon(apart).pvalue)


def holm(ps: Sequence[float]) -> list[float]:
    """Return the p of several tests after Holm's correction.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected, least = [0.0] * len(ps), 0.0
    for rank, k in enumerate(sorted(range(len(ps)), key=lambda k: ps[k])):
        least = max(least, min(1.0, (len(ps) - rank) * ps[k]))
        corrected[k] = least
    return corrected


def format_p(p: float) -> str:
    """Return a p-value as text.

    >>> format_p(0.0312), format_p(0.000004), format_p(1.0)
    ('0.031', '< 0.001', '1')
    """
    return "< 0.001" if p < 0.001 else f"{p:.2g}"


class Game:
    """The rows of one problem with one preset, by method.

    Args:
        summary: of the folder.
        place: the problem and its horizon.
        preset: the constants that were used.

    """

    def __init__(self, summary: Summary, place: ProblemAtHorizon, preset: str):
        self.summary, self.preset = summary, preset
        self.rows: dict[str, Row] = {row.config.method: row for row in summary.at(place, preset)}

    def lead(self, one: str, two: str, which: Which) -> Comparison:
        """Return by how many percent `one` is above `two`, seed by seed: negative is better."""
        pairs = self._pairs(one, two)
        return Comparison(tuple(percent(a, which) - percent(b, which) for a, b in pairs))

    def slowdown(self, slow: str, fast: str) -> Comparison:
        """Return the natural logarithm of how many times as long one takes as the other."""
        seconds = self.summary.seconds
        times = [
            [seconds.get(run.record["id"], 0.0) for run in pair] for pair in self._pairs(slow, fast)
        ]
        return Comparison(tuple(math.log(a / b) for a, b in times if a and b))

    def last_quarter(self, method: str) -> Comparison:
        """Return the percentage of the CCV that the last quarter of the rounds adds."""
        shares = []
        for run in self._by_seed(method).values():
            t, _, ccv, _ = self.summary.results.curves(run)
            before = float(np.interp(0.75 * t[-1], t, ccv))
            shares.append(100.0 * (1.0 - before / ccv[-1]) if ccv[-1] > 0.0 else 0.0)
        return Comparison(tuple(map(float, shares)), FLAT_SHARE)

    def named(self, method: str | Row) -> str:
        """Return a method's full name."""
        name = method if isinstance(method, str) else method.config.method
        return self.summary.names.full(name, self.preset)

    def ran(self, method: str) -> str:
        """Return a method's name and whether its games ran compiled."""
        return f"{method} ({self.rows[method].ran or 'compiled or not: not recorded'})"

    def _by_seed(self, method: str) -> dict[int, RunResult]:
        row = self.rows[method]
        return {run.record["seed"]: run for run in self.summary.runs[row.place, row.config]}

    def _pairs(self, one: str, two: str) -> list[tuple[RunResult, RunResult]]:
        """Return the runs of both methods for each seed that both played."""
        a, b = self._by_seed(one), self._by_seed(two)
        return [(a[seed], b[seed]) for seed in sorted(a.keys() & b.keys())]


FLAT_SHARE = 100.0 * (1.0 - math.sqrt(0.75))
"""Percent of the CCV in the last quarter of the rounds: what sqrt(t) collects there, 13.4."""
GROWTHS = "(sqrt(t) adds 13.4 %, T^{3/4} 19.4 %, linear 25 %)"
IGNORED = 90.0
"""A method with this CCV or more, in % of the unconstrained action's, ignores the constraint."""


class Finding(NamedTuple):
    """Whether a claim holds (None: undecided), and the numbers behind it.

    Attributes:
        holds: the answer.
        number: the one number that decides it, with its unit.
        numbers: all of them.
        compared: the full names of the methods that were compared.
        p: of the claim, or of what refutes it, before Holm's correction.
        remark: shown beside the verdict.

    """

    holds: bool | None
    number: str
    numbers: str
    compared: str
    p: float
    remark: str = ""


def below(game: Game, method: str, rivals: Sequence[str], which: Which) -> Finding | None:
    """Check that a method is below every rival played; of several rivals two must be played."""
    played = _played(game, method, rivals)
    if not played:
        return None
    leads = [game.lead(method, rival, which) for rival in played]
    values = "; ".join(_value(game, name, which) for name in (method, *played))
    differences = ", ".join(
        f"{lead.mean} to {rival}" for lead, rival in zip(leads, played, strict=True)
    )
    numbers = f"{values}; lead of {method}, seed by seed: {differences}"
    caveats = _caveats(game, (method, *played)) if which == "regret" else ""
    worst = max(range(len(leads)), key=lambda k: leads[k].mean.value)
    number = f"{leads[worst].mean} points"
    if len(leads) > 1:
        number += f" against {game.named(played[worst])}"
    return _judged(leads, number, numbers, _against(game, method, played), caveats)


def _played(game: Game, method: str, rivals: Sequence[str]) -> list[str]:
    """Return the rivals that were played; none where the method or too many of them are missing."""
    played = [rival for rival in rivals if rival in game.rows]
    return played if method in game.rows and len(played) >= min(2, len(rivals)) else []


def flat(game: Game, method: str) -> Finding | None:
    """Check that the last quarter adds less of the CCV than sqrt(t) growth would."""
    if method not in game.rows:
        return None
    share = game.last_quarter(method)
    number = f"the last quarter adds {share.mean} % of the CCV"
    return _judged([share], number, f"{method}: {number} {GROWTHS}", game.named(method))


def never_flat(game: Game, method: str) -> Finding | None:
    """Check that the last quarter adds more of the CCV than sqrt(t) growth would."""
    found = flat(game, method)
    if found is None or found.holds is None:
        return found
    return found._replace(holds=not found.holds)  # one comparison: its p is two-sided


def takes(
    game: Game, slow: str, fast: Sequence[str], least: float, most: float = math.inf
) -> Finding | None:
    """Check that a method takes from `least` to `most` times as long as each other one played."""
    others = _played(game, slow, fast)
    logs = [game.slowdown(slow, name) for name in others]
    if not logs or any(not log.values for log in logs):
        return None
    comparisons = [log._replace(limit=math.log(least), below=False) for log in logs]
    far = False
    if math.isfinite(most):
        comparisons += [log._replace(limit=math.log(most)) for log in logs]
        far = any(log.mean.above(math.log(most)) for log in logs)
    numbers = f"{game.ran(slow)} takes " + ", ".join(
        f"{_times(log.mean)} times as long as {game.ran(name)}"
        for log, name in zip(logs, others, strict=True)
    )
    nearest = min((log.mean for log in logs), key=lambda mean: mean.value)
    number = f"{'at least ' if len(logs) > 1 else ''}{_times(nearest)} times as long"
    compared = _against(game, slow, others)
    return _judged(comparisons, number, numbers, compared, "far slower" if far else "")


def _against(game: Game, method: str, others: Sequence[str]) -> str:
    """Name what was compared."""
    return f"{game.named(method)}, against {'; '.join(map(game.named, others))}"


def _judged(
    comparisons: Sequence[Comparison], number: str, numbers: str, compared: str, remark: str = ""
) -> Finding:
    """Judge a claim that needs every comparison.

    Its p is the largest of theirs, as all must hold; where some refute it, the smallest of those
    times the number of comparisons, as any of them would have.
    """
    holds = every(part.holds for part in comparisons)
    if holds is False:
        p = min(1.0, len(comparisons) * min(part.p for part in comparisons if part.holds is False))
    else:
        p = max(part.p for part in comparisons)
    seeds = min(len(part.values) for part in comparisons)
    count = f"{seeds} seed{'s' if seeds != 1 else ''}" if holds is None else ""
    said = "; ".join(part for part in (count, remark) if part)
    return Finding(holds, number, numbers, compared, p, said)


def _value(game: Game, method: str, which: Which) -> str:
    row = game.rows[method]
    if which == "ccv":
        return f"{method} {row.ccv} %"
    return f"{method} {row.regret} % (CCV {row.ccv} %)"


def _caveats(game: Game, methods: Sequence[str]) -> str:
    """Name the methods whose low regret was bought with violation or by ignoring the constraint."""
    rows = [game.rows[name] for name in methods]
    least = min(row.ccv.value for row in rows)
    ignored = [row.config.method for row in rows if row.ccv.value >= IGNORED]
    bought = [
        row.config.method
        for row in rows
        if row.regret.value < 0.0 and row.ccv.value > least and row.ccv.value < IGNORED
    ]
    said = (("the constraint is ignored", ignored), ("bought with violation", bought))
    return "; ".join(f"{what} ({', '.join(names)})" for what, names in said if names)


def _times(log: Mean) -> str:
    low, high = log.value - log.half, log.value + log.half
    interval = f" ({_factor(low)} to {_factor(high)})" if math.isfinite(log.half) else ""
    return _factor(log.value) + interval


def _factor(log: float) -> str:
    return three_digits(math.exp(log))


PROJECTION_FREE = (OURS, WANG, GARBER)
ROUTES = ("random_network", "shortest_path")
"""The kinds of problem that the paper's claims are about."""
RULE = (
    "One rule: a claim is reproduced where the 95 % interval over seeds lies wholly on the claimed "
    "side, not reproduced where it lies wholly on the other side, and undecided otherwise. Methods "
    "are compared seed by seed: differences in percent, times by the logarithm of their ratio. A "
    "claim about several methods needs every comparison, and one that fails refutes it. p: "
    "Wilcoxon's signed-rank test over the same paired seeds, two-sided, after Holm's correction "
    "for all claims with the same constants; where it is above 0.05 beside a verdict, the interval "
    "alone decides. Times compare compiled with interpreted code where the numbers say so."
)
STAND_INS = (
    "Garber and Kretzu's Algorithm 3 is a reconstruction; with practical constants Wang et al.'s "
    "method is restarts around Hedgerow's learner."
)

Outcome = Literal["yes", "no", "mixed", "undecided", "untested"]
OUTCOMES: dict[bool | None, Outcome] = {True: "yes", False: "no", None: "undecided"}


class Part(NamedTuple):
    """The outcome of a claim with one preset, and the numbers that decide it.

    `number` is the one that decides it, `p` of the paired test, after Holm's correction.
    `compared` has the full names of the methods that were compared.
    """

    preset: str
    outcome: Outcome
    verdict: str
    numbers: str
    number: str
    p: float
    compared: str = ""


class Verdict(NamedTuple):
    """A claim and its outcome: as a word, as a sentence, and for each preset."""

    claim: str
    outcome: Outcome
    verdict: str
    parts: tuple[Part, ...]

    def record(self) -> dict[str, Any]:
        """Return the verdict as plain data, for JSON."""
        return {**self._asdict(), "parts": [part._asdict() for part in self.parts]}


CLAIMS: tuple[tuple[str, Callable[[Game], Finding | None]], ...] = (
    (
        "Sinha and Vaze's projection-based method has the lowest regret",
        lambda game: below(game, SINHA, PROJECTION_FREE, "regret"),
    ),
    (
        "Sinha and Vaze's projection-based method has the lowest CCV",
        lambda game: below(game, SINHA, PROJECTION_FREE, "ccv"),
    ),
    (
        "Algorithm 2 has less regret than Garber and Kretzu's Algorithm 3",
        lambda game: below(game, OURS, (GARBER,), "regret"),
    ),
    (
        "Algorithm 2 has less CCV than Garber and Kretzu's Algorithm 3",
        lambda game: below(game, OURS, (GARBER,), "ccv"),
    ),
    (
        "Algorithm 2 has less regret than Wang et al.'s method",
        lambda game: below(game, OURS, (WANG,), "regret"),
    ),
    (
        "Algorithm 2 has less CCV than Wang et al.'s method",
        lambda game: below(game, OURS, (WANG,), "ccv"),
    ),
    ("Algorithm 2's CCV curve reaches a flat region", lambda game: flat(game, OURS)),
    ("Sinha and Vaze's CCV curve reaches a flat region", lambda game: flat(game, SINHA)),
    ("Garber and Kretzu's CCV curve reaches a flat region", lambda game: flat(game, GARBER)),
    ("Wang et al.'s CCV curve never becomes flat", lambda game: never_flat(game, WANG)),
    (
        "The projection-based method takes two orders of magnitude longer than Algorithm 2",
        lambda game: takes(game, SINHA, (OURS,), 100.0),
    ),
    (
        "Each projection-free method is much faster (10 times) than the projection-based one",
        lambda game: takes(game, SINHA, PROJECTION_FREE, 10.0),
    ),
    (
        "Garber and Kretzu's Algorithm 3 is somewhat slower (up to twice) than Algorithm 2",
        lambda game: takes(game, GARBER, (OURS,), 1.0, 2.0),
    ),
    (
        "Wang et al.'s method takes a similar time (half to twice) to Algorithm 2",
        lambda game: takes(game, WANG, (OURS,), 0.5, 2.0),
    ),
)
"""Each claim with its check, which returns None where a method is missing."""


def route_place(summary: Summary) -> ProblemAtHorizon | None:
    """Return the first route problem, at its longest horizon: where the claims are judged."""
    kinds = {p["label"]: p["kind"] for p in summary.results.experiment["problems"]}
    return next((place for place in summary.places if kinds[place.problem] in ROUTES), None)


def verdicts(summary: Summary, place: ProblemAtHorizon) -> list[Verdict]:
    """Judge every claim on one problem, with each preset by itself."""
    games = {preset: Game(summary, place, preset) for preset in summary.presets}
    found = {
        preset: {claim: finding for claim, check in CLAIMS if (finding := check(game))}
        for preset, game in games.items()
    }
    parts: dict[str, list[Part]] = {claim: [] for claim, _ in CLAIMS}
    for preset, findings in found.items():
        corrected = holm([finding.p for finding in findings.values()])
        for (claim, finding), p in zip(findings.items(), corrected, strict=True):
            outcome, sentence = OUTCOMES[finding.holds], _sentence(finding)
            numbers = finding.numbers, finding.number
            parts[claim].append(Part(preset, outcome, sentence, *numbers, p, finding.compared))
    return [_verdict(claim, tuple(of)) for claim, of in parts.items()]


def _verdict(claim: str, parts: tuple[Part, ...]) -> Verdict:
    outcomes, sentences = {part.outcome for part in parts}, {part.verdict for part in parts}
    if not parts:
        return Verdict(claim, "untested", "not tested: a method or its time is missing", ())
    if len(parts) == 1:
        verdict = f"{parts[0].verdict} ({parts[0].preset} constants)"
    elif len(sentences) == 1:
        verdict = parts[0].verdict
    else:
        verdict = ". ".join(f"{part.preset}: {part.verdict}" for part in parts)
    return Verdict(claim, parts[0].outcome if len(outcomes) == 1 else "mixed", verdict, parts)


def _sentence(finding: Finding) -> str:
    word = {True: "reproduced", False: "not reproduced", None: "undecided"}[finding.holds]
    return f"{word}: {finding.remark}" if finding.remark else word
