"""The pages of workflows: whose they are, what they show, how one is made, changed, run and resumed."""

import json
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from jobs.models import Job, Membership
from jobs.states import MemberRole
from scheduler.lifecycle import runs
from scheduler.models import ScheduledJob, Workflow
from scheduler.states import RunStatus, WorkflowStatus
from tests.factories import a_user, an_office, claimed
from tests.schedule_factories import DAILY, a_step, a_workflow

pytestmark = pytest.mark.django_db

STEPS = [a_step("load"), a_step("send", "load")]
FORM = {
    "name": "report",
    "status": "active",
    "steps": json.dumps(STEPS),
    "mode": "recurring",
    "delay": "",
    "unit": "minutes",
    "at": "",
    "pattern": "daily",
    "time": "09:00",
    "day_of_month": "1",
    "timezone": "Asia/Seoul",
}


def reader(name: str = "alice", language: str = "en", **more) -> Client:
    client = Client(headers={"Accept-Language": language})
    client.force_login(a_user(name, **more))
    return client


@pytest.fixture
def office():
    return an_office(a_user("alice"), name="Alice's", max_concurrent_jobs=5)


@pytest.fixture
def alice(office):
    return reader()


def made(office, **fields) -> Workflow:
    return a_workflow(office, now=timezone.now(), **fields)


def text_of(answer) -> str:
    return str(answer.content.decode())


def why(answer, field: str) -> str:
    """What stands beside a field."""
    found = re.search(rf'<p [^>]*id="why-{field}"[^>]*>(.*?)</p>', text_of(answer), re.DOTALL)
    assert found is not None, field
    return found[1].strip().replace("&#x27;", "'").replace("&quot;", '"')


def names(page) -> list[str]:
    return [row["workflow"].name for row in page.context["rows"]]


def seen_pages(workflow: Workflow) -> list[str]:
    return [f"/workflows/{workflow.id}", f"/workflows/{workflow.id}/live"]


def acts(workflow: Workflow, run: ScheduledJob) -> list[str]:
    verbs = ("run", "pause", "activate", "delete", "edit", "preview", f"runs/{run.id}/resume")
    return [f"/workflows/{workflow.id}/{verb}" for verb in verbs]


def started(workflow: Workflow) -> ScheduledJob:
    return runs.run_now(workflow.id, user_id=a_user("alice").pk, actor="alice", now=timezone.now())


def failed(workflow: Workflow) -> ScheduledJob:
    """A run whose first step has failed."""
    run = started(workflow)
    first = Job.objects.filter(batch=run.batch_id).order_by("seq").first()
    assert first is not None
    playing = claimed(first)
    assert playing is not None
    playing.fail(failure_type="permission_error", error="no way <b>")
    runs.settle_runs(timezone.now())
    run.refresh_from_db()
    assert run.status == RunStatus.FAILED
    return run


# --- whose they are --------------------------------------------------------------------------------


def test_who_is_not_signed_in_is_asked_to(office):
    for path in ["/workflows", "/workflows/new", *seen_pages(made(office))]:
        assert Client().get(path)["Location"].startswith("/login?next=/"), path


def test_somebody_elses_workflow_does_not_exist(office):
    workflow = made(office, name="secret work")
    run = failed(workflow)
    mallory = reader("mallory")
    assert {mallory.get(path).status_code for path in seen_pages(workflow)} == {404}
    assert "secret work" not in text_of(mallory.get("/workflows"))
    assert {mallory.post(path, FORM).status_code for path in acts(workflow, run)} == {404}
    assert Workflow.objects.get() == workflow
    assert ScheduledJob.objects.exclude(status=RunStatus.PENDING).count() == 1


@pytest.mark.parametrize("staff", [False, True])
def test_a_viewer_sees_everything_and_can_do_nothing(office, staff):
    workflow = made(office)
    run = failed(workflow)
    vera = a_user("vera", is_staff=staff)
    if not staff:
        Membership.objects.create(office=office, user=vera, role=MemberRole.VIEWER)
    client = reader("vera")
    for path in ["/workflows", *seen_pages(workflow)]:
        page = client.get(path)
        assert page.status_code == 200
        main = text_of(page).partition('<main id="main">')[2] or text_of(page)
        assert 'method="post"' not in main, path
    for path in acts(workflow, run):
        assert client.post(path, FORM).status_code == 403, path
    assert client.post("/workflows/new", {**FORM, "office": str(office.id)}).status_code == 400
    assert Workflow.objects.get().status == WorkflowStatus.ACTIVE


def test_a_run_is_resumed_only_as_one_of_its_workflow(office, alice):
    run, other = failed(made(office)), made(an_office(a_user("bob")), name="other")
    assert alice.post(f"/workflows/{other.id}/runs/{run.id}/resume").status_code == 404
    mine = made(office, name="mine")
    assert alice.post(f"/workflows/{mine.id}/runs/{run.id}/resume").status_code == 404


def test_an_action_needs_a_post_with_its_csrf_token(office):
    workflow = made(office)
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(a_user("alice"))
    assert strict.get(f"/workflows/{workflow.id}/run").status_code == 405
    for path in ("run", "pause", "delete", "edit", "preview"):
        assert strict.post(f"/workflows/{workflow.id}/{path}", FORM).status_code == 403
    assert not ScheduledJob.objects.exclude(status=RunStatus.PENDING).exists()


# --- the list, and one -----------------------------------------------------------------------------


def test_the_filter_is_in_the_address(office, alice):
    other = an_office(a_user("alice"), name="other")
    made(office, name="one")
    made(other, name="two", status="draft")
    assert names(alice.get("/workflows")) == ["one", "two"]
    assert names(alice.get("/workflows?status=draft")) == ["two"]
    assert names(alice.get(f"/workflows?office={office.id}")) == ["one"]
    assert names(alice.get("/workflows?name=TW")) == ["two"]
    wrong = alice.get("/workflows?office=odd")
    assert names(wrong) == []
    assert 'role="alert"' in text_of(wrong)


def test_the_list_tells_the_mode_in_words_the_next_run_and_the_last_ones(office, alice):
    workflow = made(office)
    failed(workflow)
    started(workflow)
    text = text_of(alice.get("/workflows"))
    assert "every day at 09:00" in text
    assert "the newest last: failed, running" in text
    pending = ScheduledJob.objects.get(status=RunStatus.PENDING)
    assert f"{timezone.localtime(pending.scheduled_time):%Y-%m-%d 09:00:00}" in text
    assert "매일 09:00" in text_of(reader(language="ko").get("/workflows"))


def test_one_shows_its_steps_drawn_and_its_runs_with_their_batches(office, alice):
    workflow = made(office, steps=STEPS)
    run = failed(workflow)
    page = alice.get(f"/workflows/{workflow.id}")
    text = text_of(page)
    assert [box.node.ref for box in page.context["drawing"].boxes] == ["load", "send"]
    assert len(page.context["drawing"].lines) == 1
    assert f"/offices/{office.id}/batches/{run.batch_id}" in text
    assert "1 of 2 steps failed. load: no way &lt;b&gt; 1 more wait for it." in text
    assert f"/runs/{run.id}/resume" in text
    assert "every day at 09:00" in text


def test_a_run_whose_batch_is_deleted_has_no_link(office, alice):
    workflow = made(office)
    run = failed(workflow)
    Job.objects.filter(batch=run.batch_id).delete()
    office.batches.all().delete()
    ScheduledJob.objects.filter(pk=run.pk).update(batch_id=run.batch_id)
    assert f"/batches/{run.batch_id}" not in text_of(alice.get(f"/workflows/{workflow.id}"))


def test_runs_have_pages(office, alice):
    workflow = made(office)
    now = timezone.now()
    ScheduledJob.objects.bulk_create(
        ScheduledJob(
            workflow=workflow,
            scheduled_time=now - timedelta(minutes=number),
            created_at=now,
            updated_at=now,
            executed_at=now,
            ended_at=now,
            status=RunStatus.COMPLETED,
        )
        for number in range(45)
    )
    seen, address = [], f"/workflows/{workflow.id}"
    while address:
        page = alice.get(address)
        seen += [row["run"].scheduled_time for row in page.context["runs"]]
        live = page.context["older"]
        address = f"/workflows/{workflow.id}{live}" if live else ""
    assert seen == sorted(seen, reverse=True)
    assert len(set(seen)) == 45
    assert f"/workflows/{workflow.id}/live?after=" in text_of(page)


# --- what can be done ------------------------------------------------------------------------------


def test_it_runs_now_and_leads_to_its_jobs(office, alice):
    workflow = made(office, status="draft")
    answer = alice.post(f"/workflows/{workflow.id}/run")
    run = ScheduledJob.objects.get()
    assert answer["Location"] == f"/offices/{office.id}/batches/{run.batch_id}"
    assert run.started_by == a_user("alice")
    empty = made(office, name="empty", status="draft", steps=[])
    assert "no steps to run" in text_of(alice.post(f"/workflows/{empty.id}/run", follow=True))


def test_a_run_that_is_refused_says_why(office, alice):
    workflow = made(office)
    Workflow.objects.update(steps=[a_step("a", task_id="gone.away")])
    answer = alice.post(f"/workflows/{workflow.id}/run", follow=True)
    assert answer.redirect_chain == [(f"/workflows/{workflow.id}", 302)]
    assert "gone.away" in text_of(answer)


def test_it_is_paused_and_activated(office, alice):
    workflow = made(office)
    form = {"back": "/workflows?name=r"}
    answer = alice.post(f"/workflows/{workflow.id}/pause", form, follow=True)
    assert answer.redirect_chain == [("/workflows?name=r", 302)]
    assert not ScheduledJob.objects.filter(status=RunStatus.PENDING).exists()
    alice.post(f"/workflows/{workflow.id}/activate")
    assert ScheduledJob.objects.filter(status=RunStatus.PENDING).count() == 1
    Workflow.objects.update(
        status=WorkflowStatus.PAUSED, schedule_config={"mode": "scheduled", "at": "2001-01-01T00:00:00+09:00"}
    )
    refused = alice.post(f"/workflows/{workflow.id}/activate", follow=True)
    assert "Its time has passed" in text_of(refused)
    assert Workflow.objects.get().status == WorkflowStatus.PAUSED


def test_a_failed_run_goes_on_from_its_failed_step(office, alice):
    workflow = made(office)
    run = failed(workflow)
    path = f"/workflows/{workflow.id}/runs/{run.id}/resume"
    answer = alice.post(path, follow=True)
    assert "goes on from its failed steps" in text_of(answer)
    run.refresh_from_db()
    assert (run.status, run.retry_count) == (RunStatus.RUNNING, 1)
    assert "resumed 1 time" in text_of(answer)
    assert "Only a failed or cancelled run can go on." in text_of(alice.post(path, follow=True))


def test_it_is_deleted_after_being_asked(office, alice):
    workflow = made(office)
    path = f"/workflows/{workflow.id}/delete"
    assert "the record of its runs is gone" in text_of(alice.get(path))
    assert Workflow.objects.exists()
    assert alice.post(path)["Location"] == "/workflows"
    assert not Workflow.objects.exists()


# --- made, previewed, changed ----------------------------------------------------------------------


def test_a_workflow_is_made_by_the_form(office, alice):
    answer = alice.post("/workflows/new", {**FORM, "office": str(office.id)})
    saved = Workflow.objects.get()
    assert answer["Location"] == f"/workflows/{saved.id}"
    assert (saved.office, saved.steps, saved.schedule_config) == (
        office,
        STEPS,
        {**DAILY, "timezone": "Asia/Seoul"},
    )
    assert ScheduledJob.objects.get().status == RunStatus.PENDING


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
            {"pattern": "monthly", "day_of_month": "last"},
            {**DAILY, "pattern": "monthly", "day_of_month": "last", "timezone": "Asia/Seoul"},
        ),
    ],
)
def test_each_mode_is_written_and_read_again(office, alice, change, config):
    alice.post("/workflows/new", {**FORM, **change, "status": "draft", "office": str(office.id)})
    saved = Workflow.objects.get()
    assert saved.schedule_config == config
    texts = alice.get(f"/workflows/{saved.id}/edit").context["texts"]
    form = {**texts, "days_of_week": texts["days_of_week"].split(","), "name": "other"}
    assert alice.post(f"/workflows/{saved.id}/edit", form).status_code == 302
    saved.refresh_from_db()
    assert (saved.name, saved.schedule_config) == ("other", config)


@pytest.mark.parametrize(
    ("change", "field", "said", "said_in_korean"),
    [
        ({"steps": "[{"}, "steps", "This is not JSON", "JSON이 아닙니다"),
        ({"steps": "{}"}, "steps", "", ""),
        ({"steps": "[]"}, "steps", "needs at least one step", "하나 이상"),
        (
            {"steps": json.dumps([a_step("a"), a_step("b", task_id="no.such")])},
            "steps",
            "step 2 (b), task_id: There is no Task no.such.",
            "2번째 단계 (b), task_id: 태스크",
        ),
        (
            {"steps": json.dumps([a_step("a", "b"), a_step("b", "a")])},
            "steps",
            "depend on each other in a circle",
            "순환",
        ),
        ({"steps": json.dumps([a_step("a", "zz")])}, "steps", "There is no step 'zz'.", "'zz'"),
        ({"mode": "delayed", "delay": "x"}, "delay", "A whole number is needed.", "정수"),
        ({"mode": "scheduled", "at": "2001-01-01T09:00"}, "at", "Its time has passed", "지난 시각"),
        ({"mode": "scheduled"}, "at", "A time is needed", "시각"),
        ({"pattern": "weekly"}, "days_of_week", "at least one day", "하나 이상"),
        ({"time": "25:00"}, "time", "'25:00' is not a time", "시각이 아닙니다"),
        ({"timezone": "Mars"}, "timezone", "'Mars' is not a time zone", "시간대가 아닙니다"),
        ({"mode": "sometimes"}, "mode", "", ""),
        ({"name": ""}, "name", "", ""),
        ({"office": ""}, "office", "Choose an office", "오피스를 고르세요"),
    ],
)
def test_a_refusal_stands_beside_its_field_in_the_readers_language(
    office, change, field, said, said_in_korean
):
    for language, expected in (("en", said), ("ko", said_in_korean)):
        form = {**FORM, "office": str(office.id), **change}
        answer = reader(language=language).post("/workflows/new", form)
        assert answer.status_code == 400
        beside = why(answer, field)
        assert beside
        assert expected in beside
        assert not Workflow.objects.exists()


def test_the_preview_draws_the_steps_and_tells_the_next_five_runs(office, alice):
    answer = alice.post("/workflows/preview", {**FORM, "office": str(office.id), "status": "draft"})
    assert [box.node.ref for box in answer.context["drawing"].boxes] == ["load", "send"]
    assert len(answer.context["next"]) == 5
    assert {one.there[-8:] for one in answer.context["next"]} == {"09:00:00"}
    assert "It is not active." in text_of(answer)
    assert {why(answer, field) for field in ("name", "steps", "mode", "time")} == {""}
    assert not Workflow.objects.exists()


def test_the_preview_draws_what_it_can_and_says_what_is_wrong(office, alice):
    steps = [a_step("a", task_id="no.such"), a_step("b", "a")]
    form = {**FORM, "office": str(office.id), "time": "", "name": ""}
    answer = alice.post("/workflows/preview", {**form, "steps": json.dumps(steps)})
    assert "There is no Task no.such." in why(answer, "steps")
    assert len(answer.context["drawing"].boxes) == 2
    assert {why(answer, field) for field in ("name", "time")} == {""}
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
    pending = ScheduledJob.objects.get()
    texts = alice.get(f"/workflows/{workflow.id}/edit").context["texts"]
    alice.post(f"/workflows/{workflow.id}/edit", {**texts, "name": "other"})
    workflow.refresh_from_db()
    assert workflow.name == "other"
    assert ScheduledJob.objects.get().scheduled_time == pending.scheduled_time
    assert ScheduledJob.objects.get().workflow_data["name"] == "other"


def test_hidden_values_of_steps_stay_what_they_were(office, alice):
    headers = {"Authorization": "Bearer abc"}
    request = {"method": "GET", "url": "https://a.example", "headers": headers}
    workflow = made(office, steps=[a_step("get", task_id="http.request", args=request)])
    for path in [*seen_pages(workflow), f"/workflows/{workflow.id}/edit"]:
        assert "Bearer abc" not in text_of(alice.get(path)), path
    texts = alice.get(f"/workflows/{workflow.id}/edit").context["texts"]
    steps = json.loads(texts["steps"])
    steps.insert(0, a_step("first"))
    alice.post(f"/workflows/{workflow.id}/edit", {**texts, "steps": json.dumps(steps)})
    workflow.refresh_from_db()
    assert [step["ref"] for step in workflow.steps] == ["first", "get"]
    assert workflow.steps[1]["args"]["headers"] == headers


def test_no_page_needs_more_than_its_own_server(office, alice):
    workflow = made(office)
    one = f"/workflows/{workflow.id}"
    for path in ("/workflows", "/workflows/new", one, f"{one}/edit", f"{one}/delete"):
        page = alice.get(path)
        assert "default-src 'self'" in page["Content-Security-Policy"]
        for forbidden in (' style="', "<style", "onclick", "<script>", 'src="http', "hx-on"):
            assert forbidden not in text_of(page), (path, forbidden)
