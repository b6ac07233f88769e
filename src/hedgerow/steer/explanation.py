"""One line for each interval: what changed, and why."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hedgerow.policies.summary import Binding
from hedgerow.steer.readings import Interval
from hedgerow.steer.settings import Settings
from hedgerow.steer.weights import Weights, shares_of

SHOWN = 3
"""How many backends a line names: those that changed most."""


def changes(before: Weights, after: Weights, settings: Settings) -> str:
    """Return the largest changes of shares, such as "eu-1 42 % -> 35 %"."""
    old, new = shares_of(before), shares_of(after)
    order = np.argsort(-np.abs(new - old), kind="stable")[:SHOWN]
    named = [
        f"{settings.names[i]} {_percent(old[i])} -> {_percent(new[i])}"
        for i in order
        if _percent(old[i]) != _percent(new[i])
    ]
    return ", ".join(named) or "no change"


def reasons(
    interval: Interval,
    weights: Weights,
    margins: Sequence[float],
    held: Sequence[Binding],
    settings: Settings,
) -> str:
    """Return how the interval met its limits, those that were exceeded first.

    Args:
        interval: what it showed.
        weights: those in force.
        margins: how far below each limit the policy aims.
        held: past intervals that hold the new decision, the dearest first.
        settings: the file.

    """
    shares = shares_of(weights)
    found = []
    for row, margin, limit in zip(interval.limits, margins, settings.limits, strict=True):
        mean = interval.mean(row, shares)
        over = mean > limit.at_most
        unit = f" {limit.unit}" if limit.unit else ""
        text = f"{limit.name} {mean:.3g}{unit} {'>' if over else '<='} {limit.at_most:g}{unit}"
        if margin > 0.0:
            text += f" (aim {limit.at_most - margin:.3g})"
        found.append((not over, text))
    texts = [text for _, text in sorted(found, key=lambda pair: pair[0])]
    texts.append(f"price {interval.mean(interval.prices, shares):.4g}")
    down = [name for name, up in zip(settings.names, interval.up, strict=True) if not up]
    unseen = [
        name
        for name, seen, up in zip(settings.names, interval.observed, interval.up, strict=True)
        if up and not seen
    ]
    if down:
        texts.append(f"down: {', '.join(down)}")
    if unseen:
        texts.append(f"not observed: {', '.join(unseen)}")
    for one in held[:1]:
        limit = settings.limits[one.part]
        per = f"{limit.unit or 'unit'} of {limit.name}"
        texts.append(f"held by interval {one.round} at {one.price:.3g} per {per}")
    return ", ".join(texts)


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %" if share >= 0.1 else f"{100.0 * share:.1f} %"
