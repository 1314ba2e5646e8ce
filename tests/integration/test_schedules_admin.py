"""The admin changes schedules and workflows through the same functions as the API."""

import json
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from scheduler.clock import database_now
from scheduler.models import Schedule, Workflow, WorkflowRun
from scheduler.schedules import calendars
from scheduler.schedules.firing import fire_due
from tests.factories import an_office
from tests.integration.rest_support import make_user
from tests.schedule_factories import DAILY, T0, a_schedule, a_step, a_workflow, fire

pytestmark = pytest.mark.django_db

SCHEDULE = {
    "name": "hourly",
    "task_id": "demo.sum",
    "args": '{"numbers": [1]}',
    "kind": "cron",
    "cron": "0 * * * *",
    "timezone": "Asia/Seoul",
    "overlap": "skip",
    "catch_up": "latest",
    "grace": "60",
    "max_retries": "3",
    "enabled": "on",
}


@pytest.fixture
def client():
    client = Client()
    client.force_login(make_user("root", is_staff=True, is_superuser=True))
    return client


def page(name, *args):
    return reverse(f"admin:scheduler_{name}", args=args)


def form_of(schedule, **changes):
    kept = {
        field: getattr(schedule, field)
        for field in ("name", "task_id", "kind", "timezone", "overlap", "catch_up", "grace")
    }
    kept |= {
        "args": json.dumps(schedule.args),
        "every_seconds": schedule.every_seconds,
        "max_retries": 3,
        "enabled": "on",
    }
    return kept | changes


def test_a_schedule_that_is_added_is_due_at_once_by_its_rule(client):
    answer = client.post(page("schedule_add"), SCHEDULE)
    assert answer.status_code == 302, answer.content.decode()
    schedule = Schedule.objects.get()
    assert schedule.next_run_at is not None
    assert schedule.owner is not None
    assert "매시 정각" in client.get(page("schedule_changelist")).content.decode()


def test_a_changed_rule_counts_from_now_and_another_change_keeps_the_time(client):
    schedule = a_schedule(now=database_now())
    before = schedule.next_run_at
    assert (
        client.post(page("schedule_change", schedule.pk), form_of(schedule, name="other")).status_code == 302
    )
    schedule.refresh_from_db()
    assert (schedule.name, schedule.next_run_at) == ("other", before)
    changed = database_now()
    client.post(page("schedule_change", schedule.pk), form_of(schedule, every_seconds=7))
    schedule.refresh_from_db()
    assert schedule.next_run_at is not None
    assert changed <= schedule.next_run_at - timedelta(seconds=7) <= database_now()


def test_the_form_shows_the_rule_in_words_and_its_next_five_times(client):
    schedule = a_schedule(now=database_now(), kind="cron", cron="0 9 * * MON-FRI")
    text = client.get(page("schedule_change", schedule.pk)).content.decode()
    assert "매주 월요일부터 금요일까지 09:00" in text
    assert text.count("09:00:00</time>") >= 5


@pytest.mark.parametrize("language, words", [("en", "every 30 minutes"), ("ko", "30분마다")])
def test_an_unsaved_rule_is_previewed(client, language, words):
    form = SCHEDULE | {"name": "", "cron": "*/30 * * * *"}
    answer = client.post(page("schedule_preview"), form, headers={"Accept-Language": language})
    assert words in answer.content.decode()
    assert answer.content.decode().count("<li>") == 5
    assert not Schedule.objects.exists()


def test_the_preview_reports_an_impossible_rule(client):
    answer = client.post(page("schedule_preview"), SCHEDULE | {"cron": "0 25 * * *"}).content.decode()
    assert "25" in answer
    assert "errornote" in answer
    assert "<li>" not in answer


def test_the_preview_needs_the_permission_to_write_schedules(client):
    clerk = Client()
    clerk.force_login(make_user("clerk", is_staff=True))
    assert clerk.post(page("schedule_preview"), SCHEDULE).status_code == 403


def test_secrets_in_arguments_are_masked_and_kept(client):
    args = {"method": "GET", "url": "https://a.example", "headers": {"Authorization": "hush"}}
    schedule = a_schedule(now=database_now(), task_id="http.request", args=args)
    form_page = client.get(page("schedule_change", schedule.pk))
    assert "hush" not in form_page.content.decode()
    masked = form_page.context["adminform"].form.initial["args"]
    client.post(
        page("schedule_change", schedule.pk), form_of(schedule, args=json.dumps(masked), name="other")
    )
    schedule.refresh_from_db()
    assert (schedule.name, schedule.args) == ("other", args)
    changed = {**masked, "url": "https://b.example"}
    client.post(page("schedule_change", schedule.pk), form_of(schedule, args=json.dumps(changed)))
    schedule.refresh_from_db()
    assert schedule.args == args | {"url": "https://b.example"}
    moved = {**args, "headers": {"X-Token": masked["headers"]["Authorization"]}}
    answer = client.post(page("schedule_change", schedule.pk), form_of(schedule, args=json.dumps(moved)))
    assert answer.status_code == 200
    schedule.refresh_from_db()
    assert schedule.args["headers"] == {"Authorization": "hush"}


def test_secrets_of_a_workflows_steps_follow_their_ref(client):
    def step(ref, secret):
        args = {"method": "GET", "url": "https://a.example", "headers": {"X-Token": secret}}
        return a_step(ref, task_id="http.request", args=args)

    workflow = a_workflow(now=database_now(), steps=[step("a", "first"), step("b", "second")])
    answer = client.get(page("workflow_change", workflow.pk))
    masked = answer.context["adminform"].form.initial["steps"]
    assert "first" not in json.dumps(masked)
    form = {
        "name": "report",
        "status": "active",
        "max_run_retries": "0",
        "steps": json.dumps(masked[::-1]),
        "schedule_config": json.dumps(DAILY),
    }
    assert client.post(page("workflow_change", workflow.pk), form).status_code == 302
    workflow.refresh_from_db()
    secrets = {stored["ref"]: stored["args"]["headers"]["X-Token"] for stored in workflow.steps}
    assert secrets == {"a": "first", "b": "second"}


def test_the_form_has_every_policy_of_a_schedule(client):
    root = User.objects.get(username="root")
    office = an_office(make_user("bob"))
    calendar = calendars.create({"name": "holidays"}, owner=root, now=T0)
    policies = {
        **{"grace": 600, "retry_backoff": "linear", "retry_base_delay": 5},
        **{"timeout_ms": 7, "on_lost": "fail"},
        **{"notify_after_failures": 3, "notify_after_missed": 4},
    }
    choices = {"calendar": str(calendar.pk), "notify_office": str(office.pk)}
    answer = client.post(page("schedule_add"), SCHEDULE | policies | choices)
    assert answer.status_code == 302, answer.content.decode()
    made = Schedule.objects.get()
    assert {name: getattr(made, name) for name in policies} == policies
    assert (made.calendar, made.notify_office) == (calendar, office)
    client.post(
        page("schedule_change", made.pk), SCHEDULE | policies | choices | {"calendar": "", "grace": "9"}
    )
    made.refresh_from_db()
    assert (made.calendar, made.grace, made.notify_office) == (None, 9, office)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("cron", "0 25 * * *"), ("args", '{"numbers": "x"}'), ("task_id", "no.such")),
        *(("grace", value) for value in ("0", "x")),
        *(("notify_after_failures", value) for value in ("0", "1001")),
        *(("timeout_ms", "0"), ("on_lost", "forget"), ("retry_base_delay", "-1")),
    ],
)
def test_an_error_is_shown_at_its_field_and_nothing_is_written(client, field, value):
    answer = client.post(page("schedule_add"), SCHEDULE | {field: value})
    assert answer.status_code == 200
    assert list(answer.context["adminform"].form.errors) == [field]
    assert not Schedule.objects.exists()


def test_the_calendar_of_another_user_is_refused(client):
    other = calendars.create({"name": "theirs"}, owner=make_user("bob"), now=T0)
    answer = client.post(page("schedule_add"), SCHEDULE | {"calendar": str(other.pk)})
    assert list(answer.context["adminform"].form.errors) == ["calendar"]
    assert not Schedule.objects.exists()


def test_a_deleted_schedule_does_not_fire_again(client):
    schedule = a_schedule(now=database_now())
    fire(schedule)
    client.post(page("schedule_delete", schedule.pk), {"post": "yes"})
    assert not Schedule.objects.exists()
    assert fire_due(database_now()).schedules == 0


def test_a_workflow_is_registered_as_it_is_saved(client):
    form = {
        "office": str(an_office().pk),
        "name": "report",
        "status": "active",
        "max_run_retries": "0",
        "steps": json.dumps([a_step("a")]),
        "schedule_config": json.dumps(DAILY),
    }
    answer = client.post(page("workflow_add"), form)
    assert answer.status_code == 302, answer.content.decode()
    workflow = Workflow.objects.get()
    assert WorkflowRun.objects.filter(workflow=workflow).count() == 1
    client.post(page("workflow_change", workflow.pk), form | {"status": "paused"})
    assert not WorkflowRun.objects.exists()


def test_the_errors_of_a_workflow_are_shown_at_their_fields(client):
    form = {
        "office": str(an_office().pk),
        "name": "x",
        "status": "draft",
        "max_run_retries": "0",
        "schedule_config": json.dumps(DAILY),
    }
    for steps in ([a_step("a", task_id="no.such")], [a_step("a", "nobody")]):
        answer = client.post(page("workflow_add"), form | {"steps": json.dumps(steps)})
        assert "steps" in answer.context["adminform"].form.errors
    weekly = {"mode": "recurring", "pattern": "weekly", "time": "09:00"}
    wrong = {"steps": json.dumps([a_step("a")]), "schedule_config": json.dumps(weekly)}
    answer = client.post(page("workflow_add"), form | wrong)
    assert "schedule_config" in answer.context["adminform"].form.errors
    empty = client.post(page("workflow_add"), form | {"status": "active", "steps": "[]"})
    assert empty.status_code == 200
    assert not Workflow.objects.exists()


def test_the_next_times_of_a_workflow_are_previewed(client):
    monthly = {"mode": "recurring", "pattern": "monthly", "day_of_month": "last", "time": "23:30"}
    answer = client.post(page("workflow_preview"), {"schedule_config": json.dumps(monthly)}).content.decode()
    assert "매월 말일 23:30" in answer
    assert answer.count("<li>") == 5
    once = {"mode": "scheduled", "at": "2020-01-01T00:00:00+09:00"}
    answer = client.post(page("workflow_preview"), {"schedule_config": json.dumps(once)}).content.decode()
    assert "<li>" not in answer
    refused = client.post(page("workflow_preview"), {"schedule_config": '{"mode": "x"}'}).content.decode()
    assert "errornote" in refused
