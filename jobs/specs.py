"""The values of a new Execution without a job: of a schedule, a manual run, a step or an export."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from jobs.ids import uuid7
from jobs.known_tasks import KnownTask
from jobs.states import Backoff, OnLost


@dataclass(frozen=True, slots=True)
class Occasion:
    """What a batch, or a run without a job, was started with: an input, and the time it was due."""

    input: Any = None
    scheduled_for: datetime | None = None


NO_OCCASION = Occasion()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionSpec:
    """One Execution to start. `scheduled_for` is its due time; `due_at` delays its first message."""

    task_id: str
    role: str
    trigger: str
    args: Mapping[str, Any]
    source: str = ""
    # The owner and the Task, if of these one run at a time may run.
    exclusive_for: str = ""
    max_retries: int = 3
    retry_backoff: str = Backoff.EXPONENTIAL
    retry_base_delay_ms: int = 60_000
    timeout_ms: int = 30 * 60_000
    on_lost: str = OnLost.RETRY
    scheduled_for: datetime | None = None
    due_at: datetime | None = None
    id: UUID = field(default_factory=uuid7)

    @classmethod
    def for_task(cls, task: KnownTask, *, owner: str = "", **values: Any) -> Self:
        """A spec with the Task's values; each argument that is not None takes precedence.

        An exclusive Task has one run at a time for each owner.
        """
        declared = {
            "exclusive_for": f"{owner}:{task.task_id}" if task.exclusive and owner else None,
            "max_retries": task.max_retries,
            "retry_base_delay_ms": task.retry_base_delay_ms,
            "timeout_ms": task.timeout_ms,
        }
        values = {name: value for name, value in (declared | values).items() if value is not None}
        return cls(**{"task_id": task.task_id, "role": task.role, "on_lost": task.on_lost} | values)

    def row(self) -> dict[str, Any]:
        """The values that INSERT_EXECUTIONS reads."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        times = {name: values[name] and values[name].isoformat() for name in ("scheduled_for", "due_at")}
        return values | times | {"id": str(self.id)}
