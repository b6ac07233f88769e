from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr

RNG = np.random.default_rng(0)
M = RNG.standard_normal((4, 4))
FUNCTIONS = {
    "linear": hr.Linear(RNG.standard_normal(4), 2.0),
    "scalar": hr.Quadratic(2.0, RNG.standard_normal(4), 1.0),
    "diagonal": hr.Quadratic(RNG.uniform(0, 2, 4), RNG.standard_normal(4)),
    "matrix": hr.Quadratic(M @ M.T, RNG.standard_normal(4)),
    "distance": hr.Quadratic.distance(RNG.standard_normal(4), 3.0, -1.0),
    "maximum": hr.Maximum([hr.Linear(row) for row in M]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_gradient_supports_the_function(name):
    f = FUNCTIONS[name]
    for _ in range(50):
        x, y = RNG.standard_normal((2, 4))
        assert f(y) >= f(x) + f.grad(x) @ (y - x) - 1e-9


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_gradient_is_the_slope(name):
    f = FUNCTIONS[name]
    x = RNG.standard_normal(4)
    slope = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(4)]
    np.testing.assert_allclose(f.grad(x), slope, atol=1e-6)


def test_distance():
    f = hr.Quadratic.distance([1.0, 2.0], factor=2.0, offset=-0.25)
    assert f(np.array([1.0, 4.0])) == pytest.approx(4.0 - 0.25)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: hr.Linear([np.nan]), "must be finite, got 1 NaN"),
        (lambda: hr.Linear([[1.0]]), "must have one dimension"),
        (lambda: hr.Quadratic(-1.0, [0.0]), "positive semidefinite"),
        (lambda: hr.Quadratic([[0.0, 1.0], [0.0, 0.0]], [0.0, 0.0]), "symmetric"),
        (lambda: hr.Maximum([]), "at least one function"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_feedback_shows_what_it_may():
    f, x = FUNCTIONS["matrix"], np.ones(4)
    assert hr.first_order(f, x).value == f(x)
    assert hr.bandit(f, x, lipschitz=2.0, bound=5.0) == hr.feedback.Eval(f(x), 2.0, 5.0)
    assert hr.feedback.full_information(f, x).function is f
    each = hr.feedback.first_order_each(FUNCTIONS["maximum"], x)
    assert [part.value for part in each] == [g(x) for g in FUNCTIONS["maximum"].parts]
    assert isinstance(hr.feedback.first_order_each(f, x), hr.feedback.EvalGrad)


def test_linear_does_not_follow_its_source():
    source = np.ones(3)
    f = hr.Linear(source)
    source[:] = 9.0
    np.testing.assert_array_equal(f.coefficients, np.ones(3))
    with pytest.raises(ValueError, match="read-only"):
        f.coefficients[0] = 1.0
