"""The tables of the engine have defaults: what a client inserts by plain SQL is picked up."""

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from jobs import lifecycle, sweeps
from jobs.ids import uuid7
from jobs.models import Attempt, Execution, Job
from jobs.sql import call
from jobs.states import ExecutionStatus, JobStatus
from tests.factories import an_office, claimed_start, done, fresh, running

pytestmark = pytest.mark.django_db

INSERT_JOB = "INSERT INTO job_queue (office_id, task_id, args) VALUES (%s, 'demo.sum', %s) RETURNING id"


def insert_job(office):
    ((job,),) = call.rows(INSERT_JOB, [office.id, '{"numbers": [1, 2]}'])
    return Job.objects.get(pk=job)


def test_a_plain_insert_of_an_office_and_a_task_is_a_job_that_runs():
    job = insert_job(an_office())
    assert (job.status, job.priority, job.retry_count, job.timeout_ms) == ("pending", 100, 0, 1_800_000)
    sweeps.sweep_once()
    assert fresh(job).status == JobStatus.PROCESSING
    assert done(job).status == JobStatus.DONE


def test_a_plain_insert_of_a_task_is_a_manual_run():
    ((execution,),) = call.rows("INSERT INTO job_executions (task_id) VALUES ('demo.noop') RETURNING id")
    row = Execution.objects.get(pk=execution)
    assert (row.status, row.trigger, row.attempt) == (ExecutionStatus.PENDING, "MANUAL", 0)
    lifecycle.send_due(timezone.now())
    row.refresh_from_db()
    assert claimed_start(row.id, row.dispatch).claim.attempt == 1


def test_the_database_deletes_the_executions_of_a_deleted_job():
    job = insert_job(an_office())
    sweeps.sweep_once()
    running(job)
    call.change("DELETE FROM job_queue WHERE id = %s", [job.pk])
    assert not Execution.objects.exists()
    assert not Attempt.objects.exists()


def test_a_view_has_a_row_for_each_attempt_with_the_columns_of_the_v1_contract():
    job = insert_job(an_office())
    sweeps.sweep_once()
    running(job).fail(error="No space left.", delay_ms=0)
    sweeps.sweep_once(timezone.now())
    run = running(job)
    columns = "job_id, attempt, started_at, timeout_at, completed_at, session_id, status, error_message"
    statement = f"SELECT {columns}, created_at, id FROM v1_job_executions WHERE job_id = %s ORDER BY attempt"

    def rows():
        return [(row[1], row[6], row[7], row[4] is not None) for row in call.rows(statement, [job.id])]

    assert rows() == [(1, "failed", "No space left.", True), (2, "running", None, False)]
    first = call.rows(statement, [job.id])[0]
    assert (first[0], str(first[9])) == (job.id, str(run.execution))
    assert (first[3] - first[2]).total_seconds() == 1800
    run.finish()
    assert rows()[1:] == [(2, "completed", None, True)]


def test_the_database_refuses_an_execution_of_an_unknown_job():
    statement = "INSERT INTO job_executions (task_id, trigger, job_id) VALUES ('demo.sum', 'JOB', %s)"
    with pytest.raises(IntegrityError), transaction.atomic():
        call.change(statement, [uuid7()])
