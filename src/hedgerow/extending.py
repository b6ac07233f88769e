"""What a learner, surrogate, potential or set of your own needs for the compiled loop.

`kernel` compiles a function for the types it is given; the names in capitals are the types of each
kind of kernel, as `hedgerow._engine.signatures` describes them. `examples/own_learner.py` and
`examples/own_surrogate.py` use all of it.
"""

from __future__ import annotations

from hedgerow._engine.kernel import (
    flags,
    function,
    index,
    kernel,
    nothing,
    number,
    read,
    rows,
    whole,
    write,
    write_index,
    write_rows,
)
from hedgerow._engine.signatures import (
    AFTER_ORACLE,
    AFTER_STEP,
    BEFORE_ORACLE,
    CHARGE_QUEUE,
    CHARGE_VALUES,
    GRANT,
    LOOK,
    NEEDS_GRADIENT,
    REGULARISE,
    SLOPE,
    STEP_SIZE,
    TAKE,
)
from hedgerow.kernels.oracles import ORACLE
from hedgerow.learners.kernel_learner import KernelLearner
from hedgerow.surrogates.queue import ROUND, VIOLATION, note
from hedgerow.surrogates.queued import FirstOrder
from hedgerow.surrogates.ranges import LEARNT_FROM, START, UNSEEN, learn, violation_unit

__all__ = [
    "AFTER_ORACLE",
    "AFTER_STEP",
    "BEFORE_ORACLE",
    "CHARGE_QUEUE",
    "CHARGE_VALUES",
    "GRANT",
    "LEARNT_FROM",
    "LOOK",
    "NEEDS_GRADIENT",
    "ORACLE",
    "REGULARISE",
    "ROUND",
    "SLOPE",
    "START",
    "STEP_SIZE",
    "TAKE",
    "UNSEEN",
    "VIOLATION",
    "FirstOrder",
    "KernelLearner",
    "flags",
    "function",
    "index",
    "kernel",
    "learn",
    "note",
    "nothing",
    "number",
    "read",
    "rows",
    "violation_unit",
    "whole",
    "write",
    "write_index",
    "write_rows",
]
