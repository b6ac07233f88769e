"""A point that moves by Euclidean projections: what learners and policies that project share."""

from __future__ import annotations

from numpy.typing import ArrayLike

from hedgerow.inputs import Vector
from hedgerow.learners.arguments import first_play
from hedgerow.protocols.player import StatefulPlayer
from hedgerow.sets.decision_set import DecisionSet, Projectable
from hedgerow.snapshot import Restorable, State


def check_projection(decision_set: DecisionSet, name: str) -> None:
    """Refuse a set that cannot project."""
    if not decision_set.supports(Projectable):
        raise ValueError(
            f"{name} projects, and {type(decision_set).__name__} has no projection; give it "
            "project(y), or use AdaptiveOCG or projection_free_coco, which need only its oracle"
        )


class ProjectedPoint(StatefulPlayer):
    """The point x_t, the round t and the count of projections, beside numbers of its own.

    Args:
        decision_set: where to play; it must know its projection.
        start: x_1; the set's own start if left out.
        sizes: names and lengths of further numbers of the state.

    """

    oblivious_only = False
    oracle_calls = 0
    """It asks for projections, never for a linear minimisation."""

    def __init__(
        self,
        decision_set: DecisionSet,
        start: ArrayLike | None = None,
        **sizes: int,
    ):
        X = self.decision_set = decision_set
        check_projection(X, type(self).__name__)
        x1 = first_play(X, start)
        self._state = State(x=X.dim, t=1, projections=1, **sizes)
        self._state["x"][:] = x1
        self._workspace = X.workspace()

    @property
    def projections(self) -> int:
        """How many Euclidean projections it has asked for."""
        return int(self._state["projections"][0])

    def ask(self) -> Vector:
        """Return x_t."""
        return self._state["x"].copy()

    def _project(self, y: Vector) -> Vector:
        """Return the nearest point of the set, and count."""
        self._state["projections"][0] += 1.0
        return self._workspace.project(y)

    @property
    def _parts(self) -> dict[str, Restorable]:
        return {"workspace": self._workspace}
