"""Numbers that no float holds: one sentence, and nothing else is tried."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.inputs import LARGEST_COUNT, as_array, as_count, as_number

TOO_LARGE = 10**400
UNPRINTABLE = 10**5000
"""Python refuses to write whole numbers of more than 4300 digits."""
NAMES = ("first", "second", "third")  # pytest cannot write them either


@pytest.mark.parametrize("value", [TOO_LARGE, -TOO_LARGE, UNPRINTABLE], ids=NAMES)
def test_a_number_too_large_for_a_float_gets_one_sentence(value):
    bits = value.bit_length()
    with pytest.raises(ValueError, match=f"^lipschitz must fit float64, .* of {bits} bits;"):
        as_number(value, "lipschitz")


@pytest.mark.parametrize(
    "value", [[1.0, TOO_LARGE], [[-UNPRINTABLE, 0.5]], (TOO_LARGE, 0.0)], ids=NAMES
)
def test_an_array_with_such_a_number_gets_one_sentence(value):
    with pytest.raises(TypeError, match=r"^y must hold real numbers, got dtype object; convert"):
        as_array(value, "y")


@pytest.mark.parametrize("value", [LARGEST_COUNT + 1, -TOO_LARGE, UNPRINTABLE], ids=NAMES)
def test_a_count_beyond_every_game_gets_one_sentence(value):
    bits = value.bit_length()
    with pytest.raises(ValueError, match=f"^horizon must be at most 1e100, .* of {bits} bits$"):
        as_count(value, "horizon")


def test_what_fits_is_taken():
    assert as_number(10**308, "lipschitz") == 1e308
    assert as_count(LARGEST_COUNT, "horizon") == 10**100
    assert as_array([2**63, -1.0], "y").tolist() == [2.0**63, -1.0]


@pytest.mark.filterwarnings("ignore::hedgerow.VacuousConstantsWarning")
def test_the_public_functions_pass_the_sentence_on():
    X = hr.sets.Simplex(2)
    with pytest.raises(ValueError, match="horizon must be at most 1e100"):
        hr.projection_free_coco(X, TOO_LARGE, preset="theory", lipschitz=1.0)
    with pytest.raises(ValueError, match="lipschitz must fit float64"):
        hr.projection_free_coco(X, 100, preset="theory", lipschitz=TOO_LARGE)
    policy = hr.projection_free_coco(X)
    before = policy.state()["array"]
    with pytest.raises(TypeError, match="must hold real numbers, got dtype object"):
        policy.tell(
            hr.feedback.EvalGrad(0.0, [TOO_LARGE, 0.5]), hr.feedback.EvalGrad(0.0, np.zeros(2))
        )
    assert np.array_equal(policy.state()["array"], before)
