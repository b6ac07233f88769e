from .ad_slots import AdSlots as AdSlots
from .caching import Caching as Caching
from .drifting import DriftingSubsets as DriftingSubsets
from .drifting import PeriodicDrift as PeriodicDrift
from .drifting import drifting_paths as drifting_paths
from .edge_quantities import EdgeQuantity as EdgeQuantity
from .job_sequencing import JobSequencing as JobSequencing
from .latency_cap import LatencyCap as LatencyCap
from .measured_routes import Limit as Limit
from .measured_routes import LinkLoads as LinkLoads
from .measured_routes import MeasuredRoutes as MeasuredRoutes
from .optimal_transport import OptimalTransport as OptimalTransport
from .portfolios import (
    ActiveShare as ActiveShare,
)
from .portfolios import (
    LogPortfolio as LogPortfolio,
)
from .portfolios import (
    NegativeLog as NegativeLog,
)
from .portfolios import Portfolio as Portfolio
from .portfolios import price_relatives as price_relatives
from .problem import EnvelopedProblem as EnvelopedProblem
from .problem import LinearChunk as LinearChunk
from .problem import LinearProblem as LinearProblem
from .problem import Problem as Problem
from .problem import Recorded as Recorded
from .ranking import Ranking as Ranking
from .sensor_coverage import SensorCoverage as SensorCoverage
from .shortest_path import ShortestPath as ShortestPath
from .synthetic import HalfspaceBox as HalfspaceBox
from .synthetic import HardBox as HardBox
from .synthetic import IidSimplex as IidSimplex
from .synthetic import OrthogonalBall as OrthogonalBall
from .synthetic import QuadraticBox as QuadraticBox
from .synthetic import SwitchingBall as SwitchingBall
from .variation import Series as Series
from .variation import UniformScaling as UniformScaling
from .variation import Variation as Variation
