"""The proximal step over a ball with penalties on maxima of affine functions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow import kernels
from hedgerow.inputs import Vector, squared_norm


class Accuracy(NamedTuple):
    """The duality gap that is good enough, in units of R^2/eta, and the most dual steps."""

    gap: float
    steps: int


FINE = Accuracy(1e-14, 20_000)
"""z is within 1.5e-7 R of the minimiser."""
ROUGH = Accuracy(1e-7, 5_000)
"""For pieces that are themselves approximate."""


class Affine(NamedTuple):
    """Maxima of affine pieces: the pieces of group t are rows begin[t] to begin[t + 1] - 1."""

    slopes: NDArray[np.float64]  # (rows, dim)
    values: Vector  # (rows,), at the origin
    begin: NDArray[np.uint32]  # (groups + 1,)

    def __call__(self, z: Vector) -> Vector:
        """Return each group's largest piece at z."""
        return np.maximum.reduceat(self.slopes @ z + self.values, self.begin[:-1])


def ball_prox(
    c: Vector,
    pieces: Affine,
    weight: float,
    eta: float,
    z0: Vector,
    radius: float,
    accuracy: Accuracy = FINE,
) -> Vector:
    """Minimise <c, z> + weight sum_t g_t^+(z) + ||z - z0||^2 / (2 eta) over the ball ||z|| <= R.

    Each g_t is a maximum of affine pieces <a_i, z> + v_i. The dual has one variable mu_i >= 0 a
    piece, with a sum of at most `weight` in each group; z(mu) = P_ball(z0 - eta (c + A^T mu)), and
    the dual's slope is A z(mu) + v. Accelerated projected gradient with restarts works on the
    rows' Gram matrix, so a step costs O(rows^2) whatever the dimension.

    Args:
        c: the linear part.
        pieces: the functions g_t, with the ball's centre as origin.
        weight: the weight on each violation.
        eta: the step.
        z0: where the step starts.
        radius: R, the ball's radius.
        accuracy: when to stop; a gap of e R^2/eta puts z within sqrt(2 e) R of the minimiser.

    Reference for the method: A. Beck and M. Teboulle, A fast iterative shrinkage-thresholding
    algorithm, SIAM J. Imaging Sciences 2 (2009); restarts after B. O'Donoghue and E. Candes (2015).

    >>> pieces = Affine(np.array([[1.0, 0.0]]), np.array([-0.5]), np.array([0, 1], np.uint32))
    >>> ball_prox(np.zeros(2), pieces, 9.0, 1.0, np.array([1.0, 1.0]), 2.0).round(6)
    array([0.5, 1. ])

    """
    A, v, begin = pieces
    w = z0 - eta * c
    Q = A @ A.T
    largest = float(np.linalg.eigvalsh(Q)[-1])
    mu = np.zeros(v.size)
    if largest > 0.0:
        enough, size = accuracy.gap * radius**2 / eta, squared_norm(w)
        steepest = eta * largest
        kernels.ball_prox.ascend(
            Q, A @ w, v, begin, weight, eta, size, radius, steepest, enough, accuracy.steps, mu
        )
    z: Vector = w - eta * (mu @ A)
    return z * min(1.0, radius / float(np.linalg.norm(z) or 1.0))
