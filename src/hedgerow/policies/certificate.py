"""A bound of the regret that knows whom it is about."""

from __future__ import annotations

import html
import math


class Certificate(float):
    """A proved bound of the regret: a number, with the comparators that it holds for.

    Attributes:
        budget: how much these may violate in all; of several constraints, each by itself.
        forgives: whether they may also violate, round by round, by the part that no action avoids
            and that the policy has forgiven itself.
        least_violation: where costs are linear, every fixed action violates by at least this much
            in all, beside what is forgiven; above 0 it proves that none keeps every round.
        most: no play has a larger regret, whatever it did; infinite where that is not known.

    >>> Certificate(12.5)
    12.5
    >>> print(Certificate(12.5).comparator)
    every fixed action that keeps all rounds
    >>> print(Certificate(-1e7, least_violation=3.0))  # doctest: +NORMALIZE_WHITESPACE
    -10000000.0 (says nothing here, because no fixed action satisfies the constraint in every round:
    where costs are linear, each violates it by at least 3 in all; give a budget)
    >>> print(Certificate(12.5, most=10.0).says_nothing)
    says nothing here, because no play can have a regret above 10

    """

    budget: float | tuple[float, ...]
    forgives: bool
    least_violation: float
    most: float

    def __new__(
        cls,
        value: float,
        budget: float | tuple[float, ...] = 0.0,
        forgives: bool = False,
        least_violation: float = 0.0,
        most: float = math.inf,
    ) -> Certificate:
        """Make the number and note whom it is about."""
        self = super().__new__(cls, value)
        self.budget, self.forgives, self.least_violation = budget, forgives, least_violation
        self.most = most
        return self

    @property
    def about_nobody(self) -> bool:
        """Whether it is proved, for linear costs, that no action is within the budget."""
        if isinstance(self.budget, tuple):
            return self < -self.most
        return self.least_violation > self.budget

    @property
    def comparator(self) -> str:
        """Whom it holds for, in words."""
        but = ", but for what no action avoids" if self.forgives else ""
        if isinstance(self.budget, tuple):
            return f"{'no' if self.about_nobody else 'every'} fixed action that {self._within}{but}"
        if self.about_nobody:
            return (
                "nobody: where costs are linear, every fixed action violates by at least "
                f"{self.least_violation:.6g} in all{but}"
            )
        if self.budget > 0.0:
            return f"every fixed action that violates by at most {self.budget:.6g} in all{but}"
        return f"every fixed action that keeps all rounds{but}"

    @property
    def says_nothing(self) -> str | None:
        """Why it bounds nothing, as a predicate in words; None where it bounds the regret."""
        because = "says nothing here, because"
        if self.about_nobody:
            beside = ", beside what no action can avoid" if self.forgives else ""
            each = f"each violates it by at least {self.least_violation:.6g} in all{beside}"
            if isinstance(self.budget, tuple):
                each = f"no regret is below {-self.most:.6g}"
            return (
                f"{because} no fixed action {self._within}: where costs are linear, {each}; "
                "give a budget"
            )
        if self > self.most:
            return f"{because} no play can have a regret above {self.most:.6g}"
        return None

    @property
    def _within(self) -> str:
        """What an action does that is within the budget."""
        if isinstance(self.budget, tuple):
            if not any(self.budget):
                return "satisfies every constraint in every round"
            parts = ", ".join(f"{part:.6g}" for part in self.budget)
            return f"violates the {len(self.budget)} constraints by at most {parts} in all"
        if self.budget > 0.0:
            return f"violates the constraint by at most {self.budget:.6g} in all"
        return "satisfies the constraint in every round"

    def __repr__(self) -> str:
        number, why = float.__repr__(self), self.says_nothing
        return number if why is None else f"{number} ({why})"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return html.escape(str(self))
