"""The transitions of a running step queue: run → advance, operation by operation → READY again.

Besides: cancel, which rolls a run back; resume, which makes one that has rolled back go forward again; and
rerun_backward, which retries a failed rollback by hand. Each is one transaction. Lock order: the Execution,
then its queue; a verb that holds the queue's lock only starts new Executions.
"""

import logging
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from dure.failures import FailureType
from jobs import lifecycle as engine
from jobs.answers import Settlement
from jobs.errors import Conflict
from jobs.sql import call
from jobs.states import Act, ExecutionStatus
from scheduler.steps import libraries, sql
from scheduler.steps.models import Step, StepEvent, StepQueue
from scheduler.steps.operations import OperationReport
from scheduler.steps.position import Position
from scheduler.steps.queues import queue_at_rest, record
from scheduler.steps.runner import Runner, failure
from scheduler.steps.states import (
    UNINIT,
    Direction,
    JobState,
    QueueState,
    StepEventType,
    append_state,
)
from scheduler.steps.transitions import OperationOutcome, must_run_again

log = logging.getLogger(__name__)


def run(queue_id: int) -> int:
    """READY → RUNNING, with everything reset; returns the number of the run."""
    with transaction.atomic():
        queue = queue_at_rest(queue_id)
        if queue.state == QueueState.EMPTY:
            raise Conflict("queue_empty")
        # Events of earlier runs are kept for the retention period.
        kept = timedelta(days=settings.DURE_RETENTION_DAYS)
        StepEvent.objects.filter(queue=queue, at__lt=Now() - kept).delete()
        _reset_steps(queue_id, 1)
        number = queue.run + 1
        StepQueue.objects.filter(pk=queue_id).update(
            run=number,
            context={},
            queue_return=UNINIT,
            operation_direction=Direction.FORWARD,
            cancel_requested_at=None,
            started_at=Now(),
            ended_at=None,
        )
        position = Position(number, Direction.FORWARD, queue.job_queue)
        _go_forward(queue_id, position, 1, StepEventType.STARTED, {})
        record(Act.STEP_QUEUE_RUN, queue)
    return number


def resume(queue_id: int) -> int:
    """Go forward again in a run that has rolled back; returns its number.

    READY → RUNNING, with the context and the keys of the run. Jobs at the beginning that succeeded, and had
    nothing to roll back, keep their success; the first other job and all after it run again.
    """
    with transaction.atomic():
        queue = queue_at_rest(queue_id)
        jobs = Step.objects.filter(queue=queue).order_by("number")
        jobs = jobs.only("job_id", "number", "state", "backward_operation")
        first = next((job for job in jobs if must_run_again(job.state, job.backward_operation)), None)
        if queue.operation_direction == Direction.FORWARD or first is None:
            raise Conflict("nothing_to_resume")
        number = first.position
        values = {"queue": queue_id, "first": number, "uninit": UNINIT, "success": JobState.SUCCESS}
        call.change(sql.KEEP_STEPS, values)
        _reset_steps(queue_id, number, keep="%" + append_state("", JobState.FAILED))
        StepQueue.objects.filter(pk=queue_id).update(
            queue_return=UNINIT, operation_direction=Direction.FORWARD, cancel_requested_at=None
        )
        position = Position(queue.run, Direction.FORWARD, str(first.job_id))
        _go_forward(queue_id, position, number, StepEventType.RESUMED, {"first": number})
        record(Act.STEP_QUEUE_RESUMED, queue)
    return queue.run


def _reset_steps(queue_id: int, first: int, *, keep: str = "") -> None:
    """`keep` is a pattern of states that stay."""
    values = {"queue": queue_id, "first": first, "except": keep, "uninit": UNINIT}
    call.change(sql.RESET_STEPS, {**values, "nolib": JobState.NOLIB, "notyet": JobState.NOTYET})


def _go_forward(
    queue_id: int, position: Position, number: int, event: StepEventType, details: dict[str, Any]
) -> None:
    runner = Runner(queue_id, position)
    runner.load(number, number + 1)
    runner.changes.add_event(event, details)
    runner.start_next_operation()
    runner.write()


def advance(settlement: Settlement) -> None:
    """Handle the end of an operation's Execution, or of one attempt, in the transaction of that end.

    Only the Execution that the queue's row names moves the queue; the end of any other changes nothing.
    """
    queue_id, _, _ = settlement.source.partition(":")
    if not queue_id.isdecimal():
        return  # a notification's Execution: see notifications.py
    report: OperationReport | None = settlement.extra
    context = report.context if report else None
    # The position that the operation read before it ran is current, unless a cancel was requested meanwhile.
    if report is not None and _advance(int(queue_id), report.position, settlement, context):
        return
    answer = call.function("dure_step_read", int(queue_id), settlement.execution, False)
    if answer is None:
        log.warning("execution %s is not the current one of queue %s", settlement.execution, queue_id)
        return
    _advance(int(queue_id), Position.read(answer), settlement, context)


def _advance(queue_id: int, position: Position, settlement: Settlement, context: str | None) -> bool:
    runner = Runner(queue_id, position, ended=settlement.execution, context=context)
    if settlement.state == ExecutionStatus.PENDING:
        runner.retry_operation(settlement.execution, failure(settlement.error[:500], settlement.failure_type))
        return runner.write()
    if settlement.state == ExecutionStatus.SUCCESS:
        runner.finish_operation(OperationOutcome.SUCCESS, settlement.result)
    else:
        timed_out = settlement.failure_type == FailureType.TIMEOUT
        outcome = OperationOutcome.TIMEOUT if timed_out else OperationOutcome.FAILED
        runner.finish_operation(outcome, failure(settlement.error, settlement.failure_type))
    runner.start_next_operation()
    return runner.write()


def cancel(queue_id: int) -> int:
    """Request the rollback of a run that goes forward; returns the number of the run.

    The request is a column, which the next `advance` obeys. The current operation is stopped after that,
    in another transaction, since its Execution must be locked before the queue.
    """
    with transaction.atomic():
        forward = StepQueue.objects.filter(state=QueueState.RUNNING, operation_direction=Direction.FORWARD)
        if not forward.filter(pk=queue_id, cancel_requested_at=None).update(cancel_requested_at=Now()):
            raise Conflict("nothing_to_cancel")
        queue = StepQueue.objects.get(pk=queue_id)
        StepEvent.objects.create(queue=queue, run=queue.run, type=StepEventType.CANCEL_REQUESTED, at=Now())
        record(Act.STEP_QUEUE_CANCELLED, queue)
    stop_forward_operation(queue_id)
    return queue.run


def stop_forward_operation(queue_id: int) -> None:
    queue = StepQueue.objects.filter(
        pk=queue_id, operation_direction=Direction.FORWARD, execution_id__isnull=False
    )
    execution = queue.values_list("execution_id", flat=True).first()
    if execution is not None:
        engine.cancel_execution(execution)


def rerun_backward(queue_id: int, job_id: UUID) -> None:
    """Run a backward operation again that has no retries left. The queue is RUNNING until it has ended."""
    with transaction.atomic():
        queue = queue_at_rest(queue_id)
        step = Step.objects.get(queue=queue, job_id=job_id)
        if not step.has_failed_rollback:
            raise Conflict("not_failed")
        try:
            libraries.find(step.operation_library, step.backward_operation)
        except libraries.UnknownOperation:
            raise Conflict(
                "unknown_operation", library=step.operation_library, operation=step.backward_operation
            ) from None
        cancelled = queue.cancel_requested_at is not None
        position = Position(queue.run, Direction.BACKWARD, str(job_id), cancelled, rerun=True)
        runner = Runner(queue_id, position)
        runner.load(step.position, step.position)
        runner.start_next_operation()
        runner.write()
        record(Act.ROLLBACK_RETRIED, queue, job=step.position)
