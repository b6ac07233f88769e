from .learner_contract import check_learner as check_learner
from .policy_contract import check_policy as check_policy
from .set_contract import check_set as check_set
