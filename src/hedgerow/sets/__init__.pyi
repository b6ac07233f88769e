from .actions import Action as Action
from .actions import Actions as Actions
from .balls.boxes import Box as Box
from .balls.boxes import LinfBall as LinfBall
from .balls.ellipsoid import Ellipsoid as Ellipsoid
from .balls.group_balls import GroupBall as GroupBall
from .balls.group_balls import LatentGroupBall as LatentGroupBall
from .balls.l1_l2_balls import KSparse as KSparse
from .balls.l1_l2_balls import L1Ball as L1Ball
from .balls.l1_l2_balls import L2Ball as L2Ball
from .balls.lp_balls import LpBall as LpBall
from .balls.lp_balls import NonnegativeLpBall as NonnegativeLpBall
from .balls.sparse_balls import CappedL1Ball as CappedL1Ball
from .balls.sparse_balls import OrderedWeightedBall as OrderedWeightedBall
from .compositions.halfspace_cut import HalfspaceCut as HalfspaceCut
from .compositions.halfspace_cut import intersect as intersect
from .compositions.oracle_only import ConvexHull as ConvexHull
from .compositions.oracle_only import OracleSet as OracleSet
from .compositions.polytope import Polytope as Polytope
from .compositions.product import Product as Product
from .compositions.sums_and_images import AffineImage as AffineImage
from .compositions.sums_and_images import ConvexHullOfUnion as ConvexHullOfUnion
from .compositions.sums_and_images import MinkowskiSum as MinkowskiSum
from .compositions.wrappers import Scaled as Scaled
from .compositions.wrappers import Translated as Translated
from .decision_set import (
    CAPABILITIES as CAPABILITIES,
)
from .decision_set import (
    Capability as Capability,
)
from .decision_set import (
    DecisionSet as DecisionSet,
)
from .decision_set import (
    Decomposable as Decomposable,
)
from .decision_set import (
    HasAffineHull as HasAffineHull,
)
from .decision_set import (
    HasInnerBall as HasInnerBall,
)
from .decision_set import (
    HasLinearDescription as HasLinearDescription,
)
from .decision_set import (
    HasSampling as HasSampling,
)
from .decision_set import (
    HasSeparation as HasSeparation,
)
from .decision_set import (
    Projectable as Projectable,
)
from .decision_set import (
    Rows as Rows,
)
from .decision_set import (
    Workspace as Workspace,
)
from .matchings.b_matchings import BMatchings as BMatchings
from .matchings.birkhoff import Birkhoff as Birkhoff
from .matchings.graph_matchings import Matchings as Matchings
from .matchings.graph_matchings import PerfectMatchings as PerfectMatchings
from .matchings.transport import TransportPlans as TransportPlans
from .matroids.arborescences import Arborescences as Arborescences
from .matroids.laminar import LaminarMatroid as LaminarMatroid
from .matroids.matroid_bases import Matroid as Matroid
from .matroids.matroid_bases import PartitionMatroid as PartitionMatroid
from .matroids.matroid_intersection import MatroidIntersection as MatroidIntersection
from .matroids.spanning_trees import SpanningTrees as SpanningTrees
from .matroids.submodular import BasePolytope as BasePolytope
from .matroids.submodular import ConcaveOfSum as ConcaveOfSum
from .matroids.submodular import Coverage as Coverage
from .matroids.submodular import Cut as Cut
from .matroids.submodular import Polymatroid as Polymatroid
from .matroids.submodular import SetFunction as SetFunction
from .orders.interval_schedules import IntervalSchedules as IntervalSchedules
from .orders.job_sequences import JobSequences as JobSequences
from .orders.permutahedron import Permutahedron as Permutahedron
from .paths.bulk_paths import PathBlock as PathBlock
from .paths.bulk_paths import bulk_paths as bulk_paths
from .paths.dag_paths import DagPaths as DagPaths
from .paths.hop_limited_walks import HopLimitedWalks as HopLimitedWalks
from .paths.multi_commodity import MultiCommodityFlow as MultiCommodityFlow
from .paths.multi_commodity import PathShares as PathShares
from .paths.unit_flow import UnitFlow as UnitFlow
from .projections.approximate_projection import (
    approximately_feasible_projection as approximately_feasible_projection,
)
from .projections.approximate_projection import (
    close_infeasible_projection as close_infeasible_projection,
)
from .projections.approximate_projection import (
    frank_wolfe_separation as frank_wolfe_separation,
)
from .projections.frank_wolfe import Descent as Descent
from .projections.frank_wolfe import conditional_gradient as conditional_gradient
from .simplices.knapsack import Knapsack as Knapsack
from .simplices.simplex import CappedSimplex as CappedSimplex
from .simplices.simplex import KSubsets as KSubsets
from .simplices.simplex import Simplex as Simplex
from .spectral.spectrahedra import NuclearBall as NuclearBall
from .spectral.spectrahedra import Spectrahedron as Spectrahedron
from .spectral.spectral_balls import Fantope as Fantope
from .spectral.spectral_balls import OperatorBall as OperatorBall
from .spectral.spectral_balls import SchattenBall as SchattenBall
from .spectral.spectral_balls import SolidSpectrahedron as SolidSpectrahedron
