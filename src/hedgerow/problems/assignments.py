"""Things put in their places: ads into slots, items into ranks, jobs into an order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from hedgerow.functions import Linear, Maximum
from hedgerow.inputs import (
    DEFAULT_SEED,
    Vector,
    as_count,
    as_number,
    as_positive,
    freeze,
    read_only,
)
from hedgerow.problems.problem import Round
from hedgerow.problems.synthetic import ScaledRounds, SyntheticProblem, feasible_limit
from hedgerow.protocols.parts import Policy
from hedgerow.sets.matchings.graph_matchings import Matchings
from hedgerow.sets.orders.job_sequences import JobSequences
from hedgerow.sets.orders.permutahedron import Permutahedron

CLICKS = 0.5, 1.5
"""Factors of the click rates of ads, drawn for each pair and round: invented."""
TIME = 0.5, 1.5
"""Times of jobs: invented."""
WEIGHT = 0.5, 1.5
DISCOUNT = 0.3
"""Mean weights of jobs, and the factor on those of the promised ones: invented."""
MERIT = 0.3, 1.0
HANDICAP = 0.3
"""Merits of items, and what is taken off those of the protected group: invented."""


@dataclass(frozen=True, eq=False)
class AdSlots(SyntheticProblem):
    """Assign advertisers to slots: high value, and spending within each budget. Synthetic.

    x_ij is the chance that advertiser i is shown in slot j, a mixture of matchings. Clicks are
    c_t,ij = quality_i / position_j x U[0.5, 1.5]; a click is worth v_i and costs the advertiser
    b_i. f_t(x) = -sum of v_i c_t,ij x_ij, and g_t(x) = max over i of the expected spend
    b_i sum_j c_t,ij x_ij minus the advertiser's pace, the budget for one round. Qualities, values
    and prices are drawn from one seed; the advertisers who are worth most also pay most.

    Args:
        advertisers: the number of advertisers.
        slots: the number of slots.
        pacing: each advertiser's pace, as a share of the mean spend in the first slot.
        horizon: the number of rounds.
        seed: fixes everything.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.

    >>> problem = AdSlots(advertisers=4, slots=2, horizon=100, seed=0)
    >>> cost, constraint = next(iter(problem))
    >>> greedy = problem.decision_set.lmo(cost.coefficients)
    >>> constraint(problem.feasible) <= 0.0 < constraint(greedy)
    True

    """

    advertisers: int = 8
    slots: int = 4
    pacing: float = 0.3
    horizon: int = 4000
    seed: int = DEFAULT_SEED
    decision_set: Matchings = field(init=False)
    pace: Vector = field(init=False, repr=False)
    _clicks: Vector = field(init=False, repr=False)
    _value: Vector = field(init=False, repr=False)
    _price: Vector = field(init=False, repr=False)

    def _build(self, rng: Generator) -> None:
        m, k = as_count(self.advertisers, "advertisers"), as_count(self.slots, "slots")
        as_positive(self.pacing, "pacing")
        quality = rng.uniform(0.05, 0.3, m)
        value = rng.uniform(1.0, 3.0, m)
        price = value * rng.uniform(0.4, 0.8, m)
        pairs = [(f"advertiser {i}", f"slot {j}") for i in range(m) for j in range(k)]
        freeze(
            self,
            decision_set=Matchings(pairs),
            pace=read_only(self.pacing * price * quality),
            _clicks=read_only(quality[:, None] / np.arange(1, k + 1)),
            _value=read_only(value[:, None]),
            _price=read_only(price[:, None]),
        )

    @cached_property
    def feasible(self) -> Vector:
        """Equal chances in all slots, for each advertiser as large as the pace surely allows."""
        most = (CLICKS[1] * self._price * self._clicks).sum(axis=1)
        chance = np.minimum(1.0 / max(self._clicks.shape), self.pace / most)
        return read_only(np.repeat(chance, self.slots))

    @property
    def cost_lipschitz(self) -> float:
        """A bound of the norms of all gradients of costs."""
        return float(np.linalg.norm(CLICKS[1] * self._value * self._clicks))

    @property
    def constraint_lipschitz(self) -> float:
        """No constraint has a longer gradient: each is one advertiser's."""
        return float(np.linalg.norm(CLICKS[1] * self._price * self._clicks, axis=1).max())

    @cached_property
    def cost_range(self) -> tuple[float, float]:
        """Every cost lies between these two, at every point of the set."""
        return self.decision_set.minimum((-CLICKS[1] * self._value * self._clicks).ravel()), 0.0

    @property
    def violation_range(self) -> float:
        """No constraint has a larger value: one advertiser always in the first slot."""
        return float((CLICKS[1] * (self._price * self._clicks)[:, 0] - self.pace).max())

    def rounds(self, policy: Policy[Any, Any] | None = None) -> Iterator[Round]:  # noqa: ARG002
        """Yield the rounds as pairs (cost, constraint)."""
        rng, shape = self._generator(1), self._clicks.shape
        for _ in range(self.horizon):
            clicks = self._clicks * rng.uniform(*CLICKS, shape)
            spends = np.zeros((shape[0], *shape))  # one matrix for each advertiser
            own = np.arange(shape[0])
            spends[own, own] = self._price * clicks
            paced = [
                Linear(spend.ravel(), -float(pace))
                for spend, pace in zip(spends, self.pace, strict=True)
            ]
            yield Linear((-self._value * clicks).ravel()), Maximum(paced)


@dataclass(frozen=True, eq=False)
class Ranking(ScaledRounds):
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
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.

    >>> problem = Ranking(n=10, protected=3, horizon=100, seed=0)
    >>> bool(problem.owed < 0.8 * problem.feasible[problem.protected_items].sum())
    True

    """

    n: int = 20
    protected: int = 6
    share: float | None = None
    horizon: int = 4000
    seed: int = DEFAULT_SEED
    decision_set: Permutahedron = field(init=False)
    owed: float = field(init=False)
    protected_items: NDArray[np.bool_] = field(init=False, repr=False)
    cost_factors = 0.5, 1.5
    constraint_factors = 0.8, 1.2

    def _build(self, rng: Generator) -> None:
        n = as_count(self.n, "n", least=2)
        protected = as_count(self.protected, "protected")
        if protected >= n:
            raise ValueError(f"protected must be below n = {n}, got {protected}")
        weights = 1.0 / np.log2(1.0 + np.arange(1, n + 1))
        surest = self.constraint_factors[0] * float(weights[:protected].sum() / weights.sum())
        share = 0.75 * surest if self.share is None else as_number(self.share, "share")
        if not 0.0 < share <= surest:
            raise ValueError(
                f"{protected} of {n} items can be promised a share of at most {surest:.3g}, "
                f"got {share:g}; lower the share or protect more items"
            )
        group, owed = np.arange(n) < protected, share * float(weights.sum())
        merit = rng.uniform(*MERIT, n) - np.where(group, HANDICAP, 0.0)
        freeze(
            self,
            decision_set=Permutahedron(weights),
            owed=owed,
            protected_items=read_only(group),
            _cost=read_only(-merit),
            _constraint=read_only(-group.astype(np.float64)),
            _offset=owed,
        )


@dataclass(frozen=True, eq=False)
class JobSequencing(ScaledRounds):
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
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.

    >>> problem = JobSequencing(jobs=6, promised=2, horizon=100, seed=0)
    >>> max(constraint(problem.feasible) for _, constraint in problem) <= 0.0
    True

    """

    jobs: int = 16
    promised: int = 5
    promise: float | None = None
    horizon: int = 4000
    seed: int = DEFAULT_SEED
    decision_set: JobSequences = field(init=False)
    allowed: float = field(init=False)
    promised_jobs: NDArray[np.bool_] = field(init=False, repr=False)
    cost_factors = 0.5, 1.5
    constraint_factors = 0.8, 1.2

    def _build(self, rng: Generator) -> None:
        n = as_count(self.jobs, "jobs", least=2)
        promised = as_count(self.promised, "promised")
        if promised >= n:
            raise ValueError(f"promised must be below jobs = {n}, got {promised}")
        group = np.arange(n) >= n - promised
        roots = max(1, n // 4)
        forest = [(int(rng.integers(j)), j) for j in range(roots, n)]
        X = JobSequences(rng.uniform(*TIME, n), forest)
        weight = rng.uniform(*WEIGHT, n) * np.where(group, DISCOUNT, 1.0)
        counted = group / float(group.sum())
        least = X.minimum(self.constraint_factors[1] * counted)
        allowed = feasible_limit(
            self.promise, least, "promise", "even if they come first, the promised jobs need"
        )
        freeze(
            self,
            decision_set=X,
            allowed=allowed,
            promised_jobs=read_only(group),
            _cost=read_only(weight),
            _constraint=read_only(counted),
            _offset=-allowed,
        )
