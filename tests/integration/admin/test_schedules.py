"""The admin changes schedules and workflows through the same functions as the API."""

import json
import re
from datetime import timedelta

import pytest

from scheduler.clock import database_now
from scheduler.models import Schedule, Workflow, WorkflowRun
from scheduler.schedules import calendars
from scheduler.schedules import lifecycle as schedules
from scheduler.schedules.firing import fire_due
from tests.factories import a_user, an_office
from tests.integration.admin.action_form import address
from tests.integration.admin.test_forms import form_of, staff
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
KOREAN = {"Accept-Language": "ko"}


def change(root, row, **values):
    """Sends the form of the row as its page shows it, with these values."""
    path = address(type(row), "change", row.pk)
    return root.post(path, form_of(root.get(path)) | values)


def test_a_schedule_that_is_added_is_due_at_once_by_its_rule(root):
    answer = root.post(address(Schedule, "add"), SCHEDULE)
    assert answer.status_code == 302, answer.content.decode()
    schedule = Schedule.objects.get()
    assert schedule.next_run_at is not None
    assert schedule.owner is not None
    assert "매시 정각" in root.get(address(Schedule), headers=KOREAN).content.decode()


def test_a_changed_rule_counts_from_now_and_another_change_keeps_the_time(root):
    schedule = a_schedule(now=database_now())
    before = schedule.next_run_at
    assert change(root, schedule, name="other").status_code == 302
    schedule.refresh_from_db()
    assert (schedule.name, schedule.next_run_at) == ("other", before)
    changed = database_now()
    change(root, schedule, every_seconds=7)
    schedule.refresh_from_db()
    assert changed <= schedule.next_run_at - timedelta(seconds=7) <= database_now()


def test_the_form_shows_the_rule_in_words_and_its_next_five_times(root):
    schedule = a_schedule(now=database_now(), kind="cron", cron="0 9 * * MON-FRI")
    text = root.get(address(Schedule, "change", schedule.pk), headers=KOREAN).content.decode()
    assert "매주 월요일부터 금요일까지 09:00" in text
    assert text.count("09:00:00</time>") >= 5


@pytest.mark.parametrize("language, words", [("en", "every 30 minutes"), ("ko", "30분마다")])
def test_an_unsaved_rule_is_previewed(root, language, words):
    form = SCHEDULE | {"name": "", "cron": "*/30 * * * *"}
    answer = root.post(address(Schedule, "preview"), form, headers={"Accept-Language": language})
    assert words in answer.content.decode()
    assert answer.content.decode().count("<li>") == 5
    assert not Schedule.objects.exists()


def test_the_preview_reports_an_impossible_rule(root):
    answer = root.post(address(Schedule, "preview"), SCHEDULE | {"cron": "0 25 * * *"}).content.decode()
    assert "25" in answer
    assert "errornote" in answer
    assert "<li>" not in answer


def test_the_preview_skips_the_times_of_the_calendar(root):
    schedule = a_schedule(now=database_now(), owner=a_user("alice"), kind="cron", cron="0 9 * * *")
    first, second, *_ = (due.isoformat() for due in calendars.next_times(schedule, database_now(), 2))
    values = {"name": "holidays", "dates": [first[:10]], "timezone": "UTC"}
    calendar = calendars.create(values, owner=schedule.owner, now=database_now())
    path = address(Schedule, "change", schedule.pk)
    page = root.get(path)
    preview = re.search(r'hx-post="([^"]+)"', page.content.decode())[1]
    schedules.change(schedule.pk, {"calendar": calendar.pk}, now=database_now())
    for answer in (root.post(preview, form_of(page) | {"calendar": calendar.pk}), root.get(path)):
        assert first not in answer.content.decode()
        assert second in answer.content.decode()


@pytest.mark.parametrize(
    ("rights", "answers"),
    [((), [403, 403]), (("add_schedule",), [200, 403]), (("change_schedule",), [403, 200])],
)
def test_the_preview_needs_the_permission_to_save(rights, answers):
    clerk, row = staff("clerk", *rights), a_schedule(now=database_now())
    paths = (address(Schedule, "preview"), address(Schedule, "preview") + f"?id={row.pk}")
    assert [clerk.post(path, SCHEDULE).status_code for path in paths] == answers


@pytest.mark.parametrize("row", [a_schedule, a_workflow])
def test_the_page_of_a_row_previews_what_it_would_save(root, row):
    made = row(now=database_now())
    page = root.get(address(type(made), "change", made.pk))
    preview = re.search(r'hx-post="([^"]+)"', page.content.decode())[1]
    answer = root.post(preview, form_of(page))
    assert answer.status_code == 200
    assert "errornote" not in answer.content.decode()


def test_secrets_in_arguments_are_masked_and_kept(root):
    args = {"method": "GET", "url": "https://a.example", "headers": {"Authorization": "hush"}}
    schedule = a_schedule(now=database_now(), task_id="http.request", args=args)
    form_page = root.get(address(Schedule, "change", schedule.pk))
    assert "hush" not in form_page.content.decode()
    masked = form_page.context["adminform"].form.initial["args"]
    change(root, schedule, name="other")
    schedule.refresh_from_db()
    assert (schedule.name, schedule.args) == ("other", args)
    change(root, schedule, args=json.dumps({**masked, "url": "https://b.example"}))
    schedule.refresh_from_db()
    assert schedule.args == args | {"url": "https://b.example"}
    moved = {**args, "headers": {"X-Token": masked["headers"]["Authorization"]}}
    assert change(root, schedule, args=json.dumps(moved)).status_code == 200
    schedule.refresh_from_db()
    assert schedule.args["headers"] == {"Authorization": "hush"}


def test_secrets_of_a_workflows_steps_follow_their_ref(root):
    def step(ref, secret):
        args = {"method": "GET", "url": "https://a.example", "headers": {"X-Token": secret}}
        return a_step(ref, task_id="http.request", args=args)

    workflow = a_workflow(now=database_now(), steps=[step("a", "first"), step("b", "second")])
    page = root.get(address(Workflow, "change", workflow.pk))
    masked = page.context["adminform"].form.initial["steps"]
    assert "first" not in json.dumps(masked)
    assert change(root, workflow, steps=json.dumps(masked[::-1])).status_code == 302
    workflow.refresh_from_db()
    secrets = {stored["ref"]: stored["args"]["headers"]["X-Token"] for stored in workflow.steps}
    assert secrets == {"a": "first", "b": "second"}


def test_the_form_has_every_policy_of_a_schedule(root):
    office = an_office(a_user("bob"))
    calendar = calendars.create({"name": "holidays"}, owner=a_user("root"), now=T0)
    policies = {
        **{"grace": 600, "retry_backoff": "linear", "retry_base_delay": 5},
        **{"timeout_ms": 7, "on_lost": "fail"},
        **{"notify_after_failures": 3, "notify_after_missed": 4},
    }
    choices = {"calendar": str(calendar.pk), "notify_office": str(office.pk)}
    answer = root.post(address(Schedule, "add"), SCHEDULE | policies | choices)
    assert answer.status_code == 302, answer.content.decode()
    made = Schedule.objects.get()
    assert {name: getattr(made, name) for name in policies} == policies
    assert (made.calendar, made.notify_office) == (calendar, office)
    change(root, made, calendar="", grace="9")
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
def test_an_error_is_shown_at_its_field_and_nothing_is_written(root, field, value):
    answer = root.post(address(Schedule, "add"), SCHEDULE | {field: value})
    assert answer.status_code == 200
    assert list(answer.context["adminform"].form.errors) == [field]
    assert not Schedule.objects.exists()


def test_the_calendar_of_another_user_is_refused(root):
    other = calendars.create({"name": "theirs"}, owner=a_user("bob"), now=T0)
    answer = root.post(address(Schedule, "add"), SCHEDULE | {"calendar": str(other.pk)})
    assert list(answer.context["adminform"].form.errors) == ["calendar"]
    assert not Schedule.objects.exists()


def test_a_deleted_schedule_does_not_fire_again(root):
    schedule = a_schedule(now=database_now())
    fire(schedule)
    root.post(address(Schedule, "delete", schedule.pk), {"post": "yes"})
    assert not Schedule.objects.exists()
    assert fire_due(database_now()).schedules == 0


WORKFLOW = {"name": "report", "status": "active", "max_run_retries": "0"}
WORKFLOW |= {"schedule_config": json.dumps(DAILY)}


def test_a_workflow_is_registered_as_it_is_saved(root):
    form = WORKFLOW | {"office": an_office().pk, "steps": json.dumps([a_step("a")])}
    answer = root.post(address(Workflow, "add"), form)
    assert answer.status_code == 302, answer.content.decode()
    workflow = Workflow.objects.get()
    assert WorkflowRun.objects.filter(workflow=workflow).count() == 1
    change(root, workflow, status="paused")
    assert not WorkflowRun.objects.exists()


def test_the_errors_of_a_workflow_are_shown_at_their_fields(root):
    form = WORKFLOW | {"office": an_office().pk, "status": "draft"}
    for steps in ([a_step("a", task_id="no.such")], [a_step("a", "nobody")]):
        answer = root.post(address(Workflow, "add"), form | {"steps": json.dumps(steps)})
        assert "steps" in answer.context["adminform"].form.errors
    weekly = {"mode": "recurring", "pattern": "weekly", "time": "09:00"}
    wrong = {"steps": json.dumps([a_step("a")]), "schedule_config": json.dumps(weekly)}
    answer = root.post(address(Workflow, "add"), form | wrong)
    assert "schedule_config" in answer.context["adminform"].form.errors
    empty = root.post(address(Workflow, "add"), form | {"status": "active", "steps": "[]"})
    assert empty.status_code == 200
    assert not Workflow.objects.exists()


def test_the_next_times_of_a_workflow_are_previewed(root):
    def preview(config):
        form = {"schedule_config": json.dumps(config)}
        return root.post(address(Workflow, "preview"), form, headers=KOREAN).content.decode()

    monthly = preview({"mode": "recurring", "pattern": "monthly", "day_of_month": "last", "time": "23:30"})
    assert "매월 말일 23:30" in monthly
    assert monthly.count("<li>") == 5
    assert "<li>" not in preview({"mode": "scheduled", "at": "2020-01-01T00:00:00+09:00"})
    assert "errornote" in preview({"mode": "x"})
