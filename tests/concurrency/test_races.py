"""Two concurrent operations on a row: one wins, the other reports it, and the end is valid either way."""

import threading
import time
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction

from jobs import lifecycle
from jobs.answers import CancelResult
from jobs.effects import mark_unsent
from jobs.errors import Conflict
from jobs.ids import uuid7
from jobs.models import Attempt, Batch, Execution
from jobs.publish import Send
from jobs.sql import call, statements
from jobs.states import ExecutionStatus, JobStatus
from tests.concurrency.threads import PATIENCE, all_at_once, race, start_thread, wait_until_blocked
from tests.events import T, event_types
from tests.factories import a_job, an_office, claimed, done, fresh, released, submitted
from tests.workers import eventually

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("unsent")]

ROUNDS = 12


def cancel(job: Any) -> CancelResult:
    return lifecycle.cancel(job.office_id, [job.id], actor="me")


def retry(job: Any, _: int = 0) -> int:
    return lifecycle.retry(job.office_id, [job.id], actor="me").count


def claim_as(job: Any, number: int) -> Any:
    return claimed(job, worker=f"w{number}", token=str(number))


def finish_with(run: Any, number: int) -> Any:
    return run.finish(result=str(number))


def finish_one(runs: list[Any], number: int) -> Any:
    return runs[number].finish()


def release(job: Any, number: int) -> Any:
    return released(job, token=str(number))


def renew(run: Any) -> Any:
    return call.rows(statements.RENEW, ["w@test", [run.execution], [1], "30 s", "10 s"])


def waiting_for_locks():
    """The number of sessions of this database that wait for a lock."""
    # A transaction would repeat the first result.
    call.rows("SELECT pg_stat_clear_snapshot()")
    ((waiting,),) = call.rows(
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND backend_type = 'client backend' "
        "AND wait_event_type = 'Lock'"
    )
    return waiting


def test_concurrent_claims_have_one_winner():
    office = an_office(max_concurrent_jobs=ROUNDS)
    for job in submitted(office, *[{}] * ROUNDS):
        won = all_at_once(partial(claim_as, job), 6)
        assert sum(run is not None for run in won) == 1
        assert event_types(job).count(T.JOB_STARTED) == 1


def test_a_cancel_and_a_finish_leave_one_end():
    office = an_office(max_concurrent_jobs=ROUNDS)
    ends = set()
    for job in submitted(office, *[{}] * ROUNDS):
        run = claimed(job)
        race(run.finish, partial(cancel, job))
        job = fresh(job)
        ends.add(job.status)
        assert (job.status, job.execution.status) in (("done", "SUCCESS"), ("cancelled", "CANCELLED"))
        assert sum(kind in (T.JOB_COMPLETED, T.JOB_CANCELLED) for kind in event_types(job)) == 1
        assert Attempt.objects.filter(execution=job.execution).count() == 1
    assert ends


def test_a_cancel_and_a_claim_leave_a_job_cancelled_or_asked_to_stop():
    office = an_office(max_concurrent_jobs=ROUNDS)
    for job in submitted(office, *[{}] * ROUNDS):
        run, answer = race(partial(claimed, job), partial(cancel, job))
        job = fresh(job)
        if run is None:
            assert (job.status, answer.cancelled) == (JobStatus.CANCELLED, 1)
        else:
            assert (job.status, answer.cancelling) == (JobStatus.PROCESSING, 1)
            assert job.execution.cancel_requested_at is not None
            run.finish()
            assert fresh(job).status == JobStatus.CANCELLED


def test_a_retry_and_a_cancel_leave_a_job_with_at_most_one_live_run():
    office = an_office(max_concurrent_jobs=ROUNDS)
    for job in submitted(office, *[{}] * ROUNDS):
        claimed(job).fail()
        race(partial(retry, job), partial(cancel, job))
        job = fresh(job)
        live = Execution.objects.filter(job=job, status__in=("PENDING", "RUNNING")).count()
        assert (job.status, live) in ((JobStatus.CANCELLED, 0), (JobStatus.PROCESSING, 1))


def test_concurrent_retries_make_one_new_run():
    office = an_office(max_concurrent_jobs=ROUNDS)
    for job in submitted(office, *[{}] * 4):
        claimed(job).fail()
        assert sum(all_at_once(partial(retry, job), 4)) == 1
        assert Execution.objects.filter(job=job).count() == 2


def test_finishes_of_the_same_run_are_accepted_once():
    office = an_office(max_concurrent_jobs=ROUNDS)
    for job in submitted(office, *[{}] * ROUNDS):
        run = claimed(job)
        answers = all_at_once(partial(finish_with, run), 4)
        accepted = [number for number, answer in enumerate(answers) if answer is not None]
        assert len(accepted) == 1
        assert fresh(job).execution.result == accepted[0]


def test_the_two_last_dependencies_of_a_join_release_it_once():
    for _ in range(ROUNDS):
        office = an_office()
        first, second, last = submitted(office, {"ref": "a"}, {"ref": "b"}, {"depends_on": ["a", "b"]})
        runs = [claimed(first), claimed(second)]
        all_at_once(partial(finish_one, runs), 2)
        all_at_once(partial(release, last), 3)
        assert event_types(last) == [T.JOB_READY, T.JOB_STARTED]
        assert fresh(last).status == JobStatus.PROCESSING


def test_a_job_submitted_while_its_dependency_ends_is_not_forgotten():
    for _ in range(ROUNDS):
        office = an_office(max_concurrent_jobs=5)
        parent = a_job(office)
        run = claimed(parent)
        _, (child,) = race(run.finish, partial(submitted, office, {"depends_on": [str(parent.id)]}))
        assert fresh(child).status == JobStatus.PROCESSING
        assert event_types(child) == [T.JOB_READY]


def test_a_job_submitted_while_its_dependency_fails_follows_its_policy():
    for _ in range(ROUNDS):
        office = an_office(max_concurrent_jobs=5)
        parent = a_job(office)
        run = claimed(parent)
        after = {"depends_on": [str(parent.id)], "on_dependency_failure": "fail"}
        _, (child,) = race(run.fail, partial(submitted, office, after))
        assert fresh(child).status == JobStatus.FAILED


def test_two_submissions_with_one_unique_key_wait_for_each_other_in_one_order():
    office = an_office()
    with transaction.atomic():
        call.rows(statements.LOCK_OFFICE, [office.id])
        several = start_thread(partial(submitted, office, {"unique_key": "key"}, {}))
        wait_until_blocked(several)
        submitted(office, {"unique_key": "key"})
    with pytest.raises(Conflict):
        several.result(PATIENCE)


def test_a_batch_that_ends_while_jobs_are_added_stays_open():
    office, batch = an_office(), uuid7()
    (job,) = submitted(office, {}, id=str(batch))
    run = claimed(job)
    with transaction.atomic():
        call.rows(statements.LOCK_OFFICE, [office.id])
        adding = start_thread(partial(submitted, office, {}, {}, id=str(batch)))
        wait_until_blocked(adding)
        run.finish()
    assert len(adding.result(PATIENCE)) == 2
    assert Batch.objects.get(pk=batch).ended_at is None


def test_messages_that_went_nowhere_are_marked_without_waiting():
    locked, marked = submitted(an_office(), {}, {})
    sends = [Send(str(job.execution_id), 1, "default", job.task_id, 0, 0) for job in (locked, marked)]
    with transaction.atomic():
        call.rows("SELECT 1 FROM job_executions WHERE id = %s FOR UPDATE", [locked.execution_id])
        start_thread(partial(mark_unsent, sends)).result(PATIENCE)
    assert [fresh(job).execution.sent_count for job in (locked, marked)] == [1, 0]


def test_a_renewal_that_waited_for_a_lock_does_not_revive_a_dead_lease():
    run = claimed(a_job(an_office()))
    call.change(
        "UPDATE job_executions SET locked_until = clock_timestamp() + interval '0.6 s' WHERE id = %s",
        [run.execution],
    )
    with transaction.atomic():
        call.rows("SELECT 1 FROM job_executions WHERE id = %s FOR UPDATE", [run.execution])
        renewing = start_thread(partial(renew, run))
        eventually(waiting_for_locks, what="the renewal to wait")
        eventually(lambda: lease_is_over(run.execution), what="the end of the lease")
    ((_, _, verdict),) = renewing.result(PATIENCE)
    assert verdict == "over"
    assert lease_is_over(run.execution)


def lease_is_over(execution):
    ((over,),) = call.rows(
        "SELECT locked_until < clock_timestamp() FROM job_executions WHERE id = %s", [execution]
    )
    return over


def test_a_finish_that_waited_past_its_lease_is_refused():
    job = a_job(an_office())
    run = claimed(job)
    call.change(
        "UPDATE job_executions SET locked_until = clock_timestamp() + interval '0.6 s' WHERE id = %s",
        [run.execution],
    )
    with transaction.atomic():
        call.rows(statements.LOCK_OFFICE, [job.office_id])
        finishing = start_thread(run.finish)
        eventually(waiting_for_locks, what="the finish to wait")
        eventually(lambda: lease_is_over(run.execution), what="the end of the lease")
    assert finishing.result(PATIENCE) is None
    assert fresh(job).execution.status == ExecutionStatus.RUNNING


def test_a_renewal_and_a_rescue_leave_a_run_with_its_owner_or_without_one():
    for _ in range(ROUNDS):
        job = a_job(an_office())
        run = claimed(job)
        call.change(
            "UPDATE job_executions SET locked_until = clock_timestamp() + interval '3 ms' WHERE id = %s",
            [run.execution],
        )
        rows, rescued = race(partial(renew, run), lifecycle.rescue)
        execution = fresh(job).execution
        kept = rows[0][2] == "kept"
        assert not (kept and rescued)
        if kept:
            assert (execution.status, execution.fence) == (ExecutionStatus.RUNNING, run.fence)
            assert run.finish() is not None
        else:
            eventually(lambda job=job: lifecycle.rescue() or fresh(job).execution.dispatch == 2)
            assert run.finish() is None


def test_concurrent_rescues_settle_a_lost_run_once():
    office = an_office(max_concurrent_jobs=ROUNDS)
    jobs = submitted(office, *[{}] * ROUNDS)
    for job in jobs:
        claimed(job, token=str(job.id))
    call.change("UPDATE job_executions SET locked_until = now() - interval '1 s'")
    assert sum(all_at_once(lambda _: lifecycle.rescue(), 4)) == ROUNDS
    assert {fresh(job).execution.crash_count for job in jobs} == {1}


def test_concurrent_republishes_send_each_message_once():
    office = an_office(max_concurrent_jobs=20)
    submitted(office, *[{}] * 20)
    call.change("UPDATE job_executions SET sent_at = now() - interval '1 hour'")
    assert sum(all_at_once(lambda _: lifecycle.republish(), 4)) == 20


def test_concurrent_operations_do_not_deadlock():
    """All operations lock the office first. Another order anywhere would deadlock here."""
    office = an_office(max_concurrent_jobs=4)
    jobs = submitted(
        office,
        *[{"ref": str(n), "depends_on": [str(n - 1)] if n % 4 else [], "max_retries": 9} for n in range(40)],
    )
    over = threading.Event()
    errors = []

    def repeat(act):
        until = time.monotonic() + 1.5
        while time.monotonic() < until and not over.is_set():
            try:
                act()
            except Exception as error:
                errors.append(error)
                over.set()

    def run_one():
        for execution in Execution.objects.filter(status="PENDING", office_id=office.id)[:2]:
            row = lifecycle.claim(
                str(execution.id), execution.dispatch, token=str(time.monotonic_ns()), worker="w"
            )
            if row is not None:
                lifecycle.finish(
                    str(execution.id), row.fence, "failure", trigger="JOB", failure_type="error", delay_ms=0
                )

    acts = (
        run_one,
        run_one,
        lambda: lifecycle.send_due(),
        lambda: cancel(jobs[7]) and retry(jobs[7]),
        lambda: lifecycle.cancel(office.id, [job.id for job in reversed(jobs[20:])], actor="me"),
        lambda: lifecycle.retry(office.id, [job.id for job in jobs], actor="me"),
        lambda: lifecycle.reprioritise(office.id, [job.id for job in reversed(jobs)], delta=1),
        lambda: call.rows(
            statements.RENEW, ["w", [str(e) for e in executions(office)], [1] * 50, "30 s", "10 s"]
        ),
    )
    all_at_once(lambda number: repeat(acts[number]), len(acts))
    assert errors == []


def executions(office):
    ids = list(
        Execution.objects.filter(office_id=office.id).order_by("-id").values_list("id", flat=True)[:50]
    )
    return ids + [ids[-1]] * (50 - len(ids))


def test_an_office_is_not_blocked_by_another():
    slow, quick = an_office(), an_office()
    job = a_job(quick)
    with transaction.atomic():
        call.rows(statements.LOCK_OFFICE, [slow.id])
        assert start_thread(lambda: done(job).status).result(PATIENCE) == JobStatus.DONE
    assert not connection.in_atomic_block
