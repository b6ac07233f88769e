"""Masked entries are no numbers: they are refused, never read through the mask."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.inputs import as_array, as_direction, as_gradient, as_vector, unmasked

HIDDEN = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
TAKERS = {
    "as_array": lambda a: as_array(a, "it"),
    "as_vector": lambda a: as_vector(a, "it", 3),
    "as_direction": lambda a: as_direction(a, 3),
    "as_gradient": lambda a: as_gradient(a, "it", 3),
    "oracle": lambda a: hr.sets.Simplex(3).lmo(a),
    "function": lambda a: hr.Linear(a),
    "policy": lambda a: hr.unconstrained(hr.sets.Simplex(3)).tell(
        hr.feedback.EvalGrad(1.0, a), hr.feedback.EvalGrad(0.0, np.zeros(3))
    ),
}


@pytest.mark.parametrize("name", TAKERS)
def test_masked_entries_are_refused(name):
    with pytest.raises(TypeError, match=r"must not be masked, got 1 masked entries; fill them"):
        TAKERS[name](HIDDEN)


@pytest.mark.parametrize("name", TAKERS)
def test_a_mask_that_hides_nothing_is_no_mask(name):
    TAKERS[name](np.ma.array([1.0, 2.0, 3.0], mask=False))
    TAKERS[name](HIDDEN.filled(0.0))


def test_rows_are_looked_at_too():
    for rows in ([HIDDEN, HIDDEN], (1.0, np.ma.masked, np.ma.masked)):
        with pytest.raises(TypeError, match="got 2 masked entries"):
            as_array(rows, "it")
    assert unmasked("text", "it") == "text"
