"""The conformance kit: what every set, learner and policy keeps, yours included.

A contract is a tuple of small checks; each is run on the part that you hand over, and the first
that fails raises an AssertionError that names it.
"""

from __future__ import annotations

from hedgerow.testing.check_learner import check_learner
from hedgerow.testing.check_policy import check_policy
from hedgerow.testing.check_set import check_set

__all__ = ["check_learner", "check_policy", "check_set"]
