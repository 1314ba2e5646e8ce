"""What the errors of this app say, by code. jobs/errors.py explains how they are raised."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from jobs.errors import ProblemCode

TEXTS: dict[str, str | Promise] = {
    "time_example": _("A time is needed, such as 2026-12-01T09:00."),
    # Step queues
    "queue_empty": _("The queue has no jobs."),
    "queue_running": _("The queue is running. Wait until it has finished, or cancel it."),
    "queue_full": _("A queue has at most %(limit)s jobs."),
    "nothing_to_cancel": _("The queue is not running forward, so there is nothing to cancel."),
    "not_failed": _("The rollback of this job has not failed, or has succeeded meanwhile."),
    "unknown_library": _("There is no library '%(library)s'; there are: %(registered)s."),
    "unknown_operation": _("No operation '%(operation)s' is registered in the library '%(library)s'."),
    "operation_argument": "%(operation)s: %(text)s",
    "argument_of_neither": _("Neither operation takes the argument %(argument)s."),
    "arguments_object": _("Must be an object, or '%(constant)s'."),
    "arguments_too_large": _("The arguments are larger than %(limit)s bytes."),
    "step_invalid": _("The job is not valid; nothing was enqueued."),
}

PROBLEM_CODES = {
    "already_running": ProblemCode(
        409, "A scheduled or manual Execution of this Task has not ended; `execution_id` says which."
    ),
    "no_steps": ProblemCode(409, "The workflow has no steps to run."),
    "not_resumable": ProblemCode(409, "Only a failed or cancelled run can be resumed."),
    # Step queues
    "queue_empty": ProblemCode(409, "The queue has no jobs."),
    "queue_running": ProblemCode(
        409, "The queue is running; it accepts no jobs, and cannot be run or deleted."
    ),
    "queue_full": ProblemCode(400, "The queue has the maximum number of jobs."),
    "nothing_to_cancel": ProblemCode(409, "The queue is not running, or is already rolling back."),
    "not_failed": ProblemCode(409, "Only a backward operation that failed can be run again."),
    "unknown_library": ProblemCode(400, "No operation library of that name is registered."),
    "unknown_operation": ProblemCode(409, "The operation is no longer registered."),
}
