"""A feasible point that follows an infeasible one."""

from __future__ import annotations

from collections.abc import Callable

from hedgerow.inputs import Vector
from hedgerow.sets.approximate_projection import approximately_feasible_projection, into_ball
from hedgerow.snapshot import State, Stateful


class FeasibleFollower(Stateful):
    """The pair (x_m, y~_m) of Garber and Kretzu: x is played, y~ learns, ||x - y~||^2 <= 3 eps.

    Args:
        lmo: the oracle of the set.
        start: x_1 = y~_1, a point of the set.
        radius: R; the ball of this radius about x_1 contains the set.
        eps: the tolerance, a squared length; 0 only for a set of one point.

    """

    def __init__(self, lmo: Callable[[Vector], Vector], start: Vector, radius: float, eps: float):
        self._lmo, self.radius, self.eps = lmo, radius, eps
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
        y = into_ball(y, self.centre, self.radius)
        end = approximately_feasible_projection(self._lmo, self._state["x"], y, self.eps)
        self._state["x"][:], self._state["y"][:] = end.x, end.y
        self._state["calls"][0] += end.calls
