from .audits import AuditReport as AuditReport
from .audits import Failure as Failure
from .audits import audit as audit
from .learner_contract import check_learner as check_learner
from .policy_contract import check_policy as check_policy
from .set_contract import check_set as check_set
