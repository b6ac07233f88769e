"""The exact projector on the directions of a set's affine hull."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from hedgerow import kernels
from hedgerow.inputs import Vector
from hedgerow.sets.compiled import pack_uint32
from hedgerow.sets.decision_set import DecisionSet, HasAffineHull, HasLinearDescription

LARGEST_DIM = 2000
"""Above this a dense basis of the hull costs more than it is worth, and `tangent` has to do."""


def hull_projector(decision_set: DecisionSet) -> Callable[[Vector], Vector]:
    """Return a map that takes vectors, or rows of a matrix, to their parts along the set.

    A method whose iterates may leave the set must not leave its affine hull: off it a constraint
    can be kept where no play can follow. `DecisionSet.tangent` may leave a rest (paths: the
    balances of the nodes), so the basis of the hull is used where the set has one and `tangent` is
    seen to be less, or the set's equations where they say the same: they are sparse. Above 2000
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
    """Return v, or the rows of v, less the part that the equations see."""
    rest = np.array(v, ndmin=2, order="C")
    kernels.frankwolfe.leave_out(rest, *equations)
    return rest.reshape(v.shape)
