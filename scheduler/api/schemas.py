"""Schedules, calendars, Executions, workflows and their runs, as the API writes and describes them."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_serializer
from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema

from jobs.api.framework.openapi_examples import in_response
from jobs.api_model import EMPTY_IS_NONE, JSON, ROWS, AnyOf, ApiOut, TextOrNone, Time
from jobs.schemas import JobOut
from jobs.states import Backoff, ExecutionStatus, OnLost, Outcome, Trigger
from scheduler.api import examples
from scheduler.display import occurrence_reason_in_english
from scheduler.schedules import words
from scheduler.schedules.catchup import CatchUp
from scheduler.schedules.clock_changes import Change
from scheduler.schedules.rules import Kind, Rule
from scheduler.states import OccurrenceOutcome, Overlap, RunStatus, WorkflowStatus
from scheduler.workflows import recurrence

KINDS = [kind.value for kind in Kind]
POLICIES = [policy.value for policy in CatchUp]

Day = Annotated[str, WithJsonSchema({"type": "string", "format": "date"})]


class WordsOut(ApiOut):
    ko: str = Field(description="In Korean.")
    en: str = Field(description="In English.")


LANGUAGES = ("ko", "en")


def _words_of_rule(rule: Rule) -> dict[str, str]:
    return {language: words.rule_in_words(rule, language) for language in LANGUAGES}


def _words_of_config(value: JSON) -> dict[str, str]:
    config = recurrence.read(value)
    return {language: words.config_in_words(config, language) for language in LANGUAGES}


RuleWords = Annotated[WordsOut, BeforeValidator(_words_of_rule)]
ConfigWords = Annotated[WordsOut, BeforeValidator(_words_of_config)]


@extend_schema_serializer(examples=[in_response("every morning", examples.SAVED_SCHEDULE)])
class ScheduleOut(ApiOut):
    id: UUID
    name: str
    task_id: str
    args: JSON
    kind: Annotated[str, AnyOf(KINDS)]
    cron: TextOrNone = Field(description="For the kind cron.")
    every_seconds: int | None = Field(description="For the kind interval.")
    at: Time | None = Field(description="For the kind once.")
    enabled: bool = Field(description="False while the schedule is paused.")
    timezone: str = Field(description="The time zone of `cron`.")
    overlap: Annotated[str, AnyOf(Overlap.choices)] = Field(
        description="What happens if the previous run is still in progress."
    )
    catch_up: Annotated[str, AnyOf(POLICIES)] = Field(
        description="Which of the runs missed in an outage are run afterwards."
    )
    grace: int = Field(
        description="With the `catch_up` policy none: how many seconds late a run may still start."
    )
    calendar: UUID | None = Field(
        validation_alias="calendar_id", description="The calendar at whose days and times it skips its runs."
    )
    max_retries: int
    retry_backoff: Annotated[Annotated[str, AnyOf(Backoff.choices)] | None, EMPTY_IS_NONE] = Field(
        description="How the delay grows; null: exponential."
    )
    retry_base_delay: int | None = Field(description="The first delay, in milliseconds; null: the Task's.")
    timeout_ms: int | None = Field(description="Time limit of an attempt; null: the Task's.")
    on_lost: Annotated[Annotated[str, AnyOf(OnLost.choices)] | None, EMPTY_IS_NONE] = Field(
        description="What happens if the worker dies; null: as the Task says."
    )
    notify_after_failures: int | None = Field(
        description="Notifies when so many runs in a row have failed for good; null: never."
    )
    notify_after_missed: int | None = Field(
        description="Notifies when so many scheduled runs were missed since the last success; null: never."
    )
    notify_office: UUID | None = Field(
        validation_alias="notify_office_id",
        description="The office whose webhooks and mail addresses are notified too.",
    )
    failing_since: Time | None = Field(description="When it notified; null again after a run that succeeded.")
    starts_at: Time | None = Field(description="No run is due before this time.")
    ends_at: Time | None = Field(description="No run is due after this time.")
    words: RuleWords = Field(validation_alias="rule", description="The rule in plain words.")
    next_run_at: Time | None = Field(description="Null if no scheduled run follows.")
    last_run_at: Time | None
    last_execution_id: UUID | None
    created_at: Time
    updated_at: Time


StoredTime = Annotated[Time, BeforeValidator(datetime.fromisoformat)]


class WindowOut(ApiOut):
    starts_at: StoredTime
    ends_at: StoredTime


@extend_schema_serializer(examples=[in_response("holidays", examples.SAVED_CALENDAR)])
class CalendarOut(ApiOut):
    id: UUID
    name: str
    dates: list[Day] = Field(description="Whole days in the time zone.")
    windows: list[WindowOut] = Field(description="From `starts_at` until just before `ends_at`.")
    timezone: str
    created_at: Time
    updated_at: Time


def _to_the_minute(clock: datetime) -> str:
    return clock.isoformat(" ", "minutes")


class ClockChangeOut(ApiOut):
    change: Annotated[str, AnyOf([change.value for change in Change])] = Field(
        description="moved: the clock skips the time, and it runs at the first instant after the gap; "
        "missing: the clock skips it, and it does not run; doubled: the clock shows it twice, and it runs "
        "both times; once: the clock shows it twice, and it runs the first time."
    )
    local_time: Annotated[str, BeforeValidator(_to_the_minute)] = Field(
        validation_alias="clock", description="By the clock of the rule's time zone."
    )
    runs_at: list[Time] = Field(description="None, one or two times.")


@extend_schema_serializer(examples=[in_response("two mornings", examples.NEXT_TIMES)])
class NextTimesOut(ApiOut):
    next: list[Time] = Field(description="The soonest first.")
    clock_changes: list[ClockChangeOut] = Field(
        description="What the jumps of daylight saving time within a year do; at most five for each."
    )
    words: RuleWords = Field(validation_alias="rule")


@extend_schema_serializer(examples=[in_response("skipped", examples.SKIPPED_OCCURRENCE)])
class OccurrenceOut(ApiOut):
    model_config = ConfigDict(title="Turn")

    due_at: Time
    turn: Annotated[str, AnyOf(OccurrenceOutcome.choices)] = Field(
        validation_alias="outcome",
        description="Run; skipped because the previous run was in progress; or missed in an outage.",
    )
    trigger: Annotated[str, AnyOf([Trigger.SCHEDULE.value, Trigger.MANUAL.value])] = Field(
        description="MANUAL for a run by hand of the schedule."
    )
    reason: Annotated[TextOrNone, BeforeValidator(occurrence_reason_in_english)] = Field(
        description="Why it started no Execution."
    )
    execution_id: UUID | None = Field(description="The Execution that it started.")
    decided_at: Time


class ExecutionAttemptOut(ApiOut):
    number: int
    started_at: Time
    timeout_at: Time = Field(description="When its time limit ended.")
    ended_at: Time
    outcome: Annotated[str, AnyOf(Outcome.choices)]
    failure_type: TextOrNone
    error: TextOrNone
    traceback: TextOrNone = Field(description="The frames of the Task's own code. Null in the list of runs.")
    instance: TextOrNone = Field(validation_alias="worker")
    session_id: TextOrNone = Field(description="The session that the Task recorded.")


@extend_schema_serializer(examples=[in_response("done", examples.EXECUTION_DONE)])
class ExecutionOut(ApiOut):
    execution_id: UUID = Field(validation_alias="id")
    task_id: str
    trigger: Annotated[str, AnyOf(Trigger.choices)] = Field(description="The cause of the run.")
    schedule_id: UUID | None = Field(description="The schedule that it belongs to, which may be deleted.")
    schedule_name: TextOrNone = Field(description="The name of that schedule.")
    scheduled_for: Time | None = Field(description="The due time of its scheduled run.")
    created_at: Time
    started_at: Time | None
    finished_at: Time | None
    status: Annotated[str, AnyOf(ExecutionStatus.choices)]
    retry_count: int
    max_retries: int
    next_retry_at: Time | None
    attempts: list[ExecutionAttemptOut]
    args: JSON
    result: Any = Field(description="What the Task returned.")
    error: TextOrNone
    instance: TextOrNone = Field(
        validation_alias="worker",
        description="The worker of the last attempt.",
    )
    locked_until: Time | None = Field(
        description="When its worker's lease expires; the worker renews it during the run."
    )


@extend_schema_serializer(examples=[in_response("daily", examples.SAVED_WORKFLOW)])
class WorkflowOut(ApiOut):
    id: UUID
    office: UUID = Field(validation_alias="office_id")
    name: str
    status: Annotated[str, AnyOf(WorkflowStatus.choices)]
    version: int = Field(
        description="Grows with each change of `steps`, `schedule_config` and `input_schema`."
    )
    steps: list[JSON] = Field(description="Jobs, as in a submission.")
    schedule_config: JSON = Field(description="When the workflow runs.")
    max_run_retries: int = Field(description="How often a failed run is tried again.")
    input_schema: JSON | None = Field(description="The JSON Schema of a run's input.")
    words: ConfigWords = Field(
        validation_alias="schedule_config", description="The schedule_config in plain words."
    )
    next_run_at: Time | None = Field(description="Null if no run is pending.")
    created_at: Time
    updated_at: Time


class WorkflowStartOut(ApiOut):
    number: int = Field(description="1 is the first start, the others tried it again.")
    started_at: Time
    ended_at: Time | None
    status: Annotated[str, AnyOf(RunStatus.choices)]
    error_message: TextOrNone


@extend_schema_serializer(examples=[in_response("due", examples.RUN_PENDING)])
class ScheduledJobOut(ApiOut):
    id: UUID
    workflow_id: UUID
    workflow_data: JSON = Field(description="Name, version, steps and schedule when the run started.")
    input: Any = Field(description="What its steps read as `$input`.")
    scheduled_time: Time
    status: Annotated[str, AnyOf(RunStatus.choices)]
    created_at: Time
    updated_at: Time
    executed_at: Time | None = Field(description="The time of the first start.")
    ended_at: Time | None
    retry_count: int = Field(description="How often the run was tried again, also by hand.")
    error_message: TextOrNone
    batch: UUID | None = Field(
        validation_alias="batch_id",
        description="The batch of its jobs.",
    )


@extend_schema_serializer(examples=[in_response("it runs", examples.RUN_WITH_HISTORY)])
class WorkflowRunOut(ScheduledJobOut):
    history: Annotated[list[WorkflowStartOut], ROWS] = Field(description="Every start, first or resumed.")


@extend_schema_serializer(examples=[in_response("done", examples.RUN_WITH_RESULTS)])
class WorkflowRunWithResultsOut(WorkflowRunOut):
    results: list[JobOut] = Field(description="Its jobs, in the order of the steps.")
