"""Memory from the beginning of a cache line on."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.snapshot import LINE_NUMBERS, aligned_zeros

LINE = 8 * LINE_NUMBERS


def begin(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0] % LINE


@pytest.mark.parametrize("count", [1, 7, 8, 1200, 100_000])
def test_zeros_begin_with_a_line(count):
    several = [aligned_zeros(count) for _ in range(20)]
    assert all(begin(array) == 0 for array in several)
    assert all(array.shape == (count,) and not array.any() for array in several)


def test_the_vectors_of_a_round_begin_with_a_line():
    """Of the restricted master only decisions do: a round on 1200 edges takes no longer."""
    X = hr.sets.Simplex(64)
    default, plain = hr.projection_free_coco(X), hr.projection_free_coco(X, tracking=False)
    vectors = [default._state["x"], *(default.policy._state[name] for name in ("x", "x1"))]
    vectors += [plain.learner._state[name] for name in ("x", "x1", "S")]
    vectors += [plain.learner._work, plain.ledger]
    assert [begin(vector) for vector in vectors] == [0] * len(vectors)
