"""The numbers of a surrogate's queue, for the kernels that read and write them.

A kernel's `queue` is this array. A surrogate's property `queue` is its length Q(t), in units of its
ranges; its argument `queue` is the length at the start, Q(0).
"""

from __future__ import annotations

from hedgerow._engine.kernel import kernel, nothing, number, write
from hedgerow.inputs import Vector

Array = Vector
ROUND, VIOLATION, WEIGHT, PRICE, LARGEST = range(5)
"""Rounds, violation so far, last weight, its price, largest weight."""


@kernel(nothing, write, number, number)
def store_weight(queue: Array, weight: float, value: float) -> None:
    """Remember this round's weight on the constraint and what it adds to the loss."""
    queue[WEIGHT] = weight
    queue[PRICE] = weight * value
    queue[LARGEST] = max(queue[LARGEST], weight)
