from . import baselines as baselines
from . import bounds as bounds
from . import experiments as experiments
from . import extending as extending
from . import feedback as feedback
from . import functions as functions
from . import games as games
from . import integrations as integrations
from . import learners as learners
from . import live as live
from . import networks as networks
from . import policies as policies
from . import problems as problems
from . import report as report
from . import sets as sets
from . import snapshot as snapshot
from . import steer as steer
from . import surrogates as surrogates
from . import testing as testing
from .bounds.explanations import explain as explain
from .feedback import (
    bandit as bandit,
)
from .feedback import (
    first_order as first_order,
)
from .feedback import (
    semi_bandit as semi_bandit,
)
from .functions import (
    Function as Function,
)
from .functions import (
    Linear as Linear,
)
from .functions import (
    Maximum as Maximum,
)
from .functions import (
    Quadratic as Quadratic,
)
from .games.comparators.hindsight import hindsight as hindsight
from .games.simulation import play as play
from .games.simulation import simulate as simulate
from .networks.errors import DataError as DataError
from .policies.bandit import projection_free_bandit as projection_free_bandit
from .policies.constrained import ConstrainedPolicy as ConstrainedPolicy
from .policies.constrained_bandit import ConstrainedBandit as ConstrainedBandit
from .policies.paper import (
    projection_free_coco as projection_free_coco,
)
from .policies.paper import (
    projection_free_long_term as projection_free_long_term,
)
from .policies.perturbed import ftpl_coco as ftpl_coco
from .policies.presets import VacuousConstantsWarning as VacuousConstantsWarning
from .policies.sampled import LazySampled as LazySampled
from .policies.sampled import Sampled as Sampled
from .policies.semi_bandit import semi_bandit_coco as semi_bandit_coco
from .policies.without_constraint import unconstrained as unconstrained
from .problems.problem import Problem as Problem
from .problems.problem import RecordedProblem as RecordedProblem
from .problems.shortest_path import ShortestPath as ShortestPath
from .protocols.benchmark import Benchmark as Benchmark
from .protocols.parts import Learner as Learner
from .protocols.parts import Policy as Policy
from .protocols.parts import ResumablePolicy as ResumablePolicy
from .protocols.parts import Surrogate as Surrogate
from .protocols.trace import Step as Step
from .protocols.trace import Trace as Trace
from .sets.decision_set import DecisionSet as DecisionSet
from .testing.audits import audit as audit

__version__: str
