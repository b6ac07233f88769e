from .ad_slots import AdSlots as AdSlots
from .caching import Caching as Caching
from .drifting_subsets import DriftingSubsets as DriftingSubsets
from .enveloped import EnvelopedProblem as EnvelopedProblem
from .halfspace_box import HalfspaceBox as HalfspaceBox
from .hard_box import HardBox as HardBox
from .iid_simplex import IidSimplex as IidSimplex
from .job_sequencing import JobSequencing as JobSequencing
from .latency_cap import LatencyCap as LatencyCap
from .log_portfolio import (
    ActiveShare as ActiveShare,
)
from .log_portfolio import (
    LogPortfolio as LogPortfolio,
)
from .log_portfolio import (
    NegativeLog as NegativeLog,
)
from .optimal_transport import OptimalTransport as OptimalTransport
from .orthogonal_ball import OrthogonalBall as OrthogonalBall
from .periodic_drift import PeriodicDrift as PeriodicDrift
from .periodic_drift import drifting_paths as drifting_paths
from .portfolio import Portfolio as Portfolio
from .portfolio import price_relatives as price_relatives
from .problem import LinearChunk as LinearChunk
from .problem import LinearProblem as LinearProblem
from .problem import Problem as Problem
from .quadratic_box import QuadraticBox as QuadraticBox
from .ranking import Ranking as Ranking
from .recorded import Recorded as Recorded
from .sensor_coverage import SensorCoverage as SensorCoverage
from .shortest_path import ShortestPath as ShortestPath
from .switching_ball import SwitchingBall as SwitchingBall
from .variation import Series as Series
from .variation import UniformScaling as UniformScaling
from .variation import Variation as Variation
