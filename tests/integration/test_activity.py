"""The activity log: who did what to schedules, workflows, step queues, calendars and tokens, and where."""

import pytest
from django.db import transaction

from jobs import activity, actors, tokens
from jobs.errors import Conflict, Invalid
from jobs.models import Activity, ApiToken
from jobs.states import Act, Surface
from scheduler.manual_runs import run_schedule
from scheduler.models import Schedule, Workflow, WorkflowRun
from scheduler.schedules import lifecycle as schedules
from scheduler.steps import lifecycle as steps
from scheduler.steps import queues
from scheduler.workflows import lifecycle as workflows
from tests.factories import a_user, an_office
from tests.integration.commands import run
from tests.integration.pages.clients import sign_in, text_of
from tests.integration.pages.workflow_pages import FORM as WORKFLOW_FORM
from tests.integration.rest_support import client_of, make_user
from tests.schedule_factories import T0, a_schedule, a_workflow
from tests.step_factories import a_job, a_queue, run_to_end

pytestmark = pytest.mark.django_db
JSON = "application/json"
SCHEDULE = {"name": "nightly", "task_id": "demo.sum", "args": {"numbers": [1]}}
INTERVAL = {"kind": "interval", "every_seconds": 60}


def rows_of(log) -> list[tuple[str, str, str, str]]:
    return list(log.activity.order_by("id").values_list("actor", "surface", "token", "act"))


def acts_of(log) -> list[str]:
    return list(log.activity.order_by("id").values_list("act", flat=True))


@pytest.fixture
def root():
    """A user who acts, for the verbs that a test calls itself."""
    with actors.act_as(actors.Actor(Surface.ADMIN, "root")):
        yield


def test_a_schedule_is_logged_from_every_surface():
    alice = a_user("alice")
    api, page = client_of(alice, "ci"), sign_in("alice")
    made = api.post("/api/schedules", {**SCHEDULE, **INTERVAL}, content_type=JSON).json()
    page.post(f"/schedules/{made['id']}/pause")
    page.post(f"/schedules/{made['id']}/pause")
    run("schedules", "resume", made["id"])
    api.patch(f"/api/schedules/{made['id']}", {"args": {"numbers": [2]}}, content_type=JSON)
    page.post(f"/schedules/{made['id']}/run")
    assert api.delete(f"/api/schedules/{made['id']}").status_code == 204
    rows = rows_of(alice)
    assert [row[3] for row in rows] == [
        *(Act.SCHEDULE_CREATED, Act.SCHEDULE_PAUSED, Act.SCHEDULE_RESUMED, Act.SCHEDULE_CHANGED),
        *(Act.SCHEDULE_RUN, Act.SCHEDULE_DELETED),
    ]
    assert rows[0][:3] == ("alice", Surface.API, "ci")
    assert rows[1][:3] == ("alice", Surface.PAGE, "")
    assert rows[2][0].startswith("cli:")
    assert rows[2][1:3] == (Surface.COMMAND, "")
    assert list(alice.activity.values_list("details__schedule", flat=True)) == ["nightly"] * 6


def test_another_user_is_named_in_the_log_of_the_owner(root):
    schedule = a_schedule(owner=a_user("alice"))
    schedules.pause(schedule.id, now=T0)
    assert rows_of(schedule.owner)[-1] == ("root", Surface.ADMIN, "", Act.SCHEDULE_PAUSED)


def test_a_change_names_the_fields_without_their_values(root):
    schedule = a_schedule(owner=a_user("alice"))
    values = {"args": {"numbers": [1, 777]}, "name": schedule.name, "enabled": False}
    schedules.change(schedule.id, values, now=T0)
    details = schedule.owner.activity.get(act=Act.SCHEDULE_CHANGED).details
    assert details == {"schedule": schedule.name, "fields": ["args", "enabled"]}
    assert "777" not in str(details)


def test_the_activity_log_has_no_acts_of_the_system_and_no_refused_ones():
    alice = a_user("alice")
    schedule = a_schedule(owner=alice)
    run_schedule(schedule)
    with actors.act_as(actors.Actor(Surface.PAGE, "alice")):
        with pytest.raises(Conflict):
            run_schedule(schedule)
        with pytest.raises(Invalid):
            schedules.change(schedule.id, {"kind": "cron", "cron": "nonsense"}, now=T0)
        schedules.change(schedule.id, {"name": schedule.name}, now=T0)
    assert not Activity.objects.exists()


def test_a_change_that_is_rolled_back_is_not_logged(root):
    schedule = a_schedule(owner=a_user("alice"))
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        schedules.pause(schedule.id, now=T0)
        raise ZeroDivisionError
    assert acts_of(schedule.owner) == [Act.SCHEDULE_CREATED]
    assert Schedule.objects.get(pk=schedule.pk).enabled


def test_a_run_of_a_task_by_hand_is_in_the_log_of_who_started_it():
    alice = a_user("alice")
    answer = client_of(alice).post("/api/tasks/demo.sum/run", {"args": {"numbers": [41]}}, content_type=JSON)
    row = alice.activity.get()
    assert (row.act, row.details) == (
        Act.TASK_RUN,
        {"task_id": "demo.sum", "run": answer.json()["execution_id"]},
    )


def test_a_calendar_is_logged():
    alice = a_user("alice")
    client = client_of(alice)
    body = {"name": "holidays", "dates": ["2030-01-01"]}
    made = client.post("/api/calendars", body, content_type=JSON).json()
    address = f"/api/calendars/{made['id']}"
    client.patch(address, {**body, "dates": ["2030-01-02"]}, content_type=JSON)
    client.patch(address, {**body, "dates": ["2030-01-02"]}, content_type=JSON)
    assert client.delete(address).status_code == 204
    assert acts_of(alice) == [Act.CALENDAR_CREATED, Act.CALENDAR_CHANGED, Act.CALENDAR_DELETED]


def test_a_workflow_and_its_runs_are_in_the_log_of_its_office():
    office = an_office(a_user("alice"))
    page = sign_in("alice")
    page.post("/workflows/new", {**WORKFLOW_FORM, "office": str(office.id)})
    workflow = Workflow.objects.get()
    at = f"/workflows/{workflow.id}"
    page.post(f"{at}/pause")
    page.post(f"{at}/activate")
    page.post(f"{at}/run")
    started = WorkflowRun.objects.get(batch__isnull=False)
    page.post(f"{at}/runs/{started.id}/cancel")
    page.post(f"{at}/runs/{started.id}/resume")
    page.post(f"{at}/edit", {**WORKFLOW_FORM, "name": "other"})
    page.post(f"{at}/delete")
    assert rows_of(office) == [
        ("alice", Surface.PAGE, "", act)
        for act in (
            *(Act.WORKFLOW_CREATED, Act.WORKFLOW_PAUSED, Act.WORKFLOW_ACTIVATED, Act.WORKFLOW_RUN),
            *(Act.WORKFLOW_RUN_CANCELLED, Act.WORKFLOW_RUN_RETRIED, Act.WORKFLOW_CHANGED),
            Act.WORKFLOW_DELETED,
        )
    ]
    changed = office.activity.get(act=Act.WORKFLOW_CHANGED)
    assert changed.details == {"workflow": "other", "fields": ["name"]}
    log = text_of(page.get(f"/offices/{office.id}/activity"))
    assert "Workflow run cancelled" in log
    assert "pages" in log
    korean = sign_in("alice", "ko").get(f"/offices/{office.id}/activity")
    assert "워크플로 실행 취소" in text_of(korean)


def test_a_workflow_that_runs_by_itself_is_not_logged():
    workflow = a_workflow()
    workflows.schedule_all(T0)
    assert acts_of(workflow.office) == []


def test_a_step_queue_is_in_the_log_of_its_office_or_else_of_its_owner(root):
    alice = a_user("alice")
    office = an_office(alice)
    own, shared = a_queue(a_job(forward="fail"), owner=alice), a_queue(owner=alice, office=office)
    steps.run(own.pk)
    run_to_end(own)
    steps.resume(own.pk)
    steps.cancel(own.pk)
    queues.delete(shared.pk)
    assert acts_of(alice) == [
        *(Act.STEP_QUEUE_CREATED, Act.STEP_QUEUE_CHANGED, Act.STEP_QUEUE_RUN),
        *(Act.STEP_QUEUE_RESUMED, Act.STEP_QUEUE_CANCELLED),
    ]
    assert acts_of(office) == [Act.STEP_QUEUE_CREATED, Act.STEP_QUEUE_DELETED]


def test_tokens_are_logged_without_their_text():
    alice, page = a_user("alice"), sign_in("alice")
    plain = page.post("/account/tokens", {"name": "ci", "days": "7"}).context["new_token"]
    token = ApiToken.objects.get()
    page.post(f"/account/tokens/{token.pk}/revoke")
    page.post(f"/account/tokens/{token.pk}/revoke")
    assert acts_of(alice) == [Act.TOKEN_CREATED, Act.TOKEN_REVOKED]
    account = text_of(page.get("/account"))
    assert "API token revoked" in account
    assert plain not in account + str(list(alice.activity.values()))
    assert run("token", "alice", "--name", "shell").code == 0
    assert alice.activity.latest("id").surface == Surface.COMMAND


def test_a_changed_password_is_logged_wherever_it_was_changed():
    alice, root = make_user("alice"), a_user("root", is_staff=True, is_superuser=True)
    page = sign_in("alice")
    new = {"new_password1": "battery staple 2", "new_password2": "battery staple 2"}
    page.post("/account/password", {"old_password": "wrong", **new})
    assert acts_of(alice) == []
    page.post("/account/password", {"old_password": "correct horse", **new})
    by_admin = {"password1": "staple battery 3", "password2": "staple battery 3", "usable_password": "true"}
    assert sign_in("root").post(f"/admin/auth/user/{alice.pk}/password/", by_admin).status_code == 302
    assert rows_of(alice) == [
        ("alice", Surface.PAGE, "", Act.PASSWORD_CHANGED),
        ("root", Surface.ADMIN, "", Act.PASSWORD_CHANGED),
    ]
    assert list(alice.activity.values_list("details", flat=True)) == [{}, {}]
    assert acts_of(root) == []


def test_the_log_of_a_user_is_for_nobody_else():
    a_user("alice")
    with actors.act_as(actors.Actor(Surface.PAGE, "alice")):
        tokens.issue(a_user("alice"), "secret-name")
    assert "secret-name" in text_of(sign_in("alice").get("/account"))
    assert "secret-name" not in text_of(sign_in("bob").get("/account"))


def test_a_row_without_a_log_is_not_written(root):
    activity.record(Act.SCHEDULE_PAUSED, owner=None, schedule="nobody's")
    assert not Activity.objects.exists()


def test_the_actor_is_forgotten_after_a_request():
    client_of(a_user("alice")).get("/api/schedules")
    assert actors.current() is None
