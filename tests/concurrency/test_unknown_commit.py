"""A COMMIT that raised may have succeeded: the result is read back and written once."""

import pytest
from django.db import DatabaseError, connection, transaction
from psycopg2.extensions import TRANSACTION_STATUS_IDLE

from jobs import lifecycle, submission
from jobs.answers import CancelResult
from jobs.errors import Conflict, Held
from jobs.models import Attempt, Execution, Job
from jobs.publish import Send
from jobs.sql import call
from jobs.states import ExecutionStatus, JobStatus
from tests.concurrency.cutting_proxy import proxied
from tests.concurrency.threads import in_thread
from tests.events import T, event_types
from tests.factories import (
    NEXT_CLAIM,
    Claimed,
    a_job,
    an_office,
    claimed,
    done,
    fresh,
    running,
    running_start,
    serve_roles,
    submitted,
    unserve_roles,
)
from tests.limited_tasks import packs, register

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("unsent")]


A_JOB = {"task_id": "demo.sum", "args": {"numbers": []}}


def cut(trigger, act):
    """Runs the function over a connection that is cut after the first request with these bytes."""

    def with_cut_connection():
        with proxied() as proxy:
            Execution.objects.exists()  # connected, before anything is cut
            proxy.cut_after(trigger)
            return act(), proxy.cuts

    answer, cuts = in_thread(with_cut_connection)
    assert cuts == 1, "nothing was cut"
    return answer


def test_a_claim_finds_its_own_token():
    job = a_job(an_office())
    run = cut(b"dure_claim", lambda: claimed(job, token="mine"))
    assert run is not None
    execution = fresh(job).execution
    assert (execution.status, execution.fence, execution.attempt) == (ExecutionStatus.RUNNING, run.fence, 1)
    assert event_types(job).count(T.JOB_STARTED) == 1
    assert run.finish() is not None


def test_a_finish_that_was_accepted_is_not_written_again():
    first, second = submitted(an_office(max_concurrent_jobs=1), {}, {})
    run = claimed(first)
    assert cut(b"dure_finish", lambda: run.finish(result='"mine"')) is None
    job = fresh(first)
    assert (job.status, job.execution.result) == (JobStatus.DONE, "mine")
    assert Attempt.objects.filter(execution=job.execution).count() == 1
    assert event_types(first).count(T.JOB_COMPLETED) == 1
    # Its messages are lost with the answer; the sweep sends the next job of the slot.
    assert fresh(second).status == JobStatus.PROCESSING


def test_a_finish_in_a_transaction_with_its_handler_is_not_written_again(monkeypatch):
    settlements = []
    monkeypatch.setitem(lifecycle.end_handlers, "MANUAL", settlements.append)
    run = running_start()
    assert cut(b"COMMIT", run.finish) is None
    assert Execution.objects.get(id=run.execution).status == ExecutionStatus.SUCCESS
    assert len(settlements) == 1


@pytest.mark.parametrize(
    ("bytes_of_the_commit", "in_a_batch"), [(b"dure_submit_one", False), (b"COMMIT", True)]
)
def test_a_submission_that_was_accepted_answers_its_jobs(monkeypatch, bytes_of_the_commit, in_a_batch):
    sent = []

    def send(sends):
        sent.extend(sends)
        return True

    monkeypatch.setattr("jobs.publish.send_messages", send)
    office = an_office()
    prepared = submission.read(office, {"jobs": [A_JOB]} if in_a_batch else A_JOB)
    (job,) = cut(bytes_of_the_commit, lambda: lifecycle.submit(prepared))
    assert Job.objects.get().id == job
    assert fresh(Job.objects.get()).status == JobStatus.PROCESSING
    assert set(sent) == {Send(str(Job.objects.get().execution_id), 1, "default", "demo.sum", 0, 0)}, (
        "its message goes out although its answer was lost"
    )


def test_a_finish_whose_answer_was_lost_goes_on_with_the_run_that_it_has_claimed():
    first, second = submitted(an_office(max_concurrent_jobs=1), {}, {})
    run = claimed(first)
    settlement = cut(b"dure_finish", lambda: run.finish(next_claim=NEXT_CLAIM))
    assert settlement.state == ExecutionStatus.SUCCESS
    _, claim = settlement.next_run
    assert claim.execution_id == str(fresh(second).execution_id)
    assert Claimed(claim).finish() is not None
    assert event_types(second).count(T.JOB_STARTED) == 1


def test_a_submission_that_was_not_accepted_says_so():
    office = an_office()
    prepared = submission.read(office, {"jobs": [A_JOB]})
    with pytest.raises(DatabaseError):
        cut(b"dure_submit", lambda: lifecycle.submit(prepared))
    assert not Job.objects.exists()


def test_a_cancel_may_be_repeated():
    job = a_job(an_office())
    with pytest.raises(DatabaseError):
        cut(b"COMMIT", lambda: lifecycle.cancel(job.office_id, [job.id], actor="me"))
    assert lifecycle.cancel(job.office_id, [job.id], actor="me") == CancelResult(0, 0)
    assert event_types(job).count(T.JOB_CANCELLED) == 1


@pytest.fixture
def position():
    """The position in the WAL at which an Execution was changed last."""
    call.change("CREATE TABLE positions (position pg_lsn)")
    call.change(
        "CREATE FUNCTION note_position() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "INSERT INTO positions VALUES (pg_current_wal_insert_lsn()); RETURN NULL; END $$"
    )
    call.change(
        "CREATE TRIGGER note_position AFTER INSERT OR UPDATE ON job_executions FOR EACH ROW "
        "EXECUTE FUNCTION note_position()"
    )
    yield "(SELECT max(position) FROM positions)"
    call.change("DROP FUNCTION note_position() CASCADE")
    call.change("DROP TABLE positions")


def test_the_answer_to_the_end_of_a_run_waits_for_the_disk(position):
    office = an_office()
    for _ in range(20):
        claimed(a_job(office)).finish()
        assert call.rows(f"SELECT pg_current_wal_flush_lsn() >= {position}") == [(True,)]


def limited():
    """A claim that the limit of its Task holds."""
    register(rate_limit="1/m")
    office = an_office(max_concurrent_jobs=1)
    (first,), (job,) = packs(an_office(name="another")), packs(office)
    running(first)
    (other,) = submitted(office, {})
    return lambda: running(job), other


def join():
    """A claim of a join whose office has one slot, for which a more urgent job has just got its worker."""
    office = an_office(max_concurrent_jobs=1)
    *parts, job = submitted(office, {"ref": "a"}, {"ref": "b"}, {"depends_on": ["a", "b"]})
    for part in parts:
        done(part)
    unserve_roles("QA")
    other = a_job(office, role="QA", urgent=True)
    serve_roles("QA")
    return lambda: lifecycle.claim_join(str(job.id), token="t", worker="w@test"), other


@pytest.mark.parametrize("held", [limited, join])
def test_a_claim_that_sends_another_job_instead_waits_for_the_disk(held):
    claim, other = held()
    with transaction.atomic():
        with pytest.raises(Held):
            claim()
        assert fresh(other).status == JobStatus.PROCESSING
        assert call.rows("SELECT current_setting('synchronous_commit')") == [("on",)]


@pytest.mark.parametrize("has_dependency", [True, False])
def test_the_message_of_a_single_job_follows_the_disk(monkeypatch, position, has_dependency):
    on_the_disk = []

    def send(sends):
        on_the_disk.extend(call.rows(f"SELECT pg_current_wal_flush_lsn() >= {position}"))
        return True

    office = an_office(max_concurrent_jobs=9)
    parents = [done(a_job(office)) for _ in range(5)]
    monkeypatch.setattr("jobs.publish.send_messages", send)
    for parent in parents:
        depends_on = [str(parent.id)] if has_dependency else []
        lifecycle.submit(submission.read(office, {**A_JOB, "depends_on": depends_on}))
    assert on_the_disk == [(True,)] * 5


def test_a_submission_whose_answer_was_lost_is_on_the_disk_before_it_is_sent(monkeypatch, position):
    on_the_disk = []

    def send(sends):
        on_the_disk.extend(call.rows(f"SELECT pg_current_wal_flush_lsn() >= {position}"))
        return True

    monkeypatch.setattr("jobs.publish.send_messages", send)
    office = an_office(max_concurrent_jobs=9)
    for _ in range(5):
        cut(b"dure_submit_one", lambda: lifecycle.submit(submission.read(office, A_JOB)))
    assert on_the_disk == [(True,)] * 5


def test_a_refused_submission_leaves_no_transaction_open():
    office = an_office()
    prepared = [submission.read(office, {**A_JOB, "unique_key": "one"}) for _ in range(2)]
    lifecycle.submit(prepared[0])
    with pytest.raises(Conflict):
        lifecycle.submit(prepared[1])
    assert connection.connection.info.transaction_status == TRANSACTION_STATUS_IDLE
    assert Job.objects.count() == 1
