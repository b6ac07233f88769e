"""Sets, problems and policies are shown in a line or two."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.baselines.methods import METHODS
from hedgerow.policies.method import Constants
from sets.table import EXAMPLES

GRAPH = hr.ShortestPath.random_network(nodes=191, edges=1200, horizon=1600, seed=0)


def test_large_sets_are_shown_by_their_size():
    assert repr(GRAPH.decision_set) == "DagPaths(191 nodes, 1200 edges)"
    rows = hr.sets.Polytope(np.ones((40, 60)), np.ones(40))
    assert repr(rows) == "Polytope(60 variables, 40 rows)"
    product = hr.sets.Product(*[hr.sets.Simplex(4)] * 132)
    assert repr(product) == "Product(132 factors, 528 coordinates)"
    assert repr(hr.sets.Box(np.zeros(60), np.ones(60))) == "Box(60 coordinates)"
    trees = hr.sets.SpanningTrees([(i, j) for i in range(8) for j in range(i)])
    assert repr(trees) == "SpanningTrees(8 nodes, 28 edges)"


def test_small_sets_and_problems_are_shown_by_their_arguments():
    assert repr(hr.sets.Simplex(3)) == "Simplex(n=3, total=1.0)"
    assert repr(hr.sets.Box([0.0], [1.0])) == "Box(lower=array([0.]), upper=array([1.]))"
    assert repr(hr.problems.IidSimplex(n=3, horizon=20, seed=0)) == (
        "IidSimplex(n=3, horizon=20, seed=0)"
    )
    assert repr(GRAPH) == "ShortestPath(1600 rounds on DagPaths(191 nodes, 1200 edges))"


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_set_is_shown_in_one_short_line(name):
    made = EXAMPLES[name]
    text = repr(made() if callable(made) else made)
    assert len(text) <= 100
    assert "\n" not in text
    assert " object at 0x" not in text


def test_a_policy_is_shown_as_the_call_that_made_it():
    text = repr(hr.projection_free_coco(GRAPH.decision_set))
    assert text == "projection_free_coco(DagPaths(191 nodes, 1200 edges))"
    given = hr.projection_free_coco(hr.sets.Simplex(2), eagerness=2.0)
    assert repr(given) == "projection_free_coco(Simplex(n=2, total=1.0), eagerness=2.0)"
    assert repr(copy.deepcopy(given)) == repr(given)
    drawn = hr.ftpl_coco(hr.sets.Simplex(2), 100, rng=3)
    assert repr(drawn) == "ftpl_coco(Simplex(n=2, total=1.0), horizon=100, seed=3)"


def test_a_composition_shows_its_parts_once():
    inner = hr.projection_free_coco(GRAPH.decision_set, tracking=False)
    text = repr(hr.ConstrainedPolicy(inner.learner, inner.surrogate))
    assert text.startswith(
        "ConstrainedPolicy(AdaptiveOCG(DagPaths(191 nodes, 1200 edges), CertificateSteps("
    )
    assert "CurrentSurrogate(" in text
    assert "ObservedRanges(AdaptiveOCG)" in text
    assert text.count("DagPaths") == 1


def test_a_trace_and_a_benchmark_are_shown_in_a_line():
    problem = hr.problems.IidSimplex(n=3, horizon=2000, seed=0)
    trace = hr.simulate(hr.projection_free_coco(problem.decision_set), problem)
    assert (
        repr(trace)
        == str(trace)
        == (
            f"Trace(2000 rounds, cost {trace.cost:.6g}, CCV {trace.ccv:.6g}, "
            f"{(trace.violations > 0).sum()} violated)"
        )
    )
    best = hr.hindsight(problem)
    assert repr(best).startswith(f"Benchmark(cost {best.cost:.6g}, optimal, gap ")
    assert repr(best).endswith(", x of 3 coordinates)")
    caps = [hr.Linear([1.0, 0.0], -0.2), hr.Linear([0.0, 1.0], -0.9)]
    two = hr.RecordedProblem(
        hr.sets.Simplex(2), [(hr.Linear([1.0, 0.0]), caps)], limits={"load": "ms", "share": ""}
    )
    text = repr(hr.simulate(hr.projection_free_coco(two.decision_set), two))
    assert "CCV of load" in text
    assert "CCV of share" in text
    assert ", CCV 0" not in text


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        (
            hr.projection_free_bandit(hr.sets.Simplex(3), 100, 0, lipschitz=1.0, bound=1.0),
            "a policy that sees values alone has no certificate",
        ),
        (hr.semi_bandit_coco(hr.sets.KSubsets(4, 2), 100, 0), "an estimate proves nothing"),
        (
            hr.Sampled(hr.projection_free_coco(hr.sets.Simplex(3)), 0),
            r"policy\.policy\.certificate\(\)",
        ),
    ],
    ids=["values", "semi-bandit", "sampled"],
)
def test_a_policy_without_certificate_says_why(policy, why):
    assert not hasattr(policy, "certificate")
    with pytest.raises(AttributeError, match=why):
        policy.certificate()


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_shown_in_about_two_lines(name):
    X = hr.sets.Box(-np.ones(30), np.ones(30))
    known = Constants((2.0, 2.0), (4.0, 4.0))
    text = repr(METHODS[name].policy(X, 3000, 0, "practical", known))
    assert "\n" not in text
    assert len(text) <= 320


@dataclass(frozen=True, eq=False)
class Interval(hr.DecisionSet):
    """A user's own set, which writes its own line."""

    radius: float
    dim = 1

    @property
    def diameter(self):
        return 2.0 * self.radius

    def lmo(self, c):
        return np.array([-self.radius if c[0] > 0.0 else self.radius])

    def contains(self, x, tol=1e-9):
        return abs(x[0]) <= self.radius + tol

    def __repr__(self):
        return f"[-{self.radius:g}, {self.radius:g}]"


@dataclass(frozen=True, eq=False)
class Unit(Interval):
    radius: float = 1.0


def test_a_repr_of_a_users_own_stays():
    assert repr(Interval(2.0)) == "[-2, 2]"
    assert repr(Unit()) == "[-1, 1]"
