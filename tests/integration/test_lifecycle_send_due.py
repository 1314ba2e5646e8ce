"""send_due sends due runs, from the rows alone."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from jobs import lifecycle
from jobs.effects import Effects
from jobs.models import Execution
from jobs.states import ExecutionStatus, JobStatus, Outcome
from tests.events import T, event_types
from tests.factories import a_job, a_start, an_office, claimed, fresh, submitted

pytestmark = pytest.mark.django_db


def test_a_retry_is_sent_when_its_time_has_come_with_the_same_execution():
    job = a_job(an_office())
    claimed(job).fail(delay_ms=60_000)
    waiting = fresh(job)
    just_before: Any = waiting.retry_at - timedelta(microseconds=1)
    assert lifecycle.send_due(just_before) == 0
    assert lifecycle.send_due(waiting.retry_at) == 1
    job = fresh(job)
    assert (job.status, job.retry_at, job.due_at) == (JobStatus.PROCESSING, None, None)
    assert job.execution_id == waiting.execution_id
    assert (job.execution.status, job.execution.dispatch) == (ExecutionStatus.PENDING, 2)
    assert event_types(job)[-2:] == [T.JOB_RETRYING, T.JOB_READY]
    assert claimed(job, token="again").claim.attempt == 2


def test_the_message_of_a_retry_carries_its_number(monkeypatch):
    answers = []
    job = a_job(an_office())
    claimed(job).fail(delay_ms=60_000)
    monkeypatch.setattr(Effects, "on_commit", lambda effects: answers.append(effects))
    lifecycle.send_due(fresh(job).retry_at)
    (send,) = [send for effects in answers for send in effects.send]
    assert (send.dispatch, send.retries) == (2, 1)


def test_a_retry_waits_for_a_slot():
    office = an_office(max_concurrent_jobs=1)
    first, second = submitted(office, {}, {})
    claimed(first).fail(delay_ms=60_000)
    assert lifecycle.send_due(fresh(first).retry_at) == 1
    assert (fresh(first).status, fresh(second).status) == (JobStatus.READY, JobStatus.PROCESSING)
    claimed(second).finish()
    assert fresh(first).status == JobStatus.PROCESSING


def test_every_office_with_a_due_job_is_advanced_and_no_other():
    at = timezone.now() + timedelta(hours=1)
    due = [a_job(an_office(), run_at=at.isoformat()) for _ in range(3)]
    later = a_job(an_office(), run_at=(at + timedelta(hours=1)).isoformat())
    assert lifecycle.send_due(at) == 3
    assert {fresh(job).status for job in due} == {JobStatus.PROCESSING}
    assert fresh(later).status == JobStatus.PENDING


def test_a_blocked_job_that_is_due_is_not_found_again_and_again():
    at = timezone.now() + timedelta(hours=1)
    office = an_office()
    submitted(office, {"ref": "a"}, {"depends_on": ["a"], "run_at": at.isoformat()})
    assert lifecycle.send_due(at) == 0
    from jobs.sql import call, statements

    assert call.rows(statements.DUE_OFFICES, {"now": at, "limit": 10}) == []


def test_a_timed_out_job_is_sent_when_it_is_due():
    job = a_job(an_office())
    claimed(job).finish(Outcome.TIMEOUT, failure_type="timeout", delay_ms=5_000)
    assert lifecycle.send_due(fresh(job).retry_at) == 1
    assert fresh(job).status == JobStatus.PROCESSING


def test_executions_that_no_job_owns_are_sent_once():
    now = timezone.now()
    execution = a_start(due_at=now)
    later = a_start(due_at=now + timedelta(seconds=1))
    assert [lifecycle.send_due(now), lifecycle.send_due(now)] == [1, 0]
    sent = Execution.objects.get(id=execution)
    assert (sent.dispatch, sent.due_at, sent.sent_count) == (2, None, 1)
    assert Execution.objects.get(id=later).dispatched_at is None
