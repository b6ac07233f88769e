"""A set: schedules that never fall. All that it needs is an oracle."""

import numpy as np

from hedgerow import DecisionSet
from hedgerow.inputs import as_direction, as_vector


class Staircases(DecisionSet):
    """Schedules 0 <= x_1 <= x_2 <= ... <= x_n <= 1."""

    def __init__(self, n: int):
        self.n = n

    @property
    def dim(self):
        """The number of steps."""
        return self.n

    @property
    def diameter(self):
        """From all zeros to all ones."""
        return float(np.sqrt(self.n))

    def lmo(self, c):
        """Return the best vertex: zeros, then ones from where the remaining cost is least."""
        rest = np.append(np.cumsum(as_direction(c, self.n)[::-1])[::-1], 0.0)
        x = np.zeros(self.n)
        x[int(np.argmin(rest)) :] = 1.0
        return x

    def contains(self, x, tol=1e-9):
        """Whether x rises from 0 to 1."""
        steps = np.diff(np.concatenate([[0.0], as_vector(x, "x", self.n), [1.0]]))
        return bool((steps >= -tol).all())
