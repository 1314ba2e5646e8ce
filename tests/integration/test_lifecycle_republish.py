"""republish sends unclaimed messages again, each time after twice the wait."""

import pytest

from jobs import lifecycle, publish
from jobs.effects import Effects
from jobs.models import Execution
from jobs.publish import Send
from jobs.sql import call
from tests.factories import a_job, a_start, an_office, claimed, fresh, running

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(monkeypatch):
    """Records what would be published."""
    sends: list[Send] = []
    monkeypatch.setattr(Effects, "on_commit", lambda effects: sends.extend(effects.send))
    return sends


def sent_ago(seconds: float) -> None:
    call.change("UPDATE job_executions SET sent_at = clock_timestamp() - %s * interval '1 second'", [seconds])


def test_a_message_that_was_just_sent_is_not_republished(sent):
    a_job(an_office())
    sent.clear()
    assert (lifecycle.republish(), sent) == (0, [])


def test_an_unclaimed_message_is_republished_with_the_same_dispatch(sent):
    job = a_job(an_office(), role="QA")
    sent.clear()
    sent_ago(11)
    assert lifecycle.republish() == 1
    assert sent == [Send(str(job.execution_id), 1, "QA", "demo.sum", publish.FAIR, 0)]
    assert fresh(job).execution.sent_count == 2
    assert lifecycle.republish() == 0


def test_urgent_jobs_and_lost_runs_are_republished_ahead_of_others(sent):
    office = an_office()
    lost, urgent = a_job(office), a_job(office, urgent=True)
    running(lost).lose()
    sent.clear()
    sent_ago(11)
    assert lifecycle.republish() == 2
    assert {send.execution: send.level for send in sent} == {
        str(lost.execution_id): 0,
        str(urgent.execution_id): 0,
    }


def republished_after(seconds: float) -> None:
    """Checks that the message is sent again after this wait, and not much earlier."""
    sent_ago(seconds - 100)
    assert lifecycle.republish() == 0
    sent_ago(seconds)
    assert lifecycle.republish() == 1


def test_the_wait_between_republishes_doubles(sent, settings):
    settings.DURE_REPUBLISH_SECONDS = 1_000.0
    a_job(an_office())
    for times in (1, 2, 4, 8, 16, 32, 32, 32):
        republished_after(times * 1_000)


def test_the_message_of_a_rescued_run_is_republished_by_each_of_the_next_sweeps(sent, settings):
    settings.DURE_REPUBLISH_SECONDS = 1_000.0
    job = a_job(an_office())
    running(job).lose()
    for seconds in (250, 500, 750, 1_000, 1_000):
        sent.clear()
        republished_after(seconds)
        assert [send.dispatch for send in sent] == [2]
    assert claimed(job, token="again") is not None


def test_all_unclaimed_messages_are_republished_when_redis_is_empty(sent):
    first, _ = a_job(an_office()), a_start()
    claimed(first)
    a_job(an_office())
    sent.clear()
    assert lifecycle.republish(everything=True) == 2
    assert len(sent) == 2


def test_a_run_that_is_due_later_is_not_republished(sent):
    from django.utils import timezone

    claimed(a_job(an_office())).fail(delay_ms=60_000)
    a_start(due_at=timezone.now())
    sent.clear()
    sent_ago(10_000)
    assert lifecycle.republish(everything=True) == 0


def test_a_pass_republishes_no_more_than_its_limit(sent):
    for _ in range(5):
        a_start()
    sent.clear()
    assert lifecycle.republish(everything=True, limit=3) == 3
    assert Execution.objects.filter(sent_count=2).count() == 3
