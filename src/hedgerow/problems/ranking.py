"""Rankings that owe a group of items a share of the attention."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import Vector, as_count, as_number, read_only
from hedgerow.problems.problem import EnvelopedProblem, LinearChunk, chunk_lengths, one_round
from hedgerow.sets.orders.permutahedron import Permutahedron

MERIT = 0.3, 1.0
HANDICAP = 0.3
"""Merits of items, and what is taken off those of the protected group: invented."""
RELEVANCE = 0.5, 1.5
ATTENTION = 0.8, 1.2
"""Factors of relevance and of attention, drawn for each item and round: invented."""


@dataclass(frozen=True, eq=False)
class Ranking(EnvelopedProblem):
    """Rank items for each visitor: relevant ones on top, a fair exposure for a group. Synthetic.

    x_i is the exposure of item i, a mixture of the position weights 1/log2(1 + position).
    f_t(x) = -<r_t, x> with relevances r_t = merit x U[0.5, 1.5]; g_t(x) = owed - <a_t, x>, where
    `owed` is a share of the sum of all weights and a_t, the attention that the visitor pays, is
    U[0.8, 1.2] for the protected items and 0 for others. Their merits are lower by 0.3, so that
    relevance alone would put them near the bottom. All numbers are drawn from one seed.

    Args:
        n: the number of items.
        protected: the number of protected items, which come first.
        share: what they are owed, as a share of the whole exposure; None for three quarters of
            what they are sure to get at the top.
        horizon: the number of rounds.
        seed: fixes everything.

    >>> problem = Ranking(n=10, protected=3, horizon=100, seed=0)
    >>> bool(problem.owed < 0.8 * problem.feasible[problem.protected_items].sum())
    True

    """

    n: int = 20
    protected: int = 6
    share: float | None = None
    horizon: int = 4000
    seed: int = 0
    decision_set: Permutahedron = field(init=False)
    owed: float = field(init=False)
    protected_items: NDArray[np.bool_] = field(init=False, repr=False)
    _merit: Vector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        n = as_count(self.n, "n", least=2)
        protected = as_count(self.protected, "protected")
        if protected >= n:
            raise ValueError(f"protected must be below n = {n}, got {protected}")
        weights = 1.0 / np.log2(1.0 + np.arange(1, n + 1))
        surest = ATTENTION[0] * float(weights[:protected].sum() / weights.sum())
        share = 0.75 * surest if self.share is None else as_number(self.share, "share")
        if not 0.0 < share <= surest:
            raise ValueError(
                f"{protected} of {n} items can be promised a share of at most {surest:.3g}, "
                f"got {share:g}; lower the share or protect more items"
            )
        rng = np.random.default_rng([as_count(self.seed, "seed", least=0), 0])
        group = np.arange(n) < protected
        merit = rng.uniform(*MERIT, n) - np.where(group, HANDICAP, 0.0)
        for name, value in (
            ("horizon", as_count(self.horizon, "horizon")),
            ("owed", share * float(weights.sum())),
            ("decision_set", Permutahedron(weights)),
            ("protected_items", read_only(group)),
            ("_merit", read_only(merit)),
        ):
            object.__setattr__(self, name, value)

    @cached_property
    def envelope(self) -> tuple[LinearChunk, LinearChunk]:
        """The least and the largest coefficients of all rounds."""
        group, merit = self.protected_items.astype(np.float64), self._merit
        return one_round(-RELEVANCE[1] * merit, 0.0, -ATTENTION[1] * group, self.owed), one_round(
            -RELEVANCE[0] * merit, 0.0, -ATTENTION[0] * group, self.owed
        )

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        relevance, attention = (np.random.default_rng([self.seed, i]) for i in (1, 2))
        for k in chunk_lengths(self.horizon, size):
            r = self._merit * relevance.uniform(*RELEVANCE, (k, self.n))
            a = np.where(self.protected_items, attention.uniform(*ATTENTION, (k, self.n)), 0.0)
            yield LinearChunk(-r, np.zeros(k), -a, np.full(k, self.owed))
