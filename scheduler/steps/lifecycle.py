"""Every transition of a step queue that runs: run → advance, operation by operation → READY again.

Beside that way: cancel, which turns a walk back, and rerun_backward, by hand, for an operation whose
retries are used up. Each is one transaction. Lock order: the Execution, then its queue; a verb that holds
the queue only ever makes new Executions.
"""

import logging
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction

from jobs import lifecycle as engine
from jobs.answers import Settlement
from jobs.errors import Conflict
from jobs.sql import call
from jobs.states import ExecutionStatus, FailureType
from scheduler.steps import handover, libraries, sql
from scheduler.steps.models import Step, StepQueue
from scheduler.steps.runner import Walk, failure
from scheduler.steps.states import (
    NO_OPERATION,
    UNINIT,
    Direction,
    JobState,
    QueueState,
    StepEventType,
    rollback_failed,
)
from scheduler.steps.transitions import Ended

log = logging.getLogger(__name__)


def run(queue_id: int) -> int:
    """READY → RUNNING, with everything as before the first run; which run of the queue this is."""
    with transaction.atomic():
        queue = StepQueue.objects.select_for_update(no_key=True).get(pk=queue_id)
        if queue.state == QueueState.EMPTY:
            raise Conflict("The queue has no jobs.", code="queue_empty")
        if queue.state == QueueState.RUNNING:
            raise Conflict("The queue is running already.", code="queue_running")
        values = {"queue": queue_id, "uninit": UNINIT, "forward": Direction.FORWARD}
        call.change(sql.PRUNE_EVENTS, {"queue": queue_id, "days": settings.DURE_RETENTION_DAYS})
        call.change(sql.RESET_STEPS, {**values, "nolib": JobState.NOLIB, "notyet": JobState.NOTYET})
        ((number,),) = call.rows(sql.RESET_QUEUE, values)
        walk = Walk(queue_id, number, Direction.FORWARD, queue.job_queue)
        walk.know_between(1, 2)
        walk.tell(StepEventType.STARTED, {})
        walk.go_on()
        walk.write()
    return int(number)


def advance(settlement: Settlement) -> None:
    """Called in the transaction in which an Execution of a step ended, or an attempt of it.

    The Execution that the queue's row names is the only one that moves the walk, so whatever else ends,
    late or for the second time, changes nothing.
    """
    execution = settlement.execution
    queue_id, _, _ = settlement.source.partition(":")
    if not queue_id.isdecimal():
        return  # a notification: see notifications.py
    left = handover.of(execution)
    # What the operation read as it began still holds, unless somebody has cancelled: then it is read again.
    if left is not None and _advance(left.walk, int(queue_id), settlement, left.context):
        return
    read = call.function("dure_step_read", int(queue_id), execution, False)
    if read is None:
        log.warning("execution %s of queue %s moves nothing any more", execution, queue_id)
        return
    _advance(read, int(queue_id), settlement, left.context if left else None)


def _advance(read: dict[str, Any], queue_id: int, settlement: Settlement, context: str | None) -> bool:
    walk = Walk.at_the_end_of(settlement.execution, queue_id, read)
    walk.context = context
    if settlement.state == ExecutionStatus.PENDING:
        _will_be_tried_again(walk, settlement)
        return walk.write()
    succeeded = settlement.state == ExecutionStatus.SUCCESS
    walk.end_operation(
        ended(settlement),
        settlement.result if succeeded else failure(settlement.error, settlement.failure_type),
    )
    walk.go_on()
    return walk.write()


def ended(settlement: Settlement) -> Ended:
    if settlement.state == ExecutionStatus.SUCCESS:
        return Ended.SUCCESS
    return Ended.TIMEOUT if settlement.failure_type == FailureType.TIMEOUT else Ended.FAILED


def _will_be_tried_again(walk: Walk, settlement: Settlement) -> None:
    walk.execution = settlement.execution
    walk.tell(
        StepEventType.STEP_RETRYING,
        {
            "job_id": walk.at,
            "direction": str(walk.direction),
            **failure(settlement.error[:500], settlement.failure_type),
        },
    )


def cancel(queue_id: int) -> int:
    """Have a run that walks forward turn back from where it is; which run that is.

    The wish is a column, which the next `advance` obeys; the operation that runs now is told to stop
    after that, in a transaction of its own, since its Execution is locked before the queue.
    """
    with transaction.atomic():
        asked = call.rows(
            sql.REQUEST_ROLLBACK,
            {"queue": queue_id, "running": QueueState.RUNNING, "forward": Direction.FORWARD},
        )
        if not asked:
            raise Conflict("The queue is not running, or turns back already.", code="nothing_to_cancel")
        ((run_number,),) = asked
        details = {"queue": queue_id, "run": run_number, "type": StepEventType.CANCEL_REQUESTED}
        call.rows(sql.ADD_EVENT, {**details, "details": "{}"})
    stop_forward(queue_id)
    return int(run_number)


def stop_forward(queue_id: int) -> None:
    """Stop the operation that runs forward now, if one does."""
    forward = StepQueue.objects.filter(
        pk=queue_id, operation_direction=Direction.FORWARD, execution_id__isnull=False
    )
    execution = forward.values_list("execution_id", flat=True).first()
    if execution is not None:
        engine.cancel_execution(execution)


def rerun_backward(queue_id: int, job_id: UUID) -> None:
    """Run a backward operation again whose retries were used up. The queue is RUNNING until it has ended."""
    with transaction.atomic():
        queue = StepQueue.objects.select_for_update(no_key=True).get(pk=queue_id)
        job = Step.objects.get(queue=queue, job_id=job_id)
        if queue.state != QueueState.READY:
            raise Conflict("The queue is running.", code="queue_running")
        if not rollback_failed(job.state) or job.backward_operation == NO_OPERATION:
            raise Conflict(f"The job is {job.state!r}: nothing of it failed to be undone.", code="not_failed")
        try:
            libraries.find(job.operation_library, job.backward_operation)
        except libraries.UnknownOperation as unknown:
            raise Conflict(str(unknown), code="unknown_operation") from None
        walk = Walk(queue_id, queue.run, Direction.BACKWARD, str(job_id), again=True)
        walk.cancelled = queue.cancel_requested_at is not None
        walk.know_between(job.number, job.number)
        walk.go_on()
        walk.write()
