"""The catalogue of Tasks, and the form that runs one."""

import pytest

from jobs.models import Execution, Job
from jobs.states import Trigger
from scheduler.models import Schedule
from tests.factories import a_member, a_user, serve_roles, unserve_roles
from tests.integration.pages.clients import field_error, sign_in, text_of
from tests.schedule_factories import a_schedule

pytestmark = pytest.mark.django_db

SUM = "/tasks/demo.sum"


def test_the_catalogue_names_every_public_task_and_whether_a_worker_serves_it(alice):
    serve_roles()
    page = text_of(alice.get("/tasks"))
    assert 'href="/tasks/demo.sum"' in page
    assert "Adds numbers." in page
    assert "exports.render" not in page
    assert "No worker serves" not in text_of(alice.get(SUM))
    unserve_roles()
    assert "No worker serves" in text_of(alice.get(SUM))
    assert alice.get("/tasks/exports.render").status_code == 404
    assert alice.get("/tasks/no.such").status_code == 404


def test_the_form_submits_a_job_to_the_office(office, alice):
    answer = alice.post(SUM, {"arg_numbers": "[1, 2.5]", "office": str(office.id)})
    job = Job.objects.get()
    assert answer["Location"] == f"/offices/{office.id}/jobs/{job.id}"
    assert (job.office, job.task_id, job.args) == (office, "demo.sum", {"numbers": [1, 2.5]})


def test_the_form_without_an_office_runs_the_task_by_hand_once_at_a_time(alice):
    answer = alice.post(SUM, {"arg_numbers": "[1]"})
    run = Execution.objects.get()
    assert answer["Location"] == f"/executions/{run.id}"
    assert (run.trigger, run.source, run.args) == (Trigger.MANUAL, str(a_user("alice").pk), {"numbers": [1]})
    again = alice.post(SUM, {"arg_numbers": "[1]"})
    assert again.status_code == 400
    assert "is still in progress" in text_of(again)
    assert Execution.objects.count() == 1


def test_each_type_has_its_field_and_an_empty_one_leaves_the_default(alice):
    alice.post("/tasks/demo.sleep", {"arg_seconds": "0.5"})
    alice.post("/tasks/demo.flaky", {"arg_failures": "3"})
    alice.post("/tasks/demo.fail", {"arg_message": " a text ", "arg_failure_type": ""})
    alice.post(
        "/tasks/http.request",
        {"arg_method": "GET", "arg_url": "https://example.org", "arg_headers": '{"a": "b"}'},
    )
    assert {run.task_id: run.args for run in Execution.objects.all()} == {
        "demo.sleep": {"seconds": 0.5},
        "demo.flaky": {"failures": 3},
        "demo.fail": {"message": " a text "},
        "http.request": {"method": "GET", "url": "https://example.org", "headers": {"a": "b"}},
    }


@pytest.mark.parametrize(
    ("task", "fields", "field", "english", "korean"),
    [
        ("demo.sum", {}, "numbers", "This field is required.", "필수"),
        ("demo.sum", {"arg_numbers": "[1"}, "numbers", "Not valid JSON", "JSON"),
        ("demo.sum", {"arg_numbers": '["x"]'}, "numbers", "Wrong type", "형식"),
        ("demo.sleep", {"arg_seconds": "-1"}, "seconds", "at least 0", "0"),
        ("demo.sleep", {"arg_seconds": "NaN"}, "seconds", "Enter a number.", "숫자"),
        ("demo.flaky", {"arg_failures": "1.5"}, "failures", "Enter a whole number.", "정수"),
        ("demo.flaky", {"arg_failures": "9" * 30}, "failures", "less than or equal", "이하"),
    ],
)
def test_an_invalid_argument_is_refused_at_its_field(office, task, fields, field, english, korean):
    for language, expected in (("en", english), ("ko", korean)):
        answer = sign_in(language=language).post(f"/tasks/{task}", {**fields, "office": str(office.id)})
        assert answer.status_code == 400
        assert expected in field_error(answer, f"arg_{field}")
    assert not Job.objects.exists()


def test_a_user_submits_only_to_offices_where_they_act(office):
    a_member(office, "vera")
    form = {"arg_numbers": "[1]", "office": str(office.id)}
    for name in ("vera", "mallory"):
        answer = sign_in(name).post(SUM, form)
        assert answer.status_code == 400
        assert "Select a valid choice" in field_error(answer, "office")
        assert office.name not in text_of(answer)
    assert not Job.objects.exists()


def test_all_schedules_of_a_task_are_paused_and_resumed_from_its_page(alice):
    schedules = [a_schedule(owner=a_user("alice")) for _ in range(2)]
    other = a_schedule(owner=a_user("bob"))
    assert "2 enabled, 0 paused" in text_of(alice.get(SUM))
    paused = alice.post(f"{SUM}/schedules/pause", follow=True)
    assert "2 schedules paused." in text_of(paused)
    assert "Resume all your schedules" in text_of(paused)
    assert list(Schedule.objects.filter(enabled=True)) == [other]
    alice.post(f"{SUM}/schedules/resume")
    assert Schedule.objects.filter(enabled=True).count() == len(schedules) + 1
    account = text_of(alice.get("/account"))
    assert "Schedules paused" in account
    assert "Schedules resumed" in account
    assert "스케줄 일시 중지" in text_of(sign_in(language="ko").get("/account"))
    assert "Schedules paused" not in text_of(sign_in("bob").get("/account"))
