"""Backtests: replay measured rounds with a learner and with the usual routing rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.baselines.fixed_actions import (
    DAY,
    FixedAction,
    best_of_yesterday,
    cheapest_path,
    ecmp,
    shortest_path,
)
from hedgerow.baselines.last_optimum import last_round
from hedgerow.baselines.pi_control import proportional_integral
from hedgerow.baselines.same_time import SameTime
from hedgerow.baselines.threshold import threshold_rule
from hedgerow.games import hindsight, play
from hedgerow.inputs import Vector, as_number
from hedgerow.policies.certificate import Certificate
from hedgerow.policies.paper import projection_free_coco
from hedgerow.policies.violated_share import ViolatedShare
from hedgerow.problems.measured_routes import MeasuredRoutes
from hedgerow.protocols.benchmark import Benchmark
from hedgerow.protocols.parts import Policy
from hedgerow.protocols.service_level import ServiceLevel
from hedgerow.protocols.trace import Trace
from hedgerow.sets.actions import Actions
from hedgerow.sets.paths.dag_paths import DagPaths
from hedgerow.sets.paths.graph import number_nodes

DEFAULT, PLAIN = "hedgerow", "hedgerow, plain"
SHORTEST, TODAY, BEST = "shortest path", "today", "best in hindsight"
ADVISED = "hedgerow, advised"
MEAN_ROUNDS = 20
"""How many rounds the mean of recent rounds is about, for an adviser."""
TIME_LIMIT = 20.0
"""Seconds for the best fixed action in hindsight."""


@dataclass(frozen=True, eq=False)
class BacktestRun:
    """One policy on the measured rounds.

    Attributes:
        name: of the policy.
        trace: the game.
        plays: x_t, one row for each round.
        levels: the service level of each constraint.
        any_level: the same for all constraints together, in rounds and minutes alone.
        switches: how often its main route changed.
        dead_minutes: how long traffic was on a dead link, each round by the share of it; in rounds
            where their length is not known; None where no link is known to have been dead.
        following: the decision after the last round.
        certificate: a proved bound of its regret, where it has one: against every action that
            satisfies the constraints in all rounds, or violates them no more than the best fixed
            action does.
        voices: the weight of each adviser and of the policy itself after each round, for a policy
            with advisers.

    """

    name: str
    trace: Trace
    plays: NDArray[np.float64]
    levels: tuple[ServiceLevel, ...]
    any_level: ServiceLevel
    switches: int
    dead_minutes: float | None
    following: Vector
    certificate: Certificate | None = None
    voices: Mapping[str, Vector] = field(default_factory=dict)

    @property
    def mean_cost(self) -> float:
        """The cost of a round."""
        return self.trace.cost / max(1, self.trace.costs.size)


@dataclass(frozen=True, eq=False)
class Backtest:
    """The results of a backtest.

    Attributes:
        problem: the measured rounds.
        runs: one per policy, the learner's first and the best fixed action's last.
        best: the best fixed action in hindsight.

    """

    problem: MeasuredRoutes
    runs: tuple[BacktestRun, ...]
    best: Benchmark

    def __getitem__(self, name: str) -> BacktestRun:
        found = {run.name: run for run in self.runs}
        if name not in found:
            raise KeyError(f"there is no policy {name!r}; there are {', '.join(found)}")
        return found[name]

    @cached_property
    def now(self) -> Actions:
        """The routes of the learner's next decision, with their shares."""
        return self.problem.decision_set.describe(self.runs[0].following)


def backtest(
    problem: MeasuredRoutes,
    policies: Mapping[str, Policy[Any, Any]] | None = None,
    *,
    eagerness: float = 1.0,
    violated: float | None = None,
    advice: Sequence[str] = (),
    dead_from: float | None = None,
    time_limit: float = TIME_LIMIT,
) -> Backtest:
    """Replay measured rounds with the default policy, its plain variant and usual routing rules.

    Args:
        problem: the measured rounds.
        policies: further policies by name; one with the name of a default policy replaces it.
        eagerness: how eagerly the constraints are satisfied; more means less violation, more cost.
        violated: the share of rounds in which each constraint may be violated, such as 0.01; the
            first two rows are then the default policy and the threshold rule, each in a
            `ViolatedShare`.
        advice: advisers by name, of `ADVISERS`; one more row is then the default policy with them.
        dead_from: the latency in ms from which on a link counts as dead; left out, ten times the
            link's median. A link with an outage is dead, too.
        time_limit: seconds for the best fixed action in hindsight.

    """
    if not isinstance(problem, MeasuredRoutes):
        raise TypeError(
            f"a backtest plays measured rounds, hr.problems.MeasuredRoutes, got {problem!r:.60}"
        )
    advisers = advisers_of(problem, advice)
    flags = problem.dead_links(dead_from)
    best = hindsight(problem, budget="minimum", time_limit=as_number(time_limit, "time_limit"))
    players = {**default_policies(problem, eagerness, violated), **(policies or {})}
    if advice:
        X, m = problem.decision_set, problem.constraints
        advised = projection_free_coco(X, eagerness=eagerness, constraints=m, advisers=advice)
        players = {ADVISED: advised, **players}
    fixed = _played(problem, BEST, FixedAction(problem.decision_set, best.x), flags)
    allowed = fixed.trace if best.least else None
    runs = [
        _played(problem, name, policy, flags, allowed, advisers if name == ADVISED else None)
        for name, policy in players.items()
        if name != BEST
    ]
    return Backtest(problem, (*runs, fixed), best)


def default_policies(
    problem: MeasuredRoutes, eagerness: float = 1.0, violated: float | None = None
) -> dict[str, Policy[Any, Any]]:
    """Return the learner, its plain variant and the usual routing rules, by name."""
    X, day = problem.decision_set, _day(problem)
    m, e = problem.constraints, eagerness
    shared: dict[str, Policy[Any, Any]] = {}
    if violated is not None:
        learner = projection_free_coco(X, eagerness=e, constraints=m)
        rule = threshold_rule(X, margin=0.0)
        target = f"{100.0 * violated:g} %"
        shared[f"{DEFAULT}, {target}"] = ViolatedShare(learner, violated)
        shared[f"threshold, {target}"] = ViolatedShare(rule, [violated] * (m or 1))
    # a margin of several limits, and the most violated one of them, would mix their units
    rules: dict[str, Policy[Any, Any]] = {"threshold rule": threshold_rule(X, margin=0.0)}
    if m is None:
        rules = {"threshold rule": threshold_rule(X), "PI control": proportional_integral(X)}
    return {
        **shared,
        DEFAULT: projection_free_coco(X, eagerness=e, constraints=m),
        PLAIN: projection_free_coco(X, eagerness=e, tracking=False, constraints=m),
        **rules,
        "last round": last_round(X),
        "best of yesterday": best_of_yesterday(X, window=day),
        "cheapest path": cheapest_path(X, prices=problem.price),
        SHORTEST: shortest_path(X, lengths=problem.latency),
        "ecmp": ecmp(X),
    }


def advisers_of(problem: MeasuredRoutes, names: Sequence[str]) -> dict[str, Policy[Any, Any]]:
    """Return advisers by name."""
    for name in names:
        if name not in ADVISERS:
            raise ValueError(
                f"there is no adviser {name!r}, there are {', '.join(map(repr, ADVISERS))}"
            )
    return {name: ADVISERS[name](problem) for name in names}


def _day(problem: MeasuredRoutes) -> int:
    """Return the number of rounds in a day."""
    minutes = problem.round_minutes
    return DAY if minutes is None else max(1, round(DAY / minutes))


ADVISERS: dict[str, Callable[[MeasuredRoutes], Policy[Any, Any]]] = {
    "lp-last": lambda problem: last_round(problem.decision_set),
    "lp-mean": lambda problem: last_round(problem.decision_set, rounds=MEAN_ROUNDS),
    "yesterday": lambda problem: SameTime(last_round(problem.decision_set), _day(problem)),
    "shortest": lambda problem: shortest_path(problem.decision_set, lengths=problem.latency),
}
"""Who may advise: the programme of the last round, of the mean of recent ones, of the same time a
day before, and the shortest path."""


def _played(
    problem: MeasuredRoutes,
    name: str,
    policy: Policy[Any, Any],
    dead: NDArray[np.bool_],
    allowed: Trace | None = None,
    advice: Mapping[str, Policy[Any, Any]] | None = None,
) -> BacktestRun:
    """Play the rounds; the certificate is for actions that violate no more than `allowed` does."""
    steps, weights = [], []
    for step in play(policy, problem, advice=advice):
        steps.append(step)
        weights.append(list(getattr(policy, "voices", {}).values()))
    trace, plays = Trace.of(iter(steps), problem), np.array([step.x for step in steps])
    length = problem.round_minutes
    on_dead = float(np.minimum(1.0, (plays * dead).sum(axis=1)).sum())
    return BacktestRun(
        name,
        trace,
        plays,
        problem.service_levels(trace),
        problem.service_level(trace),
        count_switches(problem, plays),
        on_dead * (1.0 if length is None else length) if dead.any() else None,
        policy.ask(),
        _certificate(policy, allowed, problem, trace),
        dict(zip(getattr(policy, "voices", {}), np.array(weights).T, strict=True)),
    )


def _certificate(
    policy: Any, allowed: Trace | None, problem: MeasuredRoutes, trace: Trace
) -> Certificate | None:
    """Return the certificate of a policy that has one; of a user's own, if it says what it is.

    It says nothing unless it is in the range of regrets against all fixed actions.
    """
    if not hasattr(policy, "certificate"):
        return None
    budget: Any = 0.0
    if allowed is not None:
        totals = allowed.ccv_each
        if totals is None or not policy.summary().ccv_each:  # the largest value counts
            budget = float(np.maximum(allowed.violations, 0.0).sum())
        else:
            budget = totals.tolist()
    proved = policy.certificate(budget)
    if not isinstance(proved, Certificate):
        return None
    X, prices = problem.decision_set, problem.cost
    total = np.sum([prices.at(t) for t in range(problem.horizon)], axis=0)
    cheapest, dearest = X.minimum(total), -X.minimum(-total)
    rounding = 1e-9 * max(abs(cheapest), abs(dearest))
    return proved.within(trace.cost - dearest - rounding, trace.cost - cheapest + rounding)


def count_switches(problem: MeasuredRoutes, plays: NDArray[np.float64]) -> int:
    """Return how often the main route changed: that of the widest edge at every node."""
    X = problem.decision_set
    assert isinstance(X, DagPaths)
    tail, head, number = number_nodes(X.edges)
    out = [np.flatnonzero(tail == node) for node in range(len(number))]
    first, last = number[X.source], number[X.target]

    def main(x: Vector) -> tuple[int, ...]:
        node, route = first, []
        while node != last:
            edge = int(out[node][np.argmax(x[out[node]])])
            route.append(edge)
            node = int(head[edge])
        return tuple(route)

    routes = [main(x) for x in plays]
    return sum(a != b for a, b in pairwise(routes))
