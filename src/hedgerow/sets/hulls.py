"""The affine hull of a set: the projector on it, and the largest ball inside the set."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hedgerow import kernels
from hedgerow.inputs import Vector
from hedgerow.sets.compiled import pack_uint32
from hedgerow.sets.decision_set import DecisionSet, HasAffineHull, HasLinearDescription

if TYPE_CHECKING:
    from scipy import sparse

from hedgerow.sets.solvers import linear_programme

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
    """Find the largest ball in {A_ub x <= b_ub, A_eq x = A_eq point} and its hull.

    Two linear programmes and one dense SVD.

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
    slack = np.maximum(0.0, (b_ub - A_ub @ point) / (size * norms))
    tight = _always_tight(rows, slack, A_eq)
    equations = sparse.csr_array(sparse.vstack([A_eq, rows[tight]]))
    _, sizes, turned = np.linalg.svd(equations.toarray())
    rank = int((sizes > FLATTEST * sizes.max(initial=0.0)).sum())
    flat, basis = turned[:rank].T.copy(), turned[rank:].T.copy()
    if not basis.size:
        return Interior(point.copy(), 0.0, basis, flat)
    slopes = np.linalg.norm(rows @ basis, axis=1)
    bounding = ~tight & (slopes > FLATTEST)
    shift = basis @ _centre(rows[bounding] @ basis, slack[bounding], slopes[bounding])
    radius = float(np.min((slack - rows @ shift)[bounding] / slopes[bounding]))
    return Interior(point + size * shift, size * max(0.0, (1.0 - 1e-9) * radius), basis, flat)


def _always_tight(rows: sparse.csr_array, slack: Vector, A_eq: sparse.csr_array) -> Any:
    """Mark the rows that are equations on the whole set, by one linear programme.

    A multiple x = a z of a point, a >= 1, lets every slack that can be positive at all reach 1:
    maximise the sum of t_i subject to rows x + t <= a slack, A_eq x = 0, 0 <= t_i <= 1.
    """
    from scipy import sparse

    (m, n), k = rows.shape, A_eq.shape[0]
    result = linear_programme(
        np.repeat([0.0, 0.0, -1.0], [n, 1, m]),
        sparse.hstack([rows, sparse.csr_array(-slack[:, None]), sparse.eye_array(m)]),
        np.zeros(m),
        sparse.hstack([A_eq, sparse.csr_array((k, 1 + m))]),
        np.zeros(k),
        np.repeat([-np.inf, 1.0, 0.0], [n, 1, m]),
        np.repeat([np.inf, 1.0 / FLATTEST, 1.0], [n, 1, m]),
    )
    return result.x[n + 1 :] < 0.5


def _centre(rows: Vector, slack: Vector, slopes: Vector) -> Vector:
    """Maximise r subject to rows x + slopes r <= slack."""
    n = rows.shape[1]
    result = linear_programme(
        np.append(np.zeros(n), -1.0),
        np.column_stack([rows, slopes]),
        slack,
        None,
        None,
        np.append(np.full(n, -np.inf), 0.0),
        np.full(n + 1, np.inf),
    )
    return np.asarray(result.x[:n])


LARGEST_DIM = 2000
"""Above this a dense basis of the hull costs more than it is worth, and `tangent` has to do."""


def hull_projector(decision_set: DecisionSet) -> Callable[[Vector], Vector]:
    """Return a map that takes vectors, or rows of a matrix, to their parts along the set.

    A method whose iterates may leave the set must not leave its affine hull: off it a constraint
    can be satisfied by points with no decision near them. `DecisionSet.tangent` may leave a rest
    (paths: the balances of the nodes). Where a probe shows one, the basis of the hull is used
    instead, or the equations of the set if they agree with it: they are sparse. Above 2000
    dimensions it is `tangent` alone.

    Args:
        decision_set: the set.

    >>> from hedgerow.sets.paths.dag_paths import DagPaths
    >>> X = DagPaths([("s", "a"), ("a", "t"), ("s", "t")], "s", "t")
    >>> hull_projector(X)(np.array([3.0, 0.0, 0.0])), X.tangent([3.0, 0.0, 0.0])
    (array([ 1.,  1., -1.]), array([3., 0., 0.]))

    """
    X = decision_set
    if X.supports(HasAffineHull) and X.dim <= LARGEST_DIM:
        _, basis = X.hull()
        probe = np.cos(np.arange(X.dim) ** 2)
        part = basis @ (basis.T @ probe)
        if not np.allclose(X.tangent(probe), part, rtol=0.0, atol=1e-9):
            equations = _equations(X)
            if equations is not None:
                along = partial(_leave_out, equations)
                if np.allclose(along(probe), part, rtol=0.0, atol=1e-11):
                    return along
            return lambda v: np.asarray((v @ basis) @ basis.T)
    return lambda v: X.tangent(v) if v.ndim == 1 else np.array([X.tangent(row) for row in v])


def _equations(X: DecisionSet) -> tuple[Any, ...] | None:
    """Return the equations of the set, A x = b, and the inverse of A A^T; None without them.

    They may leave out some that bounds imply; the probe tells.
    """
    rows = X.rows() if X.supports(HasLinearDescription) else None
    if rows is None or rows.lift is not None or rows.A_eq is None:
        return None
    A = rows.A_eq
    try:
        inverse = np.linalg.inv((A @ A.T).toarray())
    except np.linalg.LinAlgError:
        return None
    places = pack_uint32(A.indptr), pack_uint32(A.indices)
    return *places, np.ascontiguousarray(A.data, np.float64), inverse


def _leave_out(equations: tuple[Any, ...], v: Vector) -> Vector:
    """Return v, or the rows of v, less its part in the span of the equations."""
    rest = np.array(v, ndmin=2, order="C")
    kernels.frankwolfe.leave_out(rest, *equations)
    return rest.reshape(v.shape)
