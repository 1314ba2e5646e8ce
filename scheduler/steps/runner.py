"""One transaction's part of a walk: collects what happens to a queue, and writes it in one statement.

The caller holds the queue's row lock, and is inside the transaction in which the last operation ended, or
in which the run begins. So a walk is always either at an operation that has an Execution, or over.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db import transaction

from jobs import lifecycle as engine
from jobs.specs import ExecutionSpec
from jobs.sql import call
from jobs.states import Trigger
from scheduler.steps import libraries, notifications, pubsub
from scheduler.steps.libraries import Operation
from scheduler.steps.states import (
    NO_OPERATION,
    QUEUE_NOT_RUNNING,
    UNINIT,
    Direction,
    JobState,
    QueueState,
    StepEventType,
)
from scheduler.steps.transitions import Ended, Here, Passed, passed, passed_without_library

OPERATE = "steps.operate"
# Jobs that are read ahead where there is nothing to run.
AHEAD = 100
# What a return message shows of one operation's return; all of it stays in job_return.
SHOWN = 200


@dataclass(frozen=True)
class Job:
    """A job's row, as far as the walk needs it."""

    number: int
    here: Here
    library: str
    expired_time: float

    @classmethod
    def read(cls, row: Sequence[Any]) -> "Job":
        """As dure_steps_between answers it."""
        job_id, number, state, prev_job, next_job, forward, backward, library, expired_time = row
        return cls(number, Here(job_id, state, prev_job, next_job, forward, backward), library, expired_time)


@dataclass
class Walk:
    queue_id: int
    run: int
    direction: str
    at: str
    # The Execution whose end this is; None as a run begins.
    ending: str | None = None
    cancelled: bool = False
    again: bool = False
    context: str | None = None
    over: bool = False
    # The Execution of the operation at which the walk is after this, and its spec if it is a new one.
    execution: str | None = None
    spec: ExecutionSpec | None = None
    jobs: dict[str, Job] = field(default_factory=dict)
    changed: dict[str, dict[str, Any]] = field(default_factory=dict)
    lines: list[dict[str, Any]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    undo_failed: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def at_the_end_of(cls, execution: str, queue_id: int, read: dict[str, Any]) -> "Walk":
        """As dure_step_read answers it."""
        walk = cls(queue_id, read["run"], read["direction"], read["running_job"], execution)
        walk.cancelled, walk.again = read["cancelled"], read["again"]
        walk.know(read["jobs"])
        return walk

    def know_between(self, low: int, high: int) -> None:
        self.know(call.function("dure_steps_between", self.queue_id, low, high))

    def know(self, rows: Sequence[Sequence[Any]]) -> None:
        for row in rows:
            job = Job.read(row)
            self.jobs.setdefault(job.here.job_id, job)

    # --- the walk --------------------------------------------------------------------------------

    def end_operation(self, ended: Ended, returned: object) -> None:
        """The operation of the job at which the walk is has ended."""
        job = self.jobs[self.at]
        self._pass(job, passed(job.here, self.direction, ended, cancelled=self.cancelled), returned)

    def go_on(self) -> None:
        """To the next operation that has to be run, or to the end."""
        while not self.over:
            job = self.jobs[self.at]
            if self.direction == Direction.FORWARD and job.here.state == JobState.NOLIB:
                self._pass_without_library(job)
            elif job.here.has_nothing_to_run(self.direction):
                self.end_operation(Ended.SUCCESS, NO_OPERATION)
            elif (operation := self._registered(job)) is None:
                self._pass_unregistered(job)
            else:
                self.spec = spec_of(self.queue_id, job, self.direction, operation)
                self.execution = str(self.spec.id)
                return

    def _pass_without_library(self, job: Job) -> None:
        self._pass(job, passed_without_library(job.here), None)

    def _pass_unregistered(self, job: Job) -> None:
        """The code was taken away since the job was enqueued: as good as no library."""
        if self.direction == Direction.FORWARD:
            self._pass_without_library(job)
        else:
            name = job.here.backward_operation
            self.end_operation(
                Ended.FAILED,
                failure(f"No operation {name!r} is registered in {job.library!r} any more.", "error"),
            )

    def _registered(self, job: Job) -> Operation | None:
        try:
            return libraries.find(job.library, job.here.operation(self.direction))
        except libraries.UnknownOperation:
            return None

    def _pass(self, job: Job, result: Passed, returned: object) -> None:
        here, direction = job.here, self.direction
        change = self.changed.setdefault(here.job_id, {"job_id": here.job_id, "returned": {}})
        change["state"] = result.state
        if result.state != JobState.NOLIB:
            change["returned"][direction.lower()] = returned
        told = {
            "job_id": here.job_id,
            "number": job.number,
            "direction": str(direction),
            "operation": here.operation(direction),
            "state": str(result.state),
            "return": shortened(returned),
        }
        self.lines.append(told)
        self.tell(StepEventType.STEP_ENDED, told)
        if direction == Direction.BACKWARD and result.state.endswith(JobState.FAILED):
            self.undo_failed.append(told)
        self.jobs[here.job_id] = Job(job.number, renamed(here, result.state), job.library, job.expired_time)
        self.direction = result.direction
        # An operation that is run again by hand is not followed by those before it.
        self.over = result.is_over or self.again
        if not self.over:
            self._move(job, result.to)

    def _move(self, job: Job, to: str) -> None:
        self.at = to
        if to not in self.jobs:
            ahead = (job.number + 1, job.number + AHEAD)
            behind = (max(1, job.number - AHEAD), job.number - 1)
            low, high = ahead if self.direction == Direction.FORWARD else behind
            self.know_between(low, high)

    # --- writing ---------------------------------------------------------------------------------

    def tell(self, kind: StepEventType, details: dict[str, Any]) -> None:
        self.events.append({"type": kind, "details": details})

    def write(self) -> bool:
        """False, and nothing was written, when the queue is no longer as it was read."""
        written = call.function("dure_step_write", call.as_json(self._as_written()), self.context)
        if written is None:
            return False
        if self.spec is not None:
            engine.start_executions([self.spec])
        for told in self.undo_failed:
            notifications.notify_undo_failed(self.queue_id, self.run, told)
        if self.over:
            notifications.notify_finished(self.queue_id)
        if written["watched"]:
            transaction.on_commit(lambda: pubsub.publish_change(self.queue_id))
        return True

    def _as_written(self) -> dict[str, Any]:
        over = self.over
        return {
            "queue": self.queue_id,
            "ending": self.ending,
            "cancelled": self.cancelled,
            "run": self.run,
            "state": QueueState.READY if over else QueueState.RUNNING,
            "direction": self.direction,
            "running_job": QUEUE_NOT_RUNNING if over else self.at,
            "execution": None if over else self.execution,
            "again": self.again and not over,
            "over": over,
            "steps": list(self.changed.values()),
            "events": self.events,
            "lines": self.lines,
            "uninit": UNINIT,
        }


def spec_of(queue_id: int, job: Job, direction: str, operation: Operation) -> ExecutionSpec:
    """The Execution of one operation. A forward operation is never retried; a backward one is."""
    retries = 0
    if direction == Direction.BACKWARD:
        own = operation.max_retries
        retries = settings.DURE_STEP_BACKWARD_RETRIES if own is None else own
    job_id = job.here.job_id
    return ExecutionSpec(
        task_id=OPERATE,
        role=operation.role,
        trigger=Trigger.STEP,
        source=f"{queue_id}:{job_id}:{direction}",
        args={
            "queue_id": queue_id,
            "job_id": job_id,
            "direction": str(direction),
            "library": operation.library,
            "operation": operation.name,
        },
        max_retries=retries,
        retry_base_delay_ms=int(settings.DURE_STEP_BACKWARD_DELAY_SECONDS * 1000),
        timeout_ms=max(1, round(job.expired_time * 1000)),
    )


def failure(error: str, failure_type: str) -> dict[str, str]:
    """What stands in job_return for an operation that returned nothing, because it failed."""
    return {"error": error[:10_000], "failure_type": failure_type}


def renamed(here: Here, state: str) -> Here:
    return Here(
        here.job_id, state, here.prev_job, here.next_job, here.forward_operation, here.backward_operation
    )


def shortened(returned: object) -> object:
    text = returned if isinstance(returned, str) else call.as_json(returned)
    return returned if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
