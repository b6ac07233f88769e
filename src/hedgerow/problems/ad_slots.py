"""Advertisers and slots: sell attention without spending a budget too soon."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from hedgerow.functions import Linear, Maximum
from hedgerow.inputs import Vector, as_count, as_positive, read_only
from hedgerow.problems.problem import Problem, Round
from hedgerow.protocols.parts import Policy
from hedgerow.sets.matchings.graph_matchings import Matchings

CLICKS = 0.5, 1.5
"""Factors of the click rates, drawn for each pair and round: invented."""


@dataclass(frozen=True, eq=False)
class AdSlots(Problem):
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
    seed: int = 0
    decision_set: Matchings = field(init=False)
    pace: Vector = field(init=False, repr=False)
    _clicks: Vector = field(init=False, repr=False)
    _value: Vector = field(init=False, repr=False)
    _price: Vector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        m, k = as_count(self.advertisers, "advertisers"), as_count(self.slots, "slots")
        as_positive(self.pacing, "pacing")
        rng = np.random.default_rng([as_count(self.seed, "seed", least=0), 0])
        quality = rng.uniform(0.05, 0.3, m)
        value = rng.uniform(1.0, 3.0, m)
        price = value * rng.uniform(0.4, 0.8, m)
        pairs = [(f"advertiser {i}", f"slot {j}") for i in range(m) for j in range(k)]
        for name, given in (
            ("horizon", as_count(self.horizon, "horizon")),
            ("decision_set", Matchings(pairs)),
            ("pace", read_only(self.pacing * price * quality)),
            ("_clicks", read_only(quality[:, None] / np.arange(1, k + 1))),
            ("_value", read_only(value[:, None])),
            ("_price", read_only(price[:, None])),
        ):
            object.__setattr__(self, name, given)

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
        rng, shape = np.random.default_rng([self.seed, 1]), self._clicks.shape
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
