from .canaries import column_canaries as column_canaries
from .cases.case import AuditCase as AuditCase
from .distinguish import audit as audit
from .one_run import OneRunVerdict as OneRunVerdict
from .one_run import audit_one_run as audit_one_run
from .runtime import CountVerdict as CountVerdict
from .runtime import audit_counts as audit_counts
from .verdicts import Verdict as Verdict
