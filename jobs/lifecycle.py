"""Every transition of Job and Execution, in the order in which a job lives them.

submit → dispatch → claim → (progress) → finish → release, and beside that way: cancel, retry,
reprioritise, process, wake, lose, rescue, resend. Views, workers, sweeps, commands and the admin call
these verbs and change no row themselves. Each is one transaction, guarded by the state it expects;
losing a race is normal, and the answer says what happened. What has to follow the commit (messages,
chord parts, bells) is in `aftermath.py`, and may be lost at any point: the sweeps do it again.
"""

import io
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import DatabaseError, IntegrityError, InterfaceError, connection, transaction

from jobs import counters, joins, publish, pubsub, registry
from jobs.effects import after, follow
from jobs.errors import Conflict, Fenced
from jobs.ids import uuid7
from jobs.sql import call, statements
from jobs.states import TRIGGERS_OF_JOBS, ExecutionStatus, FailureType, Outcome
from jobs.submission import Prepared

log = logging.getLogger(__name__)

Answer = dict[str, Any]

# Rung when a cancelled run was killed: see jobs/tasks.py.
STOPPED = "dure.stopped"


# --- submit --------------------------------------------------------------------------------------


def submit(prepared: Prepared, *, actor: str = "") -> list[UUID]:
    """Write a submission: all of its jobs and edges, or nothing. Roots become ready and fill free slots.

    The joins are seeded before the transaction, so that no dependency can end before its join can be
    counted; when the transaction fails they are keys that expire.
    """
    joins.seed((job["id"], job["dependency_count"]) for job in prepared.jobs if job["dependency_count"] > 1)
    ids = [job["id"] for job in prepared.jobs]
    answer = None
    try:
        with _one_job_per_key(), transaction.atomic():
            _insert(prepared)
            # Only now: writing ten thousand rows must not keep the office's other jobs waiting. What
            # their dependencies did meanwhile is seen after the lock.
            call.rows(statements.LOCK_OFFICE, [prepared.office])
            answer = call.function("dure_open", prepared.office, prepared.roots, prepared.joined, actor)
            after(answer)
    except (DatabaseError, InterfaceError):
        # A COMMIT can raise and have committed: then the rows are there, and nothing has followed yet.
        if answer is None or connection.in_atomic_block or not _is_written(ids[0]):
            raise
        follow(answer)
    return ids


def _is_written(job: UUID) -> bool:
    connection.close()
    return bool(call.surely(lambda: call.rows(statements.FIND_JOB, [job])))


@contextmanager
def _one_job_per_key() -> Iterator[None]:
    """The database refuses a second live job of a unique key; say so in words."""
    try:
        yield
    except IntegrityError as error:
        if "one_live_job_per_unique_key" in str(error):
            raise Conflict(
                "The office has a job with this unique_key that has not ended.", code="unique_key_taken"
            ) from None
        raise


def _insert(prepared: Prepared) -> None:
    if prepared.batch is not None:
        call.change(
            "INSERT INTO job_batches (id, office_id, name, created_at) VALUES (%s, %s, %s, now()) "
            "ON CONFLICT (id) DO UPDATE SET ended_at = NULL",
            [prepared.batch, prepared.office, prepared.batch_name],
        )
    call.change(
        statements.INSERT_JOBS,
        {"office": prepared.office, "batch": prepared.batch, "jobs": call.as_json(prepared.rows())},
    )
    if prepared.edges:
        # COPY takes 100,000 edges in a second; one INSERT takes several.
        lines = io.StringIO("".join(f"{job}\t{parent}\t{place}\n" for job, parent, place in prepared.edges))
        with connection.cursor() as cursor:
            cursor.copy_expert("COPY job_dependencies (job_id, parent_id, position) FROM STDIN", lines)


def start(
    task_id: str,
    *,
    role: str,
    trigger: str,
    args: dict[str, Any],
    source: str = "",
    max_retries: int,
    retry_backoff: str,
    retry_base_delay_ms: int,
    timeout_ms: int,
    on_lost: str,
    scheduled_for: datetime | None = None,
    due_at: datetime | None = None,
) -> UUID:
    """An Execution that no job owns: of a schedule, a manual run, a step or an export."""
    execution = uuid7()
    order = {
        "id": execution,
        "task_id": task_id,
        "role": role,
        "trigger": trigger,
        "source": source,
        "args": args,
        "max_retries": max_retries,
        "retry_backoff": retry_backoff,
        "retry_base_delay_ms": retry_base_delay_ms,
        "timeout_ms": timeout_ms,
        "on_lost": on_lost,
        "scheduled_for": scheduled_for,
        "due_at": due_at,
    }
    start_many([order])
    return execution


def start_many(orders: Sequence[dict[str, Any]]) -> None:
    """Executions that no job owns, in one statement; each order has the names of `start`, and its id."""
    if any(order["trigger"] in TRIGGERS_OF_JOBS for order in orders):
        raise ValueError("Executions of jobs are made by dispatch.")
    if not orders:
        return
    rows = [
        {key: value if isinstance(value, dict) else _plain(value) for key, value in order.items()}
        for order in orders
    ]
    with transaction.atomic(savepoint=False):
        call.change(statements.INSERT_EXECUTIONS, {"orders": call.as_json(rows)})
        sends = [
            [str(order["id"]), 1, order["role"], order["task_id"], publish.FAIR, 0, order["timeout_ms"]]
            for order in orders
            if order.get("due_at") is None
        ]
        after({"send": sends})


def _plain(value: object) -> object:
    return (
        value.isoformat() if isinstance(value, datetime) else str(value) if isinstance(value, UUID) else value
    )


# --- claim, progress, finish: the life of one run ------------------------------------------------


def claim(execution: str, dispatch: int, *, token: str, worker: str) -> Answer | None:
    """PENDING → RUNNING for the one message that may; None for every other. One round trip."""
    lease = timedelta(seconds=settings.DURE_LEASE_SECONDS)
    values = (execution, dispatch, token, worker, lease)
    answer: Answer | None = call.surely(lambda: call.function("dure_claim", *values))
    if answer is not None and answer["ring"]:
        pubsub.publish_change(answer["office_id"])
    return answer


def progress(execution: str, fence: int, fraction: float | None, message: str) -> None:
    value = call.as_json({"fraction": fraction, "message": message[:500]})
    if not call.change(
        statements.WRITE_PROGRESS, {"progress": value, "execution": execution, "fence": fence}
    ):
        raise Fenced()


def name_session(execution: str, fence: int, session: str) -> None:
    values = {"session": session[:100], "execution": execution, "fence": fence}
    if not call.change(statements.WRITE_SESSION, values):
        raise Fenced()


def is_cancelled(execution: str, fence: int) -> bool:
    found = call.rows(statements.IS_CANCELLED, {"execution": execution, "fence": fence})
    return not found or bool(found[0][0])


def finish(
    execution: str,
    fence: int,
    outcome: str,
    *,
    trigger: str,
    result: str | None = None,
    failure_type: str = "",
    error: str = "",
    delay_ms: int | None = None,
) -> Answer | None:
    """The owner's report: RUNNING → its end, or PENDING for the next attempt. None: no longer the owner.

    One round trip for a job: the same call frees the slot and picks what starts next in it. A database
    that is away is waited for as long as the lease could hold; after that nobody owns anything.
    """
    delay = timedelta(milliseconds=delay_ms) if delay_ms is not None else None
    values = (outcome, result, failure_type, clean(error), delay, settings.DURE_MAX_CRASHES)
    return _settled(
        trigger, execution, result, lambda: call.function("dure_finish", execution, fence, *values)
    )


def lose(execution: str, fence: int, *, trigger: str, expired: bool, error: str) -> Answer | None:
    """The end of a run whose worker died: its lease ran out, or its process was seen to go."""
    answer = _lost(execution, fence, trigger, expired, error, settings.DURE_MAX_CRASHES)
    if answer is not None and answer["failure_type"] == FailureType.POISON:
        counters.add(counters.POISON)
    return answer


def hand_back(execution: str, fence: int, *, trigger: str) -> Answer | None:
    """The end of a run whose worker has to stop before it: another starts it, and nothing is charged."""
    return _lost(execution, fence, trigger, False, "Its worker was stopped.", None)


def _lost(
    execution: str, fence: int, trigger: str, expired: bool, error: str, max_crashes: int | None
) -> Answer | None:
    values = (expired, clean(error), max_crashes)
    answer = _settled(trigger, execution, None, lambda: call.function("dure_lose", execution, fence, *values))
    if answer is not None and answer["state"] == ExecutionStatus.CANCELLED:
        # The body was killed before it could see to that itself.
        publish.control(STOPPED, execution)
    return answer


def overrun(execution: str, fence: int, *, trigger: str) -> Answer | None:
    """The end of a run that its worker killed at its hard limit: a timeout, retried as its policy says."""
    found = call.rows(statements.RETRY_POLICY, [execution, fence])
    if not found:
        return None
    task_id, strategy, base_ms, retry_count = found[0]
    known = registry.find(task_id)
    again = issubclass(SoftTimeLimitExceeded, known.autoretry_for)
    return finish(
        execution,
        fence,
        Outcome.TIMEOUT,
        trigger=trigger,
        failure_type=FailureType.TIMEOUT,
        error="Job execution timed out; it did not stop when it was told, and was killed.",
        delay_ms=known.delay_ms(strategy, base_ms, retry_count) if again else None,
    )


EndHandler = Callable[[str, str, Answer], None]
_end_handlers: dict[str, EndHandler] = {}


def on_end(trigger: str, handler: EndHandler) -> None:
    """Have `handler(execution, source, answer)` called in the transaction in which an Execution of this
    trigger ends, or an attempt of it: what belongs to its cause changes together with it, or not at all.

    The answer says `state` (the Execution's status now), `outcome`, `failure_type`, `error` and `result`.
    """
    _end_handlers[trigger] = handler


def _settled(
    trigger: str, execution: str, result: str | None, settle: Callable[[], Answer | None]
) -> Answer | None:
    handler = _end_handlers.get(trigger)

    def together() -> Answer | None:
        with transaction.atomic():
            found = settle()
            if found is not None and handler is not None:
                accepted = found["state"] == ExecutionStatus.SUCCESS and result is not None
                found["result"] = json.loads(result or "null") if accepted else None
                handler(execution, found["source"], found)
            after(found)
            return found

    if handler is not None:
        return call.surely(together)
    answer = call.surely(settle)
    after(answer)
    return answer


# --- release, process, wake: what makes a job ready, and sends it ---------------------------------


def release(job: str) -> int:
    """The last part of a job's join has come in: pending → ready, if PostgreSQL agrees."""
    answer = call.function("dure_release", [UUID(job)])
    after(answer)
    return int(answer["ready"])


def process(office: UUID | str, now: datetime | None = None) -> Answer:
    """Promote whatever is due or free in an office, and fill its free slots."""
    answer: Answer = call.function("dure_process", office, now)
    after(answer)
    return {"promoted": answer["promoted"], "dispatched": len(answer["send"])}


def wake(now: datetime | None = None, limit: int = 1_000) -> int:
    """Send what has become due: jobs at their `run_at` or their retry, and other Executions' retries."""
    woken = 0
    for (office,) in call.rows(statements.DUE_OFFICES, {"now": now, "limit": limit}):
        woken += process(office, now)["promoted"]
    due = call.rows(statements.SEND_DUE_EXECUTIONS, {"now": now, "limit": limit})
    after({"send": _sendable(due)})
    return woken + len(due)


# --- cancel, retry, reprioritise: what people decide ----------------------------------------------


def cancel(office: UUID, jobs: Sequence[UUID], *, actor: str, reason: str = "") -> Answer:
    """Cancel jobs, whatever they are doing. What runs is asked to stop, then killed after its grace."""
    with transaction.atomic():
        call.rows(statements.LOCK_OFFICE, [office])
        answer: Answer = call.function("dure_cancel", office, list(jobs), _by(actor, reason))
        after(answer)
    return {"cancelled": answer["cancelled"], "cancelling": answer["cancelling"]}


def cancel_execution(execution: UUID | str) -> str | None:
    """Cancel an Execution that no job owns; its status now, or None when it had ended."""
    with transaction.atomic():
        found = call.rows(statements.CANCEL_EXECUTION, [execution])
        if not found:
            return None
        status, worker, trigger, source = found[0]
        if status == ExecutionStatus.CANCELLED:
            handler = _end_handlers.get(trigger)
            if handler is not None:
                handler(
                    str(execution),
                    source,
                    {"state": status, "failure_type": FailureType.CANCELLED, "error": ""},
                )
        else:
            after({"signal": [[str(execution), worker, None, True]]})
    return str(status)


def retry(office: UUID, jobs: Sequence[UUID], *, actor: str, reason: str = "") -> int:
    """Run failed, cancelled or timed-out jobs again, each with a new Execution; how many there were."""
    with _one_job_per_key(), transaction.atomic():
        call.rows(statements.LOCK_OFFICE, [office])
        answer: Answer = call.function("dure_retry", office, list(jobs), _by(actor, reason))
        after(answer)
    return int(answer["retried"])


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
    wish = {"priority": priority, "urgent": urgent, "delta": delta}
    values = {**wish, "jobs": list(jobs), "office": office, "by": _by(actor, reason)}
    with transaction.atomic():
        call.rows(statements.LOCK_OFFICE, [office])
        return call.change(statements.SET_PRIORITY, values)


# --- rescue, resend, reseed: what sweeps put right ------------------------------------------------


def rescue(limit: int = 1_000) -> int:
    """Settle the runs whose lease ran out, each under the guard that it still has not been renewed."""
    lost = 0
    for execution, fence, worker, trigger in call.rows(statements.EXPIRED, [limit]):
        error = f"The worker {worker} stopped renewing its lease."
        if lose(str(execution), fence, trigger=trigger, expired=True, error=error) is not None:
            lost += 1
            log.warning("rescued %s from %s", execution, worker)
    return lost


def resend(*, everything: bool = False, limit: int = 5_000) -> int:
    """Publish again what was sent and never claimed; everything of it when Redis has lost its data."""
    values = {"all": everything, "after": settings.DURE_REPUBLISH_SECONDS, "limit": limit}
    stale = call.rows(statements.RESEND, values)
    after({"send": _sendable(stale)})
    return len(stale)


def reseed() -> int:
    """Tell Redis all joins that wait, at their full size, and all parts that have come in."""
    waiting = call.rows(statements.WAITING_JOINS)
    if waiting and joins.seed(waiting):
        joins.count(call.rows(statements.ENDED_PARTS))
    return len(waiting)


def owned(execution: str, dispatch: int, worker: str) -> tuple[int, str] | None:
    """The fence under which this worker runs this message, and its trigger."""
    found = call.rows(statements.FENCE_OF, [execution, dispatch, worker])
    return (int(found[0][0]), str(found[0][1])) if found else None


def _by(actor: str, reason: str) -> str:
    return call.as_json({key: text for key, text in (("actor", actor), ("reason", reason)) if text})


def _sendable(found: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
    return [[str(execution), *rest] for execution, *rest in found]


def clean(text: str) -> str:
    """An error as the database can keep it."""
    return text.replace("\x00", "\ufffd").encode(errors="replace").decode()[:20_000]
