from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from hedgerow.feedback import bandit, linear, semi_bandit
from hedgerow.learners.adaptive_ocg import AdaptiveOCG
from hedgerow.learners.steps import CertificateSteps
from hedgerow.policies.away import away_coco
from hedgerow.policies.bandit import projection_free_bandit
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.policies.constrained_bandit import ConstrainedBandit
from hedgerow.policies.fallback import theorem_f
from hedgerow.policies.master import RestrictedMaster
from hedgerow.policies.paper import projection_free_coco, projection_free_long_term
from hedgerow.policies.perturbed import ftpl_coco
from hedgerow.policies.presets import VacuousConstantsWarning
from hedgerow.policies.sampled import LazySampled, Sampled, SampledPlay
from hedgerow.policies.semi_bandit import semi_bandit_coco
from hedgerow.policies.without_constraint import unconstrained
from hedgerow.sets.balls.boxes import Box
from hedgerow.sets.balls.l1_l2_balls import L2Ball
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.matroids.spanning_trees import SpanningTrees
from hedgerow.sets.paths.dag_paths import DagPaths
from hedgerow.sets.simplices.simplex import KSubsets, Simplex
from hedgerow.surrogates.current import CurrentSurrogate
from hedgerow.surrogates.per_constraint import PerConstraintSurrogate
from hedgerow.surrogates.potentials import GrowingScale, PowerPotential
from hedgerow.surrogates.ranges import WorstCaseRanges
from hedgerow.surrogates.signed import SignedSurrogate
from hedgerow.testing import check_policy

EDGES = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (2, 4), (5, 4)]
SETS: dict[str, Callable[[], DecisionSet]] = {
    "simplex": lambda: Simplex(5),
    "l2ball": lambda: L2Ball(4, radius=3.0),
    "box": lambda: Box([-1.0, 0.0, 2.0], [1.0, 5.0, 2.0]),
    "dag": lambda: DagPaths(EDGES, 0, 4),
    "k-subsets": lambda: KSubsets(6, 2),
    "trees": lambda: SpanningTrees([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]),
}
VERTEX_SETS = ("dag", "k-subsets", "trees")


def theory(make: Callable[..., ConstrainedPolicy]) -> Callable[[DecisionSet], ConstrainedPolicy]:
    def build(X: DecisionSet) -> ConstrainedPolicy:
        with pytest.warns(VacuousConstantsWarning):
            return make(X, 1000, preset="theory", lipschitz=10.0)

    return build


def per_constraint(X: DecisionSet) -> ConstrainedPolicy:
    learner = AdaptiveOCG(X, CertificateSteps())
    scale = GrowingScale(floor=12.0, factor=0.5)
    current = CurrentSurrogate(PowerPotential(8.0, scale), 8.0, WorstCaseRanges(learner))
    signed = SignedSurrogate(PowerPotential(2.0, 3.0))
    return ConstrainedPolicy(learner, PerConstraintSurrogate([current, signed]))


POLICIES: dict[str, Callable[[DecisionSet], Any]] = {
    "coco": projection_free_coco,
    "coco-advised": lambda X: projection_free_coco(X, advisers=["plan"]),
    "coco-plain": lambda X: projection_free_coco(X, tracking=False),
    "coco-theory": theory(projection_free_coco),
    "long-term": projection_free_long_term,
    "long-term-theory": theory(projection_free_long_term),
    "master": RestrictedMaster,
    "theorem-f": theorem_f,
    "away": away_coco,
    "ftpl": lambda X: ftpl_coco(X, 100, 3),
    "ftpl-theory": lambda X: ftpl_coco(X, 100, 3, preset="theory"),
    "unconstrained": unconstrained,
    "unconstrained-theory": lambda X: unconstrained(X, 1000, preset="theory"),
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", SETS)
def test_policies_conform(name: str, policy: str) -> None:
    check_policy(lambda: POLICIES[policy](SETS[name]()))


SEVERAL: dict[str, Callable[[DecisionSet], Any]] = {
    "by-hand": per_constraint,
    "each": lambda X: projection_free_coco(X, constraints=2),
    "each-advised": lambda X: projection_free_coco(X, constraints=2, advisers=["plan"]),
    "each-theorem-f": lambda X: theorem_f(X, 2),
    "each-plain": lambda X: projection_free_coco(X, constraints=2, tracking=False),
    "each-long-term": lambda X: projection_free_long_term(X, constraints=2),
    "each-master": lambda X: RestrictedMaster(X, constraints=2),
    "maximum": projection_free_coco,
    "maximum-away": away_coco,
    "maximum-long-term": projection_free_long_term,
    "maximum-theory": theory(projection_free_coco),
    "unconstrained": unconstrained,
}


@pytest.mark.parametrize("policy", SEVERAL)
@pytest.mark.parametrize("name", ["simplex", "l2ball", "box", "dag"])
def test_policies_that_are_told_several_constraints_conform(name: str, policy: str) -> None:
    check_policy(lambda: SEVERAL[policy](SETS[name]()), constraints=2)


@pytest.mark.parametrize("kind", [Sampled, LazySampled])
@pytest.mark.parametrize("name", ["simplex", *VERTEX_SETS])
def test_sampled_policies_conform(name: str, kind: type[SampledPlay]) -> None:
    check_policy(
        lambda: kind(projection_free_coco(SETS[name](), tracking=False), 7), feedback=linear
    )


@pytest.mark.parametrize("name", VERTEX_SETS)
def test_semi_bandit_policies_conform(name: str) -> None:
    check_policy(lambda: semi_bandit_coco(SETS[name](), 100, 7), feedback=semi_bandit)


VALUES = partial(bandit, lipschitz=2.0, bound=1.0)


@pytest.mark.parametrize("name", SETS)
def test_bandit_policies_conform(name: str) -> None:
    check_policy(
        lambda: projection_free_bandit(SETS[name](), 40, 3, lipschitz=2.0, bound=1.0),
        feedback=VALUES,
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_papers_bandit_policy_conforms(seed: int) -> None:
    def make() -> ConstrainedBandit:
        X = L2Ball(4, radius=3.0)
        with pytest.warns(VacuousConstantsWarning):
            return projection_free_bandit(X, 40, 3, lipschitz=2.0, bound=1.0, preset="theory")

    check_policy(make, seed=seed, feedback=VALUES)
