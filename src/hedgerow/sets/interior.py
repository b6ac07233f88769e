"""The affine hull and the largest ball of a described set, by linear programmes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hedgerow.inputs import Vector

if TYPE_CHECKING:
    from scipy import sparse

FLATTEST = 1e-8
"""A set narrower than this in some direction, relative to its size, counts as flat there."""


class Interior(NamedTuple):
    """The largest ball in the hull, the hull's basis (dim, d) and the flat directions."""

    centre: Vector
    radius: float
    basis: Vector
    flat: Vector


def interior(
    A_ub: sparse.csr_array, b_ub: Vector, A_eq: sparse.csr_array, point: Vector, size: float
) -> Interior:
    """Evaluate into {A_ub x <= b_ub, A_eq x = A_eq point}: two linear programmes and one dense SVD.

    Args:
        A_ub: the inequalities, bounds included.
        b_ub: their right-hand sides.
        A_eq: the equations.
        point: any point of the set.
        size: about the diameter, 0 only for a point.

    """
    from scipy import sparse

    norms = sparse.linalg.norm(A_ub, axis=1)
    norms[norms == 0.0] = 1.0
    rows = sparse.csr_array(A_ub.multiply(1.0 / norms[:, None]))
    size = size or 1.0
    # From here on the point is the origin and the size 1.
    room = np.maximum(0.0, (b_ub - A_ub @ point) / (size * norms))
    tight = _always_tight(rows, room, A_eq)
    equations = sparse.csr_array(sparse.vstack([A_eq, rows[tight]]))
    _, sizes, turned = np.linalg.svd(equations.toarray())
    rank = int((sizes > FLATTEST * sizes.max(initial=0.0)).sum())
    flat, basis = turned[:rank].T.copy(), turned[rank:].T.copy()
    if not basis.size:
        return Interior(point.copy(), 0.0, basis, flat)
    slopes = np.linalg.norm(rows @ basis, axis=1)
    felt = ~tight & (slopes > FLATTEST)
    shift = basis @ _centre(rows[felt] @ basis, room[felt], slopes[felt])
    radius = float(np.min((room - rows @ shift)[felt] / slopes[felt]))
    return Interior(point + size * shift, size * max(0.0, (1.0 - 1e-9) * radius), basis, flat)


def linear_programme(
    cost: Vector,
    A_ub: Any,
    b_ub: Any,
    A_eq: Any,
    b_eq: Any,
    lower: Vector,
    upper: Vector,
    seconds: float = math.inf,
) -> Any:
    """Minimise <cost, x> by HiGHS; costs should be about 1. Its status is 1 if it takes too long.

    At its tightest tolerance; at the usual one where that leads to numerical difficulties.
    """
    from scipy.optimize import linprog

    bounds: Any = np.column_stack([lower, upper])
    options: Any = {"time_limit": seconds} if seconds < math.inf else {}
    for tol in (1e-10, 1e-7):
        options["primal_feasibility_tolerance"] = options["dual_feasibility_tolerance"] = tol
        result = linprog(
            cost,
            A_ub,
            b_ub,
            A_eq,
            b_eq,
            bounds,
            method="highs-ds",
            options=options,
        )
        if result.status != 4:
            break
    return result


def _always_tight(rows: sparse.csr_array, room: Vector, A_eq: sparse.csr_array) -> Any:
    """Mark the rows that are equations on the whole set, by one linear programme.

    A multiple x = a z of a point, a >= 1, lets every slack that can be positive at all reach 1:
    maximise the sum of t_i subject to rows x + t <= a room, A_eq x = 0, 0 <= t_i <= 1.
    """
    from scipy import sparse

    (m, n), k = rows.shape, A_eq.shape[0]
    result = linear_programme(
        np.repeat([0.0, 0.0, -1.0], [n, 1, m]),
        sparse.hstack([rows, sparse.csr_array(-room[:, None]), sparse.eye_array(m)]),
        np.zeros(m),
        sparse.hstack([A_eq, sparse.csr_array((k, 1 + m))]),
        np.zeros(k),
        np.repeat([-np.inf, 1.0, 0.0], [n, 1, m]),
        np.repeat([np.inf, 1.0 / FLATTEST, 1.0], [n, 1, m]),
    )
    return result.x[n + 1 :] < 0.5


def _centre(rows: Vector, room: Vector, slopes: Vector) -> Vector:
    """Maximise r subject to rows x + slopes r <= room."""
    n = rows.shape[1]
    result = linear_programme(
        np.append(np.zeros(n), -1.0),
        np.column_stack([rows, slopes]),
        room,
        None,
        None,
        np.append(np.full(n, -np.inf), 0.0),
        np.full(n + 1, np.inf),
    )
    return np.asarray(result.x[:n])
