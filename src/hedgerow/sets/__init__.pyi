from .approximate_projection import (
    approximately_feasible_projection as approximately_feasible_projection,
)
from .approximate_projection import (
    close_infeasible_projection as close_infeasible_projection,
)
from .approximate_projection import (
    frank_wolfe_separation as frank_wolfe_separation,
)
from .balls import KSparse as KSparse
from .balls import L1Ball as L1Ball
from .balls import L2Ball as L2Ball
from .birkhoff import Birkhoff as Birkhoff
from .boxes import Box as Box
from .boxes import LinfBall as LinfBall
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
from .frankwolfe import Descent as Descent
from .frankwolfe import conditional_gradient as conditional_gradient
from .generic import ConvexHull as ConvexHull
from .generic import OracleSet as OracleSet
from .hop_limited_walks import HopLimitedWalks as HopLimitedWalks
from .matchings import Matchings as Matchings
from .matroids import Matroid as Matroid
from .matroids import PartitionMatroid as PartitionMatroid
from .multi_commodity_flow import MultiCommodityFlow as MultiCommodityFlow
from .oracle_only import OracleOnly as OracleOnly
from .path_shares import PathShares as PathShares
from .permutahedron import Permutahedron as Permutahedron
from .polytope import Polytope as Polytope
from .product import Product as Product
from .simplices import CappedSimplex as CappedSimplex
from .simplices import KSubsets as KSubsets
from .simplices import Simplex as Simplex
from .spanning_trees import SpanningTrees as SpanningTrees
from .spectral import NuclearBall as NuclearBall
from .spectral import Spectrahedron as Spectrahedron
from .unit_flow import UnitFlow as UnitFlow
from .wrappers import Scaled as Scaled
from .wrappers import Translated as Translated
