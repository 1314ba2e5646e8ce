"""The fields of requests, as types."""

from collections.abc import Mapping
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


class ScheduleOptions(TypedDict, total=False):
    cron: str
    every_seconds: int
    at: datetime
    timezone: str
    starts_at: datetime
    ends_at: datetime
    enabled: bool
    overlap: str
    catch_up: str
    grace: int
    calendar: str
    max_retries: int
    retry_backoff: str
    retry_base_delay: int
    timeout_ms: int
    on_lost: str
    notify_after_failures: int
    notify_after_missed: int
    notify_office: str


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
