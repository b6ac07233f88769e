"""What policies share that stand alone and move by Euclidean projections."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from typing import TypeVar, cast

from hedgerow.feedback import EvalGrad, Full, needs
from hedgerow.inputs import Vector, as_count, as_positive
from hedgerow.learners.horizon import warn_beyond
from hedgerow.policies.presets import (
    Lipschitz,
    Preset,
    check_preset,
    needed_lipschitz,
    refuse_in_theory,
)
from hedgerow.policies.unit_free import UnitFree
from hedgerow.protocols.parts import Policy
from hedgerow.sets.decision_set import DecisionSet, Projectable
from hedgerow.snapshot import Snapshot, State
from hedgerow.surrogates.queued import LARGEST_PART, checked

Seen = TypeVar("Seen", bound=EvalGrad | Full)


class Projecting(ABC):  # noqa: B024 - what it lacks, `tell`, differs in its feedback
    """The point x_t, the round t and the count of projections, beside numbers of its own.

    Args:
        decision_set: where to play; it must know its projection.
        configuration: what a snapshot must agree on, such as a schedule.
        horizon: the round after which it warns once, or None.
        sizes: names and lengths of further numbers of the state.

    """

    oblivious_only = False
    oracle_calls = 0
    """It asks for projections, never for a linear minimisation."""

    def __init__(
        self,
        decision_set: DecisionSet,
        configuration: object,
        horizon: int | None = None,
        **sizes: int,
    ):
        if not decision_set.supports(Projectable):
            raise NotImplementedError(
                f"this policy projects every round, and {type(decision_set).__name__} has no "
                "projection; choose a projection-free policy, such as projection_free_coco"
            )
        self.decision_set, self.horizon = decision_set, horizon
        self._configuration = (decision_set, configuration)
        self._state = State(x=decision_set.dim, t=1, projections=1, **sizes)
        self._state["x"][:] = decision_set.start()
        self._workspace = decision_set.workspace()

    @property
    def projections(self) -> int:
        """How many Euclidean projections it has asked for."""
        return int(self._state["projections"][0])

    def ask(self) -> Vector:
        """Return x_t."""
        return self._state["x"].copy()

    def _seen(self, kind: type[Seen], cost: Seen, constraint: Seen) -> tuple[Seen, Seen]:
        """Return both feedbacks, checked, with gradients along the set."""
        return self._part(kind, cost, "cost"), self._part(kind, constraint, "constraint")

    def _part(self, kind: type[Seen], seen: Seen, name: str) -> Seen:
        needs(kind, seen, "this policy", name)
        X = self.decision_set
        value, grad, _ = checked(EvalGrad(seen.value, seen.grad), name, X.dim)
        if abs(value) > LARGEST_PART:
            raise ValueError(
                f"the {name} has the value {value:g}, above {LARGEST_PART:g}; "
                "measure it in a larger unit"
            )
        return cast(Seen, seen._replace(value=value, grad=X.tangent(grad)))

    def _round(self) -> int:
        """Begin to work on a round and return its number, from 1 on."""
        self._state["t"][0] += 1.0
        t = int(self._state["t"][0])
        warn_beyond(t, self.horizon)
        return t

    def _project(self, y: Vector) -> Vector:
        """Return the nearest point of the set, and count."""
        self._state["projections"][0] += 1.0
        return self._workspace.project(y)

    def state(self) -> Snapshot:
        """Return a snapshot."""
        self._workspace.clear()
        return self._state.snapshot(self, self._configuration)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot."""
        self._state.restore(self, snapshot, self._configuration)
        self._workspace.clear()


def stand_alone(
    build: Callable[[float, float], Policy[Seen, Seen]],
    decision_set: DecisionSet,
    horizon: int | None,
    preset: Preset,
    lipschitz: Lipschitz,
    eagerness: float,
    tuned: float = 1.0,
) -> Policy[Seen, Seen]:
    """Build a stand-alone policy in one of its presets; a horizon is checked, not needed.

    Args:
        build: makes the policy from (G, eagerness).
        decision_set: where to play.
        horizon: the number of rounds, or None.
        preset: "theory" builds it with G = lipschitz, "practical" with G = 1 and no units.
        lipschitz: a bound of all gradients' norms, which the theory preset needs.
        eagerness: the user's factor on the constraint's weight; 1 in the theory preset.
        tuned: the factor on it that eagerness 1 means in the practical preset. All were chosen
            alike: the best of 0.01, 0.1, 0.3, 1, 3, ..., 1000 by the mean of
            regret^+/(Gf D T) + CCV/(Gg D T) over `IidSimplex`, `QuadraticBox`, `HalfspaceBox`,
            `OrthogonalBall`, `SwitchingBall` and `ShortestPath.atlas_like` (60 nodes, 300 edges),
            T = 400, seeds 1 and 2; a smaller one where the mean was flat. RECOO and Yi: powers
            of ten only.

    """
    check_preset(preset, decision_set, horizon)
    if preset == "theory":
        refuse_in_theory(eagerness=None if eagerness == 1.0 else eagerness)
        return build(needed_lipschitz(lipschitz), 1.0)
    if lipschitz is not None:
        raise ValueError("the practical preset learns lipschitz; leave it out, or use 'theory'")
    return UnitFree(build(1.0, tuned * as_positive(eagerness, "eagerness")))


def rounds_needed(horizon: int | None, name: str, least: int = 1) -> int:
    """Return the horizon, which the steps of this policy are made of in both presets."""
    if horizon is None:
        raise ValueError(
            f"{name} needs a horizon in both presets, its steps are made of it; give the number "
            "of rounds, or take an anytime policy: jenatton, recoo, yi_2021 or yi_2023"
        )
    return as_count(horizon, "horizon", least=least)


def units(preset: Preset, decision_set: DecisionSet) -> tuple[float, float]:
    """Return the unit of length and the set's reach R in it, a bound of all distances to x_1.

    Theory: 1 and the diameter. Practical: the diameter and 1, so that a set of twice the size has
    the same plays, twice as large.
    """
    diameter = decision_set.diameter or 1.0  # a single point: any length will do
    return (1.0, diameter) if preset == "theory" else (diameter, 1.0)
