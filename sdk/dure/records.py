"""What the API answers about Tasks, runs and exports, as types."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from dure.record import Record, Work


@dataclass(frozen=True, kw_only=True)
class Task(Record):
    task_id: str
    role: str
    description: str = ""
    args_schema: dict[str, Any] = field(default_factory=dict)
    exclusive: bool = False
    rate_limit: str | None = None


@dataclass(frozen=True, kw_only=True)
class LogLine(Record):
    seq: int
    at: datetime
    attempt: int
    level: str
    stream: str
    message: str
    logger: str | None = None


@dataclass(frozen=True, kw_only=True)
class Event(Record):
    id: int
    type: str
    office_id: str
    timestamp: datetime
    job_id: str | None = None
    batch_id: str | None = None
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Execution(Work):
    execution_id: str
    task_id: str
    status: str
    trigger: str
    created_at: datetime
    args: dict[str, Any] = field(default_factory=dict)
    started_at: datetime | None = None
    finished_at: datetime | None = None
    retry_count: int = 0
    result: Any = None
    error: str | None = None

    @property
    def path(self) -> str:
        return f"/api/executions/{self.execution_id}"

    @property
    def finished(self) -> bool:
        return self.status in ("SUCCESS", "FAILED", "CANCELLED")

    @property
    def succeeded(self) -> bool:
        return self.status == "SUCCESS"


@dataclass(frozen=True, kw_only=True)
class Replay(Record):
    replay_id: int
    title: str
    file_name: str
    kind: str
    size_bytes: int
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class ExportLink(Record):
    """Who has the URL can download the file, without an account."""

    link_id: int
    url: str
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class Export(Work):
    job_id: int
    job_type: str
    replay_id: int
    status: str
    created_at: datetime
    progress: int = 0
    phase: str = ""
    resolution: str | None = None
    fps: int | None = None
    from_ms: int | None = None
    to_ms: int | None = None
    sound: bool | None = None
    checksum: str | None = None
    size_bytes: int | None = None
    error_code: str | None = None
    error_message: str | None = None

    @property
    def path(self) -> str:
        return f"/api/jobs/{self.job_id}"

    @property
    def finished(self) -> bool:
        return self.status in ("SUCCEEDED", "FAILED", "CANCELLED")

    @property
    def succeeded(self) -> bool:
        return self.status == "SUCCEEDED"
