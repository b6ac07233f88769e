from .bandit import (
    block_bandit_oracle_calls as block_bandit_oracle_calls,
)
from .bandit import (
    block_bandit_regret as block_bandit_regret,
)
from .bandit import (
    cbco_ccv as cbco_ccv,
)
from .bandit import (
    cbco_constant as cbco_constant,
)
from .bandit import (
    cbco_regret as cbco_regret,
)
from .conditional_gradient import (
    Adaptivity as Adaptivity,
)
from .conditional_gradient import (
    adaptivity as adaptivity,
)
from .conditional_gradient import (
    ftrl_regret as ftrl_regret,
)
from .conditional_gradient import (
    leader_distance as leader_distance,
)
from .conditional_gradient import (
    leader_movement as leader_movement,
)
from .conditional_gradient import (
    ocg_regret as ocg_regret,
)
from .explanations import explain as explain
from .guarantee import Explanation as Explanation
from .guarantee import Guarantee as Guarantee
from .guarded import guarded_ccv as guarded_ccv
from .guarded import guarded_regret as guarded_regret
from .guarded import projected_ccv as projected_ccv
from .guarded import projected_regret as projected_regret
from .horizons import nonvacuous_horizon as nonvacuous_horizon
from .long_run import (
    budget_ccv as budget_ccv,
)
from .long_run import (
    budget_regret as budget_regret,
)
from .long_run import (
    coco_ccv as coco_ccv,
)
from .long_run import (
    coco_regret as coco_regret,
)
from .long_run import (
    general_ccv as general_ccv,
)
from .long_run import (
    general_regret as general_regret,
)
from .long_run import (
    long_term_regret as long_term_regret,
)
from .long_run import (
    long_term_sum as long_term_sum,
)
from .long_run import (
    surrogate_constant as surrogate_constant,
)
from .long_run import (
    surrogate_log_growth as surrogate_log_growth,
)
from .long_run import (
    surrogate_ratio as surrogate_ratio,
)
from .perturbed import ftpl_regret as ftpl_regret
from .perturbed import ftpl_sum as ftpl_sum
from .sharper import any_regulariser_regret as any_regulariser_regret
from .sharper import capped_regret as capped_regret
from .sharper import guard_constant as guard_constant
from .sharper import rms_regret as rms_regret
from .sharper import schedule_regret as schedule_regret
from .sharper import sharper_ocg_regret as sharper_ocg_regret
