"""Every transition of Job and Execution, in the order in which a job lives them.

submit → dispatch → claim → (progress) → finish, and beside that way: cancel, retry, reprioritise,
advance_office, dispatch_roles, send_due, send_unsent, return_unclaimed, fail_overdue, mark_lost, rescue,
republish. Views, workers, sweeps, commands and the admin call these verbs and change no row themselves. Each
is one transaction, guarded by the state it expects. Losing a race is normal, and the answer says what
happened. What has to follow the commit is in `effects.py`; any of it may be lost, and the sweeps repeat it.
"""

from jobs.lifecycle.decisions import cancel, cancel_execution, record_event, reprioritise, retry
from jobs.lifecycle.dispatch import (
    DISPATCH_ROLES,
    advance_office,
    dispatch_roles,
    fail_overdue,
    return_unclaimed,
    send_due,
    send_unsent,
)
from jobs.lifecycle.repairs import has_unseeded_joins, republish, rescue, reseed
from jobs.lifecycle.runs import (
    RUN_ON_CANCEL,
    claim,
    claim_join,
    end_handlers,
    finish,
    finish_timed_out,
    give_back,
    has_been_cancelled,
    is_cancelled,
    mark_lost,
    name_session,
    on_end,
    progress,
    release_run,
    run_of_message,
)
from jobs.lifecycle.submissions import start_executions, submit, submit_from_run

__all__ = [
    "DISPATCH_ROLES",
    "RUN_ON_CANCEL",
    "advance_office",
    "cancel",
    "cancel_execution",
    "claim",
    "claim_join",
    "dispatch_roles",
    "end_handlers",
    "fail_overdue",
    "finish",
    "finish_timed_out",
    "give_back",
    "has_been_cancelled",
    "has_unseeded_joins",
    "is_cancelled",
    "mark_lost",
    "name_session",
    "on_end",
    "progress",
    "record_event",
    "release_run",
    "reprioritise",
    "republish",
    "rescue",
    "reseed",
    "retry",
    "return_unclaimed",
    "run_of_message",
    "send_due",
    "send_unsent",
    "start_executions",
    "submit",
    "submit_from_run",
]
