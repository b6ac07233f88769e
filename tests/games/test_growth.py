"""Exponents with intervals that hold the truth about as often as they say."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow.experiments.growth import fit_growth

HORIZONS = [500, 1000, 2000, 4000, 8000]


def noisy(exponent, repeats, rng, sd=0.2):
    noise = np.exp(sd * rng.standard_normal((len(HORIZONS), repeats)))
    return 3.0 * np.power(HORIZONS, exponent)[:, None] * noise


def test_exact_powers_are_found():
    for exponent in (-0.5, 0.0, 0.5, 0.75, 1.0):
        fit = fit_growth(HORIZONS, 3.0 * np.power(HORIZONS, exponent))
        assert fit.exponent == pytest.approx(exponent, abs=1e-10)
        assert fit.factor == pytest.approx(3.0)
        assert (fit.low, fit.high) == pytest.approx((exponent, exponent), abs=1e-9)


@pytest.mark.parametrize(("repeats", "least"), [(12, 0.85), (1, 0.6)])
def test_intervals_hold_the_truth(repeats, least):
    """Bootstrap intervals of few values are a little too narrow; they must not be absurd."""
    rng, held = np.random.default_rng(0), []
    for _ in range(150):
        fit = fit_growth(HORIZONS, noisy(0.75, repeats, rng), resamples=300)
        assert fit.low <= fit.high
        held.append(fit.low <= 0.75 <= fit.high)
    assert least <= np.mean(held) < 1.0


def test_more_repeats_narrow_and_higher_levels_widen_the_interval():
    rng = np.random.default_rng(1)
    table = noisy(0.75, 40, rng)
    few, many = fit_growth(HORIZONS, table[:, :5]), fit_growth(HORIZONS, table)
    assert many.high - many.low < few.high - few.low
    wide = fit_growth(HORIZONS, table, level=0.99)
    assert wide.low < many.low < many.high < wide.high


def test_units_change_the_factor_alone():
    table = noisy(0.6, 6, np.random.default_rng(2))
    one, other = fit_growth(HORIZONS, table), fit_growth(HORIZONS, 1024.0 * table)
    assert other.exponent == pytest.approx(one.exponent)
    assert other.factor == pytest.approx(1024.0 * one.factor)
    assert (other.low, other.high) == pytest.approx((one.low, one.high))


def test_the_seed_fixes_the_interval():
    table = noisy(0.6, 6, np.random.default_rng(3))
    assert fit_growth(HORIZONS, table, 5) == fit_growth(HORIZONS, table, 5)
    assert fit_growth(HORIZONS, table, 5) != fit_growth(HORIZONS, table, 6)
    assert str(fit_growth(HORIZONS, table)).startswith("T^0.")


@pytest.mark.parametrize("bad", [0.0, -3.0])
def test_values_without_a_logarithm_are_refused(bad):
    with pytest.raises(ValueError, match="1 of 5 values are at most 0, which no power of T is"):
        fit_growth(HORIZONS, [1.0, 2.0, bad, 4.0, 5.0])


def test_wrong_input_is_refused():
    with pytest.raises(ValueError, match="at least three different horizons"):
        fit_growth([10, 10, 20], [1.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="one row for each of the 5 horizons"):
        fit_growth(HORIZONS, [1.0, 2.0])
    with pytest.raises(ValueError, match="level must be"):
        fit_growth(HORIZONS, np.ones(5), level=1.0)
    with pytest.raises(ValueError, match="finite"):
        fit_growth(HORIZONS, [1.0, 2.0, np.nan, 4.0, 5.0])
