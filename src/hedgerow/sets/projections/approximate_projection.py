"""Projections that are nearly feasible, by linear minimisation alone (Garber and Kretzu)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hedgerow.inputs import Vector, as_positive, squared_norm
from hedgerow.kernels.pursuit import CALLS, FAR, GAP, NEAR, PROGRESS, apart2, come_nearer, pursue
from hedgerow.sets.compiled import KernelWorkspace
from hedgerow.sets.projections.frank_wolfe import Descent, Oracle

STEP_2023 = 2.0 / 3.0
"""How far y is drawn towards its separating point, Garber and Kretzu (2023)."""
MOST_SEPARATIONS = 10**6
"""A projection that may need more separations than this is refused."""


class Pursuit(NamedTuple):
    """A point x of the set and y near it, with ||x - y||^2 <= 3 eps, and its oracle calls."""

    x: Vector
    y: Vector
    calls: int


def frank_wolfe_separation(lmo: Oracle, start: Vector, y: Vector, eps: float) -> Descent:
    """Come near y in the set, or separate y from it, by Frank-Wolfe with exact line search.

    It stops at the first x with ||x - y||^2 <= 3 eps or with a gap <x - y, x - v> <= eps, and x is
    never further from y than the start is. In the second case y - x separates: for every z of the
    set <y - z, y - x> > 2 eps, and also > (2/3) ||x - y||^2. Where y is within sqrt(eps) of the
    set the first case comes. At most ceil(27 R^2 / eps - 2) oracle calls for a set in a ball of
    radius R; none where the start is near. The gap of a point that was near at once is infinite.

    Args:
        lmo: the oracle of the set.
        start: a point of the set.
        y: the point to come near to.
        eps: the tolerance, a squared length; below rounding (about 1e-15 R^2) it is not reached.

    Reference: D. Garber and B. Kretzu, New projection-free algorithms for online convex
    optimization with adaptive regret guarantees, COLT 2022 (PMLR 178). They test the distance
    after the oracle call; here it is tested before, which returns the same point one call sooner.

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> X, y = Simplex(2), np.array([3.0, 0.0])
    >>> frank_wolfe_separation(X.lmo, X.start(), y, 0.1)
    Descent(x=array([1., 0.]), gap=0.0, calls=2)

    """
    as_positive(eps, "eps")
    if _near(start, y, eps):
        return Descent(start.copy(), math.inf, 0)
    x, slope, following, progress = start.copy(), start - y, np.empty(y.size), np.zeros(PROGRESS)
    found = FAR
    while found == FAR:
        found = come_nearer(x, y, slope, lmo(slope.copy()), following, progress, eps)
    gap = math.inf if found == NEAR else float(progress[GAP])
    return Descent(x, gap, int(progress[CALLS]))


def approximately_feasible_projection(lmo: Oracle, start: Vector, y: Vector, eps: float) -> Pursuit:
    """Move y towards the set until a point x of the set is within sqrt(3 eps) of it.

    While the separating x is further away, y <- y - (2/3) (y - x). On return x is in the set,
    ||x - y~||^2 <= 3 eps, and ||y~ - z|| <= ||y - z|| for every z of the set: for a proof of regret
    y~ serves as well as the projection would. At most 2.25 ln(||y - start||^2 / eps) + 1
    separations, of at most 27 R^2 / eps oracle calls each; more are refused as rounding.

    Args:
        lmo: the oracle of the set.
        start: a point of the set; the nearer to y the better.
        y: the point to project.
        eps: the tolerance, a squared length.

    Reference: D. Garber and B. Kretzu, Projection-free online exp-concave optimization, COLT 2023
    (PMLR 195), in the Euclidean norm.

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> X, y = Simplex(2), np.array([3.0, 0.0])
    >>> approximately_feasible_projection(X.lmo, X.start(), y, 0.1)
    Pursuit(x=array([1., 0.]), y=array([1.22222222, 0.        ]), calls=3)

    """
    as_positive(eps, "eps")
    return _pursue(lmo, start, y, eps, STEP_2023, _most_2023(start, y, eps))


def close_infeasible_projection(
    lmo: Oracle, start: Vector, y: Vector, eps: float, centre: Vector, radius: float
) -> Pursuit:
    """Put y into a ball around the set, then move it towards the set by small steps.

    The older method, with the promises of `approximately_feasible_projection` and the step
    2 eps / ||start - y||^2: about ||start - y||^4 / (4 eps^2) separations instead of a
    logarithmic number. It is here to reproduce the paper of 2022.

    Args:
        lmo: the oracle of the set.
        start: a point of the set.
        y: the point to project.
        eps: the tolerance, a squared length.
        centre: the centre of a ball that contains the set.
        radius: its radius R.

    Reference: D. Garber and B. Kretzu, COLT 2022 (PMLR 178).

    """
    as_positive(eps, "eps")
    y = into_ball(y, centre, as_positive(radius, "radius"))
    distance = max(squared_norm(start - y), 3.0 * eps)
    if (distance / eps) ** 2 / 4.0 > MOST_SEPARATIONS:
        raise ValueError(
            f"eps must be above {distance / (2.0 * MOST_SEPARATIONS**0.5):.3g} for a point at "
            f"distance {math.sqrt(distance):.3g} from the start, got {eps:g}, for which this "
            f"method may take {(distance / eps) ** 2 / 4.0:.0e} separations; use "
            "approximately_feasible_projection"
        )
    return _pursue(lmo, start, y, eps, 2.0 * eps / distance, (distance / eps) ** 2 / 4.0)


def into_ball(y: Vector, centre: Vector, radius: float) -> Vector:
    """Return the point of the ball nearest to y."""
    away = y - centre
    length = math.sqrt(squared_norm(away))
    return y if length <= radius else centre + radius / length * away


def project_by_kernels(space: KernelWorkspace, x: Vector, y: Vector, eps: float) -> int:
    """Move x and y to where `approximately_feasible_projection` ends; return the oracle calls."""
    most = math.ceil(_most_2023(x, y, eps)) + 2
    calls = pursue(space.table, x, y, eps, STEP_2023, most, np.empty(3 * x.size + PROGRESS))
    if calls < 0:
        raise _too_small(most, eps, x)
    return calls


def _most_2023(start: Vector, y: Vector, eps: float) -> float:
    """Return the most separations that exact arithmetic needs."""
    return 2.25 * math.log(max(1.0, apart2(y, start) / eps)) + 1.0


def _pursue(
    lmo: Oracle, start: Vector, y: Vector, eps: float, share: float, most: float
) -> Pursuit:
    """Separate and move until x is near; each move takes y nearer to the set by a fixed part."""
    x, calls = start.copy(), 0
    for _ in range(math.ceil(most) + 2):
        if _near(x, y, eps):
            return Pursuit(x, y.copy(), calls)
        end = frank_wolfe_separation(lmo, x, y, eps)
        x, calls = end.x, calls + end.calls
        if not _near(x, y, eps):
            y = y - share * (y - x)
    raise _too_small(math.ceil(most) + 2, eps, x)


def _too_small(separations: int, eps: float, x: Vector) -> RuntimeError:
    return RuntimeError(
        f"no point within sqrt(3 eps) of the set was found in {separations} separations, "
        f"which only rounding explains: eps = {eps:g} is too small beside coordinates of size "
        f"{np.abs(x).max():g}; use a larger eps"
    )


def _near(x: Vector, y: Vector, eps: float) -> bool:
    return apart2(x, y) <= 3.0 * eps
