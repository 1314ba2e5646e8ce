"""The form of a workflow: creating, previewing, changing, and errors."""

import json

import pytest

from scheduler.models import Workflow, WorkflowRun
from scheduler.states import RunStatus
from tests.integration.pages.clients import field_error, sign_in, text_of
from tests.integration.pages.schedule_pages import form_data
from tests.integration.pages.workflow_pages import FORM, STEPS, made, seen_pages
from tests.schedule_factories import DAILY, a_step

pytestmark = pytest.mark.django_db


def test_the_form_creates_a_workflow(office, alice):
    answer = alice.post("/workflows/new", {**FORM, "office": str(office.id)})
    saved = Workflow.objects.get()
    assert answer["Location"] == f"/workflows/{saved.id}"
    assert (saved.office, saved.steps) == (office, STEPS)
    assert saved.schedule_config == {**DAILY, "timezone": "Asia/Seoul"}
    assert WorkflowRun.objects.get().status == RunStatus.PENDING


@pytest.mark.parametrize(
    ("change", "config"),
    [
        ({"mode": "immediate"}, {"mode": "immediate"}),
        ({"mode": "delayed", "delay": "2", "unit": "hours"}, {"mode": "delayed", "delay_seconds": 7200}),
        (
            {"mode": "scheduled", "at": "2030-01-01T09:00"},
            {"mode": "scheduled", "at": "2030-01-01T00:00:00+00:00"},
        ),
        (
            {"pattern": "weekly", "days_of_week": ["4", "0"], "timezone": "UTC"},
            {**DAILY, "pattern": "weekly", "days_of_week": [0, 4], "timezone": "UTC"},
        ),
        (
            {
                "pattern": "weekly",
                "days_of_week": ["0"],
                "more_times": "12:00, 18:00",
                "every_weeks": "2",
                "starts_on": "2026-11-16",
            },
            {
                "mode": "recurring",
                "pattern": "weekly",
                "times": ["09:00", "12:00", "18:00"],
                "days_of_week": [0],
                "every_weeks": 2,
                "starts_on": "2026-11-16",
                "timezone": "Asia/Seoul",
            },
        ),
        (
            {"pattern": "monthly", "day_of_month": "last"},
            {**DAILY, "pattern": "monthly", "day_of_month": "last", "timezone": "Asia/Seoul"},
        ),
    ],
)
def test_every_mode_is_saved_and_shown_again(office, alice, change, config):
    alice.post("/workflows/new", {**FORM, **change, "status": "draft", "office": str(office.id)})
    saved = Workflow.objects.get()
    assert saved.schedule_config == config
    form = {**form_data(alice.get(f"/workflows/{saved.id}/edit")), "name": "other"}
    assert alice.post(f"/workflows/{saved.id}/edit", form).status_code == 302
    saved.refresh_from_db()
    assert (saved.name, saved.schedule_config) == ("other", config)


@pytest.mark.parametrize(
    ("change", "field", "message", "korean_message"),
    [
        ({"steps": "[{"}, "steps", "Not valid JSON", "JSON이 아닙니다"),
        ({"steps": "{}"}, "steps", "", ""),
        ({"steps": "[]"}, "steps", "needs at least one step", "하나 이상"),
        (
            {"steps": json.dumps([a_step("a"), a_step("b", task_id="no.such")])},
            "steps",
            "step 2 (b), task_id: No Task 'no.such' is registered.",
            "2번째 단계 (b), task_id: 'no.such' 태스크",
        ),
        (
            {"steps": json.dumps([a_step("a", "b"), a_step("b", "a")])},
            "steps",
            "depend on each other in a cycle",
            "순환",
        ),
        ({"steps": json.dumps([a_step("a", "zz")])}, "steps", "There is no step 'zz'.", "'zz'"),
        ({"mode": "delayed", "delay": "x"}, "delay", "Enter a whole number.", "정수"),
        ({"mode": "scheduled", "at": "2001-01-01T09:00"}, "at", "The time has passed", "지난 시각"),
        ({"mode": "scheduled"}, "at", "Enter a time", "시각"),
        ({"pattern": "weekly"}, "days_of_week", "at least one day", "하나 이상"),
        ({"more_times": "25:00"}, "more_times", "'25:00' is not a time", "시각을 읽을 수 없습니다"),
        (
            {"pattern": "weekly", "days_of_week": ["0"], "every_weeks": "2"},
            "starts_on",
            "a date such as",
            "같은 날짜",
        ),
        (
            {"pattern": "weekly", "days_of_week": ["0"], "every_weeks": "99", "starts_on": "2026-11-16"},
            "every_weeks",
            "less than or equal to 52",
            "52",
        ),
        ({"time": "25:00"}, "time", "'25:00' is not a time", "시각을 읽을 수 없습니다"),
        ({"timezone": "Mars"}, "timezone", "'Mars' is not a time zone", "시간대는 없습니다"),
        ({"mode": "sometimes"}, "mode", "", ""),
        ({"name": ""}, "name", "", ""),
        ({"office": ""}, "office", "Choose an office", "오피스를 고르세요"),
    ],
)
def test_an_error_is_shown_at_its_field_in_the_readers_language(
    office, change, field, message, korean_message
):
    for language, expected in (("en", message), ("ko", korean_message)):
        form = {**FORM, "office": str(office.id), **change}
        answer = sign_in(language=language).post("/workflows/new", form)
        assert answer.status_code == 400
        errors = field_error(answer, field)
        assert errors
        assert expected in errors
        assert not Workflow.objects.exists()


def test_the_preview_draws_the_steps_and_shows_the_next_five_runs(office, alice):
    answer = alice.post("/workflows/preview", {**FORM, "office": str(office.id), "status": "draft"})
    assert [box.node.ref for box in answer.context["drawing"].boxes] == ["load", "send"]
    assert len(answer.context["next"]) == 5
    assert {time.there[-8:] for time in answer.context["next"]} == {"09:00:00"}
    assert "Inactive. Next runs" in text_of(answer)
    assert {field_error(answer, field) for field in ("name", "steps", "mode", "time")} == {""}
    assert not Workflow.objects.exists()


def test_the_preview_draws_valid_steps_and_reports_errors(office, alice):
    steps = [a_step("a", task_id="no.such"), a_step("b", "a")]
    form = {**FORM, "office": str(office.id), "time": "", "name": ""}
    answer = alice.post("/workflows/preview", {**form, "steps": json.dumps(steps)})
    assert "No Task 'no.such' is registered." in field_error(answer, "steps")
    assert len(answer.context["drawing"].boxes) == 2
    assert {field_error(answer, field) for field in ("name", "time")} == {""}
    circle = [a_step("a", "b"), a_step("b", "a")]
    answer = alice.post("/workflows/preview", {**FORM, "office": str(office.id), "steps": json.dumps(circle)})
    assert "cannot be drawn" in text_of(answer)
    odd = [1, None, {"ref": 5, "depends_on": [{}]}, {"task_id": ["x"], "depends_on": "a"}]
    for steps_text in (json.dumps(odd), "3", '"x"', ""):
        answer = alice.post("/workflows/preview", {**FORM, "office": str(office.id), "steps": steps_text})
        assert answer.status_code == 200, steps_text
    assert alice.post("/workflows/preview", {}).status_code == 200


def test_saving_another_name_keeps_the_registered_run(office, alice):
    workflow = made(office, schedule_config={"mode": "delayed", "delay_seconds": 7200})
    pending = WorkflowRun.objects.get()
    texts = form_data(alice.get(f"/workflows/{workflow.id}/edit"))
    alice.post(f"/workflows/{workflow.id}/edit", {**texts, "name": "other"})
    workflow.refresh_from_db()
    assert workflow.name == "other"
    assert WorkflowRun.objects.get().scheduled_time == pending.scheduled_time
    assert WorkflowRun.objects.get().workflow_data["name"] == "other"


def test_masked_values_of_steps_are_kept(office, alice):
    headers = {"Authorization": "Bearer abc"}
    request = {"method": "GET", "url": "https://a.example", "headers": headers}
    workflow = made(office, steps=[a_step("get", task_id="http.request", args=request)])
    for path in [*seen_pages(workflow), f"/workflows/{workflow.id}/edit"]:
        assert "Bearer abc" not in text_of(alice.get(path)), path
    texts = form_data(alice.get(f"/workflows/{workflow.id}/edit"))
    steps = json.loads(str(texts["steps"]))
    steps.insert(0, a_step("first"))
    alice.post(f"/workflows/{workflow.id}/edit", {**texts, "steps": json.dumps(steps)})
    workflow.refresh_from_db()
    assert [step["ref"] for step in workflow.steps] == ["first", "get"]
    assert workflow.steps[1]["args"]["headers"] == headers
