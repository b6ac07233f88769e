"""A bound of the regret that knows whom it is about."""

from __future__ import annotations


class Certificate(float):
    """A proved bound of the regret: a number, with the comparators that it holds for.

    Attributes:
        budget: how much these may violate in all.
        infeasible_rounds: rounds in which the policy found that no action satisfies the constraint;
            there, the actions may violate it by as much as every action must. Rounds in which the
            policy did not check this count as feasible.
        least_violation: every fixed action violates by at least this much in total, beside what
            it must in infeasible rounds; above 0 it proves that none satisfies every round.

    >>> Certificate(12.5)
    12.5
    >>> print(Certificate(12.5).comparator)
    every fixed action that satisfies the constraint in all rounds
    >>> print(Certificate(-1e7, least_violation=3.0))  # doctest: +ELLIPSIS
    no bound: every fixed action violates the constraint by at least 3 in total; give a budget

    """

    budget: float
    infeasible_rounds: int
    least_violation: float

    def __new__(
        cls,
        value: float,
        budget: float = 0.0,
        infeasible_rounds: int = 0,
        least_violation: float = 0.0,
    ) -> Certificate:
        """Make the number and note whom it is about."""
        self = super().__new__(cls, value)
        self.budget, self.infeasible_rounds = budget, infeasible_rounds
        self.least_violation = least_violation
        return self

    @property
    def about_nobody(self) -> bool:
        """Whether it is proved that no fixed action is within the budget."""
        return self.least_violation > self.budget

    @property
    def comparator(self) -> str:
        """Whom it holds for, in words."""
        rounds = "1 round" if self.infeasible_rounds == 1 else f"{self.infeasible_rounds} rounds"
        found = f"{rounds} found to be infeasible, where it must violate as little as possible"
        if self.about_nobody:
            beside = f", beside {rounds} found to be infeasible" if self.infeasible_rounds else ""
            return (
                "no fixed action: every one violates the constraint by at least "
                f"{self.least_violation:.6g} in total{beside}"
            )
        if self.budget > 0.0:
            kept = f"every fixed action that violates by at most {self.budget:.6g} in total"
        else:
            kept = "every fixed action that satisfies the constraint in all rounds"
        return f"{kept}, except {found}" if self.infeasible_rounds else kept

    def __str__(self) -> str:
        if not self.about_nobody:
            return float.__repr__(self)
        reason = self.comparator.replace("no fixed action: every one", "every fixed action")
        return f"no bound: {reason}; give a budget"
