"""Linear minimisation where the order of the costs decides."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow._engine.kernel import kernel
from hedgerow.kernels.oracles import ORACLE

Array = Any


# numbers = [weights, falling]
@kernel(*ORACLE)
def ranking(index: Array, numbers: Array, c: Array, links: Array, scratch: Array, v: Array) -> None:
    """Give the largest weight to the smallest entry of c, to the first one if several."""
    order = np.argsort(c, kind="mergesort")  # stable
    for i in range(len(c)):
        v[order[i]] = numbers[i]


# index = [k]
@kernel(*ORACLE)
def subset(index: Array, numbers: Array, c: Array, links: Array, scratch: Array, v: Array) -> None:
    """Take the k smallest entries of c, the first ones if several are equal."""
    order = np.argsort(c, kind="mergesort")
    for i in range(len(c)):
        v[i] = 0.0
    for i in range(index[0]):
        v[order[i]] = 1.0


# numbers = [total, which amounts are negligible | caps]
@kernel(*ORACLE)
def filling(index: Array, numbers: Array, c: Array, links: Array, scratch: Array, v: Array) -> None:
    """Fill coordinates up to their caps in ascending order of c, the first of equal ones first."""
    order = np.argsort(c, kind="mergesort")
    total, negligible, filled = numbers[0], numbers[1], 0.0
    for k in range(len(c)):
        i = order[k]
        cap = numbers[2 + i]
        rest = total - filled
        v[i] = cap if rest >= cap - negligible else (rest if rest > negligible else 0.0)
        filled += cap


# numbers = [radius | sums of the first weights, infinite for subsets that are no vertices]
@kernel(*ORACLE)
def ordered_weighted(
    index: Array, numbers: Array, c: Array, links: Array, scratch: Array, v: Array
) -> None:
    """Take the k largest entries of |c| with the k whose sum over that of the weights is largest.

    The first k if several, and the first entries if several are equal; scratch = [-|c|].
    """
    for i in range(len(c)):
        scratch[i], v[i] = -abs(c[i]), 0.0
    order = np.argsort(scratch, kind="mergesort")
    total, best, most = 0.0, -1, 0.0
    for k in range(len(c)):
        total -= scratch[order[k]]
        if numbers[1 + k] < np.inf and (best < 0 or total / numbers[1 + k] > most):
            best, most = k, total / numbers[1 + k]
    size = numbers[0] / numbers[1 + best]
    for k in range(best + 1):
        i = order[k]
        v[i] = size if c[i] < 0.0 else -size


# numbers = [cap, rest], index = [how many are full]
@kernel(*ORACLE)
def signed_filling(
    index: Array, numbers: Array, c: Array, links: Array, scratch: Array, v: Array
) -> None:
    """Go as far as the cap against the largest entries of |c|, and the rest against the next one.

    The first entries if several are equal; scratch = [-|c|].
    """
    for i in range(len(c)):
        scratch[i], v[i] = -abs(c[i]), 0.0
    order = np.argsort(scratch, kind="mergesort")
    for k in range(min(len(c), index[0] + 1)):
        i = order[k]
        size = numbers[0] if k < index[0] else numbers[1]
        v[i] = size if c[i] < 0.0 else -size
