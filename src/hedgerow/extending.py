"""What a learner, surrogate, potential or set of your own needs for the compiled loop.

`kernel` compiles a function for given types. The names in capitals are the types of each kind of
kernel. `examples/own_learner.py` and `examples/own_surrogate.py` are whole examples.
"""

from __future__ import annotations

from hedgerow._engine import signatures
from hedgerow._engine.kernel import function, kernel
from hedgerow.kernels import oracles
from hedgerow.learners.kernel_learner import KernelLearner
from hedgerow.surrogates import queue, ranges
from hedgerow.surrogates.queue import store_weight
from hedgerow.surrogates.queued import GradientSurrogate
from hedgerow.surrogates.ranges import learn, violation_unit

__all__ = [
    "AFTER_ORACLE",
    "BEFORE_ORACLE",
    "EVALUATE",
    "LEARNT_FROM",
    "NEEDS_GRADIENT",
    "OBSERVE",
    "ORACLE",
    "RECORD",
    "ROUND",
    "SLOPE",
    "START",
    "UNSEEN",
    "VIOLATION",
    "GradientSurrogate",
    "KernelLearner",
    "function",
    "kernel",
    "learn",
    "store_weight",
    "violation_unit",
]

ORACLE = oracles.ORACLE
"""Of a set: write a vertex that minimises a direction."""
BEFORE_ORACLE = signatures.BEFORE_ORACLE
"""Of a learner: take in a gradient, write the direction, return whether the oracle is needed."""
AFTER_ORACLE = signatures.AFTER_ORACLE
"""Of a learner: move, given the oracle's answer."""
NEEDS_GRADIENT = signatures.NEEDS_GRADIENT
"""Of a surrogate: return whether the constraint's gradient matters at this value."""
OBSERVE = signatures.OBSERVE
"""Of a surrogate: count the round and return the length of the queue, or NaN for no weight."""
RECORD = signatures.RECORD
"""Of a surrogate: store what the constraint added to the loss."""
SLOPE = signatures.SLOPE
"""Of a potential: return its derivative."""
EVALUATE = signatures.EVALUATE
"""Of a function of a round: write a subgradient and return the value."""
ROUND = queue.ROUND
"""Where a queue counts the rounds."""
VIOLATION = queue.VIOLATION
"""Where a queue has the violation so far."""
START = ranges.START
"""Where a surrogate's units have the queue's start."""
UNSEEN = ranges.UNSEEN
"""What `needs_gradient` returns where the gradient does not matter."""
LEARNT_FROM = ranges.LEARNT_FROM
"""What `needs_gradient` returns where the gradient matters and the ranges learn from it."""


def __dir__() -> list[str]:
    return __all__
