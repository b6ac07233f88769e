from .actions import Action as Action
from .actions import Actions as Actions
from .approximate_projection import (
    approximately_feasible_projection as approximately_feasible_projection,
)
from .approximate_projection import (
    close_infeasible_projection as close_infeasible_projection,
)
from .approximate_projection import (
    frank_wolfe_separation as frank_wolfe_separation,
)
from .arborescences import Arborescences as Arborescences
from .b_matchings import BMatchings as BMatchings
from .balls import KSparse as KSparse
from .balls import L1Ball as L1Ball
from .balls import L2Ball as L2Ball
from .birkhoff import Birkhoff as Birkhoff
from .boxes import Box as Box
from .boxes import LinfBall as LinfBall
from .compositions import AffineImage as AffineImage
from .compositions import ConvexHullOfUnion as ConvexHullOfUnion
from .compositions import MinkowskiSum as MinkowskiSum
from .cuts import HalfspaceCut as HalfspaceCut
from .cuts import intersect as intersect
from .dag_paths import DagPaths as DagPaths
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
from .dijkstra_paths import DijkstraPaths as DijkstraPaths
from .ellipsoid import Ellipsoid as Ellipsoid
from .frankwolfe import Descent as Descent
from .frankwolfe import conditional_gradient as conditional_gradient
from .generic import ConvexHull as ConvexHull
from .generic import OracleSet as OracleSet
from .group_balls import GroupBall as GroupBall
from .group_balls import LatentGroupBall as LatentGroupBall
from .hop_limited_walks import HopLimitedWalks as HopLimitedWalks
from .interval_schedules import IntervalSchedules as IntervalSchedules
from .job_sequences import JobSequences as JobSequences
from .knapsack import Knapsack as Knapsack
from .laminar import LaminarMatroid as LaminarMatroid
from .lp_balls import LpBall as LpBall
from .lp_balls import NonnegativeLpBall as NonnegativeLpBall
from .matchings import Matchings as Matchings
from .matroid_intersection import MatroidIntersection as MatroidIntersection
from .matroids import Matroid as Matroid
from .matroids import PartitionMatroid as PartitionMatroid
from .multi_commodity_flow import MultiCommodityFlow as MultiCommodityFlow
from .oracle_only import OracleOnly as OracleOnly
from .path_shares import PathShares as PathShares
from .perfect_matchings import PerfectMatchings as PerfectMatchings
from .permutahedron import Permutahedron as Permutahedron
from .polytope import Polytope as Polytope
from .product import Product as Product
from .set_functions import ConcaveOfSum as ConcaveOfSum
from .set_functions import Coverage as Coverage
from .set_functions import Cut as Cut
from .set_functions import SetFunction as SetFunction
from .simplices import CappedSimplex as CappedSimplex
from .simplices import KSubsets as KSubsets
from .simplices import Simplex as Simplex
from .spanning_trees import SpanningTrees as SpanningTrees
from .sparse_balls import CappedL1Ball as CappedL1Ball
from .sparse_balls import OrderedWeightedBall as OrderedWeightedBall
from .spectral import NuclearBall as NuclearBall
from .spectral import Spectrahedron as Spectrahedron
from .spectral_balls import Fantope as Fantope
from .spectral_balls import OperatorBall as OperatorBall
from .spectral_balls import SchattenBall as SchattenBall
from .spectral_balls import SolidSpectrahedron as SolidSpectrahedron
from .submodular import BasePolytope as BasePolytope
from .submodular import Polymatroid as Polymatroid
from .transport import TransportPlans as TransportPlans
from .unit_flow import UnitFlow as UnitFlow
from .wrappers import Scaled as Scaled
from .wrappers import Translated as Translated
