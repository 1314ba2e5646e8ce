"""Runs a copy of a step queue and waits for its end: the body of the Task `steps.run_queue`.

So schedules, jobs and workflows can run queues. The copy names the Execution that made it, and is made and
started in one transaction: a body that starts again after its worker's death waits for the same copy.
"""

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q
from django.http import Http404
from django.utils import timezone

from dure import Context, InvalidArgs, SessionError, Stopped, TaskFailure
from jobs.errors import Conflict
from jobs.models import Execution, Worker
from jobs.states import ExecutionStatus, MemberRole, Trigger
from scheduler.models import Schedule
from scheduler.steps import lifecycle, pubsub, queues
from scheduler.steps.access import queue_for
from scheduler.steps.models import StepQueue
from scheduler.steps.states import Direction, JobState, QueueState, rollback_failed

RUN_QUEUE = "steps.run_queue"
LOOK_SECONDS = 20.0


class AllProcessesWait(SessionError):
    """The other processes of this worker wait for step queues, which need one."""


def run_copy(ctx: Context, queue_id: int, *, wait: bool) -> dict[str, Any]:
    """Run a copy, and return its context once it has succeeded; without `wait`, only start it."""
    execution = Execution.objects.get(pk=ctx.execution_id)
    if wait:
        _keep_a_process_free(execution)
    copy = _started_copy(execution, queue_id)
    if not wait:
        return {"queue_id": copy.queue_id, "run": copy.run}
    try:
        return _result(_wait_for(ctx, copy))
    except Stopped:
        roll_back(ctx.execution_id)
        raise


def roll_back(execution_id: str | UUID, _args: Mapping[str, Any] | None = None) -> None:
    """Cancel the copy that this Execution has started, if it still goes forward."""
    for queue_id in StepQueue.objects.filter(started_by=execution_id).values_list("queue_id", flat=True):
        try:
            lifecycle.cancel(queue_id)
        except Conflict:
            continue


def _keep_a_process_free(execution: Execution) -> None:
    """One of a worker's processes stays free for the operations of the queues that the others wait for."""
    slots = Worker.objects.filter(pk=execution.worker).values_list("slots", flat=True).first()
    earlier = Q(attempt_started_at__lt=execution.attempt_started_at) | Q(
        attempt_started_at=execution.attempt_started_at, id__lt=execution.id
    )
    running = Execution.objects.filter(status=ExecutionStatus.RUNNING, locked_until__isnull=False)
    waiting = running.filter(earlier, task_id=RUN_QUEUE, worker=execution.worker).exclude(args__wait=False)
    if slots is not None and waiting.count() + 1 >= slots:
        raise AllProcessesWait(
            f"A worker with {slots} processes waits for at most {slots - 1} step queues, since their "
            "operations need a process too. Start workers with more processes (--concurrency)."
        )


def _started_copy(execution: Execution, queue_id: int) -> StepQueue:
    template = _template(execution, queue_id)
    with transaction.atomic():
        # The lock lets only one of two bodies of this Execution make the copy.
        StepQueue.objects.select_for_update(no_key=True).get(pk=template.pk)
        copy = StepQueue.objects.filter(started_by=execution.id).first()
        if copy is not None:
            return copy
        copy = queues.copy(
            queue_id, owner=template.owner, name=template.name, now=timezone.now(), started_by=execution.id
        )
        try:
            copy.run = lifecycle.run(copy.queue_id)
        except Conflict as refused:
            raise InvalidArgs(f"Step queue {queue_id}: {refused}") from None
    return copy


def _template(execution: Execution, queue_id: int) -> StepQueue:
    """The queue, if the office of the job, or the owner of the run or of its schedule, may run it."""
    try:
        if execution.office_id is not None:
            return StepQueue.objects.select_related("owner").get(pk=queue_id, office=execution.office_id)
        return queue_for(_owner(execution), queue_id, MemberRole.OPERATOR)
    except (StepQueue.DoesNotExist, User.DoesNotExist, Http404, PermissionDenied):
        raise InvalidArgs(f"There is no step queue {queue_id} that this run may start.") from None


def _owner(execution: Execution) -> User:
    """The person who started the run, or whose schedule did."""
    owner: Any = execution.source
    if execution.trigger == Trigger.SCHEDULE or not owner.isdecimal():
        owner = Schedule.objects.filter(pk=owner).values_list("owner", flat=True).first()
    return User.objects.get(pk=owner, is_active=True)


def _wait_for(ctx: Context, copy: StepQueue) -> StepQueue:
    while True:
        ctx.progress(message=f"waits for step queue {copy.queue_id}")
        pubsub.watch(copy.queue_id, LOOK_SECONDS + 1)
        ended = pubsub.wait_for(copy.queue_id, lambda: _queue_if_ended(copy.queue_id), LOOK_SECONDS)
        if ended is not None:
            return ended


def _queue_if_ended(queue_id: int) -> StepQueue | None:
    queue = StepQueue.objects.filter(pk=queue_id).first()
    if queue is None:
        raise TaskFailure(f"Step queue {queue_id} was deleted before its end.")
    return None if queue.state == QueueState.RUNNING else queue


def _result(queue: StepQueue) -> dict[str, Any]:
    if queue.operation_direction == Direction.BACKWARD:
        raise TaskFailure(_why_rolled_back(queue))
    result = {"queue_id": queue.queue_id, "run": queue.run, "context": queue.context}
    if len(json.dumps(result).encode()) > settings.DURE_MAX_RESULT_BYTES:
        result["context"] = None
    return result


def _why_rolled_back(queue: StepQueue) -> str:
    reason = "it was cancelled"
    for number, state, operation in queue.steps.order_by("number").values_list(
        "number", "state", "forward_operation"
    ):
        ended = state.partition(", ")[0]
        if ended in (JobState.FAILED, JobState.TIMEOUT, JobState.NOLIB):
            reason = f"job {number} ({operation}) ended as {ended}"
            break
    states = queue.steps.values_list("state", flat=True)
    incomplete = " Its rollback is incomplete." if any(map(rollback_failed, states)) else ""
    return f"Step queue {queue.queue_id} rolled back: {reason}.{incomplete}"
