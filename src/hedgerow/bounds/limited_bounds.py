"""What a decision beside the learner's may add to its bounds: `Retreat` and `LimitedStep`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from hedgerow.bounds.guarantee import Explanation, Guarantee
from hedgerow.kernels.retreat import TRUST
from hedgerow.policies.limited_step import LimitedStep
from hedgerow.policies.retreat import Retreat

MORE_COST = "2 D (sum ||grad f_t||^2)^{1/2}"
RETREAT_CCV = "1.02 D (sum ||grad g_t||^2)^{1/2} over violated rounds"
MORE_CCV = "2 D (sum ||grad g_t||^2)^{1/2} over violated rounds"


def with_retreat(parts: Iterable[Guarantee], retreat: Retreat, D: float) -> Iterator[Guarantee]:
    """Yield bounds for the learner's decisions with what a retreat may add (theory.md).

    The largest term of a sum is at most its root, so the bounds of K and M in theory.md have one
    term each. The certificate is about the decisions themselves.
    """
    costs, forces = retreat.roots
    for part in parts:
        if part.name.startswith(("regret, T", "CCV")):
            of_ccv = part.name.startswith("CCV")
            more = D * ((1.0 + TRUST) * forces if of_ccv else 2.0 * costs)
            value = None if part.value is None else part.value + more
            text = f"{part.statement}; a retreat may add {RETREAT_CCV if of_ccv else MORE_COST}"
            yield replace(part, statement=text, value=value)
        else:
            yield part


def explain_limited(policy: LimitedStep, inner: Explanation, budget: float) -> Explanation:
    """Return the bounds of the inner policy with what limited steps may add (theory.md).

    The sums of K and M in theory.md are at most twice their first terms. The inner policy's rounds
    have the mean of the violated parts, of which k parts' maximum is at most (1 + sqrt k)/2 times;
    k is not known, so CCV has no number.
    """
    D, roots = policy.decision_set.diameter, policy.roots
    found = []
    for part in inner.guarantees:
        if part.name == "regret, afterwards":
            proved = policy.certificate(budget) if part.value is not None else None
            text = f"{part.statement}; and what limited steps cost more"
            found.append(replace(part, statement=text, value=proved))
        elif part.name.startswith("CCV"):
            text = f"(1 + sqrt k)/2 times this, for k parts, + {MORE_CCV}: {part.statement}"
            found.append(replace(part, statement=text, value=None, trivial=None))
        elif part.name.startswith("regret, "):
            value = None if part.value is None else part.value + 2.0 * D * roots[0]
            text = f"this, + {MORE_COST}: {part.statement}"
            found.append(replace(part, statement=text, value=value))
    lost = Guarantee(
        "CCV above the inner policy's, afterwards",
        f"by the tangents of all parts; at most {MORE_CCV}",
        policy.more_ccv,
        2.0 * D * roots[1],
        (),
    )
    name = f"LimitedStep around {inner.policy}"
    return Explanation(name, inner.horizon, (*found, lost), inner.adaptivity)
