"""The formulas of Theorems F and R, against plain evaluation; games are in test_fallback.py."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from scipy.optimize import brentq

import hedgerow as hr
from hedgerow import bounds
from hedgerow.bounds import fallback_ccv, fallback_regret, theorem_f_ccv, theorem_f_regret
from hedgerow.policies import Fallback
from hedgerow.surrogates.violation_weight import FIRST_CONSTANTS

LAM = 0.25


def norm(omega: float, q: int) -> float:
    dual = q / (q - 1.0)
    return float((((1.0 + omega) ** dual - 1.0) / dual) ** (1.0 / dual))


@pytest.mark.parametrize("q", FIRST_CONSTANTS)
def test_c1_is_the_largest_difference_rounded_up(q: int) -> None:
    largest = max(norm(omega, q) - omega for omega in np.geomspace(1e-6, 1e9, 4001))
    assert largest == pytest.approx(FIRST_CONSTANTS[q], rel=5e-3)
    assert largest <= FIRST_CONSTANTS[q] * (1.0 + 1e-12)


def factor(C: float, T: float, lam: float, q: int, ratio: float | None, m: int) -> float:
    """Theorem F's factor of the CCV, as its docstring has it."""
    right = m * FIRST_CONSTANTS[q] / lam * (1.0 + lam * (m - 1) / m + T ** (1.0 / q) / C)
    omega = brentq(lambda w: w - norm(w, q) - right, 0.0, 1e30, xtol=1e-12, rtol=1e-14)
    ratio = T ** (1.0 - 1.0 / q) if ratio is None else ratio
    v = C**-q
    return float(C * (v / math.log(1.0 + v) * math.log((1.0 + omega) * ratio)) ** (1.0 / q))


@pytest.mark.parametrize("q", [2, 3, 4])
@pytest.mark.parametrize("C", [1.2, 3.0, 20.0])
def test_the_ccv_of_theorem_f_is_its_formula(C: float, q: int) -> None:
    for T in (1.0, 100.0, 1e7):
        for lam, ratio, m in ((LAM, None, 1), (0.5, 30.0, 1), (LAM, 1.0, 4)):
            found = theorem_f_ccv(C, T, lam, q, ratio, m)
            assert found == pytest.approx(factor(C, T, lam, q, ratio, m), rel=1e-9)
        both = 2.0 ** (1.0 / q)
        largest = max(3.0, factor(C, T, LAM, q, None, 2))
        expected = both * largest * T ** (1.0 - 1.0 / q) + 1.0
        assert fallback_ccv(C, T, q, 2) == pytest.approx(expected, rel=1e-9)


def test_regret_and_projections() -> None:
    assert theorem_f_regret(2.0, 3.0, 5.0, 0.5) == pytest.approx(1.5 * 2.0 * 3.0 * 5.0)
    expected = 2.0 ** (1 / 3) * 1.25 * 2.0 * 3.0 * 5.0 + 3.0 * 7.0
    assert fallback_regret(2.0, 3.0, 5.0, 7.0, 3) == pytest.approx(expected)
    assert bounds.projected_regret(3.0, 50.0, 0.5) == pytest.approx(1.5 * 3.0 * 10.0)
    ccv = math.sqrt(900.0) * factor(math.sqrt(2.0), 900.0, 0.5, 2, None, 1)
    assert bounds.projected_ccv(900.0) == pytest.approx(ccv, rel=1e-9)


def test_a_bound_that_has_no_root_is_infinite() -> None:
    assert theorem_f_ccv(1e-80, 1e80, 1e-80, 2) == math.inf


@pytest.mark.parametrize(
    ("X", "constraints"),
    [(hr.sets.Simplex(4), None), (hr.sets.L2Ball(3), 2)],
    ids=["simplex", "ball"],
)
def test_explain_says_from_which_horizon_theorem_r_is_below_the_trivial_bound(
    X: hr.DecisionSet, constraints: int | None
) -> None:
    policy = hr.projection_free_coco(X, constraints=constraints)
    assert isinstance(policy, Fallback)
    (theorem,) = policy.guarantees()
    C, q, D = theorem["C"], int(theorem["q"]), theorem["D"]
    assert X.diameter == D
    assert q == (4 if X.strong_convexity == 0.0 else 3)
    _, regret, ccv = bounds.explain(policy).guarantees

    def most(T: float) -> tuple[float, float]:
        power = T ** (1.0 - 1.0 / q)
        return fallback_regret(C, 1.0, power, 1.0, q), fallback_ccv(C, T, q, constraints or 1)

    for i, guarantee in enumerate((regret, ccv)):
        found = re.search(r"from T = (\d+) on", guarantee.statement)
        assert found is not None
        T = float(found[1])
        assert most(T)[i] < T
        assert most(T - 1.0)[i] >= T - 1.0
    assert ("each constraint" in ccv.name) == (constraints is not None)
