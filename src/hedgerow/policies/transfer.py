"""A policy taken along to another set: links appear and disappear, what was learnt applies."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.inputs import Vector
from hedgerow.learners.adaptive_ocg import AdaptiveOCG
from hedgerow.learners.steps import BETA, UNIT, CertificateSteps, M, P
from hedgerow.sets.compositions.product import Product
from hedgerow.sets.decision_set import DecisionSet, Decomposable
from hedgerow.snapshot import Stateful

if TYPE_CHECKING:
    from hedgerow.policies.constrained import ConstrainedPolicy
    from hedgerow.policies.master import RestrictedMaster

Places = NDArray[np.intp]
LOST = 1e-9
"""Vertices that are left have the whole play if no more than this is missing."""


def transferred(
    policy: ConstrainedPolicy[Any], decision_set: DecisionSet, kept: ArrayLike | None
) -> ConstrainedPolicy[Any]:
    """Return a policy on another set that goes on from what this one has learnt.

    See `ConstrainedPolicy.transfer`.
    """
    from hedgerow.policies.constrained import ConstrainedPolicy

    if not isinstance(decision_set, DecisionSet):
        raise TypeError(f"transfer needs a DecisionSet, got {decision_set!r:.80}")
    learner = policy.learner
    if not isinstance(learner, AdaptiveOCG):
        raise TypeError(
            f"what a {type(learner).__name__} has learnt is not carried over; transfer is for "
            "projection_free_coco and for policies with AdaptiveOCG"
        )
    old = policy.decision_set
    places = _places(old, decision_set, kept)
    sums = _taken(learner._state["S"], places)
    start = _brought(old, decision_set, learner.ask(), places, sums)
    args, named = learner._made_of
    given = inspect.signature(type(learner).__init__).bind(learner, *args, **named).arguments
    del given["self"]
    heir = type(learner)(**given | {"decision_set": decision_set, "start": start})
    _carry_sums(learner, heir, sums)
    surrogate = _rebuilt(policy.surrogate, {id(learner): heir})
    _carry_numbers(policy.surrogate, surrogate)
    made = ConstrainedPolicy(heir, surrogate)
    made.take_units(not policy._state["mixed_units"][0])
    return made


def transferred_master(
    policy: RestrictedMaster, decision_set: DecisionSet, kept: ArrayLike | None
) -> RestrictedMaster:
    """Return a restricted master on another set that goes on from what this one has learnt.

    See `RestrictedMaster.transfer`.
    """
    from hedgerow.policies.master import OF_ROWS, RestrictedMaster

    old, new = policy.decision_set, decision_set
    if policy.advisers:
        raise TypeError(
            "advisers propose points of one set, so a policy with advisers is not carried over; "
            "build a new one"
        )
    if not isinstance(new, DecisionSet):
        raise TypeError(f"transfer needs a DecisionSet, got {new!r:.80}")
    if isinstance(old, Product) or isinstance(new, Product):
        raise TypeError(
            "what was learnt on a Product is not carried over, as columns belong to its factors; "
            "build a new policy"
        )
    places = _places(old, new, kept)
    heir = RestrictedMaster(new, policy.eagerness, policy.constraints)
    was, now = policy._state, heir._state
    for name in ("t", "grad2", "far", "changes", *OF_ROWS):
        now[name][:] = was[name]
    now["paid"][:] = now["price"][:] = 0.0  # the certificate begins anew
    gradients, carried = was["c"].reshape(-1, old.dim), now["c"].reshape(-1, new.dim)
    for j in np.flatnonzero(was["born"]):
        carried[j] = new.tangent(_taken(gradients[j], places))
        constant = was["level"][j] - gradients[j] @ policy.origin
        now["level"][j] = constant + carried[j] @ heir.origin
        now["norm"][j] = np.linalg.norm(carried[j])
    points, shares = [], []
    for point, share in policy.columns():
        there = np.where(places >= 0, point[places], 0.0)
        if new.contains(there):
            points.append(there)
            shares.append(share)
    if sum(shares) < 1.0 - LOST:  # the oracle finds a place for the rest
        points.insert(0, new.lmo(_taken(was["costs"], places)))
        shares.insert(0, 1.0 - sum(shares))
    heir.take_columns(points, shares)
    return heir


def _places(old: DecisionSet, new: DecisionSet, kept: ArrayLike | None) -> Places:
    """Return the old coordinate of each new one, -1 where it is new."""
    if kept is not None:
        places = np.asarray(kept)
        if places.shape != (new.dim,) or places.dtype.kind not in "iu":
            raise ValueError(
                f"kept must have one old coordinate for each of {new.dim} new ones, -1 for none, "
                f"got shape {places.shape} of {places.dtype}"
            )
        if places.max(initial=-1) >= old.dim or places.min(initial=0) < -1:
            raise ValueError(f"kept must name old coordinates, -1 to {old.dim - 1}")
        return places.astype(np.intp)
    if not (hasattr(old, "edges") and hasattr(new, "edges")):
        raise ValueError(
            "the two sets have no edges to compare; give kept, the old coordinate of each new one, "
            "-1 where it is new"
        )
    number = {(edge[0], edge[1]): e for e, edge in enumerate(old.edges)}
    return np.array([number.get((edge[0], edge[1]), -1) for edge in new.edges], dtype=np.intp)


def _taken(sums: Vector, places: Places) -> Vector:
    """Return the sums of surviving coordinates; a new one has their mean, as if it were average."""
    known = places >= 0
    mean = float(sums[places[known]].mean()) if known.any() else 0.0
    return np.where(known, sums[places], mean)


def _brought(old: DecisionSet, new: DecisionSet, x: Vector, places: Places, sums: Vector) -> Vector:
    """Return the play in the new set: vertices that are left keep their shares.

    The share of those that are not goes to the vertex that the oracle finds for the sums.
    """
    known = places >= 0
    moved = np.where(known, x[places], 0.0)
    if new.contains(moved):
        return moved
    best, total, play = new.lmo(sums), 0.0, np.zeros(new.dim)
    if old.supports(Decomposable):
        for weight, vertex in zip(*old.decompose(x), strict=True):
            there = np.where(known, vertex[places], 0.0)
            if new.contains(there):
                play += weight * there
                total += float(weight)
    return play + max(0.0, 1.0 - total) * best


def _carry_sums(old: AdaptiveOCG, new: AdaptiveOCG, sums: Vector) -> None:
    """Give the new learner the sums and the regulariser; its lead over the play stays."""
    was, now = old._state, new._state
    lead = float(was["inner"][0]) - float(was["S"] @ was["x"])
    now["S"][:] = sums
    now["inner"][0] = lead + float(sums @ now["x"])
    for name in ("t", "skipped"):
        now[name][:] = was[name]
    if isinstance(old.steps, CertificateSteps):
        for place in (P, BETA, M, UNIT):
            now["rule"][place] = was["rule"][place]
    else:
        now["rule"][1:] = was["rule"][1:]  # the first number is the diameter


def _rebuilt(part: Any, heirs: dict[int, Any]) -> Any:
    """Return a part built of the same arguments around the new learner."""
    if id(part) in heirs:
        return heirs[id(part)]
    if isinstance(part, (list, tuple)):
        return type(part)(_rebuilt(each, heirs) for each in part)
    if not isinstance(part, Stateful):
        return part
    args, named = part._made_of
    made = type(part)(
        *(_rebuilt(value, heirs) for value in args),
        **{name: _rebuilt(value, heirs) for name, value in named.items()},
    )
    heirs[id(part)] = made
    return made


def _carry_numbers(old: Any, new: Any) -> None:
    """Copy what was learnt of the constraint: units, queues and weights."""
    new._state.array[:] = old._state.array
    for name, part in new._parts.items():
        was = old._parts[name]
        if isinstance(part, Stateful) and isinstance(was, Stateful):
            _carry_numbers(was, part)
