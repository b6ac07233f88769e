from . import steps as steps
from .adahedge import AdaHedge as AdaHedge
from .adaptive_ocg import AdaptiveOCG as AdaptiveOCG
from .away_ocg import AwayOCG as AwayOCG
from .block_bandit import BlockBandit as BlockBandit
from .block_ocg import BlockOCG as BlockOCG
from .block_rules import (
    BlockRule as BlockRule,
)
from .block_rules import (
    FixedLooBlocks as FixedLooBlocks,
)
from .block_rules import (
    LooRule as LooRule,
)
from .block_rules import (
    PaperBlocks as PaperBlocks,
)
from .block_rules import (
    PracticalBlocks as PracticalBlocks,
)
from .block_rules import (
    PracticalLooBlocks as PracticalLooBlocks,
)
from .blocked_ogd import BlockedOGD as BlockedOGD
from .ftpl import FTPL as FTPL
from .ftpl import GaussianNoise as GaussianNoise
from .ftrl import FTRL as FTRL
from .growth import Growth as Growth
from .kernel_learner import KernelLearner as KernelLearner
from .lazy import LazyOCG as LazyOCG
from .ocg import OCG as OCG
from .ocg import StronglyConvexOCG as StronglyConvexOCG
from .one_point import OnePoint as OnePoint
from .projected_descent import OGD as OGD
from .projected_descent import AdaGrad as AdaGrad
from .projected_descent import StronglyConvexOGD as StronglyConvexOGD
from .restarted_block_bandit import (
    RestartedBlockBandit as RestartedBlockBandit,
)
from .restarted_block_bandit import (
    WangBlocks as WangBlocks,
)
from .restarted_ocg import (
    RestartAtStart as RestartAtStart,
)
from .restarted_ocg import (
    RestartedOCG as RestartedOCG,
)
from .restarted_ocg import (
    RestartHere as RestartHere,
)
from .separation_ogd import (
    ExpensiveRoundWarning as ExpensiveRoundWarning,
)
from .separation_ogd import (
    SeparationAdaGrad as SeparationAdaGrad,
)
from .separation_ogd import (
    SeparationOGD as SeparationOGD,
)
