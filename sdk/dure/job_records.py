"""Jobs and batches: what a submission takes, and what the API answers about them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Required, TypedDict

from dure.record import Record, Work


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


@dataclass(frozen=True, kw_only=True)
class Job(Work):
    id: str
    office_id: str
    task_id: str
    status: str
    created_at: datetime
    ref: str | None = None
    batch: str | None = None
    args: dict[str, Any] = field(default_factory=dict)
    role: str | None = None
    priority: int = 0
    urgent: bool = False
    depends_on: list[str] = field(default_factory=list)
    max_retries: int = 0
    retry_count: int = 0
    retry_at: datetime | None = None
    run_at: datetime | None = None
    queued_at: datetime | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    failure_type: str | None = None
    error_message: str | None = None
    result: Any = None
    progress: dict[str, Any] | None = None
    unique_key: str | None = None

    @property
    def path(self) -> str:
        return f"/api/offices/{self.office_id}/jobs/{self.id}"

    @property
    def finished(self) -> bool:
        # A job with the status `timeout` is tried again.
        return self.status in ("done", "failed", "cancelled")

    @property
    def succeeded(self) -> bool:
        return self.status == "done"


@dataclass(frozen=True, kw_only=True)
class BatchProgress(Record):
    total: int
    by_status: dict[str, int]
    percent: float


@dataclass(frozen=True, kw_only=True)
class Batch(Work):
    """After `submit_batch` it has the submitted `jobs`; after `wait` and `batch` its `progress`."""

    id: str
    office_id: str
    created_at: datetime
    name: str | None = None
    ended_at: datetime | None = None
    progress: BatchProgress | None = None
    jobs: list[Job] = field(default_factory=list)

    @property
    def path(self) -> str:
        return f"/api/offices/{self.office_id}/batches/{self.id}"

    @property
    def finished(self) -> bool:
        return self.ended_at is not None

    @property
    def succeeded(self) -> bool:
        progress = self.progress
        return self.finished and progress is not None and progress.by_status.get("done") == progress.total


@dataclass(frozen=True, kw_only=True)
class Reason(Record):
    code: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Explanation(Record):
    state: str
    reasons: list[Reason]
    queue_position: int | None = None
    estimated_start: datetime | None = None
