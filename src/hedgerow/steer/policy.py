"""The policy that steers: the default one, with a margin, quick reactions and bounded weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hedgerow.baselines.last_optimum import last_round
from hedgerow.inputs import Vector
from hedgerow.policies.paper import projection_free_coco
from hedgerow.policies.violated_share import ViolatedShare
from hedgerow.protocols.parts import ResumablePolicy
from hedgerow.sets.compositions.wrappers import Translated
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.simplices.simplex import Simplex
from hedgerow.steer.bounded_weights import BoundedWeights
from hedgerow.steer.last_limit import LastLimit
from hedgerow.steer.with_adviser import ADVISER, WithAdviser


def share_set(min_shares: Vector) -> DecisionSet:
    """Return the shares that sum to 1, each at least its minimum."""
    left = 1.0 - float(min_shares.sum())
    return Translated(Simplex(min_shares.size, left), min_shares)


def steering_policy(
    min_shares: Vector, bad_intervals: Sequence[float], max_change: float
) -> BoundedWeights:
    """Return the policy of a file.

    `projection_free_coco`, which counts several limits apart, learns which shares are cheap within
    the limits. `last_round`, the cheapest shares of the last interval, advises it: it is
    followed as far as the last interval says something about the next. `LastLimit` reacts at once
    where the last readings exceed a limit. `ViolatedShare` adds a margin, so that at most the given
    share of intervals is bad. `BoundedWeights` makes whole weights of it, and bounds their change.

    Args:
        min_shares: the least share of each backend.
        bad_intervals: for each limit the share of intervals in which it may be exceeded.
        max_change: the largest change of a share per interval.

    """
    X, limits = share_set(min_shares), len(bad_intervals)
    constraints = limits if limits > 1 else None
    learnt = projection_free_coco(X, constraints=constraints, advisers=[ADVISER])
    quick: ResumablePolicy[Any, Any] = LastLimit(WithAdviser(learnt, last_round(X)), limits)
    within = ViolatedShare(quick, tuple(bad_intervals))
    return BoundedWeights(within, max_change, min_shares)
