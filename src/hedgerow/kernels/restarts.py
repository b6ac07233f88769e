"""Conditional gradient that starts again, as `kernels/advances.py` has learners."""

from __future__ import annotations

import math
from typing import Any

from hedgerow.kernels.advances import advancing, descend
from hedgerow.kernels.jit import kernel, nothing, read, write

Array = Any
AGE, INNER, GUESS, RESTARTS = range(4)


@kernel(nothing, write, read)
def copy(a: Array, b: Array) -> None:
    """Write b into a."""
    for i in range(len(a)):
        a[i] = b[i]


# state = [x | x1 | S | t | anchor | rule | age, inner, guess, restarts]
# work = [d | v | rule of a new epoch | 1 if epochs begin where they are, else at x1 | s]
@kernel(*advancing)
def restarted_gradient(
    state: Array,
    work: Array,
    s: Array,
    p: Array,
    inner: float,
    sizes: tuple[float, float],
    space: Any,
    oracle: Any,
    regularise: Any,
    relax: Any,
    settle: Any,
) -> None:
    """Doubling, as `RestartedOCG.tell` for a loss that declares no Lipschitz constant."""
    n, last = len(s), len(state)
    x, x1, S = state[:n], state[n : 2 * n], state[2 * n : 3 * n]
    anchor, rule, numbers = state[3 * n + 1 : 4 * n + 1], state[4 * n + 1 : last - 4], state[-4:]
    state[3 * n] += 1.0
    need = math.sqrt(sizes[0])
    if numbers[GUESS] == 0.0:  # the first epoch begins
        numbers[AGE], numbers[GUESS] = 0.0, need
    if numbers[GUESS] < need:
        while numbers[GUESS] < need:
            numbers[GUESS] *= 2.0
        numbers[RESTARTS] += 1.0
        fresh = work[2 * n : 2 * n + len(rule)]
        copy(anchor, x if work[2 * n + len(rule)] > 0.0 else x1)  # x_s
        copy(x, anchor)
        copy(rule, fresh)
        S[:] = 0.0
        numbers[INNER] = numbers[AGE] = 0.0
    age = numbers[AGE] = numbers[AGE] + 1.0  # t - s + 1
    total = numbers[INNER] = numbers[INNER] + inner
    norm2 = numbers[GUESS] * numbers[GUESS] if age == 1.0 else sizes[0]
    descend(
        *(x, anchor, S, rule, work, s, age, total, norm2),
        *(space, oracle, regularise, relax, settle),
    )
