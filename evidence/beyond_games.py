"""The games and the methods that `beyond.py` and its companions compare, and their units."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from first_default import first_default, power

import hedgerow as hr
from hedgerow.baselines.wang import PRACTICAL_RATE as WANG_RATE
from hedgerow.learners.projected_descent import AdaGrad
from hedgerow.learners.restarted_ocg import RestartAtStart, RestartedOCG
from hedgerow.problems import DriftingSubsets, HardBox, drifting_paths

Method = Callable[[hr.DecisionSet, int, float], Any]
"""From a set, a horizon and an eagerness to a policy."""

SINHA_RATE = 2.0
"""lambda sqrt(T) at eagerness 1 in this comparison, where eagerness is swept anyway."""
GAMES: dict[str, Callable[[int], Any]] = {
    "G": lambda seed: hr.ShortestPath.random_network(seed=seed),
    "N2": lambda seed: drifting_paths(seed=seed),
    "S1": lambda seed: hr.problems.IidSimplex(seed=seed),
    "N3": lambda seed: hr.problems.IidSimplex(n=200, horizon=3000, seed=seed),
    "S2": lambda seed: hr.problems.SwitchingBall(seed=seed),
    "S2b": lambda seed: hr.problems.SwitchingBall(seed=seed, growth=1.0),
    "N1": lambda seed: DriftingSubsets(seed=seed),
    "S3": lambda seed: hr.problems.HalfspaceBox(seed=seed),
    "S4": lambda seed: hr.problems.OrthogonalBall(seed=seed),
    "HB": lambda seed: HardBox(n=20, seed=seed),
}
NINE = [name for name in GAMES if name != "HB"]


class Watched(hr.Problem):
    """A problem that remembers the rounds it showed: an adaptive game has no others."""

    def __init__(self, problem: hr.Problem):
        self.inner, self.shown = problem, list[Any]()
        self.decision_set, self.horizon = problem.decision_set, problem.horizon

    @property
    def adaptive(self) -> bool:
        """As the problem."""
        return self.inner.adaptive

    def rounds(self, policy: Any = None) -> Iterator[Any]:
        """Yield the problem's rounds."""
        for pair in self.inner.rounds(policy):
            self.shown.append(pair)
            yield pair


def exponential(learner: Any, rate: float) -> hr.ConstrainedPolicy[hr.feedback.EvalGrad]:
    """A learner under an exponential price with learnt ranges: the practical rivals."""
    ranges = hr.surrogates.WorstCaseRanges(learner)
    return hr.ConstrainedPolicy(
        learner,
        hr.surrogates.CurrentSurrogate(hr.surrogates.ExponentialPotential(rate), 0.0, ranges),
    )


def default(X: hr.DecisionSet, T: int, e: float) -> Any:  # noqa: ARG001 - any horizon
    """The default of version 0.1."""
    return first_default(X, e)


def tracking(X: hr.DecisionSet, T: int, e: float) -> Any:  # noqa: ARG001 - any horizon
    """The same where the best point moves."""
    return power(hr.learners.TrackingOCG(X), e)


def stepping(make: Callable[[int], Any]) -> Method:
    """The default with another step rule, which may ask for the horizon."""
    return lambda X, T, e: power(hr.learners.AdaptiveOCG(X, make(T)), e)


def sinha_vaze(factor: float) -> Method:
    """The practical `sinha_vaze_2024` whose AdaGrad has another factor."""
    return lambda X, T, e: exponential(AdaGrad(X, factor), e * SINHA_RATE / T**0.5)


def wang(c: float) -> Method:
    """The practical `wang_2025` whose `CertificateSteps` have another c."""

    def make(X: hr.DecisionSet, T: int, e: float) -> Any:
        learner = RestartedOCG(X, hr.learners.steps.CertificateSteps(c), restart=RestartAtStart())
        return exponential(learner, e * WANG_RATE / T**0.75)

    return make


def span(X: hr.DecisionSet, f: Any) -> tuple[float, float]:
    """The least and the largest value of f on X by two oracle calls: exact where f is linear."""
    x1 = X.start()
    slope = f.grad(x1)
    values = [f(x1), f(X.lmo(slope)), f(X.lmo(-slope))]
    return min(values), max(values)


def units(X: hr.DecisionSet, rounds: Any) -> tuple[float, float]:
    """Mf and Mg: the largest range of a round's cost on X, the largest violation possible."""
    Mf = Mg = 0.0
    for cost, constraint in rounds:
        low, high = span(X, cost)
        Mf, Mg = max(Mf, high - low), max(Mg, span(X, constraint)[1])
    return Mf, Mg
