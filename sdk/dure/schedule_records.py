"""Schedules, workflows and their runs: what the API answers, and what requests take."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypedDict

from dure.job_records import JobSubmission
from dure.record import Record, Work


@dataclass(frozen=True, kw_only=True)
class Schedule(Record):
    id: str
    name: str
    task_id: str
    kind: str
    enabled: bool
    timezone: str
    args: dict[str, Any] = field(default_factory=dict)
    cron: str | None = None
    every_seconds: int | None = None
    at: datetime | None = None
    words: dict[str, str] = field(default_factory=dict)
    next_run_at: datetime | None = None
    last_run_at: datetime | None = None
    last_execution_id: str | None = None
    failing_since: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Turn(Record):
    """A time of a schedule, and what became of it: `run`, `skipped` or `missed`."""

    due_at: datetime
    turn: str
    trigger: str
    decided_at: datetime
    reason: str | None = None
    execution_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Workflow(Record):
    id: str
    office: str
    name: str
    status: str
    steps: list[dict[str, Any]] = field(default_factory=list)
    schedule_config: dict[str, Any] = field(default_factory=dict)
    input_schema: dict[str, Any] | None = None
    max_run_retries: int = 0
    words: dict[str, str] = field(default_factory=dict)
    next_run_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class WorkflowRun(Work):
    id: str
    workflow_id: str
    status: str
    scheduled_time: datetime
    input: Any = None
    batch: str | None = None
    executed_at: datetime | None = None
    ended_at: datetime | None = None
    retry_count: int = 0
    error_message: str | None = None

    @property
    def path(self) -> str:
        return f"/api/workflows/{self.workflow_id}/runs/{self.id}"

    @property
    def finished(self) -> bool:
        return self.status in ("completed", "failed", "cancelled")

    @property
    def succeeded(self) -> bool:
        return self.status == "completed"


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
