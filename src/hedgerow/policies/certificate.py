"""A bound of the regret that knows whom it is about."""

from __future__ import annotations


class Certificate(float):
    """A proved bound of the regret: a number, with the comparators that it holds for.

    Attributes:
        budget: how much these may violate in all.
        forgives: whether they may also violate, round by round, by the part that no action avoids
            and that the policy has forgiven itself.
        least_violation: where costs are linear, every fixed action violates by at least this much
            in all, beside what is forgiven; above 0 it proves that none keeps every round.

    >>> Certificate(12.5)
    12.5
    >>> print(Certificate(12.5).comparator)
    every fixed action that keeps all rounds
    >>> print(Certificate(-1e7, least_violation=3.0))  # doctest: +ELLIPSIS
    no bound: where costs are linear, every fixed action violates by at least 3 in all; ...

    """

    budget: float
    forgives: bool
    least_violation: float

    def __new__(
        cls,
        value: float,
        budget: float = 0.0,
        forgives: bool = False,
        least_violation: float = 0.0,
    ) -> Certificate:
        """Make the number and note whom it is about."""
        self = super().__new__(cls, value)
        self.budget, self.forgives, self.least_violation = budget, forgives, least_violation
        return self

    @property
    def about_nobody(self) -> bool:
        """Whether it is proved, for linear costs, that no action is within the budget."""
        return self.least_violation > self.budget

    @property
    def comparator(self) -> str:
        """Whom it holds for, in words."""
        but = ", but for what no action avoids" if self.forgives else ""
        if self.about_nobody:
            return (
                "nobody: where costs are linear, every fixed action violates by at least "
                f"{self.least_violation:.6g} in all{but}"
            )
        if self.budget > 0.0:
            return f"every fixed action that violates by at most {self.budget:.6g} in all{but}"
        return f"every fixed action that keeps all rounds{but}"

    def __str__(self) -> str:
        if not self.about_nobody:
            return float.__repr__(self)
        return f"no bound{self.comparator.removeprefix('nobody')}; give a budget"
