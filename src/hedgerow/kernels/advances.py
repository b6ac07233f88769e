"""Learners: take in a loss and move on to the next play.

One signature for all of them, `advance(state, work, s, p, inner, sizes, space, oracle, regularise,
relax, settle)`. `state` is the learner's own array and begins with the play x; `work` is scratch
memory with the learner's constants; p is this round's noise, if it draws any; `sizes` are the
squared tangent norm of s and the plain one. A learner that projects has the projection where
others have the oracle. The kernels in `kernels/ocg.py` are those that the objects call.
"""

from __future__ import annotations

from typing import Any

from numba import types

from hedgerow.kernels import ocg
from hedgerow.kernels.jit import function, index, kernel, nothing, number, read, write, write_index
from hedgerow.kernels.oracles import answers
from hedgerow.kernels.steps import regularises, relaxes, settles

Array = Any
spaces = types.Tuple((index, read, write_index, write, index, read))
"""What an oracle works with: whole numbers, numbers, and scratch memory for both; then the labels
and their members, as `kernels/tangents.py` has them."""
rules = (function(*regularises), function(*relaxes), function(*settles))
sizes2 = types.UniTuple(number, 2)
advancing = (nothing, write, write, read, read, number, sizes2, spaces, answers, *rules)
advances = function(*advancing)
descending = (number, write, read, write, write, write, read, number, number, number)


@kernel(*descending, spaces, answers, *rules)
def descend(
    x: Array,
    centre: Array,
    S: Array,
    rule: Array,
    work: Array,
    s: Array,
    t: float,
    inner: float,
    norm2: float,
    space: Any,
    oracle: Any,
    regularise: Any,
    relax: Any,
    settle: Any,
) -> float:
    """Add s to S and step on F(x) = <S, x> + beta ||x - centre||^2; work = [d | v | ...].

    Here t, inner = sum <s, x_tau> and norm2 = ||s||^2 are what the step rule goes by. Return sigma.
    """
    n = len(s)
    d, v = work[:n], work[n : 2 * n]
    beta = regularise(rule, t, norm2)
    value, far2 = ocg.lean(d, S, s, x, centre, beta)
    oracle(space[0], space[1], d, space[2], space[3], v)
    gap, distance2 = ocg.gap(d, x, v)
    sigma = relax(rule, t, beta, gap, distance2)
    ocg.move(x, v, sigma)
    value += beta * far2  # F(x) before the step
    settle(rule, ocg.margin_after(inner, value, beta, sigma, gap, distance2))
    return sigma


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
    t = state[last - 3] = state[last - 3] + 1.0
    total = state[last - 2] = state[last - 2] + inner
    norm2 = sizes[1] if work[2 * n + 1] > 0.0 else sizes[0]
    work[2 * n] = descend(
        *(x, x1, S, rule, work, s, t, total, norm2),
        *(space, oracle, regularise, relax, settle),
    )
