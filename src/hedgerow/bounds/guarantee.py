"""What is guaranteed, in words and numbers."""

from __future__ import annotations

from dataclasses import dataclass

from hedgerow.bounds.conditional_gradient import Adaptivity
from hedgerow.policies.certificate import Certificate


@dataclass(frozen=True)
class Guarantee:
    """One thing that is proved.

    Attributes:
        name: of what it bounds and where it comes from.
        statement: the bound.
        value: its value at the horizon, or now; None where constants are not known.
        trivial: what no play can exceed, where known.
        assumptions: what it needs.

    """

    name: str
    statement: str
    value: float | None
    trivial: float | None
    assumptions: tuple[str, ...]

    @property
    def informative(self) -> bool | None:
        """Whether it says anything: its value is below the trivial one; None where unknown."""
        if isinstance(self.value, Certificate) and self.value.says_nothing is not None:
            return False
        if self.value is None or self.trivial is None:
            return None
        return self.value < self.trivial

    def __str__(self) -> str:
        why = self.value.says_nothing if isinstance(self.value, Certificate) else None
        verdict = {
            True: "says something",
            False: why or "says nothing here, because no play is worse",
            None: "cannot be compared",
        }[self.informative]
        value = "no number" if self.value is None else f"{self.value:.3g}"
        if self.trivial is not None:
            value += f" against {self.trivial:.3g} at worst"
        needs = "; ".join(self.assumptions) or "nothing"
        return f"{self.name}: {self.statement}\n    {value}; {verdict}\n    needs: {needs}"


@dataclass(frozen=True)
class Explanation:
    """What `explain` found.

    Attributes:
        policy: in words.
        horizon: the number of rounds it was made for, if any.
        guarantees: all that is proved.
        adaptivity: log(L_T/L_1) and the largest ratio so far, of L_t = 1 + w_t; None where the
            policy has no weight on a constraint.

    """

    policy: str
    horizon: int | None
    guarantees: tuple[Guarantee, ...]
    adaptivity: Adaptivity | None

    def __str__(self) -> str:
        lines = [self.policy, f"horizon: {'any' if self.horizon is None else self.horizon}"]
        if self.adaptivity is not None:
            lines.append(
                f"growth of L_t = 1 + w_t so far: log(L_T/L_1) = {self.adaptivity.log_growth:.3g}, "
                f"largest ratio at most {self.adaptivity.largest_ratio:.3g}"
            )
        return "\n".join([*lines, *(str(guarantee) for guarantee in self.guarantees)])
