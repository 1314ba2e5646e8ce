"""The database refuses invalid rows: each constraint is violated once."""

import pytest
from django.db import IntegrityError, transaction

from jobs import lifecycle
from jobs.models import Execution, Job
from jobs.sql import call
from jobs.states import EXECUTION_ENDED, JOB_ENDED, ExecutionStatus, JobStatus
from tests.factories import a_job, a_start, a_user, an_office, claimed, done, submitted

pytestmark = pytest.mark.django_db


def refused(constraint: str, statement: str, *args: object) -> None:
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        call.change(statement, list(args))


def running():
    run = claimed(a_job(an_office()))
    assert run is not None
    return run.execution


def failed():
    job = a_job(an_office())
    claimed(job).fail()
    return job


@pytest.mark.parametrize(
    "broken",
    [
        "locked_until = NULL",
        "finished_at = now()",
        "status = 'SUCCESS', locked_until = NULL",
        "status = 'PENDING'",
        "job_id = NULL",
        "trigger = 'MANUAL'",
    ],
)
def test_an_execution_is_whole(broken):
    execution = running()
    refused("execution_is_whole", f"UPDATE job_executions SET {broken} WHERE id = %s", execution)


def test_an_execution_that_no_job_owns_has_no_jobs_trigger():
    refused("execution_is_whole", "UPDATE job_executions SET trigger = 'JOB' WHERE id = %s", a_start())


@pytest.mark.parametrize(
    "broken",
    [
        "status = 'done'",
        "status = 'failed'",
        "status = 'cancelled'",
        "completed_at = now()",
        "execution_id = NULL",
    ],
)
def test_a_job_is_whole(broken):
    refused("job_is_whole", f"UPDATE job_queue SET {broken} WHERE id = %s", a_job(an_office()).id)


@pytest.mark.parametrize("ended", EXECUTION_ENDED)
def test_the_end_of_an_execution_is_final(ended):
    job = a_job(an_office())
    if ended == "CANCELLED":
        lifecycle.cancel(job.office_id, [job.id], actor="me")
    else:
        claimed(job).finish() if ended == "SUCCESS" else claimed(job).fail()
    for status in set(ExecutionStatus) - {ended}:
        locked = "now()" if status == "RUNNING" else "NULL"
        over = "now()" if status in EXECUTION_ENDED else "NULL"
        refused(
            "execution_ends_are_final|has ended as",
            f"UPDATE job_executions SET status = %s, locked_until = {locked}, finished_at = {over} "
            "WHERE job_id = %s",
            status,
            job.id,
        )


def test_the_status_done_is_final():
    job = done(a_job(an_office()))
    for status in set(JobStatus) - {JobStatus.DONE}:
        over = "now()" if status in JOB_ENDED else "NULL"
        refused(
            "job_done_is_final|has ended as",
            f"UPDATE job_queue SET status = %s, completed_at = {over} WHERE id = %s",
            status,
            job.id,
        )


def test_an_ended_execution_may_change_in_other_columns():
    """Only the state is final: other columns may be written later."""
    job = done(a_job(an_office()))
    assert call.change("UPDATE job_executions SET session_id = 'x' WHERE job_id = %s", [job.id]) == 1
    assert call.change("UPDATE job_queue SET ref = 'x' WHERE id = %s", [job.id]) == 1


COPY = """
    INSERT INTO job_executions
    SELECT (jsonb_populate_record(e, jsonb_build_object('id', gen_random_uuid()))).*
    FROM job_executions e WHERE job_id = %s
"""


def test_a_job_has_one_live_execution():
    refused("one_live_execution_per_job", COPY, a_job(an_office()).id)


def test_a_job_may_have_ended_executions_too():
    job = failed()
    lifecycle.retry(job.office_id, [job.id], actor="me")
    assert Execution.objects.filter(job=job).count() == 2


def test_a_unique_key_has_one_live_job():
    office = an_office()
    first, second = submitted(office, {"unique_key": "a"}, {"unique_key": "b"})
    refused("one_live_job_per_unique_key", "UPDATE job_queue SET unique_key = 'a' WHERE id = %s", second.id)
    done(first)
    assert call.change("UPDATE job_queue SET unique_key = 'a' WHERE id = %s", [second.id]) == 1


def test_a_job_does_not_depend_on_itself():
    job = a_job(an_office())
    refused(
        "no_self_dependency",
        "INSERT INTO job_dependencies (job_id, parent_id, position) VALUES (%s, %s, 0)",
        job.id,
        job.id,
    )


def test_an_edge_is_unique():
    first, second = submitted(an_office(), {"ref": "a"}, {"depends_on": ["a"]})
    refused(
        "job_dependencies",
        "INSERT INTO job_dependencies (job_id, parent_id, position) VALUES (%s, %s, 1)",
        second.id,
        first.id,
    )


def test_a_user_has_one_membership_in_an_office():
    office = an_office(a_user())
    refused(
        "one_membership_per_user",
        "INSERT INTO office_members (office_id, user_id, role) SELECT office_id, user_id, 'viewer' "
        "FROM office_members WHERE office_id = %s",
        office.id,
    )


def test_every_named_invariant_is_in_the_database():
    """Finds a migration that drops a constraint."""
    present = {name for (name,) in call.rows("SELECT conname FROM pg_constraint")}
    present |= {name for (name,) in call.rows("SELECT indexname FROM pg_indexes WHERE schemaname = 'public'")}
    present |= {name for (name,) in call.rows("SELECT tgname FROM pg_trigger")}
    named = {constraint.name for model in (Job, Execution) for constraint in model._meta.constraints}
    named |= {"no_self_dependency", "execution_ends_are_final", "job_done_is_final"}
    assert named <= present
