"""What the errors of this app say, by code. jobs/errors.py explains how they are raised."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from jobs.errors import ProblemCode

TEXTS: dict[str, str | Promise] = {
    "time_example": _("A time is needed, such as 2026-12-01T09:00."),
}

PROBLEM_CODES = {
    "already_running": ProblemCode(
        409, "A scheduled or manual Execution of this Task has not ended; `execution_id` says which."
    ),
    "no_steps": ProblemCode(409, "The workflow has no steps to run."),
    "not_resumable": ProblemCode(409, "Only a failed or cancelled run can be resumed."),
    # Step queues
    "queue_empty": ProblemCode(409, "The queue has no jobs that could be run."),
    "queue_running": ProblemCode(
        409, "The queue is running; it takes no jobs, and cannot be run or deleted meanwhile."
    ),
    "queue_full": ProblemCode(400, "The queue has the maximum number of jobs."),
    "nothing_to_cancel": ProblemCode(409, "The queue is not running, or is already rolling back."),
    "not_failed": ProblemCode(409, "Only a backward operation that failed can be run again."),
    "unknown_library": ProblemCode(400, "No operation library of that name is registered."),
    "unknown_operation": ProblemCode(409, "The operation is no longer registered."),
}
