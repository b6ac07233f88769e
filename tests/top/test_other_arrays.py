"""Arrays of other libraries: read by DLPack, without a copy where that is possible."""

from __future__ import annotations

import warnings

import array_api_strict as strict
import numpy as np
import pytest

import hedgerow as hr
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import CopiedArrayWarning, as_array, as_number, as_vector


def of_strict(values, dtype="float64"):
    return strict.asarray(values, dtype=getattr(strict, dtype))


def of_torch(values, dtype="float64"):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return torch.tensor(values, dtype=getattr(torch, dtype))


def of_jax(values, dtype="float64"):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    jax.config.update("jax_enable_x64", True)
    return jax.numpy.asarray(values, dtype=dtype)


LIBRARIES = pytest.mark.parametrize("make", [of_strict, of_torch, of_jax])
GRADIENTS = [0.5, -1.0, 2.0], [1.0, 0.0, 0.25]


def play(policy, make, dtype="float64"):
    for value in (0.75, -0.5, 1.5):
        cost, constraint = (make(part, dtype) for part in GRADIENTS)
        policy.tell(EvalGrad(value, cost), EvalGrad(value - 0.5, constraint))
    return policy.ask()


@LIBRARIES
def test_float64_is_read_without_a_copy_and_without_a_word(make):
    array = make([1.0, 2.0, 3.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read = as_vector(array, "x", 3)
    assert read.dtype == np.float64
    np.testing.assert_array_equal(read, [1.0, 2.0, 3.0])
    assert np.shares_memory(read, np.from_dlpack(array))


@LIBRARIES
def test_what_was_copied_is_said(make):
    with pytest.warns(CopiedArrayWarning, match=r"x was copied from a \w+\.\w+ of 2 entries"):
        read = as_vector(make([1.5, 2.5], "float32"), "x")
    assert read.dtype == np.float64
    np.testing.assert_array_equal(read, [1.5, 2.5])


@LIBRARIES
@pytest.mark.parametrize(
    "policy",
    [
        hr.projection_free_coco,
        lambda X: hr.projection_free_coco(X, constraints=1),
        hr.baselines.sinha_vaze_2024,
        lambda X: hr.policies.ViolatedShare(hr.projection_free_coco(X), 0.1),
    ],
)
def test_feedback_of_another_library_moves_a_policy_as_numpy_does(make, policy):
    X = hr.sets.Simplex(3)
    wanted = play(policy(X), np.array)
    np.testing.assert_allclose(play(policy(X), make), wanted, rtol=1e-12)


@LIBRARIES
def test_float32_feedback_is_copied_with_a_warning_and_counts(make):
    with pytest.warns(CopiedArrayWarning, match=r"the gradient of the \w+ was copied"):
        x = play(hr.projection_free_coco(hr.sets.Simplex(3)), make, "float32")
    np.testing.assert_allclose(
        x, play(hr.projection_free_coco(hr.sets.Simplex(3)), np.array), rtol=1e-6
    )


@LIBRARIES
def test_sets_and_functions_take_them(make):
    X, c = hr.sets.Simplex(3), make([3.0, 1.0, 2.0])
    np.testing.assert_array_equal(X.lmo(c), [0.0, 1.0, 0.0])
    assert X.contains(make([0.25, 0.25, 0.5]))
    np.testing.assert_allclose(X.project(c), X.project(np.array([3.0, 1.0, 2.0])))
    assert hr.Linear(c)(np.ones(3)) == 6.0


@LIBRARIES
def test_an_array_without_dimensions_is_a_number(make):
    assert as_number(make(2.5), "value") == 2.5
    with pytest.raises(TypeError, match="value must be one real number"):
        as_number(make([2.5]), "value")
    with pytest.raises(ValueError, match="value must be finite"):
        as_number(make(float("nan")), "value")


@LIBRARIES
def test_wrong_arrays_get_the_sentences_of_numpy_arrays(make):
    with pytest.raises(ValueError, match="x must be finite, got 1 NaN"):
        as_vector(make([1.0, float("inf")]), "x")
    with pytest.raises(ValueError, match=r"x must have shape \(3,\), got shape \(2,\)"):
        as_vector(make([1.0, 2.0]), "x", 3)
    with pytest.raises(TypeError, match="x must hold real numbers, got dtype bool"):
        as_array(make([True, False], "bool"), "x")


def test_a_tensor_that_tracks_gradients_gets_a_sentence():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    tracked = torch.ones(2, dtype=torch.float64, requires_grad=True)
    with pytest.raises(TypeError, match=r"x cannot be read from a torch.Tensor .*detach"):
        as_vector(tracked, "x")
    np.testing.assert_array_equal(as_vector(tracked.detach(), "x"), [1.0, 1.0])


class OnDevice:
    """An array on a device: DLPack refuses it, and a method brings it to main memory."""

    dtype, device = "float64", "gpu:0"

    def __init__(self, values, can_move=True):
        self.values = values
        if can_move:
            self.get = lambda: np.array(values)

    def __dlpack__(self, **_):
        raise BufferError("not in main memory")

    def __dlpack_device__(self):
        return (2, 0)

    def __array__(self, *_, **__):
        raise TypeError("use get()")


def test_an_array_on_a_device_is_brought_to_main_memory_and_that_is_said():
    with pytest.warns(CopiedArrayWarning, match=r"float64, gpu:0\) to float64 in main memory"):
        np.testing.assert_array_equal(as_vector(OnDevice([1.0, 2.0]), "x"), [1.0, 2.0])
    with pytest.raises(TypeError, match=r"x cannot be read .*use get\(\)"):
        as_vector(OnDevice([1.0], can_move=False), "x")
