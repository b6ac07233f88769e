"""The contract of a decision set."""

from __future__ import annotations

import math

import numpy as np

from hedgerow.sets.compiled import KernelWorkspace, kernel_matches
from hedgerow.sets.decision_set import DecisionSet, Projectable
from hedgerow.testing.checks import (
    Check,
    assert_extreme,
    bad_vectors,
    copies,
    direction,
    inside,
    mixture,
    oracle_gap,
    refuses,
    rounding,
    run_checks,
    same,
    size,
    vertices,
)
from hedgerow.testing.set_capabilities import CAPABILITY_CHECKS, check_refused_capabilities


def check_set(decision_set: DecisionSet, seed: int = 0, trials: int = 20) -> None:
    """Check a set against the contract of `DecisionSet`; the first failure is reported.

    Args:
        decision_set: the set, small enough for `trials` linear programmes where it has `rows`.
        seed: of the random directions and points.
        trials: how often each random check is repeated.

    Raises:
        AssertionError: with a sentence that names the check that failed.

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> check_set(Simplex(3))

    """
    name = type(decision_set).__name__
    run_checks(ONCE, decision_set, name, seed)
    run_checks(EACH_TRIAL, decision_set, name, seed, trials)


def check_declarations(X: DecisionSet, rng: np.random.Generator) -> None:  # noqa: ARG001
    """`dim` counts the entries of `shape`, and the diameter is a finite length."""
    assert X.dim >= 1, f"dim must be at least 1, got {X.dim}"
    assert math.prod(X.shape) == X.dim, f"shape {X.shape} must have dim = {X.dim} entries"
    assert 0.0 <= X.diameter < math.inf, f"diameter must be finite and >= 0, got {X.diameter}"
    assert isinstance(X.diameter_is_exact, bool), "diameter_is_exact must be True or False"


def check_start(X: DecisionSet, rng: np.random.Generator) -> None:  # noqa: ARG001
    """`start` is the same point each time, inside, and a fresh array."""
    x = X.start()
    kept = x.copy()
    assert inside(X, x), "start() must be a point of the set"
    x[:] = np.nan
    assert same(X.start(), kept), "start() must be fresh and the same each time"


def check_zero_direction(X: DecisionSet, rng: np.random.Generator) -> None:
    """The zero direction is allowed and gives some vertex."""
    v = X.lmo(np.zeros(X.dim))
    assert inside(X, v), "lmo(0) must be a point of the set"
    assert_extreme(X, v, vertices(X, rng), "lmo(0)")


def check_rejection(X: DecisionSet, rng: np.random.Generator) -> None:  # noqa: ARG001
    """NaN, infinities, wrong shapes and dtypes are refused wherever a vector comes in."""
    for what, bad in bad_vectors(X.dim):
        for call in (X.lmo, X.minimum, X.contains, X.tangent):
            refuses(f"{what} in {call.__name__}()", call, bad)
        refuses(f"{what} in projection_error()", X.projection_error, bad, X.start())


def check_aliasing(X: DecisionSet, rng: np.random.Generator) -> None:
    """`lmo` repeats itself, keeps its argument, and gives arrays that belong to the caller."""
    c = direction(X, rng)
    given = c.copy()
    v = X.lmo(c)
    assert same(c, given), "lmo() must not change its argument"
    assert not np.shares_memory(v, c), "lmo() must return a fresh array, not its argument"
    kept = v.copy()
    X.lmo(-c)
    X.lmo(direction(X, rng))
    assert same(v, kept), "what lmo() returned must not change in later calls"
    v[:] = np.nan
    assert same(X.lmo(c), kept), "lmo() must return a fresh array and the same vertex each time"
    t = X.tangent(c.copy())
    kept = t.copy()
    t[:] = np.nan
    assert same(X.tangent(c), kept), "writing into what tangent() returned must change nothing"


def check_ties(X: DecisionSet, rng: np.random.Generator) -> None:
    """Where several vertices are best, `lmo` and its kernel choose the same one each time."""
    compiled = X.compiled if kernel_matches(X, "lmo") else None
    low, high = rng.standard_normal(2)
    for c in (
        np.full(X.dim, low),
        rng.integers(-1, 2, X.dim).astype(np.float64),
        rng.choice([low, high], X.dim),
    ):
        v = X.lmo(c)
        X.lmo(direction(X, rng))
        assert same(X.lmo(c.copy()), v), (
            "lmo() must choose the same vertex each time where several are best"
        )
        if compiled is not None:
            assert same(KernelWorkspace(compiled).lmo(c), v), (
                "the compiled oracle must choose the vertex that lmo() chooses where several are "
                "best; break ties by the same rule in both"
            )


def check_oracle(X: DecisionSet, rng: np.random.Generator) -> None:
    """`lmo` returns a vertex, and no point that can be found is better."""
    c = direction(X, rng)
    v = X.lmo(c)
    assert v.shape == (X.dim,), f"lmo() must return shape ({X.dim},), got {v.shape}"
    assert v.dtype == np.float64, f"lmo() must return float64, got {v.dtype}"
    assert inside(X, v), "lmo() must return a point of the set"
    others = np.vstack([vertices(X, rng), X.start()])
    assert_extreme(X, v, others, "what lmo() returns")
    for p in (*others, mixture(X, rng)):
        assert c @ v <= c @ p + oracle_gap(X, c) + rounding(c, v, p), (
            f"lmo() must minimise <c, x>, but its value {c @ v:.10g} is above the value "
            f"{c @ p:.10g} of another point"
        )


def check_scales(X: DecisionSet, rng: np.random.Generator) -> None:
    """A factor from 1e-300 to 1e300 on the direction leaves the oracle's value unchanged."""
    c = direction(X, rng)
    c /= float(np.abs(c).max()) or 1.0
    v = X.lmo(c)
    for factor in (1e-300, 1e-160, 1e-20, 1e20, 1e160, 1e300):
        w = X.lmo(factor * c)
        slack = oracle_gap(X, c) + rounding(c, v, w)
        assert abs(c @ w - c @ v) <= slack, (
            f"directions may have any scale, but a factor {factor:g} moved the oracle's value "
            f"from {c @ v:.10g} to {c @ w:.10g}"
        )


def check_minimum(X: DecisionSet, rng: np.random.Generator) -> None:
    """`minimum` bounds <c, x> from below, and the oracle comes close to it."""
    c = direction(X, rng)
    lowest = X.minimum(c)
    v = X.lmo(c)
    assert isinstance(lowest, float), f"minimum() must return a float, got {lowest!r}"
    for p in (v, *vertices(X, rng), X.start(), mixture(X, rng)):
        assert lowest <= c @ p + rounding(c, v, p), (
            f"minimum() must be a lower bound, got {lowest:.10g}, a point has {c @ p:.10g}"
        )
    assert c @ v - lowest <= oracle_gap(X, c) + rounding(c, v), (
        f"lmo() must come near minimum(c) = {lowest:.10g}, got {c @ v:.10g}"
    )


def check_membership(X: DecisionSet, rng: np.random.Generator) -> None:
    """Vertices and mixtures are inside; points clearly beyond the oracle's answer are not."""
    for p in (*vertices(X, rng), mixture(X, rng)):
        assert inside(X, p), "contains() must be true of vertices and their mixtures"
    c = direction(X, rng)
    for a in (c, X.tangent(c)):
        if not a.any():
            continue
        a = a / np.abs(a).max()
        a /= np.linalg.norm(a)
        v = X.lmo(a)
        length = max(X.diameter, 1e-3 * size(v))
        for step in (1e-2 * length, 1e2 * length):
            outside = v - (step + oracle_gap(X, a)) * a
            assert not X.contains(outside, 1e-9 * min(1.0, length)), (
                f"contains() must be false of a point at distance {step:g} from the set"
            )


def check_diameter(X: DecisionSet, rng: np.random.Generator) -> None:
    """No two points that can be found are further apart than the diameter."""
    c = direction(X, rng)
    v, w = X.lmo(c), X.lmo(-c)
    for _ in range(6):  # each step moves one point as far from the other as the oracle sees
        distance = float(np.linalg.norm(v - w))
        assert distance <= X.diameter * (1.0 + 1e-9) + 1e-10 * size(v, w), (
            f"diameter is {X.diameter:.10g}, but two points are {distance:.10g} apart"
        )
        v, w = w, X.lmo(w - v)


def check_radius(X: DecisionSet, rng: np.random.Generator) -> None:
    """No point that can be found is further from x than `radius_around(x)`; zeros and ones."""
    for x in (X.start(), mixture(X, rng)):
        radius = X.radius_around(x)
        assert radius <= X.diameter * (1.0 + 1e-9) + 1e-10 * size(x), (
            f"radius_around is {radius:.10g}, above the diameter {X.diameter:.10g}"
        )
        for _ in range(4):
            v = X.lmo(direction(X, rng))
            for w in (v, X.lmo(x - v)):
                distance = float(np.linalg.norm(w - x))
                assert distance <= radius * (1.0 + 1e-9) + 1e-10 * size(w, x), (
                    f"radius_around is {radius:.10g}, but a point is {distance:.10g} away"
                )
                assert not X.zero_one or (np.abs(w * (w - 1.0)) <= 1e-9).all(), (
                    "zero_one is set, but a vertex has other entries than 0 and 1"
                )


def check_tangent(X: DecisionSet, rng: np.random.Generator) -> None:
    """`tangent` shortens c; the oracle and products with differences of points stay the same."""
    c = direction(X, rng)
    given = c.copy()
    t = X.tangent(c)
    assert same(c, given), "tangent() must not change its argument"
    assert np.linalg.norm(t) <= np.linalg.norm(c) * (1.0 + 1e-9), (
        "tangent() must remove a part of c, not lengthen it"
    )
    v, w, p = X.lmo(c), X.lmo(t), mixture(X, rng)
    slack = rounding(c, v, w, p) + rounding(t, v, w, p)
    assert abs((t - c) @ (p - v)) <= slack, (
        "tangent() must keep inner products with differences of points"
    )
    assert abs(c @ w - c @ v) <= slack + oracle_gap(X, c), (
        "tangent() must leave the oracle's value unchanged"
    )


def check_workspace(X: DecisionSet, rng: np.random.Generator) -> None:
    """Fresh, used and cleared workspaces answer as the set does."""
    fresh, used = X.workspace(), X.workspace()
    first = used.lmo(direction(X, rng))
    kept = first.copy()
    for _ in range(3):
        used.lmo(direction(X, rng))
    assert same(first, kept), "a workspace must not change what it returned before"
    c = direction(X, rng)
    given, v = c.copy(), X.lmo(c)
    warm = used.lmo(c)
    used.clear()
    cleared, new = used.lmo(c), fresh.lmo(c)
    assert same(c, given), "a workspace's lmo() must not change its argument"
    for w in (warm, cleared, new):
        assert inside(X, w), "a workspace's lmo() must return a point of the set"
        slack = oracle_gap(X, c) + rounding(c, v, w)
        assert abs(c @ w - c @ v) <= slack, "a workspace's lmo() must agree with the set's"
    assert same(cleared, new), "after clear() a workspace must answer as a fresh one"
    if X.supports(Projectable):
        _check_projecting_workspace(X, rng)


def _check_projecting_workspace(X: DecisionSet, rng: np.random.Generator) -> None:
    fresh, used = X.workspace(), X.workspace()
    far = X.diameter * rng.standard_normal((3, X.dim))
    for step in far:
        used.project(X.start() + step)
    y = mixture(X, rng) + X.diameter * rng.standard_normal(X.dim)
    p, warm = X.project(y), used.project(y)
    used.clear()
    cleared, new = used.project(y), fresh.project(y)
    for q in (warm, cleared, new):
        assert np.abs(q - p).max() <= 1e-6 * size(p), (
            "a workspace's project() must agree with the set's"
        )
    assert same(cleared, new), "after clear() a workspace must project as a fresh one"


def check_copies(X: DecisionSet, rng: np.random.Generator) -> None:
    """Copies, by `copy` or `pickle`, answer as the set does, bit for bit."""
    c = direction(X, rng)
    y = mixture(X, rng) + X.diameter * rng.standard_normal(X.dim)
    for how, twin in copies(X):
        assert twin.dim == X.dim, f"{how} must keep dim"
        assert twin.diameter == X.diameter, f"{how} must keep the diameter"
        assert same(twin.start(), X.start()), f"{how} must keep the start"
        assert same(twin.lmo(c), X.lmo(c)), f"what {how} returns must have the same oracle"
        if X.supports(Projectable):
            assert same(twin.project(y), X.project(y)), f"{how} must keep the projection"


ONCE: tuple[Check[DecisionSet], ...] = (
    check_declarations,
    check_start,
    check_zero_direction,
    check_rejection,
    check_refused_capabilities,
)
EACH_TRIAL: tuple[Check[DecisionSet], ...] = (
    check_aliasing,
    check_ties,
    check_oracle,
    check_scales,
    check_minimum,
    check_membership,
    check_diameter,
    check_radius,
    check_tangent,
    check_workspace,
    check_copies,
    *CAPABILITY_CHECKS,
)
