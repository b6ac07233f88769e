"""Sets of every size: refused when they are built, or played on like the set of size 1."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hedgerow as hr
from hedgerow import sets
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import squared_norm

POINTS = np.random.default_rng(0).uniform(-1.0, 1.0, (6, 3))
DIAMOND = [("s", "a"), ("s", "b"), ("a", "t"), ("b", "t")]

SIZED = {
    "simplex": lambda s: sets.Simplex(4, total=s),
    "capped-simplex": lambda s: sets.CappedSimplex(4, 0.5 * s, total=s),
    "box": lambda s: sets.Box([0.0, -s, 0.0], [s, 0.0, 0.5 * s]),
    "linf-ball": lambda s: sets.LinfBall(3, radius=s),
    "l1-ball": lambda s: sets.L1Ball(3, radius=s),
    "l2-ball": lambda s: sets.L2Ball(3, radius=s),
    "k-sparse": lambda s: sets.KSparse(4, 2, radius=s),
    "permutahedron": lambda s: sets.Permutahedron(np.array([0.0, 0.2, 0.3, 1.0]) * s),
    "convex-hull": lambda s: sets.ConvexHull(POINTS * s),
    "spectrahedron": lambda s: sets.Spectrahedron(2, trace=s),
    "nuclear-ball": lambda s: sets.NuclearBall(2, 3, radius=s),
    "scaled-dag": lambda s: sets.Scaled(sets.DagPaths(DIAMOND, "s", "t"), s),
    "scaled-polytope": lambda s: sets.Scaled(sets.Polytope([[1.0, 2.0]], [1.0], upper=1.0), s),
    "scaled-translated": lambda s: sets.Scaled(sets.Translated(sets.L2Ball(2), [9.0, -9.0]), s),
    "oracle": lambda s: sets.OracleSet(lambda c: np.where(c < 0.0, s, -s), 3),
    "product": lambda s: sets.Product(sets.Simplex(3, total=s), sets.Box([0.0], [s])),
    "lp-ball": lambda s: sets.LpBall(4, 1.5, radius=s),
    "nonnegative-lp-ball": lambda s: sets.NonnegativeLpBall(4, 3.0, radius=s),
    "ellipsoid": lambda s: sets.Ellipsoid(s * np.array([1.0, 0.5, 0.1]), centre=[s, 0.0, -s]),
    "ordered-weighted": lambda s: sets.OrderedWeightedBall([3.0, 2.0, 1.0], radius=s),
    "capped-l1": lambda s: sets.CappedL1Ball(4, s, 2.5 * s),
    "group": lambda s: sets.GroupBall([[0, 2], [1]], radius=s),
    "latent-group": lambda s: sets.LatentGroupBall([[0, 1], [1, 2]], radius=s),
    "solid-spectrahedron": lambda s: sets.SolidSpectrahedron(2, trace=s),
    "schatten": lambda s: sets.SchattenBall(2, 3, 1.5, radius=s),
    "operator": lambda s: sets.OperatorBall(2, 3, radius=s),
    "sum": lambda s: sets.MinkowskiSum(sets.Simplex(3, total=s), sets.L1Ball(3, radius=s)),
    "union": lambda s: sets.ConvexHullOfUnion(sets.Simplex(3, total=s), sets.L1Ball(3, radius=s)),
    "image": lambda s: sets.AffineImage(sets.Simplex(3), [[s, 2.0 * s, 3.0 * s], [0.0, s, 0.0]]),
    "halfspace": lambda s: sets.HalfspaceCut(sets.Simplex(3, total=s), [1.0, 0.0, 0.0], 0.3 * s),
}
ALLOWED = (1e-99, 1e-50, 1e-3, 1e50, 1e99)
REFUSED = (1e-300, 1e-200, 1e-121, 1e121, 1e200, 1e300)
PRESETS = ("practical", "theory")

pytestmark = pytest.mark.filterwarnings("ignore::hedgerow.VacuousConstantsWarning")


def build(X, preset):
    """Without the learner that forgets: where two vertices tie, rounding decides which it takes."""
    given = {} if preset == "practical" else {"horizon": 50, "lipschitz": 4.0}
    return hr.projection_free_coco(X, preset=preset, tracking=False, **given)


def game(X, preset):
    """The plays of fifty rounds and the certificate."""
    policy, rng, plays = build(X, preset), np.random.default_rng(0), []
    for _ in range(50):
        x = policy.ask()
        cost, limit = (
            g / max(10.0, 10.0 * math.sqrt(squared_norm(g)) / 4.0)
            for g in rng.normal(size=(2, X.dim))
        )
        policy.tell(
            EvalGrad(float(cost @ x), cost),
            EvalGrad(float(limit @ x), limit),
        )
        plays.append(x)
    return np.array(plays), policy.certificate()


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", SIZED)
def test_sets_of_allowed_sizes_are_played_on(name, preset):
    """Plays are inside, in units of the size; those that need no constants are the same."""
    unit_set = SIZED[name](1.0)
    expected, proved = game(unit_set, preset)
    assert np.ptp(expected, axis=0).max() > 0.01, "it must move, or this test shows nothing"
    for size in ALLOWED:
        plays, certificate = game(SIZED[name](size), preset)
        assert np.isfinite(plays).all()
        assert math.isfinite(certificate)
        assert all(unit_set.contains(x / size, 1e-7) for x in plays)
        if preset == "practical":
            np.testing.assert_allclose(plays / size, expected, rtol=0.0, atol=1e-6)
            assert certificate / size == pytest.approx(proved, rel=1e-6)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("size", REFUSED)
@pytest.mark.parametrize("name", SIZED)
def test_sizes_beyond_are_refused_before_the_first_round(name, size, preset):
    with pytest.raises(ValueError, match=r"must be .*1e[-+]1[02]0.*, got .*; measure the coord"):
        build(SIZED[name](size), preset)


@pytest.mark.parametrize("size", [1e-300, 1e-5, 1e16, 1e300])
def test_a_polytope_that_the_solver_cannot_see_is_refused(size):
    with pytest.raises(ValueError, match=r"between 0.0001 and 1e\+15, got .*wrap.*in Scaled"):
        sets.Polytope([[1.0, 2.0]], [size], upper=size)


def test_nested_sizes_are_refused_together():
    with pytest.raises(ValueError, match="a scaled set must be a single point or between"):
        sets.Scaled(sets.Scaled(sets.Simplex(3), 1e-80), 1e-80)


@pytest.mark.parametrize("offset", [2e9, 1e30, 1e100])
def test_a_set_moved_beyond_its_digits_is_refused(offset):
    with pytest.raises(ValueError, match=r"at most 1e\+09 times its diameter 1.41"):
        sets.Translated(sets.Simplex(4), np.full(4, offset))


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("offset", [1e3, 1e9])
def test_moved_sets_contain_what_is_played_on_them(offset, preset):
    for inner in (sets.Simplex(4), sets.L2Ball(3), sets.DagPaths(DIAMOND, "s", "t")):
        X = sets.Translated(inner, np.full(inner.dim, offset))
        plays, certificate = game(X, preset)
        assert math.isfinite(certificate)
        assert all(X.contains(x) for x in plays)
        assert not X.contains(X.start() + inner.diameter)


def test_an_oracle_of_any_size_has_a_diameter():
    """The squares of its widths would overflow, or vanish."""
    for size in (1e-300, 1.0, 1e99):
        X = sets.OracleSet(lambda c, s=size: np.where(c < 0.0, s, -s), 4)
        assert X.diameter == pytest.approx(4.0 * size, rel=1e-12)
