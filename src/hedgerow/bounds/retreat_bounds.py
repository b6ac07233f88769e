"""What a retreat may add to the bounds of its learner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from hedgerow.bounds.guarantee import Guarantee
from hedgerow.kernels.retreat import TRUST
from hedgerow.policies.retreat import Retreat

MORE_COST = "2 D (sum ||grad f_t||^2)^{1/2}"
RETREAT_CCV = "1.02 D (sum ||grad g_t||^2)^{1/2} over violated rounds"


def with_retreat(parts: Iterable[Guarantee], retreat: Retreat, D: float) -> Iterator[Guarantee]:
    """Yield bounds for the learner's decisions with what a retreat may add (theory.md).

    The largest term of a sum is at most its root, so the bounds of K and M in theory.md have one
    term each. The certificate is about the decisions themselves.
    """
    costs, forces = retreat.cost_root, float(retreat.grad_roots[0])  # several have no value
    for part in parts:
        if part.name.startswith(("regret, T", "CCV")):
            of_ccv = part.name.startswith("CCV")
            more = D * ((1.0 + TRUST) * forces if of_ccv else 2.0 * costs)
            value = None if part.value is None else part.value + more
            text = f"{part.statement}; a retreat may add {RETREAT_CCV if of_ccv else MORE_COST}"
            yield replace(part, statement=text, value=value)
        else:
            yield part
