"""Hedgerow: good decisions every round, with one linear minimisation and no projection.

>>> import hedgerow as hr
>>> problem = hr.ShortestPath.atlas_like(nodes=30, edges=90, horizon=50, seed=0)
>>> policy = hr.projection_free_coco(problem.decision_set)
>>> for cost, constraint in problem:
...     x = policy.ask()
...     policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
>>> policy.oracle_calls
51
"""

import importlib
from typing import TYPE_CHECKING, Any

from hedgerow.audit import AuditReport, Failure, audit
from hedgerow.feedback import (
    Eval,
    EvalGrad,
    EvalLinear,
    Full,
    Used,
    bandit,
    first_order,
    first_order_each,
    full,
    linear,
    semi_bandit,
)
from hedgerow.functions import Function, Linear, Maximum, Quadratic
from hedgerow.growth import Growth, growth
from hedgerow.hindsight import hindsight, prefix_benchmarks, regret_curve
from hedgerow.learners.adaptive_ocg import AdaptiveOCG
from hedgerow.learners.block_bandit import BlockBandit
from hedgerow.learners.blocks import BlockRule, PaperBlocks, PracticalBlocks
from hedgerow.learners.ftpl import FTPL, GaussianNoise
from hedgerow.learners.steps import CertificateSteps, PaperSteps, RmsSteps, StepRule
from hedgerow.play import play, simulate
from hedgerow.policies.bandit import projection_free_cbco
from hedgerow.policies.constrained import Constrained
from hedgerow.policies.constrained_bandit import ConstrainedBandit
from hedgerow.policies.paper import projection_free_coco, projection_free_long_term
from hedgerow.policies.perturbed import ftpl_coco
from hedgerow.policies.presets import VacuousConstantsWarning
from hedgerow.policies.sampled import LazySampled, Sampled
from hedgerow.policies.semi_bandit import SemiBandit, semi_bandit_coco
from hedgerow.policies.unconstrained import unconstrained
from hedgerow.potentials import ExponentialPotential, GrowingScale, Potential, PowerPotential, Scale
from hedgerow.problems.ad_slots import AdSlots
from hedgerow.problems.caching import Caching
from hedgerow.problems.enveloped import EnvelopedProblem
from hedgerow.problems.halfspace_box import HalfspaceBox
from hedgerow.problems.iid_simplex import IidSimplex
from hedgerow.problems.latency_cap import LatencyCap
from hedgerow.problems.log_portfolio import ActiveShare, LogPortfolio, NegativeLog
from hedgerow.problems.orthogonal_ball import OrthogonalBall
from hedgerow.problems.portfolio import Portfolio, price_relatives
from hedgerow.problems.quadratic_box import QuadraticBox
from hedgerow.problems.ranking import Ranking
from hedgerow.problems.recorded import Recorded
from hedgerow.problems.shortest_path import ShortestPath
from hedgerow.problems.switching_ball import SwitchingBall
from hedgerow.problems.variation import Series, UniformScaling, Variation
from hedgerow.protocols.benchmark import Benchmark
from hedgerow.protocols.parts import Learner, Player, Policy, Surrogate
from hedgerow.protocols.problem import LinearChunk, LinearProblem, Problem
from hedgerow.protocols.trace import Step, Trace
from hedgerow.sets.balls import KSparse, L1Ball, L2Ball
from hedgerow.sets.birkhoff import Birkhoff
from hedgerow.sets.boxes import Box, LinfBall
from hedgerow.sets.dag_paths import DagPaths
from hedgerow.sets.decision_set import (
    Balled,
    Capability,
    DecisionSet,
    Decomposable,
    Described,
    Hulled,
    Projectable,
    Rows,
    Samplable,
    Separable,
    Workspace,
)
from hedgerow.sets.dijkstra_paths import DijkstraPaths
from hedgerow.sets.frankwolfe import Descent, conditional_gradient
from hedgerow.sets.generic import ConvexHull, OracleSet
from hedgerow.sets.hop_limited_walks import HopLimitedWalks
from hedgerow.sets.matchings import Matchings
from hedgerow.sets.matroids import Matroid, PartitionMatroid
from hedgerow.sets.oracle_only import OracleOnly
from hedgerow.sets.permutahedron import Permutahedron
from hedgerow.sets.polytope import Polytope
from hedgerow.sets.product import Product
from hedgerow.sets.simplices import CappedSimplex, KSubsets, Simplex
from hedgerow.sets.spanning_trees import SpanningTrees
from hedgerow.sets.spectral import NuclearBall, Spectrahedron
from hedgerow.sets.unit_flow import UnitFlow
from hedgerow.sets.wrappers import Scaled, Translated
from hedgerow.snapshot import Snapshot
from hedgerow.surrogates.budget import BudgetedScale
from hedgerow.surrogates.cost_only import CostOnlySurrogate
from hedgerow.surrogates.current import CurrentSurrogate
from hedgerow.surrogates.drift import DriftSurrogate
from hedgerow.surrogates.lagged import LaggedSurrogate
from hedgerow.surrogates.per_constraint import PerConstraintSurrogate
from hedgerow.surrogates.ranges import GivenRanges, LearntRanges, Ranges
from hedgerow.surrogates.signed import SignedSurrogate

if TYPE_CHECKING:
    from hedgerow.adversary.cyclic_arms import CyclicArms
    from hedgerow.adversary.fresh_coordinates import FreshCoordinates
    from hedgerow.adversary.game import LinearGame
    from hedgerow.adversary.random_signs import RandomSigns
    from hedgerow.adversary.steady_push import SteadyPush
    from hedgerow.bounds import Adaptivity, Explanation, Guarantee, nonvacuous_horizon
    from hedgerow.bounds.explain import explain
    from hedgerow.network.atlas.choices import AtlasChoices
    from hedgerow.network.atlas.star import read_atlas
    from hedgerow.network.data_error import DataError
    from hedgerow.network.edges import EdgeColumns, read_edges
    from hedgerow.network.hub_graph import hub_graph
    from hedgerow.network.matrix import read_matrix
    from hedgerow.network.network import Network

__version__ = "0.1.0"

_LATER = {
    "Adaptivity": "hedgerow.bounds",
    "AtlasChoices": "hedgerow.network.atlas.choices",
    "CyclicArms": "hedgerow.adversary.cyclic_arms",
    "DataError": "hedgerow.network.data_error",
    "EdgeColumns": "hedgerow.network.edges",
    "Explanation": "hedgerow.bounds",
    "FreshCoordinates": "hedgerow.adversary.fresh_coordinates",
    "Guarantee": "hedgerow.bounds",
    "LinearGame": "hedgerow.adversary.game",
    "Network": "hedgerow.network.network",
    "RandomSigns": "hedgerow.adversary.random_signs",
    "SteadyPush": "hedgerow.adversary.steady_push",
    "explain": "hedgerow.bounds.explain",
    "hub_graph": "hedgerow.network.hub_graph",
    "nonvacuous_horizon": "hedgerow.bounds",
    "read_atlas": "hedgerow.network.atlas.star",
    "read_edges": "hedgerow.network.edges",
    "read_matrix": "hedgerow.network.matrix",
}
"""Loaded when first asked for: what a game alone does not need."""

__all__ = [
    "FTPL",
    "ActiveShare",
    "AdSlots",
    "AdaptiveOCG",
    "Adaptivity",
    "AtlasChoices",
    "AuditReport",
    "Balled",
    "Benchmark",
    "Birkhoff",
    "BlockBandit",
    "BlockRule",
    "Box",
    "BudgetedScale",
    "Caching",
    "Capability",
    "CappedSimplex",
    "CertificateSteps",
    "Constrained",
    "ConstrainedBandit",
    "ConvexHull",
    "CostOnlySurrogate",
    "CurrentSurrogate",
    "CyclicArms",
    "DagPaths",
    "DataError",
    "DecisionSet",
    "Decomposable",
    "Descent",
    "Described",
    "DijkstraPaths",
    "DriftSurrogate",
    "EdgeColumns",
    "EnvelopedProblem",
    "Eval",
    "EvalGrad",
    "EvalLinear",
    "Explanation",
    "ExponentialPotential",
    "Failure",
    "FreshCoordinates",
    "Full",
    "Function",
    "GaussianNoise",
    "GivenRanges",
    "GrowingScale",
    "Growth",
    "Guarantee",
    "HalfspaceBox",
    "HopLimitedWalks",
    "Hulled",
    "IidSimplex",
    "KSparse",
    "KSubsets",
    "L1Ball",
    "L2Ball",
    "LaggedSurrogate",
    "LatencyCap",
    "LazySampled",
    "Learner",
    "LearntRanges",
    "Linear",
    "LinearChunk",
    "LinearGame",
    "LinearProblem",
    "LinfBall",
    "LogPortfolio",
    "Matchings",
    "Matroid",
    "Maximum",
    "NegativeLog",
    "Network",
    "NuclearBall",
    "OracleOnly",
    "OracleSet",
    "OrthogonalBall",
    "PaperBlocks",
    "PaperSteps",
    "PartitionMatroid",
    "PerConstraintSurrogate",
    "Permutahedron",
    "Player",
    "Policy",
    "Polytope",
    "Portfolio",
    "Potential",
    "PowerPotential",
    "PracticalBlocks",
    "Problem",
    "Product",
    "Projectable",
    "Quadratic",
    "QuadraticBox",
    "RandomSigns",
    "Ranges",
    "Ranking",
    "Recorded",
    "RmsSteps",
    "Rows",
    "Samplable",
    "Sampled",
    "Scale",
    "Scaled",
    "SemiBandit",
    "Separable",
    "Series",
    "ShortestPath",
    "SignedSurrogate",
    "Simplex",
    "Snapshot",
    "SpanningTrees",
    "Spectrahedron",
    "SteadyPush",
    "Step",
    "StepRule",
    "Surrogate",
    "SwitchingBall",
    "Trace",
    "Translated",
    "UniformScaling",
    "UnitFlow",
    "Used",
    "VacuousConstantsWarning",
    "Variation",
    "Workspace",
    "audit",
    "bandit",
    "conditional_gradient",
    "explain",
    "first_order",
    "first_order_each",
    "ftpl_coco",
    "full",
    "growth",
    "hindsight",
    "hub_graph",
    "linear",
    "nonvacuous_horizon",
    "play",
    "prefix_benchmarks",
    "price_relatives",
    "projection_free_cbco",
    "projection_free_coco",
    "projection_free_long_term",
    "read_atlas",
    "read_edges",
    "read_matrix",
    "regret_curve",
    "semi_bandit",
    "semi_bandit_coco",
    "simulate",
    "unconstrained",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'hedgerow' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_LATER[name]), name)
    return value
