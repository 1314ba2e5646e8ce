"""claim, progress, finish: the life of one run, up to the end that its owner or another process reports."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction

from dure import failures
from dure.failures import FailureType
from jobs import counters, deadline, publish, pubsub, registry, tracebacks
from jobs.answers import Claim, NextClaim, Settlement
from jobs.effects import Effects
from jobs.errors import Fenced, Held
from jobs.ids import parse_uuid
from jobs.sql import call, statements
from jobs.states import TRIGGERS_OF_JOBS, ExecutionStatus, Outcome

# Sent when a cancelled run was killed: see jobs/tasks.py.
RUN_ON_CANCEL = "dure.run_on_cancel"

EndHandler = Callable[[Settlement], None]
end_handlers: dict[str, EndHandler] = {}
# The conditions under which handlers have to do with a success: see on_end.
success_conditions: dict[str, str] = {}


def claim(execution: str, dispatch: int, *, token: str, worker: str, early: bool = False) -> Claim | None:
    """PENDING → RUNNING for the one message that may; None for every other. One round trip.

    Raises Held when the run may not start yet: it waits, and another message will come. The claim of an early
    message waits for its submission.
    """
    lease = timedelta(seconds=settings.DURE_LEASE_SECONDS)
    values = (execution, dispatch, token, worker, lease, early)
    answer = call.retry_while_down(lambda: call.function("dure_claim", *values))
    if answer is None:
        return None
    if "held" in answer:
        Effects.read(answer).on_commit()
        raise Held()
    if answer["publish"]:
        pubsub.publish_change(answer["publish"])
    return Claim.read(execution, dispatch, answer)


def claim_join(job: str, *, token: str, worker: str) -> Claim | None:
    """The last part of a job's join has come in: release the job, give it a slot and claim it, in one call.

    None if it waits for something else, and if it has been released already. Raises Held when it is ready now
    and another message will come: no slot is free, or a limit of its Task is in the way.
    """
    values = (UUID(job), token, worker, timedelta(seconds=settings.DURE_LEASE_SECONDS))
    answer = call.retry_while_down(lambda: call.function("dure_claim_join", *values))
    if answer is None:
        return None
    Effects.read(answer).on_commit()
    if "execution" not in answer:
        raise Held()
    return Claim.read(answer["execution"], answer["dispatch"], answer)


def progress(execution: str, fence: int, fraction: float | None, message: str) -> None:
    value = call.as_json({"fraction": fraction, "message": message[:500]})
    _write_fenced(statements.WRITE_PROGRESS, execution, fence, progress=value)


def name_session(execution: str, fence: int, session: str) -> None:
    _write_fenced(statements.WRITE_SESSION, execution, fence, session=session[:100])


def _write_fenced(statement: str, execution: str, fence: int, **values: str) -> None:
    if not call.change(statement, {**values, "execution": execution, "fence": fence}):
        raise Fenced()


def is_cancelled(execution: str, fence: int) -> bool:
    """Whether this run is to stop: it was cancelled, or has another owner by now."""
    rows = call.rows(statements.IS_CANCELLED, {"execution": execution, "fence": fence})
    return not rows or bool(rows[0][0])


def has_been_cancelled(execution: str) -> bool:
    return bool(call.rows(statements.HAS_BEEN_CANCELLED, [execution]))


def run_of_message(message: str, worker: str) -> tuple[str, int, str, int, UUID | None] | None:
    """The Execution that this message of the worker runs now, its fence, trigger, attempt and job."""
    rows = call.rows(statements.RUN_OF_MESSAGE, [worker, f"{message}:%"])
    return rows[0] if rows else None


def finish(
    execution: str,
    fence: int,
    outcome: str,
    *,
    trigger: str,
    source: str = "",
    result: str | None = None,
    failure_type: str = "",
    error: str = "",
    traceback: str = "",
    delay_ms: int | None = None,
    extra: object = None,
    next_claim: NextClaim | None = None,
) -> Settlement | None:
    """The owner's report: RUNNING → its end, or PENDING for the next attempt. None: no longer the owner.

    One round trip, unless a handler has something to do: the same call frees the slot and picks what starts
    next in it. While the database is away this waits for as long as the lease could hold; after that no
    worker owns the run. `next_claim` says which of the runs that are next the same call may claim for this
    process.
    """
    delay = timedelta(milliseconds=delay_ms) if delay_ms is not None else None
    texts = (failure_type, call.storable_text(error), call.storable_text(traceback, tracebacks.MAX_BYTES))
    values = (execution, fence, outcome, result, *texts, delay, settings.DURE_MAX_CRASHES)
    text = None if next_claim is None else call.as_json(next_claim.values())
    handler = end_handlers.get(trigger)
    unless = _success_condition(trigger, outcome, source)
    if connection.in_atomic_block or (handler is not None and unless is None):
        return _settle(execution, handler, lambda: call.function("dure_finish", *values, None), result, extra)
    if trigger in TRIGGERS_OF_JOBS:
        return _settle(execution, None, lambda: call.procedure("dure_finish_and_commit", *values, text))
    settlement = _settle(execution, None, lambda: call.function("dure_finish", *values, text, unless=unless))
    if settlement is None and unless is not None:
        return _settle(execution, handler, lambda: call.function("dure_finish", *values, None), result, extra)
    return settlement


def mark_lost(execution: str, fence: int, *, trigger: str, expired: bool, error: str) -> Settlement | None:
    """End a run whose worker died: its lease ran out, or its process was seen to exit."""
    settlement = _mark_lost(execution, fence, trigger, expired, error, settings.DURE_MAX_CRASHES)
    if settlement is not None and settlement.failure_type == FailureType.POISON:
        counters.add(counters.POISON)
    return settlement


def release_run(execution: str, fence: int, *, trigger: str) -> Settlement | None:
    """End a run whose worker has to stop before it. Another worker starts it; no crash is counted."""
    return _mark_lost(execution, fence, trigger, False, "Its worker was stopped.", None)


def give_back(execution: str, fence: int) -> bool:
    """Undo the claim of a run that this worker lacks the code for; False if it was cancelled, or has ended.

    The caller's main process sends its next dispatch in a moment; if it dies before, the sweep does so.
    """
    return bool(call.change(statements.GIVE_BACK, [execution, fence]))


def _mark_lost(
    execution: str, fence: int, trigger: str, expired: bool, error: str, max_crashes: int | None
) -> Settlement | None:
    values = (execution, fence, expired, call.storable_text(error), max_crashes)
    handler = end_handlers.get(trigger)
    settlement = _settle(execution, handler, lambda: call.function("dure_mark_lost", *values))
    if settlement is not None and settlement.state == ExecutionStatus.CANCELLED:
        # The process that would have called the Task's on_cancel is dead.
        publish.send_control(RUN_ON_CANCEL, execution)
    return settlement


def finish_timed_out(execution: str, fence: int, *, trigger: str) -> Settlement | None:
    """End a run that its worker killed after its time limit: a timeout, retried by the Task's policy."""
    rows = call.rows(statements.RETRY_POLICY, [execution, fence])
    if not rows:
        return None
    task_id, strategy, base_ms, retry_count = rows[0]
    task = registry.find(task_id)
    retried = issubclass(deadline.Interrupted, task.autoretry_for)
    return finish(
        execution,
        fence,
        Outcome.TIMEOUT,
        trigger=trigger,
        failure_type=FailureType.TIMEOUT,
        error=failures.TIMED_OUT,
        delay_ms=task.delay_ms(strategy, base_ms, retry_count) if retried else None,
    )


def on_end(trigger: str, handler: EndHandler, success_condition: str = "") -> None:
    """Call `handler` in the transaction in which an attempt of an Execution of this trigger ends: what
    belongs to the Execution's cause changes together with it, or not at all.

    `success_condition` is a condition in SQL about the id of the cause. Without it the handler has nothing to
    do with a success, which is a single statement then.
    """
    end_handlers[trigger] = handler
    if success_condition:
        success_conditions[trigger] = success_condition


def _success_condition(trigger: str, outcome: str, source: str) -> tuple[str, UUID] | None:
    condition, cause = success_conditions.get(trigger), parse_uuid(source)
    return (condition, cause) if outcome == Outcome.SUCCESS and condition and cause else None


def _settle(
    execution: str,
    handler: EndHandler | None,
    settle: Callable[[], dict[str, Any] | None],
    result: str | None = None,
    extra: object = None,
) -> Settlement | None:
    """Settle, call the handler, and register what follows the commit."""

    def settle_and_handle() -> Settlement | None:
        answer = settle()
        if answer is None:
            return None
        if handler is None:  # then nothing reads the result
            return Settlement.read(execution, answer)
        settlement = Settlement.read(execution, answer, result, extra)
        handler(settlement)
        return settlement

    def in_transaction() -> Settlement | None:
        with transaction.atomic():
            return settle_and_handle()

    # Without a handler it is a single statement.
    settlement = call.retry_while_down(settle_and_handle if handler is None else in_transaction)
    if settlement is not None:
        settlement.effects.on_commit()
    return settlement
