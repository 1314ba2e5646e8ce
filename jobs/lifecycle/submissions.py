"""submit, start_executions: what writes new jobs and Executions."""

import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

from django.db import DatabaseError, IntegrityError, InterfaceError, connection, transaction

from jobs import early_messages, joins, publish, submission
from jobs.effects import Effects
from jobs.errors import Conflict, Fenced
from jobs.ids import uuid7
from jobs.lifecycle.dispatch import FEW, send_rows, send_unsent
from jobs.models import Office
from jobs.publish import Send
from jobs.specs import ExecutionSpec
from jobs.sql import call, statements
from jobs.states import TRIGGERS_OF_JOBS
from jobs.submission import PreparedSubmission


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
        with unique_key_conflicts():
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
    execution = uuid7()
    values = (prepared.office, call.as_json(row), parents, execution)
    if connection.in_atomic_block:
        with transaction.atomic():  # the caller's transaction survives a refusal
            return Effects.read(call.function("dure_submit_one", *values, False))
    with early_messages.send(prepared.office, execution, row) as is_sent:
        answer = call.procedure("dure_submit_one_and_commit", *values, is_sent)
    early_messages.remember(prepared.office, idle=answer.get("idle", False))
    return Effects.read(answer)


def _write_all(prepared: PreparedSubmission, seeded: bool) -> Effects:
    with transaction.atomic():
        if any(job["unique_key"] for job in prepared.jobs):
            # The insertion waits for others that take the same key, and those hold this lock.
            call.rows(statements.LOCK_OFFICE, [prepared.office])
        is_new_batch = _insert(prepared)
        # The lock comes late: writing ten thousand rows must not block the office's other jobs. What
        # their dependencies did meanwhile is read after the lock.
        call.rows(statements.LOCK_OFFICE, [prepared.office])
        if prepared.batch is not None and not is_new_batch:
            call.change(statements.REOPEN_BATCH, [prepared.batch])
        answer = call.function("dure_submit", prepared.office, prepared.roots, prepared.joined)
        if not seeded:
            call.change(statements.ADD_UNSEEDED)
        return Effects.read(answer)


def _apply_if_written(jobs: list[UUID]) -> bool:
    """Whether these jobs were written. Then their messages are read again, since the answer is lost."""
    connection.close()
    rows = call.retry_while_down(lambda: call.rows(statements.FIND_SUBMITTED, [jobs]))
    if rows:
        # What can be read was committed, but perhaps before the disk was written.
        call.retry_while_down(call.flush)
    send_rows([row for row in rows if row[0] is not None])
    return bool(rows)


def _insert(prepared: PreparedSubmission) -> bool:
    """Write the jobs and edges; whether their batch is new."""
    is_new_batch = False
    if prepared.batch is not None:
        occasion = prepared.occasion
        text = None if occasion.input is None else call.as_json(occasion.input)
        values = [prepared.batch, prepared.office, prepared.batch_name, text, occasion.scheduled_for]
        is_new_batch = bool(call.change(statements.INSERT_BATCH, values))
    call.change(
        statements.INSERT_JOBS,
        {"office": prepared.office, "batch": prepared.batch, "jobs": call.as_json(prepared.rows())},
    )
    if prepared.edges:
        lines = io.StringIO("".join(f"{job}\t{parent}\t{place}\n" for job, parent, place in prepared.edges))
        with connection.cursor() as cursor:
            cursor.copy_expert(statements.COPY_EDGES, lines)
    return is_new_batch


def start_executions(specs: Sequence[ExecutionSpec]) -> None:
    """Executions that no job owns, in one statement: of schedules, manual runs, steps and exports."""
    if any(spec.trigger in TRIGGERS_OF_JOBS for spec in specs):
        raise ValueError("Executions of jobs are made by dispatch.")
    if not specs:
        return
    by_id = {str(spec.id): spec for spec in specs}
    many = len(specs) > FEW
    values = {"specs": call.as_json([spec.row() for spec in specs]), "many": many}
    with transaction.atomic(savepoint=False):
        rows = call.rows(statements.INSERT_EXECUTIONS, values)
        sends = [
            Send(execution, 1, by_id[execution].role, by_id[execution].task_id, publish.FAIR, 0)
            for execution, is_sent in rows
            if is_sent
        ]
        Effects(send=sends).on_commit()
        if many:
            send_unsent()


@contextmanager
def unique_key_conflicts() -> Iterator[None]:
    """Raise Conflict where the database refuses a second live job of a unique key."""
    try:
        yield
    except IntegrityError as error:
        if "one_live_job_per_unique_key" in str(error):
            raise Conflict("unique_key_taken") from None
        raise
