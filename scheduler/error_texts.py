"""The texts of this app's errors, by code. jobs/errors.py explains how code raises them."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from jobs.errors import ProblemCode

TEXTS: dict[str, str | Promise] = {
    # Times
    "time_example": _("Enter a time such as 2026-12-01 09:00."),
    "time_text": _("Must be a text such as 2026-12-01T09:00:00+09:00."),
    "time_in_reach": _("Must be between 1970 and 2200."),
    "unknown_zone": _("'%(name)s' is not a time zone; use a name such as Asia/Seoul."),
    "time_of_day": _("'%(text)s' is not a time from 00:00 to 23:59, written like 09:00."),
    "day_of_month": _("'%(day)s' is not a day from 1 to 31, nor 'last'."),
    # Inputs of workflows
    "at_most_bytes": _("At most %(limit)s bytes are allowed."),
    "json_schema": "%(text)s",
    "schema_keyword": _("'%(name)s' is not supported."),
    "schema_recursive": _("The reference %(name)s leads back to itself, which is not supported."),
    "schema_reference": _("There is no %(name)s; only references like #/$defs/name are supported."),
    "schema_too_large": _("It has more than %(limit)s schemas, counting those behind references each time."),
    "schema_without_input": _(
        "An active workflow also starts without an input, so the schema must accept {}: %(text)s"
    ),
    # Saved views
    "too_many_views": _("You have %(limit)s saved views; delete one first."),
    # Undo
    "undone_already": _("It was restored already."),
    "cannot_undo": _(
        "It cannot be restored as it was: what it uses was deleted meanwhile, or something else has its name."
    ),
    # PeriodicTasks
    "unknown_celery_task": _("There is no Celery task named %(task)s."),
    "redis_unreachable": _("Redis does not answer."),
    # Cron expressions
    "cron_too_long": _("The expression has %(count)s characters; at most %(limit)s are allowed."),
    "cron_fields": _(
        "The expression has %(count)s fields; five are expected: "
        "minute hour day-of-month month day-of-week, or six with the second first."
    ),
    "cron_never": _(
        "day-of-month, month and day-of-week: no day fits '%(days)s' within the next 5 years, "
        "so it would never fire."
    ),
    "cron_short_form": _("'%(word)s' is not known; the short forms are %(allowed)s."),
    "cron_star_in_list": _("%(field)s: '*' in the list '%(word)s' already means every value."),
    "cron_backwards": _("%(field)s: the range '%(span)s' runs backwards; write it as two in a list."),
    "cron_step": _("%(field)s: '%(term)s' has no whole number after the '/'."),
    "cron_step_range": _("%(field)s: the step %(step)s in '%(term)s' is not between 1 and %(limit)s."),
    "cron_nth": _("%(field)s: '%(term)s' needs a number from 1 to 5 after the '#'."),
    "cron_value": _("%(field)s: '%(word)s' is not understood; allowed: %(allowed)s."),
    "cron_value_in": _("%(field)s: '%(text)s' in '%(word)s' is not understood; allowed: %(allowed)s."),
    "cron_range": _("%(field)s: %(number)s is out of range; allowed: %(allowed)s."),
    # Schedules
    "other_kind": _("Belongs to schedules of type %(other)s; this one is of type %(kind)s."),
    "ends_before_start": _("Must be after the start."),
    "in_the_past": _("Must be in the future."),
    "never_fires": _("The schedule would never run."),
    "task_running": _("A run of %(task)s is still in progress."),
    # Occurrences: scheduler/schedules/catchup.py
    "still_running": _("The previous run was still in progress."),
    "manual_running": _("A manual run of the Task was in progress."),
    "other_schedule_running": _("A run of the Task by another schedule was in progress."),
    "in_calendar": _("It is in the schedule's calendar."),
    "later_due": _("A later run was due as well."),
    "too_late": _("It was later than the grace period."),
    # Calendars
    "unknown_calendar": _("There is no such calendar of the schedule's owner."),
    "unknown_notify_office": _("There is no such office in which the schedule's owner may act."),
    "calendar_in_use": _("%(count)s schedules use the calendar. Change them first."),
    "calendar_window": _("Write each window like 2026-12-05 01:00 ~ 2026-12-05 03:00, on a line of its own."),
    "calendar_date": _("Must be dates such as 2026-12-25."),
    "window_ends_first": _("A window must end after its start."),
    "too_many_entries": _("At most %(limit)s entries are allowed."),
    # Workflows
    "config_mode": _("Must be an object with a mode: immediate, delayed, scheduled or recurring."),
    "weekly_days": _("Choose at least one day of the week, for the weekly pattern only."),
    "monthly_day": _("Choose the day of the month, for the monthly pattern only."),
    "time_or_times": _("Give either time or times."),
    "date_example": _("Enter a date such as 2026-12-01."),
    "weekly_every": _("every_weeks and starts_on belong together, and to the weekly pattern only."),
    "steps_list": _("Must be a list of jobs: [{…}, …]."),
    "steps_empty": _("An active workflow needs at least one step."),
    "step_cycle": _(
        "'%(name)s' cannot run after '%(other)s', which waits for it itself. That is a cycle: %(members)s."
    ),
    "ref_needed": _("Other steps run after this one: it needs a name."),
    "task_needed": _("Choose a Task."),
    "unknown_step": _("There is no step '%(name)s'."),
    "unknown_steps": _("A step depends on a job that is not a step of this workflow."),
    "time_passed": _("The time has passed; the workflow would never run."),
    "no_steps": _("The workflow has no steps to run."),
    "not_resumable": _("Only a failed or cancelled run can be resumed; this one is %(status)s."),
    "run_not_running": _("Only a run in progress can be cancelled; this one is %(status)s."),
    "run_jobs_deleted": _("The jobs of this run were deleted."),
    "run_failed": _("%(failed)s of %(total)s steps failed. %(first)s"),
    "run_blocked": _("%(failed)s of %(total)s steps failed. %(first)s Blocked steps: %(blocked)s."),
    "run_cancelled": _("%(cancelled)s of %(total)s steps were cancelled."),
    # Step queues
    "queue_empty": _("The queue has no jobs."),
    "queue_running": _("The queue is running. Wait until it has finished, or cancel it."),
    "queue_full": _("A queue has at most %(limit)s jobs."),
    "nothing_to_cancel": _("The queue is not running forward, so there is nothing to cancel."),
    "nothing_to_resume": _("Only a run that has rolled back, and has jobs to run, can be resumed."),
    "not_failed": _("The rollback of this job has not failed, or has succeeded meanwhile."),
    "unknown_library": _("There is no library '%(library)s'; there are: %(registered)s."),
    "unknown_operation": _("No operation '%(operation)s' is registered in the library '%(library)s'."),
    "no_library": _("The job has no library: the run would roll back here."),
    "operation_argument": "%(operation)s: %(text)s",
    "argument_of_neither": _("Neither operation takes the argument %(argument)s."),
    "arguments_too_many": _(
        "%(count)s arguments are given, and neither operation takes more than %(limit)s."
    ),
    "arguments_too_large": _("The arguments are larger than %(limit)s bytes."),
    "job_in_queue": _("The job is in a queue already, or was deleted."),
    "too_many_unlinked_jobs": _("You have %(limit)s jobs in no queue. Enqueue or delete some of them."),
    "step_invalid": _("The job is not valid; nothing was enqueued."),
}

PROBLEM_CODES = {
    "already_running": ProblemCode(
        409,
        "Already running",
        "A scheduled or manual Execution of yours of this Task has not ended; `execution_id` says which.",
    ),
    "no_steps": ProblemCode(409, "No steps", "The workflow has no steps to run."),
    "run_not_running": ProblemCode(409, "Run not in progress", "Only a run in progress can be cancelled."),
    "not_resumable": ProblemCode(409, "Run not resumable", "Only a failed or cancelled run can be resumed."),
    "calendar_in_use": ProblemCode(409, "Calendar in use", "Schedules use the calendar."),
    # Step queues
    "queue_empty": ProblemCode(409, "Queue empty", "The queue has no jobs."),
    "queue_running": ProblemCode(
        409, "Queue running", "The queue is running; it accepts no jobs, and cannot be run or deleted."
    ),
    "queue_full": ProblemCode(400, "Queue full", "The queue has the maximum number of jobs."),
    "nothing_to_cancel": ProblemCode(
        409, "Nothing to cancel", "The queue is not running, or is already rolling back."
    ),
    "nothing_to_resume": ProblemCode(
        409, "Nothing to resume", "The queue's last run has not rolled back, or has nothing to run."
    ),
    "not_failed": ProblemCode(409, "Not failed", "Only a backward operation that failed can be run again."),
    "unknown_library": ProblemCode(
        400, "Unknown library", "No operation library of that name is registered."
    ),
    "job_in_queue": ProblemCode(
        409,
        "Job already in a queue",
        "The job has been enqueued or deleted; it can be neither enqueued again nor deleted.",
    ),
    "too_many_unlinked_jobs": ProblemCode(
        400, "Too many jobs in no queue", "The caller has the maximum number of jobs in no queue."
    ),
    "unknown_operation": ProblemCode(409, "Unknown operation", "The operation is no longer registered."),
}
