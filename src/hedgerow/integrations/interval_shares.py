"""Shares of traffic among backends, decided once per interval from what requests reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_number, as_positive
from hedgerow.policies.paper import projection_free_coco
from hedgerow.protocols.parts import Policy
from hedgerow.sets.actions import Action, Actions
from hedgerow.sets.compositions.wrappers import Translated
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.simplices.simplex import Simplex

MakePolicy = Callable[[DecisionSet], Policy[Any, Any]]


@dataclass(frozen=True)
class Interval:
    """What an interval showed, and the shares that were decided after it.

    Attributes:
        number: counted from 1.
        requests: how many ended in it, failed ones included.
        latency: their mean latency in seconds; a failed one counts as `failure_latency`.
        spend: what they cost.
        unobserved: backends without a request that ended; their last values were used.
        shares: the shares from now on, by backend.

    """

    number: int
    requests: int
    latency: float
    spend: float
    unobserved: tuple[str, ...]
    shares: Mapping[str, float]

    def __str__(self) -> str:
        shares = ", ".join(f"{name} {100.0 * x:.0f} %" for name, x in self.shares.items())
        missing = f"; not observed: {', '.join(self.unobserved)}" if self.unobserved else ""
        return (
            f"interval {self.number}: {self.requests} requests, mean {1e3 * self.latency:.0f} ms, "
            f"spend {self.spend:.4g}; now {shares}{missing}"
        )


class IntervalShares:
    """Decides shares of traffic: cheap, with a mean latency of at most an objective.

    A round is an interval. Its cost is <p, x>, the price of a mean request, and its constraint
    <l, x> - objective <= 0, with the price p_i and the mean latency l_i of backend i. A backend
    without a request in the interval is unobserved: its last values are used, never zeros. One
    that was never observed counts as the mean of the others. An interval without requests is not
    reported at all.

    Prices are compared for requests of one size: p_i is what backend i charged per token, times
    the mean tokens of all requests. Where no tokens are counted it is the price per request.

    Args:
        prices: backends by name, with a first guess of the price per token (or request) of each;
            measured prices replace it.
        objective: the mean latency that is allowed, in seconds.
        minimum_share: what every backend gets at least, so that it stays observed.
        failure_latency: what a failed request counts as, in seconds; left out, ten objectives.
        policy: makes the policy on the set of shares.

    >>> shares = IntervalShares({"cheap": 1.0, "fast": 4.0}, objective=0.2)
    >>> for _ in range(40):
    ...     for name, seconds, cost in (("cheap", 0.3, 1.0), ("fast", 0.1, 4.0)):
    ...         shares.observe(name, seconds, cost)
    ...     interval = shares.decide()
    >>> 0.3 * interval.shares["cheap"] + 0.1 * interval.shares["fast"] < 0.21
    True

    """

    def __init__(
        self,
        prices: Mapping[str, float],
        objective: float,
        *,
        minimum_share: float = 0.03,
        failure_latency: float | None = None,
        policy: MakePolicy = projection_free_coco,
    ):
        n = len(prices)
        if n < 2:
            raise ValueError(f"shares need at least 2 backends, got {n}: {', '.join(prices)}")
        if not 0.0 < as_number(minimum_share, "minimum_share") < 1.0 / n:
            raise ValueError(
                f"minimum_share must be above 0 and below 1/{n}, one over the number of backends, "
                f"got {minimum_share:g}"
            )
        self.names = tuple(prices)
        self.objective = as_positive(objective, "objective")
        self.failure_latency = as_positive(
            10.0 * objective if failure_latency is None else failure_latency, "failure_latency"
        )
        floors = np.full(n, float(minimum_share))
        X = Translated(Simplex(n, 1.0 - n * float(minimum_share)), floors)
        self.policy = policy(X)
        self._index = {name: i for i, name in enumerate(self.names)}
        self._rate = np.array([as_number(p, f"the price of {name}") for name, p in prices.items()])
        self._latency = np.full(n, np.nan)
        self._turns = np.zeros(n)
        self._number = 0
        self._x = self.policy.ask()
        self._clear()
        _compile(policy(X))

    def _clear(self) -> None:
        """Begin an interval: sums by backend."""
        n = len(self.names)
        self._ended, self._seconds = np.zeros(n), np.zeros(n)
        self._priced, self._spent, self._tokens = np.zeros(n), np.zeros(n), np.zeros(n)

    @property
    def shares(self) -> dict[str, float]:
        """The present share of each backend; they sum to 1."""
        return dict(zip(self.names, self._x.tolist(), strict=True))

    @property
    def requests(self) -> int:
        """How many requests ended in the present interval."""
        return int(self._ended.sum())

    def weights(self, total: int = 100) -> dict[str, int]:
        """Return the shares as whole numbers that sum to `total`, as routers take them."""
        unit = np.eye(len(self.names))
        parts = (Action(x, name, unit[i]) for i, (name, x) in enumerate(self.shares.items()))
        weights = Actions(tuple(parts)).weights(total)
        return {name: weights.get(name, 0) for name in self.names}

    def pick(self, available: Sequence[str] | None = None) -> str:
        """Choose the backend of the next request, in turn, so that each gets its share.

        Each backend earns its share with every request and pays 1 for each that it gets; the one
        with the most credit is next. Drawing at random would miss small shares for a while.

        Args:
            available: those that may be chosen, whose shares are then raised alike; left out, all.

        """
        names = self.names if available is None else available
        at = np.array([self._index[name] for name in names])
        self._turns[at] += self._x[at] / self._x[at].sum()
        chosen = int(at[np.argmax(self._turns[at])])
        self._turns[chosen] -= 1.0
        return self.names[chosen]

    def observe(
        self, backend: str, seconds: float, cost: float | None = None, tokens: float = 1.0
    ) -> None:
        """Add a request that ended.

        Args:
            backend: the one that served it.
            seconds: its latency.
            cost: its price; left out where it is not known.
            tokens: its size, for prices per token.

        """
        i = self._index[backend]
        self._ended[i] += 1.0
        self._seconds[i] += seconds
        if cost is not None and tokens > 0.0:
            self._priced[i] += 1.0
            self._spent[i] += cost
            self._tokens[i] += tokens

    def observe_failure(self, backend: str, seconds: float) -> None:
        """Add a request that failed after some seconds; it counts as `failure_latency`."""
        self.observe(backend, max(seconds, self.failure_latency))

    def decide(self) -> Interval:
        """End the interval: report what was observed, and decide the next shares."""
        ended, x = self._ended > 0.0, self._x
        requests, spend = self._ended.sum(), float(self._spent.sum())
        if requests:
            self._report(x, ended)
            self._x = self.policy.ask()
        self._number += 1
        interval = Interval(
            self._number,
            int(requests),
            float(self._seconds.sum() / requests) if requests else 0.0,
            spend,
            tuple(name for name, seen in zip(self.names, ended, strict=True) if not seen),
            self.shares,
        )
        self._clear()
        return interval

    def _report(self, x: Vector, ended: Any) -> None:
        self._latency[ended] = self._seconds[ended] / self._ended[ended]
        known = np.isfinite(self._latency)
        others = float(x[known] @ self._latency[known] / x[known].sum())
        latency = np.where(known, self._latency, others)
        priced = self._tokens > 0.0
        self._rate[priced] = self._spent[priced] / self._tokens[priced]
        size = self._tokens.sum() / self._priced.sum() if priced.any() else 1.0
        price = size * self._rate
        self.policy.tell(
            EvalGrad(float(price @ x), price),
            EvalGrad(float(latency @ x) - self.objective, latency),
        )


def _compile(policy: Policy[Any, Any]) -> None:
    """Play a round with a policy that is then dropped: compiling must not delay a request."""
    x = policy.ask()
    policy.tell(EvalGrad(float(x.sum()), np.ones(x.size)), EvalGrad(-1.0, np.zeros(x.size)))
