"""A bound of the regret, with the actions that it holds for."""

from __future__ import annotations

import html
import math


class Certificate(float):
    """A proved bound of the regret: a number, with the comparators that it holds for.

    Attributes:
        budget: how much these may violate in total; of several constraints, each by itself.
        least_violation: every fixed action violates by at least this much in total; above 0 it
            proves that none satisfies every round.
        most: no regret is larger, whatever was decided; infinite where that is not known.
        least: the sum of <grad f_t, x_t - x> is at least this for every action x, so that a smaller
            bound proves that there is no comparator; minus `most` where nothing better is known.
        price: against an action that violates by V in total, the regret is at most V times this
            larger; infinite where that is not known.

    >>> Certificate(12.5)
    12.5
    >>> print(Certificate(12.5).comparator)
    every fixed action that satisfies the constraint in every round
    >>> print(Certificate(-1e7, least_violation=3.0))  # doctest: +NORMALIZE_WHITESPACE
    -10000000.0 (says nothing here, because no fixed action satisfies the constraint in every round:
    each violates it by at least 3 in total; give a budget)
    >>> print(Certificate(12.5, price=2.0).comparator)  # doctest: +NORMALIZE_WHITESPACE
    every fixed action that satisfies the constraint in every round; an action that violates it
    gains at most 2 per unit
    >>> print(Certificate(12.5, most=10.0).says_nothing)
    says nothing here, because no fixed action could have cost more than 10 less
    >>> print(Certificate(12.5).within(-3.0, 2.0).says_nothing)
    says nothing here, because no fixed action could have cost more than 2 less

    """

    budget: float | tuple[float, ...]
    least_violation: float
    most: float
    least: float
    price: float

    def __new__(
        cls,
        value: float,
        budget: float | tuple[float, ...] = 0.0,
        least_violation: float = 0.0,
        most: float = math.inf,
        least: float | None = None,
        price: float = math.inf,
    ) -> Certificate:
        """Make the number, with what it holds for."""
        self = super().__new__(cls, value)
        self.budget, self.least_violation, self.most = budget, least_violation, most
        self.least = -most if least is None else least
        self.price = price
        return self

    def within(self, least: float, most: float) -> Certificate:
        """Return the certificate of a run whose regret is known to be in a range.

        That against the dearest fixed action is the least, that against the cheapest the largest.
        """
        return type(self)(
            float(self),
            self.budget,
            self.least_violation,
            min(self.most, most),
            max(self.least, least),
            self.price,
        )

    @property
    def no_comparator(self) -> bool:
        """Whether it is proved that no fixed action is within the budget."""
        few = not isinstance(self.budget, tuple) and self.least_violation > self.budget
        return few or self < self.least

    @property
    def comparator(self) -> str:
        """The actions that it holds for, as a phrase."""
        every = "no" if self.no_comparator else "every"
        whom = f"{every} fixed action that {self._within}"
        if self.price == math.inf or self.no_comparator or self.budget:
            return whom
        if self.price == 0.0:  # no constraint has had a part in it
            return "every fixed action"
        return f"{whom}; an action that violates it gains at most {self.price:.4g} per unit"

    @property
    def says_nothing(self) -> str | None:
        """Why it bounds nothing, as a phrase; None where it bounds the regret."""
        because = "says nothing here, because"
        if self.no_comparator:
            each = f"each violates it by at least {self.least_violation:.6g} in total"
            if self.least_violation == 0.0:
                each = f"by the costs' tangents none could cost more than {-self.least:.6g} more"
            return f"{because} no fixed action {self._within}: {each}; give a budget"
        if self > self.most:
            return f"{because} no fixed action could have cost more than {self.most:.6g} less"
        return None

    @property
    def _within(self) -> str:
        """What an action does that is within the budget."""
        if isinstance(self.budget, tuple):
            if not any(self.budget):
                return "satisfies every constraint in every round"
            parts = ", ".join(f"{part:.6g}" for part in self.budget)
            return f"violates the {len(self.budget)} constraints by at most {parts} in total"
        if self.budget > 0.0:
            return f"violates the constraint by at most {self.budget:.6g} in total"
        return "satisfies the constraint in every round"

    def __repr__(self) -> str:
        number, why = float.__repr__(self), self.says_nothing
        return number if why is None else f"{number} ({why})"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return html.escape(str(self))
