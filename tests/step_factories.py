"""Factories for step queues, and a worker without Celery that uses the real runner."""

import uuid
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from celery.exceptions import Ignore
from django.contrib.auth.models import User
from django.utils import timezone

from jobs import lifecycle as engine
from jobs import runner
from jobs.answers import Settlement
from jobs.errors import Fenced
from jobs.models import Execution, Office
from jobs.states import ExecutionStatus
from scheduler.steps import lifecycle, queues
from scheduler.steps.models import Step, StepEvent, StepQueue
from scheduler.steps.states import NO_OPERATION, UNINIT, QueueState
from tests.factories import a_user
from tests.step_model import NOTHING, ModelJob
from tests.step_operations import LIBRARY

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
# The attributes of the specification with their defaults.
QUEUE_DEFAULTS = {
    "job_number": 0,
    "operation_direction": "FORWARD",
    "queue_library": "UNINIT",
    "state": "EMPTY",
    "queue_return": "UNINIT",
    "job_queue": "UNINIT",
    "running_job": "QUEUE_NOT_RUNNING",
    "last_job": "UNINIT",
    "context": {},
}
JOB_DEFAULTS = {
    "forward_operation": "NO_OPERATION",
    "backward_operation": "NO_OPERATION",
    "arguments": "EMPTY_ARGS",
    "operation_library": "UNINIT",
    "expired_time": 30,
    "job_return": "UNINIT",
    "next_job": "UNLINK",
    "prev_job": "UNLINK",
    "state": "NOTYET",
}


def a_queue(
    *jobs: dict[str, Any], owner: User | None = None, office: Office | None = None, **values: Any
) -> StepQueue:
    """A queue with these jobs, whose fields are all optional."""
    values.setdefault("queue_library", LIBRARY)
    queue = queues.create(values, owner=owner or a_user(), office=office, now=timezone.now())
    for job in jobs:
        queues.enqueue(queue.queue_id, job)
    queue.refresh_from_db()
    return queue


def a_job(
    tag: str = "it", forward: str = "succeed", backward: str = "succeed", **values: Any
) -> dict[str, Any]:
    """A job whose operations behave as the arguments say."""
    return {
        "forward_operation": "do",
        "backward_operation": "undo",
        "arguments": {"tag": tag, "forward": forward, "backward": backward},
        **values,
    }


def as_job(number: int, model: ModelJob) -> dict[str, Any]:
    """The job that the model describes. Without a library it needs a queue without one."""
    arguments: dict[str, Any] = {"tag": str(number)}
    job: dict[str, Any] = {
        "forward_operation": NO_OPERATION if model.forward == NOTHING else "do",
        "backward_operation": NO_OPERATION if model.backward == NOTHING else "undo",
        "operation_library": LIBRARY if model.has_library else UNINIT,
    }
    if model.forward != NOTHING:
        arguments["forward"] = model.forward
    if model.backward != NOTHING:
        arguments["backward"] = model.backward
    if model.forward == NOTHING and model.backward == NOTHING:
        return job
    return {**job, "arguments": arguments}


def fresh(queue: StepQueue) -> StepQueue:
    return StepQueue.objects.get(pk=queue.pk)


def steps(queue: StepQueue) -> list[Step]:
    return list(Step.objects.filter(queue=queue).order_by("number"))


def states(queue: StepQueue) -> list[str]:
    return [step.state for step in steps(queue)]


def events(queue: StepQueue, *types: str) -> list[StepEvent]:
    rows = StepEvent.objects.filter(queue=queue).order_by("id")
    return list(rows.filter(type__in=types) if types else rows)


def trail(queue: StepQueue) -> list[tuple[int, str]]:
    """Each operation that ran in the last run, in order: the index of the job, and the direction."""
    lines = fresh(queue).queue_return
    assert isinstance(lines, list)
    return [(line["number"] - 1, line["direction"]) for line in lines if line["state"] != "NOLIB"]


def execution(queue: StepQueue) -> Execution:
    """The operation that runs now."""
    current = fresh(queue).execution_id
    assert current is not None
    return Execution.objects.get(id=current)


class Claimed:
    """An operation that the test has claimed, to be run by the real runner or lost."""

    def __init__(self, current: Execution) -> None:
        self.name = current.task_id
        claim = engine.claim(str(current.id), current.dispatch, token=uuid.uuid4().hex, worker="played@test")
        assert claim is not None
        self.run = runner.Run(claim)

    def perform(self) -> None:
        """Runs as EngineTask does: every failure is offered to the retry policy."""
        try:
            runner.perform(self.name, self.run)
        except (Fenced, Ignore):
            return
        except runner.STOPPED as error:
            # The alarm sends it at the deadline, which a test does not wait for.
            self.run.claim = replace(self.run.claim, deadline=LONG_AGO)
            runner.settle_failure(self.name, self.run, error, again=True)
        except Exception as error:
            runner.settle_failure(self.name, self.run, error, again=True)

    def lose(self) -> Settlement | None:
        """Simulates the death of its worker."""
        return engine.mark_lost(
            self.run.claim.execution_id,
            self.run.claim.fence,
            trigger=self.run.claim.trigger,
            expired=False,
            error="The worker died.",
        )


def claimed(queue: StepQueue) -> Claimed:
    return Claimed(execution(queue))


def run_operation(queue: StepQueue) -> None:
    claimed(queue).perform()


def run_to_end(queue: StepQueue, limit: int = 500) -> None:
    """Runs the queue to the end of its run; retries are due at once."""
    for _ in range(limit):
        if fresh(queue).state != QueueState.RUNNING:
            return
        current = execution(queue)
        if current.due_at is not None:
            engine.send_due(current.due_at)
        elif current.status == ExecutionStatus.PENDING:
            run_operation(queue)
    raise AssertionError(f"{fresh(queue)} did not end: {states(queue)}")


def completed(queue: StepQueue) -> StepQueue:
    """The queue after a whole run."""
    lifecycle.run(queue.queue_id)
    run_to_end(queue)
    return fresh(queue)
