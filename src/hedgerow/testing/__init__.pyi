from .check_learner import check_learner as check_learner
from .check_policy import check_policy as check_policy
from .check_set import check_set as check_set
