from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr

POTENTIALS = {
    "power": hr.surrogates.PowerPotential(p=6.5, scale=20.0),
    "linear": hr.surrogates.PowerPotential(p=1.0, scale=3.0),
    "quadratic": hr.surrogates.PowerPotential(p=2.0, scale=3.0),
    "exponential": hr.surrogates.ExponentialPotential(rate=0.2, factor=3.0),
}
queues = st.floats(0.0, 60.0)


@pytest.mark.parametrize("name", POTENTIALS)
@given(q=queues, r=queues)
@settings(deadline=None)  # the first call loads the kernels
def test_weight_is_the_slope_of_a_convex_nondecreasing_value(name, q, r):
    potential = POTENTIALS[name]
    q, r = min(q, r), max(q, r)
    low, high = potential.weight(q) * (r - q), potential.weight(r) * (r - q)
    rise = potential.value(r) - potential.value(q)
    slack = 1e-9 * (1.0 + potential.value(r))
    assert 0.0 <= low <= rise + slack
    assert rise <= high + slack


@pytest.mark.parametrize("name", POTENTIALS)
def test_nothing_overflows(name):
    potential = POTENTIALS[name]
    for q in (0.0, 1e-300, 1e10, 1e300):
        assert 0.0 <= potential.weight(q) <= 1e12
        assert math.isfinite(potential.value(q))


def test_power_is_the_papers_phi_over_v():
    p, scale, q = 5.0, 7.0, 3.0
    potential = hr.surrogates.PowerPotential(p, scale)
    V = scale**p
    assert potential.weight(q) == pytest.approx(p * q ** (p - 1) / V)
    assert potential.value(q) == pytest.approx(q**p / V)


@given(q=queues, t=st.floats(1.0, 1e8), u=st.floats(1.0, 1e8))
def test_a_growing_scale_only_lowers_the_potential(q, t, u):
    potential = hr.surrogates.PowerPotential(
        8.0, hr.surrogates.GrowingScale(floor=12.0, factor=0.5)
    )
    assert potential.value(q, max(t, u)) <= potential.value(q, min(t, u))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: hr.surrogates.PowerPotential(0.5, 1.0), "p must be at least 1"),
        (lambda: hr.surrogates.PowerPotential(2.0, 0.0), "scale must be above 0, got 0"),
        (lambda: hr.surrogates.ExponentialPotential(-1.0), "rate must be above 0"),
        (lambda: hr.surrogates.GrowingScale(0.0, 1.0), "floor must be above 0"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(ValueError, match=words):
        make()
