"""The fields of requests, as types."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Required, TypedDict


class JobOptions(TypedDict, total=False):
    ref: str
    role: str
    priority: int
    urgent: bool
    depends_on: list[str]
    on_dependency_failure: Literal["block", "fail", "run"]
    timeout_ms: int
    queue_timeout_ms: int
    max_retries: int
    retry_backoff: Literal["linear", "exponential"]
    retry_base_delay: int
    unique_key: str
    run_at: datetime


class JobSubmission(JobOptions, total=False):
    task_id: Required[str]
    args: Mapping[str, Any]


class ScheduleRule(TypedDict, total=False):
    """When a schedule is due: `cron`, `every_seconds` or `at`, as its kind says."""

    cron: str | None
    every_seconds: int | None
    at: datetime | None
    timezone: str
    starts_at: datetime | None
    ends_at: datetime | None


class ScheduleOptions(ScheduleRule, total=False):
    enabled: bool
    overlap: Literal["skip", "allow"]
    catch_up: Literal["latest", "none", "all"]
    grace: int
    calendar: str | None
    max_retries: int
    retry_backoff: Literal["linear", "exponential"] | None
    retry_base_delay: int | None
    timeout_ms: int | None
    on_lost: Literal["retry", "fail"] | None
    notify_after_failures: int | None
    notify_after_missed: int | None
    notify_office: str | None


class ScheduleChanges(ScheduleOptions, total=False):
    name: str
    task_id: str
    kind: Literal["cron", "interval", "once"]
    args: Mapping[str, Any]


class WorkflowChanges(TypedDict, total=False):
    name: str
    steps: Sequence[JobSubmission]
    schedule_config: Mapping[str, Any]
    input_schema: Mapping[str, Any] | None
    max_run_retries: int
    status: Literal["draft", "active", "paused"]


class ConfigChanges(TypedDict, total=False):
    """Limits, timeouts and retries of an office's jobs; times are in milliseconds."""

    paused: bool
    max_concurrent_jobs: int
    max_concurrent_by_role: Mapping[str, int | None] | None
    default_timeout: int
    default_timeout_by_role: Mapping[str, int | None] | None
    max_retries: int
    retry_backoff: Literal["linear", "exponential"]
    retry_base_delay: int
    retryable_failures: Sequence[str]


class StepOptions(TypedDict, total=False):
    forward_operation: str
    backward_operation: str
    arguments: Any
    operation_library: str
    expired_time: float
    undo_retries: int


def to_json(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields for JSON: a time without a zone is one of this machine's zone."""
    return {
        name: value.astimezone().isoformat() if isinstance(value, datetime) else value
        for name, value in fields.items()
    }
