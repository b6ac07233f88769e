"""The exact projector on the directions of a set's affine hull."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import DecisionSet, HasAffineHull

LARGEST_DIM = 2000
"""Above this a dense basis of the hull costs more than it is worth, and `tangent` has to do."""


def hull_projector(decision_set: DecisionSet) -> Callable[[Vector], Vector]:
    """Return a map that takes vectors, or rows of a matrix, to their parts along the set.

    A method whose iterates may leave the set must not leave its affine hull: off it a constraint
    can be kept where no play can follow. `DecisionSet.tangent` may leave a rest (paths: the
    balances of the nodes), so the basis of the hull is used where the set has one and `tangent` is
    seen to be less. Above 2000 dimensions it is `tangent` alone.

    Args:
        decision_set: the set.

    >>> from hedgerow.sets.dag_paths import DagPaths
    >>> X = DagPaths([("s", "a"), ("a", "t"), ("s", "t")], "s", "t")
    >>> hull_projector(X)(np.array([3.0, 0.0, 0.0])), X.tangent([3.0, 0.0, 0.0])
    (array([ 1.,  1., -1.]), array([3., 0., 0.]))

    """
    X = decision_set
    if X.supports(HasAffineHull) and X.dim <= LARGEST_DIM:
        _, basis = X.hull()
        probe = np.cos(np.arange(X.dim) ** 2)
        if not np.allclose(X.tangent(probe), basis @ (basis.T @ probe), rtol=0.0, atol=1e-9):
            return lambda v: np.asarray((v @ basis) @ basis.T)
    return lambda v: X.tangent(v) if v.ndim == 1 else np.array([X.tangent(row) for row in v])
