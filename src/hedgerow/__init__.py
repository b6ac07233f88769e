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
from hedgerow.functions import Function, Linear, Maximum, Quadratic, Times
from hedgerow.growth import Growth, growth
from hedgerow.hindsight import hindsight, hindsight_steps, prefix_benchmarks, regret_curve
from hedgerow.learners.adaptive_ocg import AdaptiveOCG
from hedgerow.learners.block_bandit import BlockBandit
from hedgerow.learners.blocks import BlockRule, PaperBlocks, PracticalBlocks
from hedgerow.learners.ftpl import FTPL, GaussianNoise
from hedgerow.learners.steps import CertificateSteps, PaperSteps, RmsSteps, StepRule, WeibelSteps
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
from hedgerow.potentials import (
    AnytimeExponential,
    ExponentialPotential,
    GrowingScale,
    Potential,
    PowerPotential,
    Scale,
)
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
    from hedgerow.experiment.cluster import on_cluster
    from hedgerow.experiment.local import in_processes, in_this_process
    from hedgerow.experiment.reading import load_experiment
    from hedgerow.experiment.results import Results
    from hedgerow.experiment.sweep import Tally, sweep
    from hedgerow.experiment.tuning import tune
    from hedgerow.hindsight.intervals import IntervalRegret, interval_regret
    from hedgerow.hindsight.switching import SwitchingBenchmark, switching_benchmark
    from hedgerow.learners.adagrad import AdaGrad
    from hedgerow.learners.adahedge import AdaHedge
    from hedgerow.learners.corrective_omd import CorrectiveOMD
    from hedgerow.learners.ftrl import FTRL
    from hedgerow.learners.lazy import LazyOCG
    from hedgerow.learners.loo_blocks import FixedLooBlocks, LooRule, PracticalLooBlocks
    from hedgerow.learners.loo_bogd import LooBogd
    from hedgerow.learners.mixture import Mixture, SharesOracle
    from hedgerow.learners.ocg import OCG
    from hedgerow.learners.ogd import OGD, StronglyConvexOGD
    from hedgerow.learners.one_point import OnePoint
    from hedgerow.learners.restarted_block_bandit import RestartedBlockBandit, WangBlocks
    from hedgerow.learners.restarted_ocg import Restart, RestartAtStart, RestartedOCG, RestartHere
    from hedgerow.learners.separation_ogd import (
        ExpensiveRoundWarning,
        SeparationAdaGrad,
        SeparationOGD,
    )
    from hedgerow.learners.strongly_convex_ocg import StronglyConvexOCG
    from hedgerow.network.atlas.choices import AtlasChoices
    from hedgerow.network.atlas.star import read_atlas
    from hedgerow.network.data_error import DataError
    from hedgerow.network.edges import EdgeColumns, read_edges
    from hedgerow.network.hub_graph import hub_graph
    from hedgerow.network.matrix import read_matrix
    from hedgerow.network.network import Network
    from hedgerow.play import simulate_chunks, simulate_many
    from hedgerow.policies.bagel import bagel
    from hedgerow.policies.drift_plus_penalty import (
        cold,
        neely_yu_2017,
        yu_neely_2020,
        yu_neely_wei_2017,
    )
    from hedgerow.policies.follow_the_leader_feasible import (
        FeasibleLeader,
        follow_the_leader_feasible,
    )
    from hedgerow.policies.garber_kretzu import garber_kretzu_dpp, garber_kretzu_lpm
    from hedgerow.policies.garber_kretzu_bandit import garber_kretzu_bandit
    from hedgerow.policies.lagrangian import (
        ConstantRates,
        DecayingRates,
        ForgetfulRates,
        PrimalDual,
        Schedule,
    )
    from hedgerow.policies.method import Constants, Method
    from hedgerow.policies.methods import METHODS
    from hedgerow.policies.penalty_prox import PenaltyProx
    from hedgerow.policies.penalty_step import PenaltyStep, penalty_step
    from hedgerow.policies.primal_dual import jenatton, mahdavi, sun, yuan_lamperski
    from hedgerow.policies.queues import DriftPlusPenalty, VirtualQueue
    from hedgerow.policies.recoo import Recoo, RecooRates, recoo
    from hedgerow.policies.sarkar_anytime import sarkar_anytime
    from hedgerow.policies.sinha_vaze import sinha_vaze, sinha_vaze_strongly_convex
    from hedgerow.policies.tracking import tracking_learner
    from hedgerow.policies.unit_free import UnitFree
    from hedgerow.policies.wang import wang_ofw, wang_ofw_strongly_convex
    from hedgerow.policies.wang_bandit import wang_bandit
    from hedgerow.policies.yi import Yi2021, Yi2023, YiRates, yi_2021, yi_2023
    from hedgerow.problems.drifting_paths import Tide, drifting_paths
    from hedgerow.problems.drifting_subsets import DriftingSubsets
    from hedgerow.problems.hard_box import HardBox
    from hedgerow.sets.approximate_projection import (
        approximately_feasible_projection,
        close_infeasible_projection,
        frank_wolfe_separation,
    )
    from hedgerow.surrogates.current_values import CurrentValues
    from hedgerow.surrogates.dual import DualSteps, DualSurrogate, DualValues

__version__ = "0.1.0"

_LATER = {
    "AdaGrad": "hedgerow.learners.adagrad",
    "AdaHedge": "hedgerow.learners.adahedge",
    "Adaptivity": "hedgerow.bounds",
    "AtlasChoices": "hedgerow.network.atlas.choices",
    "ConstantRates": "hedgerow.policies.lagrangian",
    "Constants": "hedgerow.policies.method",
    "CorrectiveOMD": "hedgerow.learners.corrective_omd",
    "CurrentValues": "hedgerow.surrogates.current_values",
    "CyclicArms": "hedgerow.adversary.cyclic_arms",
    "DataError": "hedgerow.network.data_error",
    "DecayingRates": "hedgerow.policies.lagrangian",
    "DriftPlusPenalty": "hedgerow.policies.queues",
    "DriftingSubsets": "hedgerow.problems.drifting_subsets",
    "DualSteps": "hedgerow.surrogates.dual",
    "DualSurrogate": "hedgerow.surrogates.dual",
    "DualValues": "hedgerow.surrogates.dual",
    "EdgeColumns": "hedgerow.network.edges",
    "ExpensiveRoundWarning": "hedgerow.learners.separation_ogd",
    "Explanation": "hedgerow.bounds",
    "FTRL": "hedgerow.learners.ftrl",
    "FeasibleLeader": "hedgerow.policies.follow_the_leader_feasible",
    "FixedLooBlocks": "hedgerow.learners.loo_blocks",
    "ForgetfulRates": "hedgerow.policies.lagrangian",
    "FreshCoordinates": "hedgerow.adversary.fresh_coordinates",
    "Guarantee": "hedgerow.bounds",
    "HardBox": "hedgerow.problems.hard_box",
    "IntervalRegret": "hedgerow.hindsight.intervals",
    "LazyOCG": "hedgerow.learners.lazy",
    "LinearGame": "hedgerow.adversary.game",
    "LooBogd": "hedgerow.learners.loo_bogd",
    "LooRule": "hedgerow.learners.loo_blocks",
    "METHODS": "hedgerow.policies.methods",
    "Method": "hedgerow.policies.method",
    "Mixture": "hedgerow.learners.mixture",
    "Network": "hedgerow.network.network",
    "OCG": "hedgerow.learners.ocg",
    "OGD": "hedgerow.learners.ogd",
    "OnePoint": "hedgerow.learners.one_point",
    "PenaltyProx": "hedgerow.policies.penalty_prox",
    "PenaltyStep": "hedgerow.policies.penalty_step",
    "PracticalLooBlocks": "hedgerow.learners.loo_blocks",
    "PrimalDual": "hedgerow.policies.lagrangian",
    "RandomSigns": "hedgerow.adversary.random_signs",
    "Recoo": "hedgerow.policies.recoo",
    "RecooRates": "hedgerow.policies.recoo",
    "Restart": "hedgerow.learners.restarted_ocg",
    "RestartAtStart": "hedgerow.learners.restarted_ocg",
    "RestartHere": "hedgerow.learners.restarted_ocg",
    "RestartedBlockBandit": "hedgerow.learners.restarted_block_bandit",
    "RestartedOCG": "hedgerow.learners.restarted_ocg",
    "Results": "hedgerow.experiment.results",
    "Schedule": "hedgerow.policies.lagrangian",
    "SeparationAdaGrad": "hedgerow.learners.separation_ogd",
    "SeparationOGD": "hedgerow.learners.separation_ogd",
    "SharesOracle": "hedgerow.learners.mixture",
    "SteadyPush": "hedgerow.adversary.steady_push",
    "StronglyConvexOCG": "hedgerow.learners.strongly_convex_ocg",
    "StronglyConvexOGD": "hedgerow.learners.ogd",
    "SwitchingBenchmark": "hedgerow.hindsight.switching",
    "Tally": "hedgerow.experiment.sweep",
    "Tide": "hedgerow.problems.drifting_paths",
    "UnitFree": "hedgerow.policies.unit_free",
    "VirtualQueue": "hedgerow.policies.queues",
    "WangBlocks": "hedgerow.learners.restarted_block_bandit",
    "Yi2021": "hedgerow.policies.yi",
    "Yi2023": "hedgerow.policies.yi",
    "YiRates": "hedgerow.policies.yi",
    "approximately_feasible_projection": "hedgerow.sets.approximate_projection",
    "bagel": "hedgerow.policies.bagel",
    "close_infeasible_projection": "hedgerow.sets.approximate_projection",
    "cold": "hedgerow.policies.drift_plus_penalty",
    "drifting_paths": "hedgerow.problems.drifting_paths",
    "explain": "hedgerow.bounds.explain",
    "follow_the_leader_feasible": "hedgerow.policies.follow_the_leader_feasible",
    "frank_wolfe_separation": "hedgerow.sets.approximate_projection",
    "garber_kretzu_bandit": "hedgerow.policies.garber_kretzu_bandit",
    "garber_kretzu_dpp": "hedgerow.policies.garber_kretzu",
    "garber_kretzu_lpm": "hedgerow.policies.garber_kretzu",
    "hub_graph": "hedgerow.network.hub_graph",
    "in_processes": "hedgerow.experiment.local",
    "in_this_process": "hedgerow.experiment.local",
    "interval_regret": "hedgerow.hindsight.intervals",
    "jenatton": "hedgerow.policies.primal_dual",
    "load_experiment": "hedgerow.experiment.reading",
    "mahdavi": "hedgerow.policies.primal_dual",
    "neely_yu_2017": "hedgerow.policies.drift_plus_penalty",
    "nonvacuous_horizon": "hedgerow.bounds",
    "on_cluster": "hedgerow.experiment.cluster",
    "penalty_step": "hedgerow.policies.penalty_step",
    "read_atlas": "hedgerow.network.atlas.star",
    "read_edges": "hedgerow.network.edges",
    "read_matrix": "hedgerow.network.matrix",
    "recoo": "hedgerow.policies.recoo",
    "sarkar_anytime": "hedgerow.policies.sarkar_anytime",
    "simulate_chunks": "hedgerow.play",
    "simulate_many": "hedgerow.play",
    "sinha_vaze": "hedgerow.policies.sinha_vaze",
    "sinha_vaze_strongly_convex": "hedgerow.policies.sinha_vaze",
    "sun": "hedgerow.policies.primal_dual",
    "sweep": "hedgerow.experiment.sweep",
    "switching_benchmark": "hedgerow.hindsight.switching",
    "tracking_learner": "hedgerow.policies.tracking",
    "tune": "hedgerow.experiment.tuning",
    "wang_bandit": "hedgerow.policies.wang_bandit",
    "wang_ofw": "hedgerow.policies.wang",
    "wang_ofw_strongly_convex": "hedgerow.policies.wang",
    "yi_2021": "hedgerow.policies.yi",
    "yi_2023": "hedgerow.policies.yi",
    "yu_neely_2020": "hedgerow.policies.drift_plus_penalty",
    "yu_neely_wei_2017": "hedgerow.policies.drift_plus_penalty",
    "yuan_lamperski": "hedgerow.policies.primal_dual",
}
"""Loaded when first asked for: what a game alone does not need."""

__all__ = [
    "FTPL",
    "FTRL",
    "METHODS",
    "OCG",
    "OGD",
    "ActiveShare",
    "AdSlots",
    "AdaGrad",
    "AdaHedge",
    "AdaptiveOCG",
    "Adaptivity",
    "AnytimeExponential",
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
    "ConstantRates",
    "Constants",
    "Constrained",
    "ConstrainedBandit",
    "ConvexHull",
    "CorrectiveOMD",
    "CostOnlySurrogate",
    "CurrentSurrogate",
    "CurrentValues",
    "CyclicArms",
    "DagPaths",
    "DataError",
    "DecayingRates",
    "DecisionSet",
    "Decomposable",
    "Descent",
    "Described",
    "DijkstraPaths",
    "DriftPlusPenalty",
    "DriftSurrogate",
    "DriftingSubsets",
    "DualSteps",
    "DualSurrogate",
    "DualValues",
    "EdgeColumns",
    "EnvelopedProblem",
    "Eval",
    "EvalGrad",
    "EvalLinear",
    "ExpensiveRoundWarning",
    "Explanation",
    "ExponentialPotential",
    "Failure",
    "FeasibleLeader",
    "FixedLooBlocks",
    "ForgetfulRates",
    "FreshCoordinates",
    "Full",
    "Function",
    "GaussianNoise",
    "GivenRanges",
    "GrowingScale",
    "Growth",
    "Guarantee",
    "HalfspaceBox",
    "HardBox",
    "HopLimitedWalks",
    "Hulled",
    "IidSimplex",
    "IntervalRegret",
    "KSparse",
    "KSubsets",
    "L1Ball",
    "L2Ball",
    "LaggedSurrogate",
    "LatencyCap",
    "LazyOCG",
    "LazySampled",
    "Learner",
    "LearntRanges",
    "Linear",
    "LinearChunk",
    "LinearGame",
    "LinearProblem",
    "LinfBall",
    "LogPortfolio",
    "LooBogd",
    "LooRule",
    "Matchings",
    "Matroid",
    "Maximum",
    "Method",
    "Mixture",
    "NegativeLog",
    "Network",
    "NuclearBall",
    "OnePoint",
    "OracleOnly",
    "OracleSet",
    "OrthogonalBall",
    "PaperBlocks",
    "PaperSteps",
    "PartitionMatroid",
    "PenaltyProx",
    "PenaltyStep",
    "PerConstraintSurrogate",
    "Permutahedron",
    "Player",
    "Policy",
    "Polytope",
    "Portfolio",
    "Potential",
    "PowerPotential",
    "PracticalBlocks",
    "PracticalLooBlocks",
    "PrimalDual",
    "Problem",
    "Product",
    "Projectable",
    "Quadratic",
    "QuadraticBox",
    "RandomSigns",
    "Ranges",
    "Ranking",
    "Recoo",
    "RecooRates",
    "Recorded",
    "Restart",
    "RestartAtStart",
    "RestartHere",
    "RestartedBlockBandit",
    "RestartedOCG",
    "Results",
    "RmsSteps",
    "Rows",
    "Samplable",
    "Sampled",
    "Scale",
    "Scaled",
    "Schedule",
    "SemiBandit",
    "Separable",
    "SeparationAdaGrad",
    "SeparationOGD",
    "Series",
    "SharesOracle",
    "ShortestPath",
    "SignedSurrogate",
    "Simplex",
    "Snapshot",
    "SpanningTrees",
    "Spectrahedron",
    "SteadyPush",
    "Step",
    "StepRule",
    "StronglyConvexOCG",
    "StronglyConvexOGD",
    "Surrogate",
    "SwitchingBall",
    "SwitchingBenchmark",
    "Tally",
    "Tide",
    "Times",
    "Trace",
    "Translated",
    "UniformScaling",
    "UnitFlow",
    "UnitFree",
    "Used",
    "VacuousConstantsWarning",
    "Variation",
    "VirtualQueue",
    "WangBlocks",
    "WeibelSteps",
    "Workspace",
    "Yi2021",
    "Yi2023",
    "YiRates",
    "approximately_feasible_projection",
    "audit",
    "bagel",
    "bandit",
    "close_infeasible_projection",
    "cold",
    "conditional_gradient",
    "drifting_paths",
    "explain",
    "first_order",
    "first_order_each",
    "follow_the_leader_feasible",
    "frank_wolfe_separation",
    "ftpl_coco",
    "full",
    "garber_kretzu_bandit",
    "garber_kretzu_dpp",
    "garber_kretzu_lpm",
    "growth",
    "hindsight",
    "hindsight_steps",
    "hub_graph",
    "in_processes",
    "in_this_process",
    "interval_regret",
    "jenatton",
    "linear",
    "load_experiment",
    "mahdavi",
    "neely_yu_2017",
    "nonvacuous_horizon",
    "on_cluster",
    "penalty_step",
    "play",
    "prefix_benchmarks",
    "price_relatives",
    "projection_free_cbco",
    "projection_free_coco",
    "projection_free_long_term",
    "read_atlas",
    "read_edges",
    "read_matrix",
    "recoo",
    "regret_curve",
    "sarkar_anytime",
    "semi_bandit",
    "semi_bandit_coco",
    "simulate",
    "simulate_chunks",
    "simulate_many",
    "sinha_vaze",
    "sinha_vaze_strongly_convex",
    "sun",
    "sweep",
    "switching_benchmark",
    "tracking_learner",
    "tune",
    "unconstrained",
    "wang_bandit",
    "wang_ofw",
    "wang_ofw_strongly_convex",
    "yi_2021",
    "yi_2023",
    "yu_neely_2020",
    "yu_neely_wei_2017",
    "yuan_lamperski",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'hedgerow' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_LATER[name]), name)
    return value
