"""Step queues: what the API answers, and what a request takes."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypedDict

from dure.record import Record, Work


@dataclass(frozen=True, kw_only=True)
class Operation(Record):
    name: str
    role: str
    description: str = ""
    max_retries: int | None = None
    arguments_schema: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class OperationLibrary(Record):
    name: str
    description: str = ""
    operations: list[Operation] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Step(Record):
    """A job of a step queue, or one that is in no queue yet."""

    job_id: str
    state: str
    forward_operation: str
    backward_operation: str
    operation_library: str
    expired_time: float
    undo_retries: int
    arguments: Any = None
    job_return: Any = None
    queue_id: int | None = None
    number: int | None = None


@dataclass(frozen=True, kw_only=True)
class StepQueue(Work):
    """A queue that is not running has `finished`; `succeeded` says that its last run went to the end."""

    queue_id: int
    name: str
    state: str
    operation_direction: str
    queue_library: str
    run: int
    created_at: datetime
    owner: str = ""
    office: str | None = None
    context: dict[str, Any] = field(default_factory=dict)
    queue_return: Any = None
    running_job: str = ""
    callback_url: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    cancel_requested_at: datetime | None = None

    @property
    def path(self) -> str:
        return f"/api/queues/{self.queue_id}"

    @property
    def finished(self) -> bool:
        return self.state != "RUNNING"

    @property
    def succeeded(self) -> bool:
        return self.finished and self.run > 0 and self.operation_direction == "FORWARD"


@dataclass(frozen=True, kw_only=True)
class NewStepQueue(StepQueue):
    """Keep the secret, which signs the messages to `callback_url`: no other answer has it."""

    callback_secret: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class StepErrors(Record):
    job_id: str
    number: int
    errors: dict[str, list[str]]


@dataclass(frozen=True, kw_only=True)
class StepQueueCheck(Record):
    valid: bool
    jobs: list[StepErrors] = field(default_factory=list)
    roles_without_worker: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class StepQueueEvent(Record):
    id: int
    type: str
    queue_id: int
    run: int
    timestamp: datetime
    details: dict[str, Any] = field(default_factory=dict)


class StepOptions(TypedDict, total=False):
    forward_operation: str
    backward_operation: str
    arguments: Any
    operation_library: str
    expired_time: float
    undo_retries: int
