"""The transitions of a running step queue: run → advance, operation by operation → READY again.

Besides: cancel, which rolls a run back, and rerun_backward, which retries a failed rollback by hand. Each
is one transaction. Lock order: the Execution, then its queue; a verb that holds the queue's lock only
starts new Executions.
"""

import logging
from uuid import UUID

from django.conf import settings
from django.db import transaction

from jobs import lifecycle as engine
from jobs.answers import Settlement
from jobs.errors import Conflict
from jobs.sql import call
from jobs.states import ExecutionStatus, FailureType
from scheduler.steps import libraries, sql
from scheduler.steps.models import Step, StepQueue
from scheduler.steps.operations import OperationReport
from scheduler.steps.position import Position
from scheduler.steps.runner import Runner, failure
from scheduler.steps.states import (
    NO_OPERATION,
    UNINIT,
    Direction,
    JobState,
    QueueState,
    StepEventType,
    rollback_failed,
)
from scheduler.steps.transitions import OperationOutcome

log = logging.getLogger(__name__)


def run(queue_id: int) -> int:
    """READY → RUNNING, with everything reset; returns the number of the run."""
    with transaction.atomic():
        queue = StepQueue.objects.select_for_update(no_key=True).get(pk=queue_id)
        if queue.state == QueueState.EMPTY:
            raise Conflict("queue_empty")
        if queue.state == QueueState.RUNNING:
            raise Conflict("queue_running")
        values = {"queue": queue_id, "uninit": UNINIT, "forward": Direction.FORWARD}
        call.change(sql.PRUNE_EVENTS, {"queue": queue_id, "days": settings.DURE_RETENTION_DAYS})
        call.change(sql.RESET_STEPS, {**values, "nolib": JobState.NOLIB, "notyet": JobState.NOTYET})
        ((number,),) = call.rows(sql.RESET_QUEUE, values)
        runner = Runner(queue_id, Position(number, Direction.FORWARD, queue.job_queue))
        runner.load(1, 2)
        runner.changes.add_event(StepEventType.STARTED, {})
        runner.start_next_operation()
        runner.write()
    return int(number)


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
        rows = call.rows(
            sql.REQUEST_ROLLBACK,
            {"queue": queue_id, "running": QueueState.RUNNING, "forward": Direction.FORWARD},
        )
        if not rows:
            raise Conflict("nothing_to_cancel")
        ((number,),) = rows
        event = {"queue": queue_id, "run": number, "type": StepEventType.CANCEL_REQUESTED, "details": "{}"}
        call.rows(sql.ADD_EVENT, event)
    stop_forward_operation(queue_id)
    return int(number)


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
        queue = StepQueue.objects.select_for_update(no_key=True).get(pk=queue_id)
        step = Step.objects.get(queue=queue, job_id=job_id)
        if queue.state != QueueState.READY:
            raise Conflict("queue_running")
        if not rollback_failed(step.state) or step.backward_operation == NO_OPERATION:
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
