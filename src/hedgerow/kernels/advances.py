"""Learners: take in a loss and move on to the next play.

One signature for all of them, `advance(state, work, s, p, inner, sizes, space, oracle, regularise,
relax, settle)`. `state` is the learner's own array and begins with the play x; `work` is scratch
memory with the learner's constants; p is this round's noise, if it draws any; `sizes` are the
squared tangent norm of s and the plain one. The kernels in `kernels/ocg.py` are those that the
objects call.
"""

from __future__ import annotations

from typing import Any

from numba import types

from hedgerow.kernels import ocg
from hedgerow.kernels.jit import function, index, kernel, nothing, number, read, write, write_index
from hedgerow.kernels.oracles import answers
from hedgerow.kernels.steps import regularises, relaxes, settles

Array = Any
spaces = types.Tuple((index, read, write_index, write))
"""What an oracle works with: whole numbers, numbers, and scratch memory for both."""
rules = (function(*regularises), function(*relaxes), function(*settles))
sizes2 = types.UniTuple(number, 2)
advancing = (nothing, write, write, read, read, number, sizes2, spaces, answers, *rules)
advances = function(*advancing)


# state = [x | x1 | S | rule | t, inner, skipped]; work = [d | v | sigma, 1 for plain norms]
@kernel(*advancing)
def conditional_gradient(
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
    """Algorithm 1, as `AdaptiveOCG.tell`."""
    n, last = len(s), len(state)
    x, x1, S, rule = state[:n], state[n : 2 * n], state[2 * n : 3 * n], state[3 * n : last - 3]
    d, v = work[:n], work[n : 2 * n]
    t = state[last - 3] = state[last - 3] + 1.0
    state[last - 2] += inner
    beta = regularise(rule, t, sizes[1] if work[2 * n + 1] > 0.0 else sizes[0])
    value, far2 = ocg.lean(d, S, s, x, x1, beta)
    oracle(space[0], space[1], d, space[2], space[3], v)
    progress, distance2 = ocg.gap(d, x, v)
    sigma = work[2 * n] = relax(rule, t, beta, progress, distance2)
    ocg.move(x, v, sigma)
    value += beta * far2  # F_t(x_t)
    settle(rule, ocg.margin_after(state[last - 2], value, beta, sigma, progress, distance2))
