"""The return values of the engine's verbs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Self
from uuid import UUID

from django.conf import settings

from jobs.effects import NO_EFFECTS, Effects
from jobs.states import ExecutionStatus


@dataclass(frozen=True, slots=True)
class Claim:
    """A run that this worker owns from now on."""

    execution_id: str
    dispatch: int
    fence: int
    attempt: int
    retry_count: int
    retry_backoff: str
    retry_base_delay_ms: int
    timeout_ms: int
    deadline: datetime
    args: dict[str, Any]
    source: str
    trigger: str
    job: str | None

    @classmethod
    def read(cls, execution_id: str, dispatch: int, answer: Mapping[str, Any]) -> Self:
        """Read the result of dure_claim."""
        values = {name: answer[name] for name in cls.__slots__ if name in answer and name != "dispatch"}
        deadline = datetime.fromtimestamp(float(answer["timeout_at"]), UTC)
        return cls(execution_id=execution_id, dispatch=dispatch, deadline=deadline, **values)


@dataclass(frozen=True, slots=True)
class NextClaim:
    """What a finish may claim for its process: see jobs/burst.py. `level` is the last urgent enough, and with
    `yields` it claims nothing while a message has waited for long.
    """

    token: str
    worker: str
    roles: list[str]
    level: int
    yields: bool = True

    def values(self) -> dict[str, Any]:
        """The argument of dure_finish."""
        return {**asdict(self), "lease": f"{settings.DURE_LEASE_SECONDS} seconds"}


@dataclass(frozen=True, slots=True)
class Settlement:
    """The end of an attempt, and its effect on the Execution.

    `state` is the Execution's status now: PENDING when there will be another attempt. `result` is set
    when the run succeeded. `next_run` is the Task and the claim of the run that this end has brought along.
    `extra` is what the body left in `Context.extra`; None when another process
    reported the end.
    """

    execution: str
    source: str
    state: str
    failure_type: str
    error: str
    effects: Effects = NO_EFFECTS
    result: Any = None
    extra: Any = None
    next_run: tuple[str, Claim] | None = None

    @classmethod
    def read(
        cls, execution: str, answer: Mapping[str, Any], result: str | None = None, extra: Any = None
    ) -> Self:
        """Read the result of dure_settle."""
        state = answer["state"]
        return cls(
            execution=execution,
            source=answer["source"],
            state=state,
            failure_type=answer["failure_type"],
            error=answer["error"],
            effects=Effects.read(answer),
            result=json.loads(result or "null") if state == ExecutionStatus.SUCCESS else None,
            extra=extra,
            next_run=_read_next_run(answer.get("claim")),
        )


def _read_next_run(answer: Mapping[str, Any] | None) -> tuple[str, Claim] | None:
    if answer is None:
        return None
    return answer["task_id"], Claim.read(answer["execution"], answer["dispatch"], answer)


@dataclass(frozen=True, slots=True)
class AdvanceResult:
    """How many waiting jobs of an office became ready, and how many ready ones were sent."""

    promoted: int
    dispatched: int


@dataclass(frozen=True, slots=True)
class RetryResult:
    """How many jobs run again, and which do not, because they would fail again with their dependencies."""

    count: int
    blocked: Sequence[UUID] = ()


@dataclass(frozen=True, slots=True)
class CancelResult:
    """The numbers of jobs cancelled at once, and of runs that received a stop request."""

    cancelled: int
    cancelling: int

    @property
    def total(self) -> int:
        return self.cancelled + self.cancelling
