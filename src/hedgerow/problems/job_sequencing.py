"""The order of jobs on one machine, some before others, with a promise to one customer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import Vector, as_count, as_number, read_only
from hedgerow.problems.problem import (
    EnvelopedProblem,
    LinearChunk,
    chunk_lengths,
    one_round,
)
from hedgerow.sets.orders.job_sequences import JobSequences

TIME = 0.5, 1.5
"""Times of jobs: invented."""
WEIGHT = 0.5, 1.5
DISCOUNT = 0.3
"""Mean weights of jobs, and the factor on those of the promised ones: invented."""
NOISE = 0.5, 1.5
ATTENTION = 0.8, 1.2
"""Factors of weights and of what counts for the promise, drawn for each job and round: invented."""


@dataclass(frozen=True, eq=False)
class JobSequencing(EnvelopedProblem):
    """Order the same jobs each day: important ones early, a customer's in time. Synthetic.

    x_j is the time at which job j is done, a mixture over the orders that precedence allows: each
    job but the first few waits for one earlier job, which makes a forest. f_t(x) = <w_t, x> with
    w_t = weight x U[0.5, 1.5] is the weighted time of all jobs. g_t(x) = <a_t, x> - promise is how
    late one customer's jobs are in the mean, a_t = U[0.8, 1.2] / number for them and 0 for others.
    Their weights are lower by a factor of 0.3, so that weights alone put them last. Times, weights
    and the forest are drawn from one seed.

    Args:
        jobs: their number.
        promised: how many of them are the customer's: the last ones.
        promise: the mean time that is promised; None for 1.1 times what the feasible point needs
            at most.
        horizon: the number of rounds.
        seed: fixes everything.

    >>> problem = JobSequencing(jobs=6, promised=2, horizon=100, seed=0)
    >>> max(constraint(problem.feasible) for _, constraint in problem) <= 0.0
    True

    """

    jobs: int = 16
    promised: int = 5
    promise: float | None = None
    horizon: int = 4000
    seed: int = 0
    decision_set: JobSequences = field(init=False)
    allowed: float = field(init=False)
    promised_jobs: NDArray[np.bool_] = field(init=False, repr=False)
    _weight: Vector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        n = as_count(self.jobs, "jobs", least=2)
        promised = as_count(self.promised, "promised")
        if promised >= n:
            raise ValueError(f"promised must be below jobs = {n}, got {promised}")
        rng = np.random.default_rng([as_count(self.seed, "seed", least=0), 0])
        group = np.arange(n) >= n - promised
        roots = max(1, n // 4)
        forest = [(int(rng.integers(j)), j) for j in range(roots, n)]
        times = rng.uniform(*TIME, n)
        weight = rng.uniform(*WEIGHT, n) * np.where(group, DISCOUNT, 1.0)
        for name, value in (
            ("horizon", as_count(self.horizon, "horizon")),
            ("decision_set", JobSequences(times, forest)),
            ("promised_jobs", read_only(group)),
            ("_weight", read_only(weight)),
        ):
            object.__setattr__(self, name, value)
        least = self.decision_set.minimum(ATTENTION[1] * self._counted)
        allowed = 1.1 * least if self.promise is None else as_number(self.promise, "promise")
        if allowed < least * (1.0 + 1e-12):
            raise ValueError(
                f"the promised jobs need up to {least:g} in a round even if they come first, above "
                f"the promise {allowed:g}; promise more than that"
            )
        object.__setattr__(self, "allowed", allowed)

    @property
    def _counted(self) -> Vector:
        return self.promised_jobs / float(self.promised_jobs.sum())

    @cached_property
    def envelope(self) -> tuple[LinearChunk, LinearChunk]:
        """The least and the largest coefficients of all rounds."""
        weight, counted = self._weight, self._counted
        return one_round(NOISE[0] * weight, 0.0, ATTENTION[0] * counted, -self.allowed), one_round(
            NOISE[1] * weight, 0.0, ATTENTION[1] * counted, -self.allowed
        )

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        weights, attention = (np.random.default_rng([self.seed, i]) for i in (1, 2))
        for k in chunk_lengths(self.horizon, size):
            w = self._weight * weights.uniform(*NOISE, (k, self.jobs))
            a = self._counted * attention.uniform(*ATTENTION, (k, self.jobs))
            yield LinearChunk(w, np.zeros(k), a, np.full(k, -self.allowed))
