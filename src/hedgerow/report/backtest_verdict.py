"""What a backtest comes to, in a sentence: the learner against the routes in use today."""

from __future__ import annotations

from hedgerow.experiments.backtesting import BEST, SHORTEST, TODAY, Backtest, BacktestRun
from hedgerow.protocols.service_level import ServiceLevel

SAME = 0.0005
"""Costs that differ by a smaller share are the same."""


def verdict(test: Backtest) -> str:
    """Return cost and violation of the learner, beside those of today's route or the shortest path.

    The last number is what nobody could have avoided.
    """
    mine, other = test.runs[0], reference(test)
    problem, noun = test.problem, time_noun(test)
    limit = "the limit" if len(problem.limits) == 1 else "a limit"
    side = "over" if {limit.kind for limit in problem.limits} == {"cap"} else "outside"
    had, has = bad_time(other.any_level), bad_time(mine.any_level)
    more = f"as many {noun}s"
    if f"{had:.0f}" != f"{has:.0f}":
        more = _count(abs(has - had), f"{'more' if has > had else 'fewer'} {noun}")
    met = f"in every {noun} some route could have met it"
    if problem.unkept:
        unmet = problem.unkept * (problem.round_minutes or 1.0)
        met = f"in {_count(unmet, noun)} no route could have met it"
    name = mine.name[0].upper() + mine.name[1:]
    return (
        f"{name} was {_cost(test, mine, other)} {_named(other)}, with {more} {side} {limit} "
        f"({has:.0f} against {had:.0f}); {met}."
    )


def better_in_both(test: Backtest) -> str:
    """Say which policies cost no more than the learner and violated the limits no more often."""
    mine = test.runs[0]
    found = [
        run.name
        for run in test.runs[1:]
        if run.name != BEST
        and run.mean_cost <= mine.mean_cost + SAME * abs(mine.mean_cost)
        and run.any_level.violated <= mine.any_level.violated
        and (
            run.mean_cost < mine.mean_cost - SAME * abs(mine.mean_cost)
            or run.any_level.violated < mine.any_level.violated
        )
    ]
    if not found:
        return "No other policy was at least as good in both."
    return f"At least as good in both, and better in one: {', '.join(found)}."


def reference(test: Backtest) -> BacktestRun:
    """Return the run that the learner is compared with: today's route, or the shortest path."""
    return next((run for run in test.runs if run.name == TODAY), test[SHORTEST])


def time_noun(test: Backtest) -> str:
    """Return what bad time is counted in, in the singular."""
    return "round" if test.problem.round_minutes is None else "minute"


def bad_time(level: ServiceLevel) -> float:
    """Return how long limits were violated: in minutes, or in rounds of unknown length."""
    return float(level.violated) if level.minutes is None else level.minutes


def _named(run: BacktestRun) -> str:
    return "the route of today" if run.name == TODAY else f"the {run.name}"


def _cost(test: Backtest, mine: BacktestRun, other: BacktestRun) -> str:
    """Return how much less or more one costs than the other, up to the word "than"."""
    quantity, least = test.problem.cost, abs(other.mean_cost)
    change = mine.mean_cost - other.mean_cost
    if abs(change) <= SAME * least:
        return "as cheap as"
    percent = 100.0 * abs(change) / least if least else 0.0
    amount = f"{percent:.0f} %" if percent >= 9.95 else f"{percent:.1f} %"
    if not least or percent >= 1000.0:
        amount = f"{abs(change):.4g} {quantity.unit} per round".replace("  ", " ")
    if quantity.name in ("latency", "hops"):
        return f"{amount} {'lower' if change < 0.0 else 'higher'} in {quantity.name} than"
    return f"{amount} {'cheaper' if change < 0.0 else 'more expensive'} than"


def _count(number: float, noun: str) -> str:
    return f"{number:.0f} {noun}" + ("" if f"{number:.0f}" == "1" else "s")
