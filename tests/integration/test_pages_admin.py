"""The admin looks, and acts by the verbs only."""

from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from exports.models import DeadLetter, ExportJob, Replay, StreamOutbox
from jobs.models import (
    ApiToken,
    Attempt,
    Counter,
    Dependency,
    Event,
    Execution,
    IdempotentAnswer,
    Job,
    Notice,
    NoticeCursor,
    Office,
    SocketTicket,
    Webhook,
    Worker,
)
from jobs.states import EventType, ExecutionStatus, JobStatus
from scheduler.clock import database_now
from scheduler.models import Canary, Minute, Occurrence, RunHistory, ScheduledJob, Step, StepEvent
from tests.factories import a_start, a_user, an_office, claimed, done, fresh, submitted
from tests.schedule_factories import a_schedule, a_workflow, fire

pytestmark = pytest.mark.django_db

OURS = ("jobs", "scheduler", "exports", "workers")
# Written by verbs, sweeps and workers only.
LOOKED_AT = (
    *(Attempt, Counter, Event, Execution, IdempotentAnswer, Job, Notice, NoticeCursor, SocketTicket, Worker),
    *(Canary, Minute, Occurrence, RunHistory, ScheduledJob, Step, StepEvent),
    *(DeadLetter, ExportJob, Replay, StreamOutbox),
)


@pytest.fixture
def root() -> Client:
    client = Client(headers={"Accept-Language": "en"})
    client.force_login(a_user("root", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def jobs() -> list[Job]:
    return submitted(an_office(a_user("alice"), max_concurrent_jobs=1), {"ref": "a"}, {"ref": "b"}, name="x")


def address(model: Any, page: str = "changelist", *of: object) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=of)


def act(client: Client, model: Any, action: str, *rows: Any, **more: str) -> Any:
    form = {"action": action, "_selected_action": [str(row.pk) for row in rows], "index": "0", **more}
    return client.post(address(model), form, follow=True)


def test_every_table_is_there():
    registered = set(admin.site._registry)
    missing = [model for app in OURS for model in apps.get_app_config(app).get_models()]
    missing += list(apps.get_app_config("django_celery_beat").get_models())
    # A row with two keys has no page of its own; it is on the pages of its two jobs. The other is a stamp.
    unlisted = {Dependency, apps.get_model("django_celery_beat", "PeriodicTasks")}
    assert set(missing) - registered == unlisted


@pytest.mark.parametrize("model", LOOKED_AT, ids=lambda model: model.__name__)
def test_what_verbs_write_is_listed_and_cannot_be_edited(root, model):
    assert root.get(address(model)).status_code == 200
    assert root.get(address(model, "add")).status_code == 403
    site = admin.site._registry[model]
    request = type("Request", (), {"user": a_user("root")})()
    assert not site.has_change_permission(request)
    assert not site.has_delete_permission(request)


@pytest.fixture
def rows(jobs: list[Job]) -> list[Any]:
    """One of many kinds, each with what belongs to it."""
    finished = done(jobs[0])
    fire(a_schedule(now=database_now()))
    workflow = a_workflow(now=database_now())
    token, _ = ApiToken.issue(a_user("alice"), "ci", timezone.now())
    return [
        *(finished, finished.batch, finished.office, finished.execution, Attempt.objects.get()),
        *(Event.objects.first(), Occurrence.objects.get(), workflow, ScheduledJob.objects.get(), token),
        *(Occurrence.objects.get().schedule, a_user("alice")),
    ]


def test_every_page_of_a_row_is_shown(root, rows):
    for row in rows:
        assert root.get(address(type(row), "change", row.pk)).status_code == 200, row
        assert root.get(address(type(row), "history", row.pk)).status_code == 200, row


def test_pages_lead_to_each_other(root, jobs):
    waiting = submitted(jobs[0].office, {"ref": "c"}, {"ref": "d", "depends_on": ["c"]})
    finished = done(jobs[0])
    links = {
        finished: [
            address(Execution, "change", finished.execution_id),
            address(Office, "change", finished.office_id),
        ],
        finished.execution: [address(Job, "change", finished.pk), f"{address(Attempt)}?execution="],
        finished.batch: [
            f"{address(Job)}?batch={finished.batch_id}",
            f"/offices/{finished.office_id}/batches/",
        ],
        waiting[1]: [address(Job, "change", waiting[0].pk)],
        finished.office: [f"{address(Event)}?office_id={finished.office_id}"],
    }
    for row, expected in links.items():
        page = root.get(address(type(row), "change", row.pk)).content.decode()
        for link in expected:
            assert link in page, (row, link)
    page = root.get(address(Job, "change", finished.pk)).content.decode()
    assert f"{settings.DURE_FLOWER_URL}/tasks?" in page
    assert f"/offices/{finished.office_id}/jobs/{finished.pk}" in page


def test_a_run_leads_to_the_schedule_it_comes_from(root):
    schedule = a_schedule(now=database_now())
    fire(schedule)
    run = Execution.objects.get()
    assert address(type(schedule), "change", schedule.pk) in root.get(address(Execution)).content.decode()
    listed = root.get(address(Execution) + f"?of=SCHEDULE:{schedule.pk}")
    assert [one.pk for one in listed.context["cl"].result_list] == [run.pk]
    others = root.get(address(Execution) + f"?of=SCHEDULE:{a_schedule(now=database_now()).pk}")
    assert list(others.context["cl"].result_list) == []


def test_attempts_are_drawn_on_the_pages_of_their_job_and_run(root, jobs):
    finished = done(jobs[0])
    for row in (finished, finished.execution):
        page = root.get(address(type(row), "change", row.pk)).content.decode()
        assert '<svg class="dure-bar tone-good"' in page
        assert "w@test" in page


def test_a_secret_is_on_no_page(root, jobs):
    office = jobs[0].office
    hook = Webhook.objects.create(office=office, url="https://a.example", secret="whsec_hush")
    token, plain = ApiToken.issue(a_user("alice"), "t", timezone.now())
    answer = IdempotentAnswer.objects.create(
        user=a_user("alice"),
        path="/api",
        key="k",
        digest="d",
        status=201,
        body=plain,
        created_at=timezone.now(),
    )
    ticket = SocketTicket.objects.create(
        digest="d" * 64, user=a_user("alice"), session_key="hush_session", expires_at=timezone.now()
    )
    [job] = submitted(
        office,
        {
            "task_id": "http.request",
            "args": {
                "method": "GET",
                "url": "https://a.example",
                "headers": {"Authorization": "hush_header"},
            },
        },
    )
    for row in (hook, token, answer, ticket, job):
        page = root.get(address(type(row), "change", row.pk)).content.decode()
        assert not [word for word in ("hush", token.digest, plain) if word in page], row


def test_an_action_asks_first_and_then_leaves_its_actor_and_reason(root, jobs):
    page = act(root, Job, "cancel", *jobs)
    assert page.context["title"] == "Cancel 2 jobs"
    assert not Job.objects.filter(status=JobStatus.CANCELLED).exists()
    answer = act(root, Job, "cancel", *jobs, sure="yes", reason="wrong release")
    assert "Done for 2." in answer.content.decode()
    # Nobody has claimed the run that was sent, so both end at once.
    assert {fresh(job).status for job in jobs} == {JobStatus.CANCELLED}
    event = Event.objects.filter(type=EventType.JOB_CANCELLED).last()
    assert event is not None
    assert (event.details["actor"], event.details["reason"]) == ("root", "wrong release")
    act(root, Job, "retry", jobs[0], sure="yes")
    assert fresh(jobs[0]).status == JobStatus.PROCESSING


def test_what_would_be_skipped_is_told_before(root, jobs):
    finished = done(jobs[0])
    page = act(root, Job, "cancel", *jobs)
    assert page.context["title"] == "Cancel 1 job"
    assert page.context["preview"].reasons == [("done", "1")]
    act(root, Job, "cancel", *jobs, sure="yes")
    assert fresh(finished).status == JobStatus.DONE


def test_all_that_match_are_changed_in_every_office(root, jobs):
    others = submitted(an_office(name="other"), {}, {})
    answer = act(root, Job, "reprioritise", jobs[0], select_across="1", sure="yes", priority="9")
    assert "Done for 4." in answer.content.decode()
    assert {fresh(job).priority for job in (*jobs, *others)} == {9}


def test_a_changed_priority_leaves_its_actor_and_reason_too(root, jobs):
    act(root, Job, "reprioritise", *jobs, sure="yes", priority="9", reason="release first")
    events = Event.objects.filter(type=EventType.JOB_REPRIORITISED)
    assert {(one.details["actor"], one.details["reason"]) for one in events} == {("root", "release first")}
    assert {one.job_id for one in events} == {job.pk for job in jobs}


def test_a_change_that_says_nothing_is_asked_again(root, jobs):
    page = act(root, Job, "reprioritise", *jobs, sure="yes")
    assert "Say what is to change." in page.content.decode()


def test_a_button_on_a_page_leads_back_to_it(root, jobs):
    page = address(Job, "change", jobs[0].pk)
    answer = act(root, Job, "cancel", jobs[0], sure="yes", back=page)
    assert answer.redirect_chain == [(page, 302)]
    elsewhere = act(root, Job, "retry", jobs[0], sure="yes", back="https://evil.example/")
    assert elsewhere.redirect_chain == [(address(Job), 302)]


def test_a_run_is_cancelled_with_its_job_or_alone(root, jobs):
    run = claimed(jobs[0])
    assert run is not None
    alone = Execution.objects.get(pk=a_start())
    chosen = (Execution.objects.get(pk=run.execution), alone)
    assert act(root, Execution, "cancel", *chosen).context["title"] == "Cancel 2 runs"
    answer = act(root, Execution, "cancel", *chosen, sure="yes", reason="enough")
    assert "Done for 2." in answer.content.decode()
    assert fresh(jobs[0]).cancelled_at is not None
    alone.refresh_from_db()
    assert alone.status == ExecutionStatus.CANCELLED
    # No office's events tell of a run without a job: the admin's own log does.
    history = root.get(address(Execution, "history", alone.pk)).content.decode()
    assert "cancel: enough" in history
    assert "root" in history


def test_a_run_that_its_job_has_left_behind_is_not_cancelled(root, jobs):
    run = claimed(jobs[0])
    assert run is not None
    old = Execution.objects.get(pk=run.execution)
    run.fail(failure_type="invalid_args")
    act(root, Job, "retry", jobs[0], sure="yes")
    page = act(root, Execution, "cancel", old, sure="yes")
    assert "Done for 0." in page.content.decode()
    assert fresh(jobs[0]).cancelled_at is None


@pytest.fixture
def clerk() -> Client:
    user = a_user("clerk", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client = Client(headers={"Accept-Language": "en"})
    client.force_login(user)
    return client


def test_staff_that_may_only_look_see_everything_and_have_nothing_to_press(clerk, rows):
    for model, site in admin.site._registry.items():
        page = clerk.get(address(model))
        assert page.status_code == 200, model
        assert not site.get_actions(page.wsgi_request), model
    for row in rows:
        page = clerk.get(address(type(row), "change", row.pk)).content.decode()
        assert 'name="_save"' not in page, row
        assert 'class="dure-acts"' not in page, row
        assert clerk.post(address(type(row), "change", row.pk), {}).status_code == 403, row


def test_staff_that_may_only_look_cannot_act_by_a_form_of_their_own(clerk, jobs):
    for model, site in admin.site._registry.items():
        for one in getattr(site, "acts", ()):
            row = model._default_manager.first()
            if row is not None:
                act(clerk, model, one.name, row, sure="yes")
    assert not Job.objects.filter(status=JobStatus.CANCELLED).exists()
    assert not admin.models.LogEntry.objects.exists()


def test_a_token_is_revoked(root):
    token, _ = ApiToken.issue(a_user("alice"), "t", timezone.now())
    assert "cannot be taken back" in act(root, ApiToken, "revoke", token).content.decode()
    act(root, ApiToken, "revoke", token, sure="yes")
    token.refresh_from_db()
    assert token.revoked_at is not None
    assert root.post(address(ApiToken, "change", token.pk), {}).status_code == 403
