"""What the kernels of a policy's parts take and return: one signature for all parts of a kind.

A learner is two kernels around its oracle call:

* `before_oracle(state, work, s, inner, loss, steps)` takes in the gradient s and writes the
  oracle's direction to `work[:n]`. It returns whether the oracle is needed. `inner` is <s, x_t>.
* `after_oracle(state, work, n, ones, steps)` finds the oracle's answer in `work[n:2 * n]` and
  moves. For a learner that `takes_ones` an answer of zeros and few ones may be the places of the
  ones, `ones`, which is empty otherwise. A learner that projects has its projection where others
  have the oracle.

`state` is the learner's own array and begins with the play x_t. `work` is scratch memory,
`[direction | answer | loss | tangent | numbers | scratch]`; the round writes losses to its third
part, and, for learners that ask for it, the loss along the set to its fourth. The scratch memory of
a learner that `draws` begins with this round's noise.

`loss` is (squared norm along the set, squared norm, declared Lipschitz constant or -1).

A step rule, `steps`, is three kernels on its own numbers: `regularise(rule, t, loss) -> beta`,
`step_size(rule, t, beta, gap, distance2) -> sigma` and `after_step(rule, margin, left)`. The margin
is M_t = sum <s, x_tau> - F_t(x_{t+1}); left bounds F_t(x_{t+1}) - min F_t: the gap less the
progress of the step, infinite where no oracle was asked.

A surrogate is three kernels on its queue, ranges and units (`surrogates/queue.py`):
`needs_gradient(queue, units, value)`, `observe(queue, ranges, units, value, sizes)`, which returns
the queue's length to be weighed or NaN, and `record(queue, ranges, units, value, weight)`. A
potential is one, `slope(potential, q, t, unit, scale)`, where scale is the surrogate's own, or 0.

`sizes` is what a surrogate may know of a round besides the constraint's value, along the set:
||grad f||^2, ||grad g||^2, and plain ||grad g||^2.

A function of a round is one kernel, `evaluate(index, numbers, own, part, x, scratch, grad)`: it
writes a subgradient at x to `grad` and returns the value there. `index` and `numbers` are the same
in all rounds, `own` are this round's numbers, and `part` is the number of the constraint where a
round has several constraints. A rule that reacts to the play is such a kernel, too: x is the play.
"""

from __future__ import annotations

from numba import types

from hedgerow._engine.kernel import (
    function,
    index,
    nothing,
    number,
    read,
    whole,
    write,
    write_index,
)
from hedgerow._engine.table import TableType

LOSS = types.UniTuple(number, 3)
SIZES = types.UniTuple(number, 3)
COST2, CONSTRAINT_GRAD2, PLAIN_CONSTRAINT_GRAD2 = range(3)
"""The numbers of `sizes`."""

REGULARISE = (number, write, number, LOSS)
STEP_SIZE = (number, write, number, number, number, number)
AFTER_STEP = (nothing, write, number, number)
step_rule = TableType(
    "StepRule",
    {
        "regularise": function(*REGULARISE),
        "step_size": function(*STEP_SIZE),
        "after_step": function(*AFTER_STEP),
    },
)

BEFORE_ORACLE = (types.boolean, write, write, read, number, LOSS, step_rule)
AFTER_ORACLE = (nothing, write, write, whole, index, step_rule)

NEEDS_GRADIENT = (number, write, read, number)
OBSERVE = (number, write, write, read, number, SIZES)
RECORD = (nothing, write, write, read, number, number)
SLOPE = (number, read, number, number, number, number)

EVALUATE = (number, index, read, read, whole, read, write, write)
ROWS = types.Tuple((index, read, read, index, index))
"""Functions of many rounds: index, numbers, own numbers, where they begin, how many parts."""
PARTS = 4
"""Where the last of them stands."""

ORACLE_SPACE = (index, read, write_index, write)
"""What an oracle works with: whole numbers, numbers, and scratch memory for both."""
SPACE = types.Tuple((*ORACLE_SPACE, index, read))
"""The same, then the labels and their members, as `kernels/tangents.py` has them."""
LABEL, MEMBERS = 4, 5
"""Where the last two stand."""
