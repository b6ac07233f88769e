"""A method: a policy by name, how it is built, what it sees, and what is known about it.

`@baseline(...)` stands beside the function that builds the policy and says what is known about it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

from hedgerow.feedback import bandit, first_order, first_order_each, full_information
from hedgerow.functions import Function
from hedgerow.inputs import Vector
from hedgerow.policies.presets import Preset
from hedgerow.protocols.parts import ResumablePolicy
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import records_call

Factory = TypeVar("Factory", bound=Callable[..., ResumablePolicy[Any, Any]])
Sees = Literal["gradients", "parts", "whole", "values"]
NOT_STATED = "not stated"
DECLARED = "hedgerow_method"
"""The attribute of a function in which `baseline` keeps its method."""


class Constants(NamedTuple):
    """What theorems assume to be known: pairs (of costs, of constraints).

    `lipschitz` bounds the norms of all gradients, `bound` the absolute values on the set.
    """

    lipschitz: tuple[float, float]
    bound: tuple[float, float]


@dataclass(frozen=True)
class Method:
    """A named policy and its row in the table of methods.

    Attributes:
        build: the function that makes the policy; its docstring has the details.
        regret: the order of the regret bound, in T.
        ccv: the order of the bound of the cumulative violation, in T.
        per_round: what it asks of the set each round.
        sees: "gradients" (value and gradient), "parts" (those of every part of a constraint),
            "whole" (the constraint as a function) or "values" (two numbers).
        needs: what the guarantee assumes.
        confidence: how well its specification is known; "reconstruction" where the original's
            pseudocode could not be read.
        source: authors and year.
        label: its name, where that is not the name of the function.
        remark: what a reader of its numbers must know, printed beside its name in results.
        practical: the same, of the practical preset alone.

    """

    build: Callable[..., ResumablePolicy[Any, Any]]
    regret: str = NOT_STATED
    ccv: str = NOT_STATED
    per_round: str = NOT_STATED
    sees: Sees = "gradients"
    needs: str = NOT_STATED
    confidence: str = NOT_STATED
    source: str = NOT_STATED
    label: str = ""
    remark: str = ""
    practical: str = ""

    @property
    def name(self) -> str:
        """The name of the function that builds it, or the label."""
        return self.label or self.build.__name__

    def remarks(self, preset: Preset) -> str:
        """Return what belongs beside its name where numbers of this preset are printed."""
        parts = (self.remark, self.practical if preset == "practical" else "")
        return "; ".join(part for part in parts if part)

    def takes(self, argument: str) -> bool:
        """Whether it is built with an argument of this name, such as "seed" or "eagerness"."""
        return argument in inspect.signature(self.build).parameters

    def policy(
        self,
        decision_set: DecisionSet,
        horizon: int,
        seed: int,
        preset: Preset,
        constants: Constants | None = None,
        eagerness: float = 1.0,
        edges: Mapping[str, Vector] | None = None,
    ) -> ResumablePolicy[Any, Any]:
        """Build the policy with what it takes; `constants` where its preset needs them.

        `edges` has the base `lengths` and `prices` of a problem on edges, for methods that know
        them.
        """
        given: dict[str, Any] = {"horizon": horizon, "preset": preset, **(edges or {})}
        if self.takes("seed"):
            given["seed"] = seed
        if constants is not None and (preset == "theory" or self.sees == "values"):
            given["lipschitz"], given["bound"] = constants
        if eagerness != 1.0:
            given["eagerness"] = eagerness
            if not self.takes("eagerness"):
                raise ValueError(f"{self.name} has no eagerness to tune; leave it out")
        return self.build(
            decision_set, **{name: value for name, value in given.items() if self.takes(name)}
        )

    def feedback(self, constants: Constants | None = None) -> Callable[[Function, Vector], Any]:
        """Return what it may see of a round's functions, for `play` and `simulate`.

        Values come with one declared pair for cost and constraint alike, the larger of each: what
        a feedback declares is a bound. The policy itself is built with the pairs.
        """
        if self.sees == "gradients":
            return first_order
        if self.sees == "parts":
            return first_order_each
        if self.sees == "whole":
            return full_information
        if constants is None:
            raise ValueError(f"{self.name} sees values alone and needs declared constants")
        declared = max(constants.lipschitz), max(constants.bound)

        def values(f: Function, x: Vector) -> Any:
            return bandit(f, x, *declared)

        return values


def baseline(
    *,
    source: str = NOT_STATED,
    regret: str = NOT_STATED,
    ccv: str = NOT_STATED,
    per_round: str = NOT_STATED,
    sees: Sees = "gradients",
    needs: str = NOT_STATED,
    confidence: str = NOT_STATED,
    label: str = "",
    remark: str = "",
    practical: str = "",
) -> Callable[[Factory], Factory]:
    """Register what is known about the method that a function builds; the policy knows its call.

    Only what the method sees changes how it is played. The arguments are the fields of `Method`.

    >>> from hedgerow.baselines.sinha_vaze import sinha_vaze_2024
    >>> @baseline(source="this page", regret="T^{1/2}")
    ... def cautious(decision_set, horizon=None):
    ...     return sinha_vaze_2024(decision_set, horizon, eagerness=4.0)
    >>> declared(cautious).regret
    'T^{1/2}'

    """

    def declare(build: Factory) -> Factory:
        if inspect.isfunction(build):  # what a partial calls records its own call
            build = records_call(build)
        method = Method(
            build,
            regret,
            ccv,
            per_round,
            sees,
            needs,
            confidence,
            source,
            label,
            remark,
            practical,
        )
        setattr(build, DECLARED, method)
        return build

    return declare


def declared(build: object) -> Method | None:
    """Return what `baseline` says about a function, or None where it says nothing."""
    method = getattr(build, DECLARED, None)
    return method if isinstance(method, Method) and method.build is build else None
