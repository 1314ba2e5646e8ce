"""What the end of a run without an office passes by, and for how long messages may wait beside it."""

import dataclasses
import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from jobs import lifecycle, queues
from jobs.answers import NextClaim
from jobs.models import Execution, PausedRole
from jobs.sql import call
from scheduler.beat_pass import next_due
from tests.concurrency.threads import start_thread, wait_until_blocked
from tests.factories import NEXT_CLAIM, Claimed, a_job, a_start, an_office, running_start, serve_roles
from tests.messages import record_messages

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE = 60
BOTH_ROLES = dataclasses.replace(NEXT_CLAIM, roles=["default", "QA"])


@pytest.fixture(autouse=True)
def sent(monkeypatch):
    serve_roles()
    return record_messages(monkeypatch)


def changed(execution: Any, **values: Any) -> str:
    Execution.objects.filter(pk=execution).update(**values)
    return str(execution)


def unsent(seconds: float = 0, **fields: Any) -> str:
    """A run that has waited so long without a message."""
    return changed(a_start(**fields), sent_count=0, sent_at=timezone.now() - timedelta(seconds=seconds))


def brought(run: Claimed, next_claim: NextClaim = BOTH_ROLES) -> str | None:
    """The run that the end of this one has claimed for its process."""
    next_run = run.finish(next_claim=next_claim).next_run
    return next_run and next_run[1].execution_id


def start_next(at: Any = None) -> tuple[list[str], Any]:
    """What an end sends, and what it claims."""
    ((sends, claim),) = call.rows(
        "SELECT sends, claim FROM dure_start_next('default', %s, coalesce(%s, clock_timestamp()))",
        [call.as_json(BOTH_ROLES.values()), at],
    )
    return [send[0] for send in json.loads(sends)], claim and json.loads(claim)


def one_with_a_message() -> str:
    return changed(unsent(), sent_count=1, sent_at=timezone.now() + timedelta(hours=1))


def one_for_later() -> str:
    return changed(unsent(5), dispatched_at=None, due_at=timezone.now() + timedelta(hours=1))


def one_that_runs() -> str:
    return changed(running_start().execution, sent_count=0, sent_at=timezone.now() - timedelta(seconds=5))


def one_that_has_ended() -> str:
    run = running_start()
    run.finish()
    return changed(run.execution, sent_count=0, sent_at=timezone.now() - timedelta(seconds=5))


def one_of_a_job() -> str:
    job = a_job(an_office())
    return changed(job.execution_id, sent_count=0, sent_at=timezone.now() - timedelta(seconds=5))


OTHERS = [one_with_a_message, one_for_later, one_that_runs, one_that_has_ended, one_of_a_job]


@pytest.mark.parametrize("make", OTHERS)
def test_an_end_claims_only_what_waits_without_a_message(make):
    run, other, waiting = running_start(), make(), unsent(-7_200)
    before = Execution.objects.values().get(pk=other)
    assert brought(run) == waiting
    assert Execution.objects.values().get(pk=other) == before


@pytest.mark.parametrize("make", OTHERS)
def test_only_what_waits_without_a_message_is_sent(make, sent):
    run, other = running_start(), make()
    sent.clear()
    before = Execution.objects.values().get(pk=other)
    assert run.finish().effects.send == []
    assert lifecycle.send_unsent() == 0
    assert next_due()[2] is False
    assert Execution.objects.values().get(pk=other) == before
    assert sent == []


def test_the_runs_of_a_paused_role_wait_as_they_are(sent):
    run, another, paused, waiting = running_start(), running_start(), unsent(5, role="QA"), unsent()
    queues.pause_queue("QA", "me")
    before = Execution.objects.values().get(pk=paused)
    sent.clear()
    assert brought(run) == waiting
    assert brought(another) is None
    assert lifecycle.send_unsent() == 0
    assert Execution.objects.values().get(pk=paused) == before
    assert sent == []


@pytest.mark.parametrize("older", ["default", "QA"])
def test_the_oldest_of_all_roles_is_claimed(older):
    newer = {"default": "QA", "QA": "default"}[older]
    run, first, second = running_start(), unsent(5, role=older), unsent(role=newer)
    following = running_start()
    assert (brought(run), brought(following)) == (first, second)


def test_an_end_that_claims_nothing_sends_one(sent):
    run, first, _ = running_start(), unsent(5), unsent()
    sent.clear()
    run.finish()
    assert sent == [first]


@pytest.mark.parametrize(("seconds", "claims"), [(0.9, True), (1.1, False)])
def test_an_end_claims_until_a_message_has_waited_for_a_second(seconds, claims):
    unsent()
    message = Execution.objects.get(pk=a_start())
    _, claim = start_next(message.sent_at + timedelta(seconds=seconds))
    assert (claim is not None) == claims


@pytest.mark.parametrize("make", [one_for_later, one_that_runs, one_that_has_ended])
def test_only_what_has_a_message_keeps_an_end_from_claiming(make):
    changed(make(), sent_count=1, sent_at=timezone.now() - timedelta(seconds=5))
    run, waiting = running_start(), unsent()
    assert brought(run) == waiting


def test_a_message_for_others_keeps_no_end_from_claiming():
    run, waiting = running_start(), unsent()
    changed(a_start(role="QA"), sent_at=timezone.now() - timedelta(seconds=5))
    assert brought(run, NEXT_CLAIM) == waiting


def test_an_end_whose_claim_is_refused_after_the_choice_sends_one():
    oldest, other = unsent(5, role="QA"), unsent()
    with transaction.atomic():
        # The claim looks for an office first, which the choice does not: it has to wait between the two.
        call.change("LOCK TABLE offices IN EXCLUSIVE MODE")
        PausedRole.objects.create(role="QA", by="me")
        end = start_thread(start_next)
        wait_until_blocked(end)
    assert end.result(PATIENCE) == ([other], None)
    refused = Execution.objects.get(pk=oldest)
    assert (refused.status, refused.attempt, refused.dispatched_at) == ("PENDING", 0, None)
    assert refused.due_at is not None, "it is sent when its role is resumed"
