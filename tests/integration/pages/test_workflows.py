"""The pages of workflows: access, content, and actions."""

from datetime import timedelta

import pytest
from django.utils import timezone

from jobs.models import Job, Membership
from jobs.states import JobStatus, MemberRole
from scheduler.models import Workflow, WorkflowRun
from scheduler.pages import run_grid
from scheduler.states import RunStatus, WorkflowStatus
from scheduler.workflows import runs
from tests.factories import a_user, an_office, claimed
from tests.integration.pages.clients import sign_in, text_of
from tests.integration.pages.workflow_pages import FORM, STEPS, made, seen_pages
from tests.schedule_factories import a_step

pytestmark = pytest.mark.django_db


def names(page) -> list[str]:
    return [row["workflow"].name for row in page.context["rows"]]


def acts(workflow: Workflow, run: WorkflowRun) -> list[str]:
    verbs = ["run", "pause", "activate", "delete", "edit", "preview"]
    verbs += [f"runs/{run.id}/{verb}" for verb in ("resume", "cancel")]
    return [f"/workflows/{workflow.id}/{verb}" for verb in verbs]


def started(workflow: Workflow) -> WorkflowRun:
    return runs.run_now(workflow.id, user_id=a_user("alice").pk, now=timezone.now())


def failed(workflow: Workflow) -> WorkflowRun:
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


# --- runs and steps --------------------------------------------------------------------------------


def test_the_grid_has_a_column_for_each_run_and_a_cell_for_each_step(office):
    workflow = made(office, steps=STEPS)
    first, second = failed(workflow), started(workflow)
    page = sign_in().get(f"/workflows/{workflow.id}")
    grid = page.context["grid"]
    assert [run.pk for run in grid.runs] == [second.pk, first.pk]
    assert [row.name for row in grid.rows] == ["load", "send"]
    text = text_of(page)
    for row in grid.rows:
        for run, job in zip(grid.runs, row.jobs, strict=True):
            assert job.batch_id == run.batch_id
            assert f'href="/offices/{office.id}/jobs/{job.pk}"' in text
    assert 'aria-label="load: Failed">✕</a>' in text
    assert 'aria-label="load: Queued">◇</a>' in text
    # It is refreshed with the page.
    assert 'aria-label="load: Failed"' in text_of(sign_in().get(f"/workflows/{workflow.id}/live"))
    assert 'aria-label="load: 실패"' in text_of(sign_in(language="ko").get(f"/workflows/{workflow.id}"))


def test_the_grid_keeps_steps_that_were_renamed_and_tells_those_without_a_name_apart(office):
    unnamed = {"task_id": "demo.sum", "args": {"numbers": [1]}}
    workflow = made(office, steps=[a_step("old"), unnamed, unnamed])
    run = started(workflow)
    Workflow.objects.filter(pk=workflow.pk).update(steps=[a_step("new"), unnamed, unnamed])
    started(workflow)
    grid = sign_in().get(f"/workflows/{workflow.id}").context["grid"]
    assert sorted(row.name for row in grid.rows) == ["demo.sum", "demo.sum", "new", "old"]
    assert grid.rows[0].name == "new"
    (old,) = [row for row in grid.rows if row.name == "old"]
    assert [job and job.batch_id for job in old.jobs] == [None, run.batch_id]


def test_the_grid_of_many_steps_has_those_that_failed(office, monkeypatch):
    monkeypatch.setattr(run_grid, "MOST_STEPS", 2)
    workflow = made(office, steps=[a_step("a"), a_step("b", "a"), a_step("c", "b")])
    run = started(workflow)
    Job.objects.filter(batch=run.batch_id, ref="c").update(
        status=JobStatus.FAILED, completed_at=timezone.now(), due_at=None
    )
    page = sign_in().get(f"/workflows/{workflow.id}")
    assert [row.name for row in page.context["grid"].rows] == ["a", "c"]
    assert "1 more step is left out" in text_of(page)


# --- whose they are --------------------------------------------------------------------------------


def test_a_workflow_of_another_office_is_not_listed(office):
    made(office, name="secret work")
    assert "secret work" not in text_of(sign_in("mallory").get("/workflows"))


@pytest.mark.parametrize("staff", [False, True])
def test_a_viewer_sees_everything_and_cannot_act(office, staff):
    workflow = made(office)
    run = failed(workflow)
    vera = a_user("vera", is_staff=staff)
    if not staff:
        Membership.objects.create(office=office, user=vera, role=MemberRole.VIEWER)
    client = sign_in("vera")
    for path in ["/workflows", *seen_pages(workflow)]:
        page = client.get(path)
        assert page.status_code == 200
        main = text_of(page).partition('<main id="main">')[2] or text_of(page)
        assert 'method="post"' not in main, path
    for path in acts(workflow, run):
        assert client.post(path, FORM).status_code == 403, path
    assert client.post("/workflows/new", {**FORM, "office": str(office.id)}).status_code == 400
    assert Workflow.objects.get().status == WorkflowStatus.ACTIVE


def test_the_list_refreshes_itself_with_its_filter(office, alice):
    made(office), made(office, name="other")
    page = text_of(alice.get("/workflows?name=other"))
    assert 'hx-get="/workflows/live?name=other&amp;newest=' in page
    part = alice.get("/workflows/live?name=other")
    assert names(part) == ["other"]
    assert "<html" not in text_of(part)
    assert 'name="back" value="/workflows?name=other"' in text_of(part)


def test_a_run_in_progress_has_a_button_that_cancels_it(office, alice):
    workflow = made(office)
    run = started(workflow)
    path = f"/workflows/{workflow.id}/runs/{run.id}/cancel"
    assert path in text_of(alice.get(f"/workflows/{workflow.id}"))
    answer = alice.post(path, follow=True)
    assert "Cancellation requested." in text_of(answer)
    assert path not in text_of(answer)
    run.refresh_from_db()
    assert run.status == RunStatus.CANCELLED
    other = made(office, name="other")
    assert alice.post(f"/workflows/{other.id}/runs/{run.id}/cancel").status_code == 404


def test_a_run_is_resumed_only_as_one_of_its_workflow(office, alice):
    run, other = failed(made(office)), made(an_office(a_user("bob")), name="other")
    assert alice.post(f"/workflows/{other.id}/runs/{run.id}/resume").status_code == 404
    mine = made(office, name="mine")
    assert alice.post(f"/workflows/{mine.id}/runs/{run.id}/resume").status_code == 404


# --- the list, and one -----------------------------------------------------------------------------


def test_the_filter_of_the_list_is_in_its_address(office, alice):
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


def test_the_list_shows_the_mode_in_words_the_next_run_and_recent_runs(office, alice):
    workflow = made(office)
    failed(workflow)
    started(workflow)
    text = text_of(alice.get("/workflows"))
    assert "every day at 09:00" in text
    assert "the newest last: Failed, Running" in text
    pending = WorkflowRun.objects.get(status=RunStatus.PENDING)
    assert f"{timezone.localtime(pending.scheduled_time):%Y-%m-%d 09:00:00}" in text
    assert "매일 09:00" in text_of(sign_in(language="ko").get("/workflows"))


def test_a_workflow_shows_its_graph_and_its_runs_with_their_batches(office, alice):
    workflow = made(office, steps=STEPS)
    run = failed(workflow)
    page = alice.get(f"/workflows/{workflow.id}")
    text = text_of(page)
    assert [box.node.ref for box in page.context["drawing"].boxes] == ["load", "send"]
    assert len(page.context["drawing"].lines) == 1
    assert f"/offices/{office.id}/batches/{run.batch_id}" in text
    assert "1 of 2 steps failed. load: no way &lt;b&gt; Blocked steps: 1." in text
    assert f"/runs/{run.id}/resume" in text
    assert "every day at 09:00" in text


def test_a_run_whose_batch_is_deleted_has_no_link(office, alice):
    workflow = made(office)
    run = failed(workflow)
    Job.objects.filter(batch=run.batch_id).delete()
    office.batches.all().delete()
    WorkflowRun.objects.filter(pk=run.pk).update(batch_id=run.batch_id)
    assert f"/batches/{run.batch_id}" not in text_of(alice.get(f"/workflows/{workflow.id}"))


def test_runs_have_pages(office, alice):
    workflow = made(office)
    now = timezone.now()
    WorkflowRun.objects.bulk_create(
        WorkflowRun(
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


def test_a_run_by_hand_redirects_to_its_jobs(office, alice):
    workflow = made(office, status="draft")
    answer = alice.post(f"/workflows/{workflow.id}/run")
    run = WorkflowRun.objects.get()
    assert answer["Location"] == f"/offices/{office.id}/batches/{run.batch_id}"
    assert run.started_by == a_user("alice")
    empty = made(office, name="empty", status="draft", steps=[])
    assert "no steps to run" in text_of(alice.post(f"/workflows/{empty.id}/run", follow=True))


def test_a_refused_run_shows_the_reason(office, alice):
    workflow = made(office)
    Workflow.objects.update(steps=[a_step("a", task_id="gone.away")])
    answer = alice.post(f"/workflows/{workflow.id}/run", follow=True)
    assert answer.redirect_chain == [(f"/workflows/{workflow.id}", 302)]
    assert "gone.away" in text_of(answer)


def test_a_workflow_is_paused_and_activated(office, alice):
    workflow = made(office)
    form = {"back": "/workflows?name=r"}
    answer = alice.post(f"/workflows/{workflow.id}/pause", form, follow=True)
    assert answer.redirect_chain == [("/workflows?name=r", 302)]
    assert not WorkflowRun.objects.filter(status=RunStatus.PENDING).exists()
    alice.post(f"/workflows/{workflow.id}/activate")
    assert WorkflowRun.objects.filter(status=RunStatus.PENDING).count() == 1
    Workflow.objects.update(
        status=WorkflowStatus.PAUSED, schedule_config={"mode": "scheduled", "at": "2001-01-01T00:00:00+09:00"}
    )
    refused = alice.post(f"/workflows/{workflow.id}/activate", follow=True)
    assert "The time has passed" in text_of(refused)
    assert Workflow.objects.get().status == WorkflowStatus.PAUSED


def test_a_failed_run_is_resumed_from_its_failed_step(office, alice):
    workflow = made(office)
    run = failed(workflow)
    path = f"/workflows/{workflow.id}/runs/{run.id}/resume"
    answer = alice.post(path, follow=True)
    assert "Retrying the failed steps." in text_of(answer)
    run.refresh_from_db()
    assert (run.status, run.retry_count) == (RunStatus.RUNNING, 1)
    assert "retried 1 time" in text_of(answer)
    assert "Only a failed or cancelled run can be resumed" in text_of(alice.post(path, follow=True))


def test_a_workflow_is_deleted_after_confirmation(office, alice):
    workflow = made(office)
    path = f"/workflows/{workflow.id}/delete"
    assert "run history are deleted" in text_of(alice.get(path))
    assert Workflow.objects.exists()
    assert alice.post(path)["Location"] == "/workflows"
    assert not Workflow.objects.exists()


def test_the_page_of_a_run_shows_its_graph_by_state_and_what_can_be_done(office, alice):
    workflow = made(office)
    run = started(workflow)
    address = f"/workflows/{workflow.id}/runs/{run.id}"
    assert f'href="{address}"' in text_of(alice.get(f"/workflows/{workflow.id}"))
    for path in ("", "/live"):
        page = alice.get(address + path)
        assert page.context["drawing"].boxes
        assert f"{address}/cancel" in text_of(page)
    assert alice.get(f"/workflows/{workflow.id}/runs/{workflow.id}").status_code == 404
