"""Memory that begins where a cache line does."""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

NUMBERS = 8
"""So many numbers are a line of 64 bytes, and what a kernel loads at once."""


def aligned_zeros(count: int) -> NDArray[np.float64]:
    """Return zeros from the beginning of a cache line on.

    NumPy begins where the system does, mostly in the middle of a line; then eight numbers lie on
    two lines, and a round on 1200 edges takes a tenth longer.

    >>> aligned_zeros(3)
    array([0., 0., 0.])
    """
    memory = np.zeros(count + NUMBERS - 1)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory.data))
    skipped = -begin // memory.itemsize % NUMBERS
    return memory[skipped : skipped + count]
