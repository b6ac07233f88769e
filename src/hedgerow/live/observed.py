"""What pages draw of a session: columns of numbers, read from the store."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from hedgerow.live.history import History, read_history
from hedgerow.live.store import Status, Store

SAMPLES = 200
"""Points of the picture of actions."""
TOP = 12
"""Coordinates that are shown by name; the others are one."""
WINDOWS = {"200": "the last 200 rounds", "2000": "the last 2000 rounds", "0": "all rounds"}
MOST = 20_000
"""Rounds that a page holds at most."""
Columns = dict[str, Any]
SOURCES: dict[str, tuple[str, ...]] = {
    "rounds": ("round", "cost", "violation", "weight"),
    "zero": ("round", "zero"),
    "told": ("told", "ccv", "cost"),
    "proved": ("told", "certificate", "best"),
    "shares": ("round", *(f"share{i}" for i in range(TOP + 1))),
}
"""The tables of numbers that figures draw, and their columns."""


class Observed(NamedTuple):
    """What is drawn: columns by table, and the names of the shares."""

    sources: dict[str, Columns]
    labels: list[str]


def observe(store: Store, status: Status, window: int) -> Observed:
    """Read the last `window` rounds of a session, 0 for all.

    Args:
        store: where the session is.
        status: of the session.
        window: how many rounds are wanted.

    """
    first = max(1, status.decisions - (window or MOST) + 1)
    history = read_history(store, status.name, first=first, actions=False)
    t = history.rounds
    ends = [] if t.size == 0 else [t[0], t[-1]]
    shares, labels = _shares(store, status, first)
    told, proved = _totals(history, status)
    rounds = {
        "round": t,
        "cost": history.cost,
        "violation": history.violation,
        "weight": history.weight,
    }
    zero = {"round": np.array(ends), "zero": np.zeros(len(ends))}
    return Observed(
        {"rounds": rounds, "zero": zero, "told": told, "proved": proved, "shares": shares}, labels
    )


def _totals(history: History, status: Status) -> tuple[Columns, Columns]:
    """Totals in the order of feedback; what came before the window is in the status."""
    answered = np.flatnonzero(history.order >= 0)
    by = answered[np.argsort(history.order[answered])]
    cost, over = history.cost[by], np.maximum(history.violation[by], 0.0)
    told = status.answered - by.size + 1 + np.arange(by.size)
    total = status.cost - cost.sum() + np.cumsum(cost)
    ccv = status.ccv - over.sum() + np.cumsum(over)
    bound = history.certificate[by]
    known = np.isfinite(bound)
    return (
        {"told": told, "ccv": ccv, "cost": total},
        {
            "told": told[known],
            "certificate": bound[known],
            "best": total[known] - bound[known],
        },
    )


def _shares(store: Store, status: Status, first: int) -> tuple[Columns, list[str]]:
    """The largest coordinates, one by one, and all others as one."""
    step = max(1, math.ceil((status.decisions - first + 1) / SAMPLES))
    history = read_history(store, status.name, first=first, step=step)
    kept = np.isfinite(history.actions).all(axis=1)
    size = np.abs(history.actions[kept])
    share = size / np.maximum(size.sum(axis=1, keepdims=True), 1e-300)
    top = np.argsort(-share.mean(axis=0), kind="stable")[:TOP] if share.size else np.zeros(0, int)
    columns: Columns = {"round": history.rounds[kept].astype(np.float64)}
    for i in range(TOP):
        columns[f"share{i}"] = share[:, top[i]] if i < top.size else np.zeros(share.shape[0])
    columns[f"share{TOP}"] = 1.0 - share[:, top].sum(axis=1)
    names = store.labels(status.name)
    words = [names[k] if names else f"coordinate {k}" for k in top]
    return columns, [*words, *[""] * (TOP - top.size), "all others"]
