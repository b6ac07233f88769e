"""The contracts of a set's optional capabilities; a set without one is not asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import (
    CAPABILITIES,
    Capability,
    DecisionSet,
    Decomposable,
    HasAffineHull,
    HasInnerBall,
    HasLinearDescription,
    HasSampling,
    HasSeparation,
    Projectable,
    Rows,
)
from hedgerow.testing.checks import (
    Check,
    assert_extreme,
    bad_vectors,
    direction,
    inside,
    mixture,
    oracle_gap,
    refuses,
    rounding,
    same,
    size,
    vertices,
)


def _where(capability: Capability) -> Callable[[Check[DecisionSet]], Check[DecisionSet]]:
    """Run a check only on sets that have the capability."""

    def only(check: Check[DecisionSet]) -> Check[DecisionSet]:
        @wraps(check)
        def guarded(X: DecisionSet, rng: np.random.Generator) -> None:
            if X.supports(capability):
                check(X, rng)

        return guarded

    return only


def _calls(X: DecisionSet, rng: np.random.Generator) -> dict[str, Callable[[Any], Any]]:
    return {
        "project": X.project,
        "decompose": X.decompose,
        "sample": lambda x: X.sample(x, rng),
        "separate": X.separate,
        "hull": lambda _: X.hull(),
        "ball": lambda _: X.ball(),
        "rows": lambda _: X.rows(),
    }


def check_refused_capabilities(X: DecisionSet, rng: np.random.Generator) -> None:
    """What is missing is refused in a sentence; what is there refuses bad vectors."""
    for capability in CAPABILITIES:
        method = capability.method
        call = _calls(X, rng)[method]
        if not X.supports(capability):
            sentence = ""
            try:
                call(X.start())
            except NotImplementedError as refusal:
                sentence = str(refusal)
            assert method in sentence, (
                f"supports({capability.name}) is false, so {method}() must raise "
                "NotImplementedError with a sentence that names it"
            )
        elif method not in ("hull", "ball", "rows"):
            for what, bad in bad_vectors(X.dim):
                refuses(f"{what} in {method}()", call, bad)


@_where(Projectable)
def check_project(X: DecisionSet, rng: np.random.Generator) -> None:
    """`project` finds the nearest point, stays inside and leaves inner points alone."""
    q = mixture(X, rng)
    unit = max(X.diameter, 1e-3 * size(q))
    y = q + unit * 10.0 ** rng.uniform(-3.0, 3.0) * rng.standard_normal(X.dim)
    given = y.copy()
    p = X.project(y)
    assert same(y, given), "project() must not change its argument"
    assert inside(X, p), "project() must return a point of the set"
    far = max(X.diameter, float(np.linalg.norm(y - p)))
    slack = 1e-7 * far**2 + 1e-10 * far * size(p)
    for v in (X.lmo(p - y), q):
        assert (y - p) @ (v - p) <= slack, (
            f"project() must return the nearest point: <y - p, v - p> is {(y - p) @ (v - p):.3g} "
            "for a point v of the set, it must not be above 0"
        )
    for point in (q, p):
        moved = X.project(point)
        assert np.abs(moved - point).max() <= 1e-7 * size(point), (
            "project() must leave points of the set where they are"
        )
        assert not np.shares_memory(moved, point), "project() must return a fresh array"


@_where(Decomposable)
def check_decompose(X: DecisionSet, rng: np.random.Generator) -> None:
    """`decompose` gives few vertices and weights that make up the point."""
    for x in (mixture(X, rng), X.start(), vertices(X, rng, 1)[0]):
        weights, parts = X.decompose(x)
        k = weights.size
        assert parts.shape == (k, X.dim), (
            f"decompose() must return {k} vertices of length {X.dim}, got shape {parts.shape}"
        )
        assert 1 <= k <= X.dim + 1, f"decompose() must use 1 to dim + 1 vertices, got {k}"
        assert weights.min() >= 0.0, "decompose() must return weights >= 0"
        assert abs(weights.sum() - 1.0) <= 1e-9, "decompose() must return weights that sum to 1"
        error = float(np.abs(weights @ parts - x).max())
        assert error <= 1e-9 * size(x, parts), f"decompose() must give back x, it misses {error:g}"
        others = np.vstack([parts, vertices(X, rng)])
        for v in parts:
            assert inside(X, v), "decompose() must return points of the set"
            assert_extreme(X, v, others, "each part that decompose() returns")


@_where(HasSampling)
def check_sample(X: DecisionSet, rng: np.random.Generator) -> None:
    """`sample` draws a vertex, the same one for the same seed."""
    x, seed = mixture(X, rng), int(rng.integers(2**32))
    v = X.sample(x, np.random.default_rng(seed))
    assert inside(X, v), "sample() must return a point of the set"
    assert_extreme(X, v, vertices(X, rng), "what sample() returns")
    kept = v.copy()
    v[:] = np.nan
    assert same(X.sample(x, np.random.default_rng(seed)), kept), (
        "sample() must return a fresh array, and the same vertex for the same seed"
    )


@_where(HasAffineHull)
def check_hull(X: DecisionSet, rng: np.random.Generator) -> None:
    """`hull` is an orthonormal basis of directions in which all vertices lie."""
    offset, basis = X.hull()
    d = basis.shape[-1]
    assert offset.shape == (X.dim,), f"the hull's offset must have length dim, got {offset.shape}"
    assert basis.shape == (X.dim, d), f"the hull's basis must be dim x d, got {basis.shape}"
    assert d <= X.dim, f"the hull cannot have more than dim = {X.dim} directions, got {d}"
    assert np.abs(basis.T @ basis - np.eye(d)).max(initial=0.0) <= 1e-9, (
        "the hull's basis must be orthonormal"
    )
    for p in (*vertices(X, rng), X.start()):
        off = p - offset
        off = off - basis @ (basis.T @ off)
        assert np.abs(off).max() <= 1e-8 * size(p, offset), "all points must lie in the hull"


@_where(HasInnerBall)
def check_ball(X: DecisionSet, rng: np.random.Generator) -> None:
    """`ball` lies in the set, and has a radius unless the set is a single point."""
    centre, r = X.ball()
    assert inside(X, centre), "the ball's centre must be a point of the set"
    assert r > 0.0 or X.diameter == 0.0, f"the ball's radius must be above 0, got {r}"
    inner = np.vstack([vertices(X, rng), mixture(X, rng)]) - centre
    steps = [rng.standard_normal(len(inner)) @ inner]  # a direction inside the affine hull
    if X.supports(HasAffineHull):
        _, basis = X.hull()
        steps.append(basis @ rng.standard_normal(basis.shape[1]))
        steps.append(basis[:, rng.integers(basis.shape[1])] if basis.size else 0.0 * centre)
        c = direction(X, rng)
        along = basis.T @ c  # the ball's lowest point along c against the set's
        lowest = c @ centre - r * np.linalg.norm(along)
        slack = oracle_gap(X, c) + rounding(c, centre, X.lmo(c))
        assert lowest >= X.minimum(c) - slack, "the ball must lie in the set, it sticks out"
    for step in steps:
        length = float(np.linalg.norm(step))
        for sign in (1.0, -1.0) if length > 0.0 else ():
            assert inside(X, centre + sign * r / length * step), (
                "the ball must lie in the set, relative to its affine hull"
            )


@_where(HasLinearDescription)
def check_rows(X: DecisionSet, rng: np.random.Generator) -> None:
    """`rows` holds at the set's points, and its linear programme agrees with the oracle."""
    rows = X.rows()
    if rows.lift is None and rows.shift is None:
        for p in (*vertices(X, rng), X.start(), mixture(X, rng)):
            excess = _excess(rows, p)
            assert excess <= 1e-8 * size(p), f"points must satisfy the rows, one misses {excess:g}"
    c = direction(X, rng)
    c /= float(np.abs(c).max()) or 1.0
    value, x = _solve(rows, c)
    slack = 1e-6 * (float(np.linalg.norm(c)) * max(X.diameter, size(x)))
    assert abs(X.minimum(c) - value) <= slack, (
        f"the rows' linear programme has the value {value:.10g}, minimum() says {X.minimum(c):.10g}"
    )
    assert abs(c @ X.lmo(c) - value) <= slack, (
        f"the rows' linear programme has the value {value:.10g}, lmo() gives {c @ X.lmo(c):.10g}"
    )
    assert inside(X, x, 1e-6), "the solution of the rows' linear programme must be in the set"


@_where(HasSeparation)
def check_separate(X: DecisionSet, rng: np.random.Generator) -> None:
    """`separate` is None inside, and a true hyperplane outside."""
    for p in (*vertices(X, rng, 1), X.start(), mixture(X, rng)):
        assert X.separate(p) is None, "separate() must return None for points of the set"
    c = direction(X, rng)
    for a in (c, X.tangent(c)):
        if not a.any():
            continue
        a = a / np.linalg.norm(a)
        v = X.lmo(a)
        y = v - (1e-2 * max(X.diameter, 1e-3 * size(v)) + oracle_gap(X, a)) * a
        cut = X.separate(y)
        assert cut is not None, "separate() must return a vector for a point outside"
        assert cut.shape == (X.dim,), f"separate() must return dim entries, got {cut.shape}"
        assert cut @ y > -X.minimum(-cut), (
            "separate() must return a with <a, y> above <a, x> for every point x of the set"
        )


def _excess(rows: Rows, z: Vector) -> float:
    """Return by how much z misses the rows."""
    misses = [rows.lower - z, z - rows.upper]
    if rows.A_eq is not None and rows.b_eq is not None:
        misses.append(np.abs(rows.A_eq @ z - rows.b_eq))
    if rows.A_ub is not None and rows.b_ub is not None:
        misses.append(rows.A_ub @ z - rows.b_ub)
    return max(float(miss.max(initial=0.0)) for miss in misses)


def _solve(rows: Rows, c: Vector) -> tuple[float, Vector]:
    """Minimise <c, x> over the rows; return the value and the minimiser."""
    from scipy.optimize import linprog

    shift = np.zeros(c.size) if rows.shift is None else rows.shift
    lifted = c if rows.lift is None else rows.lift.T @ c
    bounds: Any = np.column_stack([rows.lower, rows.upper])
    A_ub: Any = rows.A_ub
    A_eq: Any = rows.A_eq
    solution: Any = linprog(lifted, A_ub, rows.b_ub, A_eq, rows.b_eq, bounds)
    assert solution.status == 0, f"the rows' linear programme fails: {solution.message}"
    x: Vector = solution.x if rows.lift is None else rows.lift @ solution.x
    return float(solution.fun + c @ shift), x + shift


CAPABILITY_CHECKS: tuple[Check[DecisionSet], ...] = (
    check_project,
    check_decompose,
    check_sample,
    check_hull,
    check_ball,
    check_rows,
    check_separate,
)
