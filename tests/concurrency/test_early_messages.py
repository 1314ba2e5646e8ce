"""A message that goes out before its submission is written."""

from contextlib import nullcontext
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from jobs import early_messages, lifecycle, publish, retention, submission
from jobs.errors import Conflict
from jobs.models import EarlyMessage, Execution, Job
from jobs.sql import call
from jobs.states import JobStatus
from tests.concurrency.threads import in_thread, start_thread, wait_until_blocked
from tests.factories import a_job, an_office, claimed, done, fresh

pytestmark = pytest.mark.django_db(transaction=True)

A_JOB = {"task_id": "demo.sum", "args": {"numbers": []}}


@pytest.fixture
def sent(monkeypatch):
    """What was sent: whether early, the message, and how many Executions there were."""
    messages = []

    def send(*sends, early):
        messages.extend((early, each, Execution.objects.count()) for each in sends)
        return True

    take_place(monkeypatch, send)
    return messages


def take_place(monkeypatch, send):
    """Let this send all messages; it returns whether they went out."""
    monkeypatch.setattr(publish, "send_messages", lambda sends: send(*sends, early=False))
    monkeypatch.setattr(publish, "send_early", lambda message: send(message, early=True))
    monkeypatch.setattr(publish, "has_arrived", lambda answer: answer)


@pytest.fixture
def idle_office(sent, monkeypatch):
    """An office that was idle at its last submission, long enough ago."""
    monkeypatch.setattr(early_messages, "IDLE_SECONDS", (0.0, 60.0))
    office = an_office(max_concurrent_jobs=2)
    done(submit(office))
    sent.clear()
    return office


def submit(office, **fields):
    (job,) = lifecycle.submit(submission.read(office, {**A_JOB, **fields}))
    return Job.objects.get(id=job)


def claim_early(send):
    return lifecycle.claim(send.execution, send.dispatch, token="t", worker="w@test", early=True)


def test_the_message_of_a_job_of_an_idle_office_goes_out_once_and_before_its_submission(idle_office, sent):
    job = submit(idle_office)
    ((early, message, executions),) = sent
    assert (early, executions) == (True, 1)
    assert message == publish.Send(str(job.execution_id), 1, job.role, job.task_id, 0, 0)
    claim = claim_early(message)
    assert claim.execution_id == str(job.execution_id)
    assert claim_early(message) is not None, "the same token answers the same"


@pytest.mark.parametrize(
    "fields", [{"run_at": "2020-01-01T00:00:00+00:00"}, {"unique_key": "one"}, {"depends_on": ["parent"]}]
)
def test_other_jobs_are_written_before_their_messages(idle_office, sent, fields):
    if "depends_on" in fields:
        fields = {"depends_on": [str(Job.objects.get().id)]}
    submit(idle_office, **fields)
    assert [early for early, _, _ in sent] == [False]


def test_a_submission_in_a_transaction_is_written_before_its_message(idle_office, sent):
    with transaction.atomic():
        submit(idle_office)
        assert sent == []
    assert [early for early, _, _ in sent] == [False]


def test_an_office_that_was_not_idle_gets_no_early_messages(idle_office, sent):
    submit(idle_office)
    second = submit(idle_office)
    assert [early for early, _, _ in sent] == [True, True], "the first found it idle"
    done(second)
    submit(idle_office)
    assert [early for early, _, _ in sent] == [True, True, False]


@pytest.mark.parametrize("bounds", [(60.0, 61.0), (0.0, 0.0)])
def test_an_office_counts_as_idle_for_a_while(idle_office, sent, monkeypatch, bounds):
    monkeypatch.setattr(early_messages, "IDLE_SECONDS", bounds)
    submit(idle_office)
    assert [early for early, _, _ in sent] == [False]


def test_an_office_is_not_known_to_be_idle_at_first(sent, monkeypatch):
    monkeypatch.setattr(early_messages, "IDLE_SECONDS", (0.0, 60.0))
    submit(an_office())
    assert [early for early, _, _ in sent] == [False]


def test_the_memory_of_idle_offices_is_bounded(idle_office, monkeypatch):
    monkeypatch.setattr(early_messages, "MOST_OFFICES", 1)
    other = an_office(name="another")
    submit(other)
    assert set(early_messages._idle_at) == {other.id}


def test_a_submission_sends_the_message_again_that_came_before_it(idle_office, monkeypatch):
    sent, claims = [], []

    def send(message, early):
        sent.append(early)
        if early:
            claims.append(in_thread(lambda: claim_early(message)))
        return True

    take_place(monkeypatch, send)
    job = submit(idle_office)
    assert claims == [None]
    assert sent == [True, False]
    assert claimed(job).finish() is not None


def test_an_early_claim_waits_for_a_submission_that_is_under_way(idle_office, sent, monkeypatch):
    monkeypatch.setattr(early_messages, "send", lambda *_: nullcontext(True))
    held = []

    def submit_slowly(name, *values):
        with transaction.atomic():
            answer = call.function("dure_submit_one", *values)
            execution = Job.objects.get(status=JobStatus.PROCESSING).execution_id
            held.append(start_thread(lambda: claim_early(publish.Send(str(execution), 1, "", "", 0, 0))))
            wait_until_blocked(held[0])
        return answer

    monkeypatch.setattr(call, "procedure", submit_slowly)
    job = submit(idle_office)
    assert held[0].result().execution_id == str(job.execution_id)
    assert sent == []


@pytest.mark.parametrize("answer", [None, False], ids=["not sent", "an error as the answer"])
def test_an_early_message_that_did_not_go_out_is_sent_afterwards(idle_office, monkeypatch, answer):
    sent = []

    def send(message, early):
        sent.append((early, message))
        return answer if early else True

    take_place(monkeypatch, send)
    execution = str(submit(idle_office).execution_id)
    assert [(early, message.execution) for early, message in sent] == [(True, execution), (False, execution)]


def test_an_early_message_finds_nothing_to_claim_if_the_office_is_full(idle_office, sent):
    for _ in range(2):
        call.function("dure_advance_office", idle_office.id, None)
        a_job(idle_office)
    sent.clear()
    job = submit(idle_office)
    ((_, message, _),) = sent
    assert job.status == JobStatus.READY
    assert claim_early(message) is None
    assert fresh(job).status == JobStatus.READY


def test_an_early_message_finds_nothing_to_claim_if_the_submission_is_refused(idle_office, sent, monkeypatch):
    submit(idle_office, unique_key="one")
    sent.clear()
    monkeypatch.setattr(early_messages, "send", lambda *_: nullcontext(publish.send_early(MESSAGE)))
    with pytest.raises(Conflict):
        submit(idle_office, unique_key="one")
    assert claim_early(MESSAGE) is None


MESSAGE = publish.Send("0199c0de-0000-7000-8000-000000000000", 1, "default", "demo.sum", 0, 0)


SHADOWS = """
CREATE SCHEMA shadows;
CREATE FUNCTION shadows.pg_current_wal_flush_lsn() RETURNS pg_lsn LANGUAGE sql STABLE AS $$
    SELECT '{flushed}'::pg_lsn
$$;
CREATE FUNCTION shadows.current_setting(name text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE name
        WHEN 'synchronous_standby_names' THEN '{standby}' ELSE pg_catalog.current_setting(name)
    END
$$;
"""


@pytest.fixture
def shadows():
    """Functions in the place of the server's, whose answers depend on all tests that run at once."""
    yield lambda **answers: call.change(SHADOWS.format(**answers))
    call.change("DROP SCHEMA shadows CASCADE")


@pytest.mark.parametrize(
    ("flushed", "standby", "waits"),
    [("FFFFFFFF/FFFFFFFF", "", "off"), ("0/1", "", "on"), ("FFFFFFFF/FFFFFFFF", "standby", "on")],
)
def test_an_early_claim_waits_for_the_disk_unless_its_submission_is_there(
    idle_office, sent, shadows, flushed, standby, waits
):
    submit(idle_office)
    shadows(flushed=flushed, standby=standby)

    def claim():
        call.change("SET search_path = shadows, pg_catalog, public")
        with transaction.atomic():
            assert claim_early(sent[0][1]) is not None
            return call.rows("SELECT current_setting('synchronous_commit')")

    assert in_thread(claim) == [(waits,)]


def test_marks_of_early_messages_are_deleted(sent):
    now = timezone.now()
    assert claim_early(MESSAGE) is None
    assert claim_early(MESSAGE) is None, "the same mark"
    for later, left in ((timedelta(minutes=59), 1), (timedelta(minutes=61), 0)):
        for _, delete in retention.steps(now, now + later, batch=10):
            delete()
        assert EarlyMessage.objects.count() == left
