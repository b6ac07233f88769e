"""The default policy close to its switch to Theorem F."""

from typing import Any

import hedgerow as hr
from hedgerow.policies.fallback import CCV, Fallback


def falling_back(X: hr.DecisionSet, **options: Any) -> Fallback:
    """Return a policy that has violated a lot before, and may violate little more."""
    policy, much = hr.projection_free_coco(X, **options), 1e9
    assert isinstance(policy, Fallback)
    q = policy.guarantees()[0]["q"]
    policy._state["gamma"][:] = much ** (q / (q - 1.0))
    policy._state["ccv"][:] = CCV * X.diameter * much - 0.01
    return policy
