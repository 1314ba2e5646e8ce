"""Every transition of Job and Execution, in the order in which a job lives them.

submit → dispatch → claim → (progress) → finish, and beside that way: cancel, retry, reprioritise,
advance_office, dispatch_roles, send_due, return_unclaimed, fail_overdue, mark_lost, rescue, republish. Views,
workers, sweeps, commands and the admin call these verbs and change no row themselves. Each is one
transaction, guarded by the state it expects. Losing a race is normal, and the answer says what happened. What
has to follow the commit is in `effects.py`; any of it may be lost, and the sweeps repeat it.
"""

import io
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, IntegrityError, InterfaceError, connection, transaction

from dure import failures
from jobs import counters, deadline, joins, publish, pubsub, registry, submission, tracebacks
from jobs.answers import AdvanceResult, CancelResult, Claim, NextClaim, RetryResult, Settlement
from jobs.effects import Effects
from jobs.errors import Conflict, Fenced, Held
from jobs.models import Office
from jobs.publish import Send
from jobs.specs import ExecutionSpec
from jobs.sql import call, statements
from jobs.states import TRIGGERS_OF_JOBS, ExecutionStatus, FailureType, Outcome
from jobs.submission import PreparedSubmission

log = logging.getLogger(__name__)

# Sent when a cancelled run was killed: see jobs/tasks.py.
RUN_ON_CANCEL = "dure.run_on_cancel"
DISPATCH_ROLES = "dure.dispatch_roles"
# The offices whose locks one transaction of dispatch_roles holds.
OFFICES_AT_ONCE = 100
LONGEST_ERROR = 20_000


# --- submit --------------------------------------------------------------------------------------


def submit(prepared: PreparedSubmission) -> list[UUID]:
    """Write a submission: all of its jobs and edges, or nothing. Roots become ready and fill free slots.

    The joins are seeded before the transaction, so that no dependency can end before its join can be
    counted. When the transaction fails they are keys that expire. When Redis is away a sweep seeds them.
    """
    seeded = joins.seed(
        (job["id"], job["dependency_count"]) for job in prepared.jobs if job["dependency_count"] > 1
    )
    ids = [job["id"] for job in prepared.jobs]
    is_one_call = seeded and len(ids) == 1 and prepared.batch is None
    try:
        with _unique_key_conflicts():
            effects = _write_one(prepared) if is_one_call else _write_all(prepared, seeded)
        effects.on_commit()
    except (DatabaseError, InterfaceError):
        # A COMMIT can raise and have committed: then the rows are there, and nothing has followed yet.
        if connection.in_atomic_block or not _apply_if_written(ids):
            raise
    return ids


def submit_from_run(execution: str, fence: int, key: str, jobs: Sequence[object]) -> list[UUID]:
    """Add jobs to the batch of a run's job, once for each key, however often the body is run again."""
    with transaction.atomic():
        offices = call.rows(statements.LOCK_OFFICE_OF_RUN, [execution])
        rows = call.rows(statements.SUBMITTER, {"execution": execution, "fence": fence, "key": key})
        if not rows:
            raise Fenced()
        job, batch, trigger, submitted = rows[0]
        if submitted is not None:
            return [UUID(each) for each in json.loads(submitted)]
        office = Office.objects.get(pk=offices[0][0])
        ids = submit(submission.prepare(office, jobs, batch=batch, trigger=trigger))
        texts = call.as_json([str(each) for each in ids])
        call.change(statements.RECORD_SUBMISSION, {"job": job, "key": key, "ids": texts})
        return ids


def _write_one(prepared: PreparedSubmission) -> Effects:
    (row,) = prepared.rows()
    parents = [UUID(parent) for _, parent, _ in prepared.edges]
    values = ("dure_submit_one", prepared.office, call.as_json(row), parents)
    if not connection.in_atomic_block:
        return Effects.read(call.function_with_early_unlock(*values))
    with transaction.atomic():  # the caller's transaction survives a refusal
        return Effects.read(call.function(*values))


def _write_all(prepared: PreparedSubmission, seeded: bool) -> Effects:
    with transaction.atomic():
        _insert(prepared)
        # The lock comes late: writing ten thousand rows must not block the office's other jobs. What
        # their dependencies did meanwhile is read after the lock.
        call.rows(statements.LOCK_OFFICE, [prepared.office])
        answer = call.function("dure_submit", prepared.office, prepared.roots, prepared.joined)
        if not seeded:
            call.change(statements.ADD_UNSEEDED)
        return Effects.read(answer)


def _apply_if_written(jobs: list[UUID]) -> bool:
    """Whether these jobs were written. Then their messages are read again, since the answer is lost."""
    connection.close()
    rows = call.retry_while_down(lambda: call.rows(statements.FIND_SUBMITTED, [jobs]))
    _send([row for row in rows if row[0] is not None])
    return bool(rows)


@contextmanager
def _unique_key_conflicts() -> Iterator[None]:
    """Raise Conflict where the database refuses a second live job of a unique key."""
    try:
        yield
    except IntegrityError as error:
        if "one_live_job_per_unique_key" in str(error):
            raise Conflict("unique_key_taken") from None
        raise


def _insert(prepared: PreparedSubmission) -> None:
    if prepared.batch is not None:
        occasion = prepared.occasion
        text = None if occasion.input is None else call.as_json(occasion.input)
        values = [prepared.batch, prepared.office, prepared.batch_name, text, occasion.scheduled_for]
        call.change(statements.INSERT_BATCH, values)
    call.change(
        statements.INSERT_JOBS,
        {"office": prepared.office, "batch": prepared.batch, "jobs": call.as_json(prepared.rows())},
    )
    if prepared.edges:
        lines = io.StringIO("".join(f"{job}\t{parent}\t{place}\n" for job, parent, place in prepared.edges))
        with connection.cursor() as cursor:
            cursor.copy_expert(statements.COPY_EDGES, lines)


def start_executions(specs: Sequence[ExecutionSpec]) -> None:
    """Executions that no job owns, in one statement: of schedules, manual runs, steps and exports."""
    if any(spec.trigger in TRIGGERS_OF_JOBS for spec in specs):
        raise ValueError("Executions of jobs are made by dispatch.")
    if not specs:
        return
    sends = [
        Send(str(spec.id), 1, spec.role, spec.task_id, publish.FAIR, 0)
        for spec in specs
        if spec.due_at is None
    ]
    with transaction.atomic(savepoint=False):
        call.change(statements.INSERT_EXECUTIONS, {"specs": call.as_json([spec.row() for spec in specs])})
        Effects(send=sends).on_commit()


# --- claim, progress, finish: the life of one run ------------------------------------------------


def claim(execution: str, dispatch: int, *, token: str, worker: str) -> Claim | None:
    """PENDING → RUNNING for the one message that may; None for every other. One round trip.

    Raises Held when the run may not start yet: it waits, and another message will come.
    """
    values = (execution, dispatch, token, worker, timedelta(seconds=settings.DURE_LEASE_SECONDS))
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

    None if it waits for something else, if it has been released already, and if no slot is free: then it is
    ready.
    """
    values = (UUID(job), token, worker, timedelta(seconds=settings.DURE_LEASE_SECONDS))
    answer = call.retry_while_down(lambda: call.function("dure_claim_join", *values))
    if answer is None:
        return None
    Effects.read(answer).on_commit()
    return Claim.read(answer["execution"], answer["dispatch"], answer) if "execution" in answer else None


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


def finish(
    execution: str,
    fence: int,
    outcome: str,
    *,
    trigger: str,
    result: str | None = None,
    failure_type: str = "",
    error: str = "",
    traceback: str = "",
    delay_ms: int | None = None,
    extra: object = None,
    next_claim: NextClaim | None = None,
) -> Settlement | None:
    """The owner's report: RUNNING → its end, or PENDING for the next attempt. None: no longer the owner.

    One round trip for a job: the same call frees the slot and picks what starts next in it. While the
    database is away this waits for as long as the lease could hold; after that no worker owns the run.
    `next_claim` says which of the jobs that it sends the same call may claim for this process.
    """
    delay = timedelta(milliseconds=delay_ms) if delay_ms is not None else None
    texts = (failure_type, storable_text(error), storable_text(traceback, tracebacks.MAX_BYTES))
    values = ("dure_finish", execution, fence, outcome, result, *texts, delay, settings.DURE_MAX_CRASHES)
    if trigger in _end_handlers or connection.in_atomic_block:
        return _settle(execution, trigger, lambda: call.function(*values, None), result, extra)
    text = None if next_claim is None else call.as_json(next_claim.values())
    return _settle(execution, trigger, lambda: call.function_with_early_unlock(*values, text))


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
    values = (execution, fence, expired, storable_text(error), max_crashes)
    settlement = _settle(execution, trigger, lambda: call.function("dure_mark_lost", *values))
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


EndHandler = Callable[[Settlement], None]
_end_handlers: dict[str, EndHandler] = {}


def on_end(trigger: str, handler: EndHandler) -> None:
    """Call `handler` in the transaction in which an attempt of an Execution of this trigger ends: what
    belongs to the Execution's cause changes together with it, or not at all.
    """
    _end_handlers[trigger] = handler


def _settle(
    execution: str,
    trigger: str,
    settle: Callable[[], dict[str, Any] | None],
    result: str | None = None,
    extra: object = None,
) -> Settlement | None:
    """Settle, call the handler of this trigger, and register what follows the commit."""
    handler = _end_handlers.get(trigger)

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


# --- advance_office, send_due: what makes a job ready, and sends it -------------------------------


def advance_office(office: UUID | str, now: datetime | None = None) -> AdvanceResult:
    """Make due and unblocked jobs of an office ready, and fill its free slots."""
    answer = call.function("dure_advance_office", office, now)
    effects = Effects.read(answer)
    effects.on_commit()
    return AdvanceResult(answer["promoted"], len(effects.send))


def dispatch_roles(roles: Sequence[str]) -> int:
    """Send what waits for these roles, in as many offices as there are: their first worker came, or a paused
    role was resumed.
    """
    waiting = [office for (office,) in call.rows(statements.OFFICES_WAITING_FOR, {"roles": list(roles)})]
    return _dispatch_offices(waiting) + send_due()


def _dispatch_offices(offices: Sequence[UUID]) -> int:
    count = 0
    for start in range(0, len(offices), OFFICES_AT_ONCE):
        piece = offices[start : start + OFFICES_AT_ONCE]
        answer = call.function("dure_dispatch_offices", piece)
        effects = Effects.read(answer)
        effects.on_commit()
        # What holds the lock of another office has perhaps not seen the worker yet.
        busy = {str(office) for office in piece} - set(answer["done"])
        count += len(effects.send) + sum(advance_office(office).dispatched for office in busy)
    return count


def return_unclaimed() -> int:
    """Take the slots back from jobs that no worker has claimed for long: processing → ready."""
    after = timedelta(seconds=settings.DURE_CLAIM_SECONDS)
    count = 0
    for (office,) in call.rows(statements.UNCLAIMED_OFFICES, {"after": after}):
        answer = call.function("dure_return_unclaimed", office, after)
        Effects.read(answer).on_commit()
        count += answer["returned"]
    return count


def fail_overdue(now: datetime | None = None, limit: int = 1_000) -> int:
    """Fail the jobs that have not started within their queue timeout."""
    count = 0
    for (office,) in call.rows(statements.OVERDUE_OFFICES, {"now": now, "limit": limit}):
        answer = call.function("dure_fail_overdue", office, now)
        Effects.read(answer).on_commit()
        count += answer["failed"]
    return count


def send_due(now: datetime | None = None, limit: int = 1_000) -> int:
    """Send what has become due: jobs at their `run_at` or their retry, those that their Task's rate limit
    allows now, and other Executions.
    """
    count = 0
    for (office,) in call.rows(statements.DUE_OFFICES, {"now": now, "limit": limit}):
        count += advance_office(office, now).promoted
    due = call.rows(statements.SEND_DUE_EXECUTIONS, {"now": now, "limit": limit})
    _send(due)
    # After what is due, which would otherwise wait for as long as jobs use up the rate of their Task.
    held = [office for (office,) in call.rows(statements.OFFICES_WITH_HELD, {"now": now, "most": limit})]
    return count + len(due) + _dispatch_offices(held)


# --- cancel, retry, reprioritise: what people decide ----------------------------------------------


def cancel(office: UUID, jobs: Sequence[UUID], *, actor: str, reason: str = "") -> CancelResult:
    """Cancel jobs in any live state. A live run receives a stop request, and is killed after its grace."""
    with transaction.atomic():
        call.rows(statements.LOCK_OFFICE, [office])
        answer = call.function("dure_cancel", office, list(jobs), _event_details(actor, reason))
        Effects.read(answer).on_commit()
    return CancelResult(answer["cancelled"], answer["cancelling"])


def cancel_execution(execution: UUID | str) -> str | None:
    """Cancel an Execution that no job owns; its status now, or None when it had ended."""
    with transaction.atomic():
        rows = call.rows(statements.CANCEL_EXECUTION, [execution])
        if not rows:
            return None
        status, trigger, source = rows[0]
        if status == ExecutionStatus.CANCELLED:
            handler = _end_handlers.get(trigger)
            if handler is not None:
                handler(Settlement(str(execution), source, status, FailureType.CANCELLED, ""))
        else:
            Effects(stop=[str(execution)]).on_commit()
    return str(status)


def retry(office: UUID, jobs: Sequence[UUID], *, actor: str, reason: str = "") -> RetryResult:
    """Run failed, cancelled or timed-out jobs again, each with a new Execution.

    A job that fails with its dependencies is retried after them, or together with them.
    """
    with _unique_key_conflicts(), transaction.atomic():
        call.rows(statements.LOCK_OFFICE, [office])
        answer = call.function("dure_retry", office, list(jobs), _event_details(actor, reason))
        Effects.read(answer).on_commit()
    return RetryResult(answer["retried"], [UUID(job) for job in answer["blocked"]])


def reprioritise(
    office: UUID,
    jobs: Sequence[UUID],
    *,
    priority: int | None = None,
    urgent: bool | None = None,
    delta: int | None = None,
    actor: str = "",
    reason: str = "",
) -> int:
    """Change the order of jobs that have not ended; how many did change."""
    values = {
        "office": office,
        "jobs": list(jobs),
        "priority": priority,
        "urgent": urgent,
        "delta": delta,
        "details": _event_details(actor, reason),
    }
    with transaction.atomic():
        call.rows(statements.LOCK_OFFICE, [office])
        return call.change(statements.SET_PRIORITY, values)


# --- rescue, republish, reseed: what sweeps repair ------------------------------------------------


def rescue(limit: int = 1_000) -> int:
    """Settle the runs whose lease ran out, each under the guard that it still has not been renewed."""
    count = 0
    for execution, fence, worker, trigger in call.rows(statements.EXPIRED_LEASES, [limit]):
        error = f"The worker {worker} stopped renewing its lease."
        if mark_lost(str(execution), fence, trigger=trigger, expired=True, error=error) is not None:
            count += 1
            log.warning("rescued %s from %s", execution, worker)
    return count


def republish(*, everything: bool = False, limit: int = 5_000) -> int:
    """Republish unclaimed messages; if Redis has lost its data, all of them."""
    values = {"all": everything, "after": settings.DURE_REPUBLISH_SECONDS, "limit": limit}
    stale = call.rows(statements.REPUBLISH, values)
    _send(stale)
    return len(stale)


def reseed() -> int:
    """Store in Redis the size of every join that waits, and count the parts that have come in."""
    unseeded = call.rows(statements.UNSEEDED)
    waiting = call.rows(statements.WAITING_JOINS)
    if not joins.seed(waiting):
        call.change(statements.ADD_UNSEEDED)
        return 0
    joins.count(call.rows(statements.ENDED_PARTS))
    for row in unseeded:
        call.change(statements.DELETE_UNSEEDED, row)
    return len(waiting)


def has_unseeded_joins() -> bool:
    """Whether a submission could not store the sizes of its joins, since Redis was away."""
    return bool(call.rows(statements.UNSEEDED))


def run_of_message(message: str, worker: str) -> tuple[str, int, str, int, UUID | None] | None:
    """The Execution that this message of the worker runs now, its fence, trigger, attempt and job."""
    rows = call.rows(statements.RUN_OF_MESSAGE, [worker, f"{message}:%"])
    return rows[0] if rows else None


def record_event(
    office: UUID, batch: UUID | None, event_type: str, details: Mapping[str, Any], now: datetime
) -> None:
    """Add an event without a job. The caller's transaction writes what it tells."""
    with transaction.atomic():
        # Ids of events grow in the order of their commits, which the office's lock gives them.
        call.rows(statements.LOCK_OFFICE, [office])
        call.rows(statements.RECORD_EVENT, [office, batch, event_type, call.as_json(details), now])
        Effects(publish=str(office), notify=str(office)).on_commit()


def _event_details(actor: str, reason: str) -> str:
    return call.as_json({key: text for key, text in (("actor", actor), ("reason", reason)) if text})


def _send(rows: Sequence[tuple[Any, ...]]) -> None:
    Effects(send=[Send(str(execution), *values) for execution, *values in rows]).on_commit()


def storable_text(text: str, longest: int = LONGEST_ERROR) -> str:
    """The text as PostgreSQL can store it, cut to a length."""
    return text.replace("\x00", "\ufffd").encode(errors="replace").decode()[:longest]
