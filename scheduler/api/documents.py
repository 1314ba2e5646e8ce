"""The OpenAPI schemas of this API's objects. They only document: shapes.py writes the JSON."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from jobs.api.documents import JobDocument
from jobs.api.framework.openapi_examples import in_response
from jobs.states import Backoff, ExecutionStatus, OnLost, Outcome, Trigger
from scheduler.api import examples
from scheduler.schedules.catchup import CatchUp
from scheduler.schedules.clock_changes import Change
from scheduler.schedules.rules import Kind
from scheduler.states import OccurrenceOutcome, Overlap, RunStatus, WorkflowStatus

KINDS = [kind.value for kind in Kind]
POLICIES = [policy.value for policy in CatchUp]


@extend_schema_serializer(component_name="Words")
class WordsDocument(serializers.Serializer[Any]):
    ko = serializers.CharField(help_text="In Korean.")
    en = serializers.CharField(help_text="In English.")


@extend_schema_serializer(
    component_name="Schedule", examples=[in_response("every morning", examples.SAVED_SCHEDULE)]
)
class ScheduleDocument(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    task_id = serializers.CharField()
    args = serializers.DictField()
    kind = serializers.ChoiceField(KINDS)
    cron = serializers.CharField(allow_null=True, help_text="For the kind cron.")
    every_seconds = serializers.IntegerField(allow_null=True, help_text="For the kind interval.")
    at = serializers.DateTimeField(allow_null=True, help_text="For the kind once.")
    enabled = serializers.BooleanField(help_text="False while the schedule is paused.")
    timezone = serializers.CharField(help_text="The time zone of `cron`.")
    overlap = serializers.ChoiceField(
        Overlap.choices, help_text="What happens if the previous run is still in progress."
    )
    catch_up = serializers.ChoiceField(
        POLICIES, help_text="Which of the runs missed in an outage are run afterwards."
    )
    grace = serializers.IntegerField(
        help_text="With the `catch_up` policy none: how many seconds late a run may still start."
    )
    calendar = serializers.UUIDField(
        allow_null=True, help_text="The calendar at whose days and times it skips its runs."
    )
    max_retries = serializers.IntegerField()
    retry_backoff = serializers.ChoiceField(
        Backoff.choices, allow_null=True, help_text="How the delay grows; null: exponential."
    )
    retry_base_delay = serializers.IntegerField(
        allow_null=True, help_text="The first delay, in milliseconds; null: the Task's."
    )
    timeout_ms = serializers.IntegerField(
        allow_null=True, help_text="Time limit of an attempt; null: the Task's."
    )
    on_lost = serializers.ChoiceField(
        OnLost.choices, allow_null=True, help_text="What happens if the worker dies; null: as the Task says."
    )
    notify_after_failures = serializers.IntegerField(
        allow_null=True, help_text="Notifies when so many runs in a row have failed for good; null: never."
    )
    notify_after_missed = serializers.IntegerField(
        allow_null=True,
        help_text="Notifies when so many scheduled runs were missed since the last success; null: never.",
    )
    notify_office = serializers.UUIDField(
        allow_null=True, help_text="The office whose webhooks and mail addresses are notified too."
    )
    failing_since = serializers.DateTimeField(
        allow_null=True, help_text="When it notified; null again after a run that succeeded."
    )
    starts_at = serializers.DateTimeField(allow_null=True, help_text="No run is due before this time.")
    ends_at = serializers.DateTimeField(allow_null=True, help_text="No run is due after this time.")
    words = WordsDocument(help_text="The rule in plain words.")
    next_run_at = serializers.DateTimeField(allow_null=True, help_text="Null if no scheduled run follows.")
    last_run_at = serializers.DateTimeField(allow_null=True)
    last_execution_id = serializers.UUIDField(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class WindowDocument(serializers.Serializer[Any]):
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()


@extend_schema_serializer(
    component_name="Calendar", examples=[in_response("holidays", examples.SAVED_CALENDAR)]
)
class CalendarDocument(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    dates = serializers.ListField(child=serializers.DateField(), help_text="Whole days in the time zone.")
    windows = WindowDocument(many=True, help_text="From `starts_at` until just before `ends_at`.")
    timezone = serializers.CharField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


@extend_schema_serializer(component_name="ClockChange")
class ClockChangeDocument(serializers.Serializer[Any]):
    change = serializers.ChoiceField(
        [change.value for change in Change],
        help_text="moved: the clock skips the time, and it runs at the first instant after the gap; "
        "missing: the clock skips it, and it does not run; doubled: the clock shows it twice, and it runs "
        "both times; once: the clock shows it twice, and it runs the first time.",
    )
    local_time = serializers.CharField(help_text="By the clock of the rule's time zone.")
    runs_at = serializers.ListField(child=serializers.DateTimeField(), help_text="None, one or two times.")


@extend_schema_serializer(
    component_name="NextTimes", examples=[in_response("two mornings", examples.NEXT_TIMES)]
)
class NextDocument(serializers.Serializer[Any]):
    next = serializers.ListField(child=serializers.DateTimeField(), help_text="The soonest first.")
    clock_changes = ClockChangeDocument(
        many=True,
        help_text="What the jumps of daylight saving time within a year do; at most five for each.",
    )
    words = WordsDocument()


@extend_schema_serializer(
    component_name="Turn", examples=[in_response("skipped", examples.SKIPPED_OCCURRENCE)]
)
class OccurrenceDocument(serializers.Serializer[Any]):
    due_at = serializers.DateTimeField()
    turn = serializers.ChoiceField(
        OccurrenceOutcome.choices,
        help_text="Run; skipped because the previous run was in progress; or missed in an outage.",
    )
    trigger = serializers.ChoiceField(
        [Trigger.SCHEDULE.value, Trigger.MANUAL.value], help_text="MANUAL for a run by hand of the schedule."
    )
    reason = serializers.CharField(allow_null=True, help_text="Why it started no Execution.")
    execution_id = serializers.UUIDField(allow_null=True, help_text="The Execution that it started.")
    decided_at = serializers.DateTimeField()


@extend_schema_serializer(component_name="ExecutionAttempt")
class ExecutionAttemptDocument(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    started_at = serializers.DateTimeField()
    timeout_at = serializers.DateTimeField(help_text="When its time limit ended.")
    ended_at = serializers.DateTimeField()
    outcome = serializers.ChoiceField(Outcome.choices)
    failure_type = serializers.CharField(allow_null=True)
    error = serializers.CharField(allow_null=True)
    traceback = serializers.CharField(
        allow_null=True, help_text="The frames of the Task's own code. Null in the list of runs."
    )
    instance = serializers.CharField(allow_null=True)
    session_id = serializers.CharField(allow_null=True, help_text="The session that the Task recorded.")


@extend_schema_serializer(component_name="Execution", examples=[in_response("done", examples.EXECUTION_DONE)])
class ExecutionDocument(serializers.Serializer[Any]):
    execution_id = serializers.UUIDField()
    task_id = serializers.CharField()
    trigger = serializers.ChoiceField(Trigger.choices, help_text="The cause of the run.")
    schedule_id = serializers.UUIDField(
        allow_null=True,
        help_text="The schedule that it belongs to, which may be deleted.",
    )
    schedule_name = serializers.CharField(allow_null=True, help_text="The name of that schedule.")
    scheduled_for = serializers.DateTimeField(allow_null=True, help_text="The due time of its scheduled run.")
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    status = serializers.ChoiceField(ExecutionStatus.choices)
    retry_count = serializers.IntegerField()
    max_retries = serializers.IntegerField()
    next_retry_at = serializers.DateTimeField(allow_null=True)
    attempts = ExecutionAttemptDocument(many=True)
    args = serializers.DictField()
    result = serializers.JSONField(allow_null=True, help_text="What the Task returned.")
    error = serializers.CharField(allow_null=True)
    instance = serializers.CharField(allow_null=True, help_text="The worker of the last attempt.")
    locked_until = serializers.DateTimeField(
        allow_null=True,
        help_text="When its worker's lease expires; the worker renews it during the run.",
    )


@extend_schema_serializer(component_name="Workflow", examples=[in_response("daily", examples.SAVED_WORKFLOW)])
class WorkflowDocument(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    office = serializers.UUIDField()
    name = serializers.CharField()
    status = serializers.ChoiceField(WorkflowStatus.choices)
    version = serializers.IntegerField(
        help_text="Grows with each change of `steps`, `schedule_config` and `input_schema`."
    )
    steps = serializers.ListField(child=serializers.DictField(), help_text="Jobs, as in a submission.")
    schedule_config = serializers.DictField(help_text="When the workflow runs.")
    max_run_retries = serializers.IntegerField(help_text="How often a failed run is tried again.")
    input_schema = serializers.DictField(allow_null=True, help_text="The JSON Schema of a run's input.")
    words = WordsDocument(help_text="The schedule_config in plain words.")
    next_run_at = serializers.DateTimeField(allow_null=True, help_text="Null if no run is pending.")
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


@extend_schema_serializer(component_name="WorkflowStart")
class StartDocument(serializers.Serializer[Any]):
    number = serializers.IntegerField(help_text="1 is the first start, the others tried it again.")
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    status = serializers.ChoiceField(RunStatus.choices)
    error_message = serializers.CharField(allow_null=True)


@extend_schema_serializer(component_name="ScheduledJob", examples=[in_response("due", examples.RUN_PENDING)])
class RunDocument(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    workflow_id = serializers.UUIDField()
    workflow_data = serializers.DictField(help_text="Name, version, steps and schedule when the run started.")
    input = serializers.JSONField(allow_null=True, help_text="What its steps read as `$input`.")
    scheduled_time = serializers.DateTimeField()
    status = serializers.ChoiceField(RunStatus.choices)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    executed_at = serializers.DateTimeField(allow_null=True, help_text="The time of the first start.")
    ended_at = serializers.DateTimeField(allow_null=True)
    retry_count = serializers.IntegerField(help_text="How often the run was tried again, also by hand.")
    error_message = serializers.CharField(allow_null=True)
    batch = serializers.UUIDField(allow_null=True, help_text="The batch of its jobs.")


@extend_schema_serializer(
    component_name="WorkflowRun", examples=[in_response("it runs", examples.RUN_WITH_HISTORY)]
)
class RunWithHistoryDocument(RunDocument):
    history = StartDocument(many=True, help_text="Every start, first or resumed.")


@extend_schema_serializer(
    component_name="WorkflowRunWithResults", examples=[in_response("done", examples.RUN_WITH_RESULTS)]
)
class RunWithResultsDocument(RunWithHistoryDocument):
    results = JobDocument(many=True, help_text="Its jobs, in the order of the steps.")
