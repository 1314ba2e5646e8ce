"""A paused queue: nothing of its role starts, by any trigger, until it is resumed; then all does at once."""

import pytest
from django.utils import timezone

from jobs import lifecycle, publish, queues, sweeps
from jobs.errors import Held
from jobs.insight.explain import explain
from jobs.models import Execution, PausedRole
from jobs.states import Act, ExecutionStatus
from scheduler.diagnostics.workers import check_pauses
from tests.factories import (
    a_job,
    a_start,
    a_user,
    an_office,
    claimed,
    claimed_start,
    fresh,
    released,
    running,
    statuses,
    submitted,
)
from tests.integration.commands import run
from tests.integration.rest_support import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff():
    return a_user("root", is_staff=True)


@pytest.fixture
def resumed(monkeypatch, django_capture_on_commit_callbacks):
    """Resumes a queue, and lets its message to the control worker do its work."""
    monkeypatch.setattr(publish, "send_control", lambda name, roles: lifecycle.dispatch_roles(roles))

    def resume(role):
        with django_capture_on_commit_callbacks(execute=True):
            assert queues.resume_queue(role, "me")

    return resume


def codes(job):
    return [reason.code for reason in explain(job.office, fresh(job), timezone.now()).reasons]


def test_jobs_of_a_paused_queue_wait_without_a_slot_and_start_when_it_is_resumed(resumed):
    office = an_office(max_concurrent_jobs=2)
    queues.pause_queue("FE", "me", "a reason")
    first, second, other = submitted(office, {"role": "FE"}, {"role": "FE"}, {"role": "QA"})
    assert statuses(first, second, other) == ["ready", "ready", "processing"]
    sweeps.sweep_once()
    assert statuses(first, second) == ["ready", "ready"]
    resumed("FE")
    assert statuses(first, second) == ["processing", "ready"]


def test_explain_says_since_when_by_whom_and_why():
    queues.pause_queue("FE", "me", "a reason")
    job = a_job(an_office(), role="FE")
    explained = explain(job.office, job, timezone.now())
    (reason,) = explained.reasons
    since = PausedRole.objects.get().since
    assert reason.code == "queue_paused"
    assert reason.facts == {"role": "FE", "since": since, "by": "me", "why": "a reason"}
    assert reason.message == "me paused the queue FE: a reason"
    assert explained.estimated_start is None


def test_a_job_that_was_sent_before_gives_its_slot_back():
    office = an_office(max_concurrent_jobs=1)
    job, other = submitted(office, {"role": "FE"}, {"role": "QA"})
    late = fresh(job).execution
    queues.pause_queue("FE", "me")
    assert statuses(job, other) == ["ready", "processing"]
    assert claimed_start(late.id, late.dispatch) is None


def test_a_message_that_was_sent_at_the_moment_of_the_pause_claims_nothing(resumed):
    office = an_office(max_concurrent_jobs=1)
    job, other = submitted(office, {"role": "FE"}, {"role": "QA"})
    PausedRole.objects.create(role="FE", by="me")
    with pytest.raises(Held):
        claimed(job)
    assert statuses(job, other) == ["ready", "processing"]
    assert running(other).finish() is not None
    assert statuses(job) == ["ready"]
    resumed("FE")
    run = running(job)
    assert run.claim.attempt == 1
    assert run.finish() is not None


def test_a_run_of_a_paused_role_goes_on_and_its_retry_waits(resumed):
    job = a_job(an_office(), role="FE")
    run = running(job)
    queues.pause_queue("FE", "me")
    assert statuses(job) == ["processing"]
    run.fail(delay_ms=0)
    lifecycle.send_due(timezone.now())
    assert statuses(job) == ["ready"]
    assert codes(job) == ["queue_paused"]
    resumed("FE")
    assert running(job).claim.attempt == 2


def test_a_lost_run_waits_too(resumed):
    job = a_job(an_office(), role="FE")
    run = running(job)
    queues.pause_queue("FE", "me")
    run.lose()
    sweeps.sweep_once()
    assert statuses(job) == ["ready"]
    resumed("FE")
    assert running(job).claim.attempt == 2


def test_a_join_of_a_paused_queue_is_released_and_waits():
    office = an_office()
    first, second, join = submitted(
        office, {"ref": "a"}, {"ref": "b"}, {"role": "FE", "depends_on": ["a", "b"]}
    )
    queues.pause_queue("FE", "me")
    running(first).finish()
    running(second).finish()
    assert released(join) is None
    assert statuses(join) == ["ready"]


@pytest.mark.django_db(transaction=True)
def test_runs_without_a_job_wait_too(resumed):
    before = a_start(role="FE")
    queues.pause_queue("FE", "me")
    during = a_start(role="FE")
    for execution in (before, during):
        with pytest.raises(Held):
            claimed_start(execution)
    sweeps.sweep_once()
    waiting = Execution.objects.filter(id__in=(before, during), dispatched_at=None)
    assert {run.status for run in waiting} == {ExecutionStatus.PENDING}
    assert len(waiting) == 2
    resumed("FE")
    for execution in (before, during):
        assert claimed_start(execution, 2) is not None


def test_a_waiting_run_without_a_job_can_be_cancelled(resumed):
    execution = a_start(role="FE")
    queues.pause_queue("FE", "me")
    with pytest.raises(Held):
        claimed_start(execution)
    lifecycle.cancel_execution(execution)
    resumed("FE")
    assert Execution.objects.get(pk=execution).status == ExecutionStatus.CANCELLED


def test_a_queue_timeout_goes_on_while_the_queue_is_paused():
    queues.pause_queue("FE", "me")
    job = a_job(an_office(), role="FE", queue_timeout_ms=1)
    assert lifecycle.fail_overdue(fresh(job).queue_timeout_at) == 1


def test_a_queue_is_paused_once_and_by_whom_is_recorded(staff):
    assert queues.pause_queue("FE", staff, "  first\nreason ")
    assert not queues.pause_queue("FE", "other", "second")
    assert PausedRole.objects.get().reason == "first reason"
    assert queues.resume_queue("FE", staff)
    assert not queues.resume_queue("FE", staff)
    acts = staff.activity.order_by("id").values_list("act", "actor", "details")
    assert list(acts) == [
        (Act.QUEUE_PAUSED, "root", {"role": "FE", "reason": "first reason"}),
        (Act.QUEUE_RESUMED, "root", {"role": "FE"}),
    ]


def test_the_doctor_warns_of_a_paused_queue():
    assert list(check_pauses()) == []
    queues.pause_queue("FE", "me")
    (message,) = check_pauses()
    assert "FE (by me" in message.msg


# --- surfaces --------------------------------------------------------------------------------------


def test_staff_pause_and_resume_a_queue_over_http(staff):
    client = client_of(staff)
    paused = client.post("/api/roles/FE/pause", {"reason": "why"}, content_type="application/json")
    assert paused.status_code == 200
    assert (paused.json()["paused"]["by"], paused.json()["paused"]["reason"]) == ("root", "why")
    listed = {row["role"]: row for row in client.get("/api/roles?page_size=200").json()["results"]}
    assert listed["FE"] == paused.json()
    assert listed["QA"]["paused"] is None
    assert client.post("/api/roles/FE/resume").json()["paused"] is None
    assert not PausedRole.objects.exists()


@pytest.mark.parametrize(
    ("role", "body", "status"),
    [
        ("nobody", {}, 404),
        ("control", {}, 404),
        ("FE", {"reason": 5 * "x" * 101}, 400),
        ("FE", {"reason": ["x"]}, 400),
        ("FE", {"reason": "a\x00b"}, 400),
        ("FE", {"until": "x"}, 400),
    ],
)
def test_bad_input_pauses_nothing(staff, role, body, status):
    answer = client_of(staff).post(f"/api/roles/{role}/pause", body, content_type="application/json")
    assert answer.status_code == status
    assert not PausedRole.objects.exists()


def test_the_command_lists_pauses_and_resumes():
    assert "paused at" in run("queues", "pause", "FE", "--actor", "me", "--reason", "why").out
    assert PausedRole.objects.get().by == "me"
    assert "by me: why" in run("queues", "list").out
    run("queues", "resume", "FE")
    assert not PausedRole.objects.exists()
    assert run("queues", "pause", "nobody").code == 2
