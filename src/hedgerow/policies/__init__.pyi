from .advised import AdvisedMaster as AdvisedMaster
from .away import away_coco as away_coco
from .bandit import projection_free_bandit as projection_free_bandit
from .certificate import Certificate as Certificate
from .constrained import ConstrainedPolicy as ConstrainedPolicy
from .constrained_bandit import ConstrainedBandit as ConstrainedBandit
from .constrained_bandit import DeclaredValues as DeclaredValues
from .fallback import Fallback as Fallback
from .fallback import theorem_f as theorem_f
from .master import RestrictedMaster as RestrictedMaster
from .method import Constants as Constants
from .method import Method as Method
from .paper import (
    projection_free_coco as projection_free_coco,
)
from .paper import (
    projection_free_long_term as projection_free_long_term,
)
from .perturbed import ftpl_coco as ftpl_coco
from .presets import VacuousConstantsWarning as VacuousConstantsWarning
from .projected import projected_coco as projected_coco
from .sampled import LazySampled as LazySampled
from .sampled import Sampled as Sampled
from .semi_bandit import SemiBandit as SemiBandit
from .semi_bandit import semi_bandit_coco as semi_bandit_coco
from .summary import AdviserTotals as AdviserTotals
from .summary import Binding as Binding
from .summary import Summary as Summary
from .theorem import Theorem as Theorem
from .violated_share import ShareSummary as ShareSummary
from .violated_share import ViolatedShare as ViolatedShare
from .without_constraint import unconstrained as unconstrained
