"""A theorem about a policy, declared where the policy is made; `explain` computes its bounds."""

from __future__ import annotations

from dataclasses import dataclass

CONVEX = "convex costs and constraints"
FEASIBLE = "a benchmark that satisfies the constraint in every round"
GRADIENTS = "||grad_t|| <= L_t with L_t nondecreasing"
ANALYTIC = "steps made with L_t = G (1 + w_t), or a first cost gradient of norm G"
ONE_CONSTANT = "one Lipschitz constant G"
OBLIVIOUS = "rounds fixed beforehand"
LINEAR = "linear costs and constraints"
EXACT = "an exact oracle"
AT_ONCE = "feedback reported before the next decision"
UNCAPPED = "no block at its cap of K oracle calls"


@dataclass(frozen=True)
class Theorem:
    """A theorem that holds for a policy by construction.

    Attributes:
        name: of the theorem, as `hedgerow.bounds.explain` knows it.
        constants: names and values of the constants that its bounds are made of.
        assumptions: what it needs.
        proved: False where the policy is a variant of which nothing is proved.

    >>> Theorem("Theorem 2.1", (("T", 100.0),), (CONVEX,))
    Theorem 2.1
    >>> Theorem("Theorem 2.1", (("T", 100.0),), (CONVEX,))["T"]
    100.0

    """

    name: str
    constants: tuple[tuple[str, float], ...] = ()
    assumptions: tuple[str, ...] = ()
    proved: bool = True

    def __getitem__(self, constant: str) -> float:
        return dict(self.constants)[constant]

    @property
    def horizon(self) -> int | None:
        """The number of rounds T, if it is one of the constants."""
        T = dict(self.constants).get("T")
        return None if T is None else int(T)

    def __repr__(self) -> str:
        return self.name
