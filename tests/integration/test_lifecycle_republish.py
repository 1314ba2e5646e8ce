"""republish sends again what was sent and never claimed, each time after twice as long."""

import pytest

from jobs import lifecycle
from jobs.effects import Effects
from jobs.models import Execution
from jobs.publish import Send
from jobs.sql import call
from tests.factories import a_job, a_start, an_office, claimed, fresh

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(monkeypatch):
    """What would be published."""
    found: list[Send] = []
    monkeypatch.setattr(Effects, "on_commit", lambda effects: found.extend(effects.send))
    return found


def sent_ago(seconds: float) -> None:
    call.change("UPDATE job_executions SET sent_at = clock_timestamp() - %s * interval '1 second'", [seconds])


def test_what_was_sent_just_now_is_left_alone(sent):
    a_job(an_office())
    sent.clear()
    assert (lifecycle.republish(), sent) == (0, [])


def test_what_nobody_came_for_is_sent_again_with_the_same_dispatch(sent):
    job = a_job(an_office(), role="QA")
    sent.clear()
    sent_ago(11)
    assert lifecycle.republish() == 1
    assert sent == [Send(str(job.execution_id), 1, "QA", "demo.sum", 0, 0)]
    assert fresh(job).execution.sent_count == 2
    assert lifecycle.republish() == 0


def test_each_time_it_waits_twice_as_long(sent):
    a_job(an_office())
    waits = []
    for _ in range(8):
        for wait in range(0, 1_000, 5):
            sent_ago(wait)
            if lifecycle.republish():
                waits.append(wait)
                break
    assert waits == pytest.approx([10, 20, 40, 80, 160, 320, 320, 320], abs=5)


def test_with_redis_empty_everything_unclaimed_is_sent_at_once(sent):
    first, _ = a_job(an_office()), a_start()
    claimed(first)
    a_job(an_office())
    sent.clear()
    assert lifecycle.republish(everything=True) == 2
    assert len(sent) == 2


def test_what_waits_for_a_time_is_not_sent(sent):
    from django.utils import timezone

    claimed(a_job(an_office())).fail(delay_ms=60_000)
    a_start(due_at=timezone.now())
    sent.clear()
    sent_ago(10_000)
    assert lifecycle.republish(everything=True) == 0


def test_no_more_than_the_limit_are_sent_in_one_pass(sent):
    for _ in range(5):
        a_start()
    sent.clear()
    assert lifecycle.republish(everything=True, limit=3) == 3
    assert Execution.objects.filter(sent_count=2).count() == 3
