"""Presets: "practical" learns its constants, "theory" takes those of a theorem."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Literal, cast

from hedgerow.inputs import as_count, as_number, as_positive, level_outside
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.validation import check_width

Preset = Literal["practical", "theory"]
Lipschitz = float | tuple[float, float] | None


class VacuousConstantsWarning(UserWarning):
    """The constants of the theorem ignore the constraint at this horizon."""


def check_preset(preset: str, decision_set: DecisionSet, horizon: int | None) -> None:
    """Validate preset, decision set and horizon."""
    if preset not in ("practical", "theory"):
        raise ValueError(f"preset must be 'practical' or 'theory', got {preset!r}")
    if not isinstance(decision_set, DecisionSet):
        raise TypeError(
            f"a policy plays on a DecisionSet, got {decision_set!r}; "
            "take one of the catalogue, or wrap your own oracle in OracleSet"
        )
    if horizon is not None:
        as_count(horizon, "horizon")
    check_width(decision_set.diameter, "a decision set")
    if preset == "theory" and decision_set.diameter == 0.0:
        raise ValueError("the theory preset needs a set with more than one point to choose from")


def refuse_in_theory(**given: object) -> None:
    """Refuse what the theorem does not know; None stands for what was left out."""
    for name, value in given.items():
        if value is not None:
            queue = "; it has one queue, for the maximum of a round's constraints"
            raise ValueError(
                f"the theory preset is the theorem's letter and takes no {name}, got {value!r}"
                f"{queue if name == 'constraints' else ''}; use preset='practical', or leave it out"
            )


NO_CONSTANTS = {
    "lipschitz": "the practical preset learns the sizes of gradients; leave it out",
    "violation_unit": "the practical preset needs no unit of violation; leave it out",
    "violation_budget": "use eagerness, the one number that trades violation for cost",
    "benchmark_budget": "ask certificate(budget=...), which bounds the regret of such a benchmark",
}
"""What replaces constants that the practical preset once took."""


def refuse_constants(**given: object) -> None:
    """Refuse constants that the practical preset no longer takes; None stands for left out."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name}={value!r} has no effect any more: {NO_CONSTANTS[name]}")


def refuse_eagerness(eagerness: float) -> None:
    """Refuse a tuned factor where the constants are the theorem's."""
    refuse_in_theory(eagerness=None if eagerness == 1.0 else eagerness)


def needed_horizon(horizon: int | None) -> int:
    """Return the horizon that the theory preset needs; T >= 8 makes log T >= 2 (erratum 5)."""
    if horizon is None:
        raise ValueError("the theory preset needs a horizon; preset='practical' needs none")
    return as_count(horizon, "horizon", least=8)


def needed_lipschitz(lipschitz: Lipschitz) -> float:
    """Return one bound for costs and constraints, which the theory preset needs."""
    if lipschitz is None:
        raise ValueError(
            "the theory preset needs lipschitz, a bound of all gradients' norms; "
            "preset='practical' learns it"
        )
    return max(as_pair(lipschitz, "lipschitz"))


def given_ratio(lipschitz: Lipschitz) -> float | None:
    """Return the bound for costs over that for constraints, if given."""
    if lipschitz is None:
        return None
    cost, constraint = as_pair(lipschitz, "lipschitz")
    return cost / constraint


def as_pair(value: float | tuple[float, float], name: str) -> tuple[float, float]:
    """Return (for costs, for constraints), from one number for both or from a pair."""
    pair = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    if len(pair) != 2:
        raise ValueError(f"{name} is one number or a pair (costs, constraints), got {value!r}")
    return as_positive(pair[0], name), as_positive(pair[1], name)


def as_budget(value: float, name: str = "benchmark_budget") -> float:
    """Return the violation that a benchmark may have, zero or more."""
    if (budget := as_number(value, name)) < 0.0:
        raise ValueError(f"{name} must be at least 0, got {budget:g}")
    return budget


def as_budgets(budget: float | Sequence[float], constraints: int) -> tuple[float, ...]:
    """Return how much a benchmark may violate each of several constraints that count apart."""
    if constraints == 1:
        return (as_budget(cast(float, budget), "budget"),)
    if isinstance(budget, int | float) and budget == 0.0:
        return (0.0,) * constraints
    if isinstance(budget, int | float) or len(budget) != constraints:
        raise ValueError(
            f"budget must have one number for each of {constraints} constraints, which may have "
            f"different units, got {budget!r:.60}; give a list of {constraints}"
        )
    return tuple(as_budget(part, "budget") for part in budget)


def warn_if_vacuous(horizon: int, largest_weight: Callable[[int], float]) -> None:
    """Warn if no violation could ever give the constraint a weight worth the name.

    Args:
        horizon: the number of rounds T.
        largest_weight: the weight after T rounds of the largest violations, as a function of T.

    """
    largest = largest_weight(horizon)
    if largest >= 1.0:
        return
    matters = next((T for k in range(1, 60) if largest_weight(T := 10**k) >= 1.0), None)
    when = (
        "up to T = 1e59 it never matters"
        if matters is None
        else f"it can matter from T ~ {matters:.0e} on"
    )
    warnings.warn(
        f"at T = {horizon} the theorem's constants put a weight of at most {largest:.1g} on the "
        f"constraint, so it is ignored; {when}. "
        "preset='practical' learns its constants from the rounds",
        VacuousConstantsWarning,
        stacklevel=level_outside(),
    )
