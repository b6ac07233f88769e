"""Jobs one after the other, some before others: completion times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.inputs import Vector, as_direction, as_vector, freeze
from hedgerow.sets.decision_set import FlatSet
from hedgerow.sets.validation import check_coordinates, check_width

Closure = NDArray[np.bool_]


class _Module(NamedTuple):
    """Jobs put together: one job, or modules one after the other, or side by side."""

    job: int
    series: bool
    parts: tuple[_Module, ...]


class _String(NamedTuple):
    """Jobs that follow each other, with their weight for each unit of time."""

    ratio: float
    weight: float
    time: float
    jobs: list[int]


@dataclass(frozen=True, eq=False)
class JobSequences(FlatSet):
    """Completion times of jobs on one machine, mixtures over all orders that precedence allows.

    x_j is the time at which job j is done, without idle time. Vertices are exactly the orders in
    which every job comes after its predecessors. Precedence must be series-parallel: chains, trees
    (out or in), nothing at all, and what is put together of such, one after the other or side by
    side. For other precedence the cheapest order is NP-hard to find, and it is refused.

    Oracle: Lawler's method for weights of any sign, exact; O(n log n) for each level of the
    decomposition, in Python; without precedence it is Smith's rule. Diameter: a bound, the diagonal
    of the bounding box, whose sides are known. The rest goes through the oracle.

    Args:
        times: how long each job takes, above 0.
        precedence: pairs (i, j) of jobs, i before j; none unless given.

    Reference: Lawler, Sequencing jobs to minimize total weighted completion time subject to
    precedence constraints, Ann. Discrete Math. 2 (1978); Queyranne, Structure of a simple
    scheduling polyhedron, Math. Program. 58 (1993).

    Job 2 weighs most, but waits for job 0:

    >>> X = JobSequences([1.0, 2.0, 1.0], precedence=[(0, 2)])
    >>> X.lmo([0.0, 1.0, 3.0])
    array([1., 4., 2.])

    """

    times: Vector
    precedence: tuple[tuple[int, int], ...]
    _before: Closure = field(init=False, repr=False)
    _module: _Module = field(init=False, repr=False)

    def __init__(self, times: ArrayLike, precedence: Sequence[tuple[int, int]] = ()):
        given = as_vector(times, "times")
        if not given.size or given.min() <= 0.0:
            raise ValueError(
                "times must be numbers above 0, one for each job, got "
                f"{given.size} numbers{f' from {given.min():g}' if given.size else ''}"
            )
        check_coordinates(np.array([given.sum()]), "the sum of all times")
        check_width(float(given.max()), "the set of a job's times")
        n = given.size
        pairs = np.asarray(precedence) if len(precedence) else np.zeros((0, 2), np.intp)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise ValueError(
                f"precedence must be pairs (i, j) of jobs, i before j, got {precedence!r}"
            )
        if pairs.size and not 0 <= pairs.min() <= pairs.max() < n:
            raise ValueError(
                f"the jobs of precedence are 0 .. {n - 1}, got {pairs.min()} .. {pairs.max()}"
            )
        before = _closure(pairs, n)
        freeze(
            self,
            times=given,
            precedence=tuple((int(i), int(j)) for i, j in pairs),
            _before=before,
            _module=_modules(np.arange(n), before),
        )

    def _in_short(self) -> str:
        return f"{self.dim} jobs, {len(self.precedence)} pairs"

    @property
    def dim(self) -> int:
        """The number of jobs."""
        return self.times.size

    @cached_property
    def _known_diameter(self) -> tuple[float, bool]:
        """The diagonal of the bounding box: each job can be next to its relatives at both ends."""
        p, before = self.times, self._before
        related = before.T @ p + before @ p
        return math.hypot(*np.maximum(p.sum() - p - related, 0.0)), False

    @property
    def is_polytope(self) -> bool:
        """Yes, the hull of the completion times of all orders."""
        return True

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the completion times of the cheapest order; ties go to the first job."""
        weights = as_direction(c, self.dim)
        if self.precedence:
            strings = _strings(self._module, weights.tolist(), self.times.tolist())
            order = np.array([job for string in strings for job in string.jobs])
        else:
            order = np.argsort(-weights / self.times, kind="stable")  # Smith's rule
        done = np.empty(self.dim)
        done[order] = np.cumsum(self.times[order])
        return done

    def start(self) -> Vector:
        """Return the mean of an order and of its opposite, as far as precedence allows that."""
        rising = self.times * np.arange(1.0, self.dim + 1.0)
        return 0.5 * (self.lmo(rising) + self.lmo(-rising))


def _closure(pairs: NDArray[np.integer], n: int) -> Closure:
    """Return which job is before which, by chains of pairs; refuse cycles."""
    before = np.zeros((n, n), np.bool_)
    before[pairs[:, 0], pairs[:, 1]] = True
    while True:
        step = before.astype(np.float32)  # so that BLAS multiplies
        further = before | (step @ step > 0.5)
        if np.array_equal(further, before):
            break
        before = further
    on_cycle = np.flatnonzero(before.diagonal())
    if on_cycle.size:
        raise ValueError(
            f"precedence must hold no cycle, but job {on_cycle[0]} comes before itself; "
            "leave a pair out"
        )
    return before


def _modules(jobs: NDArray[np.intp], before: Closure) -> _Module:
    """Take jobs apart into modules side by side, or one after the other; refuse what is neither."""
    from scipy.sparse.csgraph import connected_components

    if jobs.size == 1:
        return _Module(int(jobs[0]), False, ())
    part = before[np.ix_(jobs, jobs)]
    related = part | part.T
    for series, graph in ((False, related), (True, ~related)):
        count, label = connected_components(graph, directed=False)
        if count > 1:
            rank = [int(part[:, label == k].sum(axis=0).min()) for k in range(count)]
            order = np.argsort(rank, kind="stable") if series else np.arange(count)
            parts = tuple(_modules(jobs[label == k], before) for k in order)
            return _Module(-1, series, parts)
    raise ValueError(
        "precedence must be series-parallel, for other kinds the cheapest order is NP-hard to "
        f"find; here {_letter(jobs, part)}, and nothing else relates these four; add or leave out "
        "a pair"
    )


def _letter(jobs: NDArray[np.intp], part: Closure) -> str:
    """Return four jobs in the shape of the letter N, as text: a, b before c, and b before d."""
    related = part | part.T | np.eye(jobs.size, dtype=np.bool_)
    for b, c in np.argwhere(part):
        lasts = np.flatnonzero(part[b] & ~related[c])
        for a in np.flatnonzero(part[:, c] & ~related[b]):
            for d in lasts[~related[a, lasts]]:
                i, j, k, m = jobs[[a, b, c, d]]
                return f"{i} and {j} come before {k}, and {j} before {m}"
    raise AssertionError("a graph that cannot be taken apart holds this shape")


def _strings(module: _Module, weights: list[float], times: list[float]) -> list[_String]:
    """Return the strings of the best order of a module, of falling ratio.

    Side by side, strings are merged by their ratio. One after the other, a string of a larger ratio
    than the one before is joined to it: nothing from outside would ever come between.
    """
    if module.job >= 0:
        w, p = weights[module.job], times[module.job]
        return [_String(w / p, w, p, [module.job])]
    every = [s for part in module.parts for s in _strings(part, weights, times)]
    if not module.series:
        return sorted(every, key=lambda s: -s.ratio)  # stable
    joined: list[_String] = []
    for string in every:
        last = string
        while joined and joined[-1].ratio < last.ratio:
            first = joined.pop()
            w, p = first.weight + last.weight, first.time + last.time
            last = _String(w / p, w, p, first.jobs + last.jobs)
        joined.append(last)
    return joined
