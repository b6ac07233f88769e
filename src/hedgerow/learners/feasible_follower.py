"""A feasible point that follows an infeasible one."""

from __future__ import annotations

from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import Workspace
from hedgerow.sets.projections.approximate_projection import (
    approximately_feasible_projection,
    into_ball,
    project_by_kernels,
)
from hedgerow.snapshot import State, Stateful


class FeasibleFollower(Stateful):
    """The pair (x_m, y~_m) of Garber and Kretzu: x is played, y~ learns, ||x - y~||^2 <= 3 eps.

    Args:
        workspace: the memory in which the set's oracle works.
        start: x_1 = y~_1, a point of the set.
        radius: R; the ball of this radius about x_1 contains the set.
        eps: the tolerance, a squared length; 0 only for a set of one point.

    """

    def __init__(self, workspace: Workspace, start: Vector, radius: float, eps: float):
        self._workspace, self.radius, self.eps = workspace, radius, eps
        self.centre = start.copy()
        self._state = State(x=start.size, y=start.size, calls=1)
        self._state["x"][:] = self._state["y"][:] = start

    @property
    def x(self) -> Vector:
        """x_m, a point of the set."""
        return self._state["x"].copy()

    @property
    def y(self) -> Vector:
        """y~_m, which may be outside."""
        return self._state["y"].copy()

    @property
    def oracle_calls(self) -> int:
        """How often the oracle was asked."""
        return int(self._state["calls"][0])

    def follow(self, y: Vector) -> None:
        """Put y into the ball, then set (x_{m+1}, y~_{m+1}) = AFP(x_m, y, eps)."""
        if self.radius == 0.0:
            return
        x, y = self.x, into_ball(y, self.centre, self.radius).copy()
        if self._workspace.space is not None:
            calls = project_by_kernels(self._workspace.space, x, y, self.eps)
        else:
            lmo = self._workspace.lmo
            x, y, calls = approximately_feasible_projection(lmo, x, y, self.eps)
        self._state["x"][:], self._state["y"][:] = x, y
        self._state["calls"][0] += calls
