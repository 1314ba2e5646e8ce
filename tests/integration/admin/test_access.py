"""The admin shows every table and row, no secret, and no action without the permission."""

from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone

from exports.models import DeadLetter, ExportJob, Replay, StreamOutbox
from jobs.models import (
    ApiToken,
    Attempt,
    CatalogueEntry,
    CatalogueOffer,
    Counter,
    Dependency,
    EarlyMessage,
    Event,
    EventCursor,
    Execution,
    IdempotentAnswer,
    Job,
    Notification,
    Office,
    PausedRole,
    RunLogChunk,
    SocketTicket,
    TaskLimit,
    TaskStart,
    Webhook,
    Worker,
)
from jobs.states import JobStatus
from scheduler.clock import database_now
from scheduler.models import (
    AlertsSeen,
    Beat,
    Minute,
    Occurrence,
    QueueProbe,
    Step,
    StepEvent,
    WorkflowRun,
    WorkflowRunStart,
)
from tests.factories import a_user, done, submitted
from tests.integration.admin.action_form import act, address
from tests.integration.pages.clients import signed_in
from tests.schedule_factories import a_schedule, a_workflow, fire

pytestmark = pytest.mark.django_db

OURS = ("jobs", "scheduler", "exports", "workers")
# Only the domain's operations, sweeps and workers write these.
LOOKED_AT = (
    *(Attempt, Counter, Event, EventCursor, Execution, IdempotentAnswer, Job, Notification),
    *(PausedRole, SocketTicket, TaskLimit, Worker),
    *(Beat, QueueProbe, Minute, Occurrence, WorkflowRunStart, WorkflowRun, Step, StepEvent),
    *(DeadLetter, ExportJob, Replay, StreamOutbox),
)


def test_every_table_is_in_the_admin():
    registered = set(admin.site._registry)
    missing = [model for app in OURS for model in apps.get_app_config(app).get_models()]
    missing += list(apps.get_app_config("django_celery_beat").get_models())
    # Rows with two keys have no pages of their own: edges and logs are on those of their jobs and runs. What
    # workers offer is on the pages of Tasks; when a user has seen the alerts is on none.
    unlisted = {Dependency, RunLogChunk, CatalogueEntry, CatalogueOffer, TaskStart, AlertsSeen}
    unlisted |= {EarlyMessage}  # the engine's own
    unlisted.add(apps.get_model("django_celery_beat", "PeriodicTasks"))
    assert set(missing) - registered == unlisted


@pytest.mark.parametrize("model", LOOKED_AT, ids=lambda model: model.__name__)
def test_rows_that_only_the_engine_writes_cannot_be_edited(root, model):
    assert root.get(address(model)).status_code == 200
    assert root.get(address(model, "add")).status_code == 403
    site = admin.site._registry[model]
    request = type("Request", (), {"user": a_user("root")})()
    assert not site.has_change_permission(request)
    assert not site.has_delete_permission(request)


@pytest.fixture
def rows(jobs: list[Job]) -> list[Any]:
    """An object of each kind, with its related rows."""
    finished = done(jobs[0])
    fire(a_schedule(now=database_now()))
    workflow = a_workflow(now=database_now())
    token, _ = ApiToken.issue(a_user("alice"), "ci", timezone.now())
    return [
        *(finished, finished.batch, finished.office, finished.execution, Attempt.objects.get()),
        *(Event.objects.first(), Occurrence.objects.get(), workflow, WorkflowRun.objects.get(), token),
        *(Occurrence.objects.get().schedule, a_user("alice")),
    ]


def test_every_row_has_a_page(root, rows):
    for row in rows:
        assert root.get(address(type(row), "change", row.pk)).status_code == 200, row
        assert root.get(address(type(row), "history", row.pk)).status_code == 200, row


def test_pages_lead_to_each_other(root, jobs):
    waiting = submitted(jobs[0].office, {"ref": "c"}, {"ref": "d", "depends_on": ["c"]})
    finished = done(jobs[0])
    run, office = finished.execution_id, finished.office_id
    links = {
        finished: [address(Execution, "change", run), address(Office, "change", office)],
        finished.execution: [address(Job, "change", finished.pk), f"{address(Attempt)}?execution="],
        finished.batch: [f"{address(Job)}?batch={finished.batch_id}", f"/offices/{office}/batches/"],
        waiting[1]: [address(Job, "change", waiting[0].pk)],
        finished.office: [f"{address(Event)}?office_id={office}"],
    }
    for row, expected in links.items():
        page = root.get(address(type(row), "change", row.pk)).content.decode()
        for link in expected:
            assert link in page, (row, link)
    page = root.get(address(Job, "change", finished.pk)).content.decode()
    assert f"{settings.DURE_FLOWER_URL}/tasks?" in page
    assert f"/offices/{office}/jobs/{finished.pk}" in page


def test_a_run_links_to_its_schedule(root):
    schedule = a_schedule(now=database_now())
    fire(schedule)
    run = Execution.objects.get()
    assert address(type(schedule), "change", schedule.pk) in root.get(address(Execution)).content.decode()
    listed = root.get(address(Execution) + f"?of=SCHEDULE:{schedule.pk}")
    assert [row.pk for row in listed.context["cl"].result_list] == [run.pk]
    others = root.get(address(Execution) + f"?of=SCHEDULE:{a_schedule(now=database_now()).pk}")
    assert list(others.context["cl"].result_list) == []


def test_attempts_are_drawn_on_the_pages_of_their_job_and_run(root, jobs):
    finished = done(jobs[0])
    for row in (finished, finished.execution):
        page = root.get(address(type(row), "change", row.pk)).content.decode()
        assert '<svg class="bar tone-good"' in page
        assert "w@test" in page


def test_no_page_shows_a_secret(root, jobs):
    office = jobs[0].office
    hook = Webhook.objects.create(office=office, url="https://a.example", secret="whsec_hush")
    token, plain = ApiToken.issue(a_user("alice"), "t", timezone.now())
    values = {"path": "/api", "key": "k", "digest": "d", "status": 201, "created_at": timezone.now()}
    answer = IdempotentAnswer.objects.create(user=a_user("alice"), body=plain, **values)
    ticket = SocketTicket.objects.create(
        digest="d" * 64, user=a_user("alice"), session_key="hush_session", expires_at=timezone.now()
    )
    args = {"method": "GET", "url": "https://a.example", "headers": {"Authorization": "hush_header"}}
    [job] = submitted(office, {"task_id": "http.request", "args": args})
    for row in (hook, token, answer, ticket, job):
        page = root.get(address(type(row), "change", row.pk)).content.decode()
        assert not [word for word in ("hush", token.digest, plain) if word in page], row


@pytest.fixture
def clerk() -> Client:
    user = a_user("clerk", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    return signed_in(user)


def test_read_only_staff_see_everything_without_buttons(clerk, rows):
    for model, site in admin.site._registry.items():
        page = clerk.get(address(model))
        assert page.status_code == 200, model
        assert not site.get_actions(page.wsgi_request), model
    for row in rows:
        page = clerk.get(address(type(row), "change", row.pk)).content.decode()
        assert 'name="_save"' not in page, row
        assert 'class="dure-acts"' not in page, row
        assert clerk.post(address(type(row), "change", row.pk), {}).status_code == 403, row


def test_read_only_staff_cannot_act_with_a_forged_form(clerk, jobs):
    for model, site in admin.site._registry.items():
        for action in getattr(site, "row_actions", ()):
            row = model._default_manager.first()
            if row is not None:
                act(clerk, model, action.name, row, sure="yes")
    assert not Job.objects.filter(status=JobStatus.CANCELLED).exists()
    assert not admin.models.LogEntry.objects.exists()
