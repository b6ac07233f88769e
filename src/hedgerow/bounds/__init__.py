"""What is proved: one function per theorem and lemma, and from which horizon it says anything."""

from hedgerow.bounds.bandit import (
    block_bandit_oracle_calls,
    block_bandit_regret,
    cbco_ccv,
    cbco_constant,
    cbco_regret,
)
from hedgerow.bounds.conditional_gradient import (
    Adaptivity,
    adaptivity,
    ftrl_regret,
    leader_distance,
    leader_movement,
    ocg_regret,
)
from hedgerow.bounds.explain import explain
from hedgerow.bounds.guarantee import Explanation, Guarantee
from hedgerow.bounds.horizons import nonvacuous_horizon
from hedgerow.bounds.long_run import (
    budget_ccv,
    budget_regret,
    coco_ccv,
    coco_regret,
    general_ccv,
    general_regret,
    long_term_regret,
    long_term_sum,
    surrogate_constant,
    surrogate_log_growth,
    surrogate_ratio,
)
from hedgerow.bounds.perturbed import ftpl_regret, ftpl_sum
from hedgerow.bounds.sharper import rms_regret, sharper_ocg_regret

__all__ = [
    "Adaptivity",
    "Explanation",
    "Guarantee",
    "adaptivity",
    "block_bandit_oracle_calls",
    "block_bandit_regret",
    "budget_ccv",
    "budget_regret",
    "cbco_ccv",
    "cbco_constant",
    "cbco_regret",
    "coco_ccv",
    "coco_regret",
    "explain",
    "ftpl_regret",
    "ftpl_sum",
    "ftrl_regret",
    "general_ccv",
    "general_regret",
    "leader_distance",
    "leader_movement",
    "long_term_regret",
    "long_term_sum",
    "nonvacuous_horizon",
    "ocg_regret",
    "rms_regret",
    "sharper_ocg_regret",
    "surrogate_constant",
    "surrogate_log_growth",
    "surrogate_ratio",
]
