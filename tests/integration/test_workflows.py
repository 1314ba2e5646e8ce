"""Workflows: one pending run each, started once, settled from their jobs, resumed from failed steps."""

import json
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import IntegrityError, transaction

from jobs import deletions, lifecycle
from jobs.errors import Conflict, Invalid, Refused
from jobs.models import Event, Job, Notification
from jobs.notifications import webhooks
from jobs.notifications.creation import create_from_events
from jobs.sql import call
from jobs.states import EventType, JobStatus, Outcome, Trigger
from scheduler import retention
from scheduler.clock import database_now
from scheduler.models import Workflow, WorkflowRun, WorkflowRunStart
from scheduler.states import RunStatus
from scheduler.workflows import lifecycle as workflows
from scheduler.workflows import runs
from tests.factories import a_user, an_office, claimed, submitted
from tests.schedule_factories import DAILY, T0, a_step, a_workflow, after

pytestmark = pytest.mark.django_db

TOMORROW_AT_NINE = after(86_400)
SEOUL = ZoneInfo("Asia/Seoul")


def pending(workflow):
    return WorkflowRun.objects.filter(workflow=workflow, status=RunStatus.PENDING)


def the_run(workflow):
    return WorkflowRun.objects.exclude(status=RunStatus.PENDING).get(workflow=workflow)


def steps_of(run):
    return {job.ref: job for job in Job.objects.filter(batch=run.batch_id)}


def finish(run, ref, *, fail=False):
    attempt = claimed(steps_of(run)[ref])
    assert attempt is not None
    assert (attempt.fail() if fail else attempt.finish()) is not None


def started(**fields):
    workflow = a_workflow(**fields)
    runs.run_due(TOMORROW_AT_NINE)
    return workflow, the_run(workflow)


# --- registering -----------------------------------------------------------------------------------


def test_activating_registers_the_next_run_at_once():
    workflow = a_workflow()
    run = pending(workflow).get()
    assert run.scheduled_time == TOMORROW_AT_NINE
    assert run.workflow_data["steps"] == workflow.steps


@pytest.mark.parametrize("status", ["draft", "paused"])
def test_an_inactive_workflow_has_no_pending_run(status):
    assert not pending(a_workflow(status=status)).exists()


def test_an_edited_time_replaces_the_run_at_once():
    workflow = a_workflow()
    old = pending(workflow).get()
    workflows.change(workflow.id, {"schedule_config": {**DAILY, "time": "10:30"}}, now=T0)
    new = pending(workflow).get()
    assert new.id != old.id
    assert new.scheduled_time.astimezone(SEOUL) == datetime(2026, 11, 18, 10, 30, tzinfo=SEOUL)


def test_an_edit_of_something_else_keeps_the_run():
    workflow = a_workflow()
    old = pending(workflow).get()
    workflows.change(workflow.id, {"name": "other", "steps": [a_step("z")]}, now=after(5))
    kept = pending(workflow).get()
    assert (kept.id, kept.created_at) == (old.id, old.created_at)
    assert [step["ref"] for step in kept.workflow_data["steps"]] == ["z"]


def test_a_run_records_the_version_of_its_workflow():
    workflow = a_workflow()
    first = runs.run_now(workflow.id, user_id=None, now=T0)
    workflows.change(workflow.id, {"name": "other", "max_run_retries": 2}, now=T0)
    assert pending(workflow).get().workflow_data["version"] == 1
    for version, change in (
        (2, {"steps": [a_step("z")]}),
        (3, {"schedule_config": {**DAILY, "time": "10:30"}}),
        (4, {"input_schema": {"type": "object"}}),
    ):
        assert workflows.change(workflow.id, change, now=T0).version == version
        assert workflows.change(workflow.id, change, now=T0).version == version
        assert pending(workflow).get().workflow_data["version"] == version
    second = runs.run_now(workflow.id, user_id=None, now=T0)
    assert (first.workflow_data["version"], second.workflow_data["version"]) == (1, 4)


def test_a_pause_removes_the_pending_run_and_activating_registers_a_new_one():
    workflow = a_workflow()
    workflows.change(workflow.id, {"status": "paused"}, now=after(1))
    assert not pending(workflow).exists()
    workflows.change(workflow.id, {"status": "active"}, now=after(2))
    assert pending(workflow).get().scheduled_time == TOMORROW_AT_NINE


def test_the_cron_makes_keeps_replaces_and_removes():
    missing, right, wrong, paused = (a_workflow(an_office()) for _ in range(4))
    kept = pending(right).get()
    pending(missing).delete()
    pending(wrong).update(scheduled_time=after(1234))
    Workflow.objects.filter(id=paused.id).update(status="paused")
    assert workflows.schedule_all(after(60)) == {"created": 1, "kept": 1, "replaced": 1, "removed": 1}
    assert workflows.schedule_all(after(60)) == {"created": 0, "kept": 3, "replaced": 0, "removed": 0}
    assert pending(wrong).get().scheduled_time == pending(missing).get().scheduled_time == TOMORROW_AT_NINE
    assert pending(right).get() == kept


def test_a_run_that_is_overdue_is_kept_until_it_starts():
    workflow = a_workflow()
    workflows.schedule_all(TOMORROW_AT_NINE + timedelta(days=3))
    assert pending(workflow).get().scheduled_time == TOMORROW_AT_NINE


def test_more_workflows_than_a_batch_are_scheduled(monkeypatch):
    monkeypatch.setattr(workflows, "BATCH", 2)
    office = an_office()
    for _ in range(5):
        pending(a_workflow(office)).delete()
    assert workflows.schedule_all(T0)["created"] == 5


@pytest.mark.parametrize(
    ("config", "due"),
    [
        ({"mode": "immediate"}, T0),
        ({"mode": "delayed", "delay_seconds": 90}, after(90)),
        ({"mode": "scheduled", "at": "2026-11-18T09:10:00+09:00"}, after(600)),
    ],
)
def test_the_other_modes_run_once(config, due):
    workflow = a_workflow(schedule_config=config)
    assert pending(workflow).get().scheduled_time == due
    assert len(runs.run_due(due)) == 1
    assert not pending(workflow).exists()
    workflows.schedule_all(due + timedelta(days=1))
    assert not pending(workflow).exists()


def test_activating_an_immediate_workflow_again_runs_it_again():
    workflow = a_workflow(schedule_config={"mode": "immediate"})
    runs.run_due(T0)
    workflows.change(workflow.id, {"status": "paused"}, now=after(10))
    workflows.change(workflow.id, {"status": "active"}, now=after(20))
    assert pending(workflow).get().scheduled_time == after(20)


def test_the_database_refuses_a_second_pending_run():
    workflow = a_workflow()
    with pytest.raises(IntegrityError, match="one_pending_run_per_workflow"), transaction.atomic():
        WorkflowRun.objects.create(workflow=workflow, scheduled_time=T0, created_at=T0, updated_at=T0)


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"schedule_config": {"mode": "sometimes"}}, "schedule_config.mode", "Must be an object with a mode"),
        (
            {"schedule_config": {"mode": "scheduled", "at": "2026-11-18T08:59:00"}},
            "schedule_config.at",
            "has passed",
        ),
        ({"steps": "x"}, "steps", "Must be a list of jobs: [{…}, …]."),
        ({"steps": []}, "steps", "An active workflow needs at least one step."),
        ({"steps": [a_step("a", task_id="no.such")]}, "steps.0.task_id", "No Task"),
        ({"steps": [a_step("a", "nobody")]}, "steps.0.depends_on", "There is no step 'nobody'."),
    ],
)
def test_an_invalid_workflow_is_rejected_by_field(fields, field, message):
    with pytest.raises(Refused) as refused:
        a_workflow(**fields)
    assert message in " ".join(refused.value.errors_in_english()[field])
    assert not Workflow.objects.exists()


def test_all_errors_of_the_steps_are_named_together():
    wrong_args = {**a_step("b"), "args": {"numbers": "x"}}
    with pytest.raises(Invalid) as refused:
        a_workflow(steps=[a_step("a", "zz", task_id="no.such"), wrong_args])
    assert set(refused.value.errors) == {"steps.0.task_id", "steps.0.depends_on", "steps.1.args"}
    assert refused.value.errors_in_english()["steps.0.depends_on"] == ["There is no step 'zz'."]


def test_steps_with_a_cycle_are_refused():
    with pytest.raises(Invalid) as refused:
        a_workflow(steps=[a_step("a", "b"), a_step("b", "a")])
    assert refused.value.code == "cycle"


def test_a_step_cannot_wait_for_a_job_outside_of_the_workflow():
    office = an_office()
    (job,) = submitted(office, {})
    with pytest.raises(Invalid):
        a_workflow(office, steps=[a_step("a", str(job.id))])


# --- running ---------------------------------------------------------------------------------------


def test_a_due_run_starts_its_steps_as_a_batch_and_registers_the_next():
    workflow, run = started()
    assert run.status == "running"
    assert run.executed_at == run.scheduled_time == TOMORROW_AT_NINE
    steps = steps_of(run)
    assert (steps["a"].status, steps["b"].status) == (JobStatus.PROCESSING, JobStatus.PENDING)
    assert {job.trigger for job in steps.values()} == {Trigger.WORKFLOW}
    assert pending(workflow).get().scheduled_time == after(2 * 86_400)


def test_a_run_that_is_not_due_does_not_start():
    workflow = a_workflow()
    assert runs.run_due(TOMORROW_AT_NINE - timedelta(seconds=1)) == []
    assert pending(workflow).exists()


def test_a_run_missed_for_days_starts_once_and_goes_on_from_now():
    workflow = a_workflow()
    late = TOMORROW_AT_NINE + timedelta(days=3, hours=1)
    assert len(runs.run_due(late)) == 1
    assert pending(workflow).get().scheduled_time == TOMORROW_AT_NINE + timedelta(days=4)


def test_a_run_keeps_the_steps_as_they_were_when_it_started():
    workflow = a_workflow()
    workflows.change(workflow.id, {"steps": [a_step("new")]}, now=after(10))
    runs.run_due(TOMORROW_AT_NINE)
    run = the_run(workflow)
    workflows.change(workflow.id, {"steps": [a_step("newer")]}, now=TOMORROW_AT_NINE)
    run.refresh_from_db()
    assert [step["ref"] for step in run.workflow_data["steps"]] == ["new"]
    assert set(steps_of(run)) == {"new"}


def test_a_run_is_completed_when_all_its_steps_are_done():
    _, run = started()
    finish(run, "a")
    assert runs.settle_runs(TOMORROW_AT_NINE) == 0
    finish(run, "b")
    assert runs.settle_runs(TOMORROW_AT_NINE) == 1
    run.refresh_from_db()
    assert (run.status, run.error_message, run.ended_at) == ("completed", "", TOMORROW_AT_NINE)
    assert WorkflowRunStart.objects.get(run=run).status == RunStatus.COMPLETED


def test_a_run_fails_with_its_step_and_counts_the_blocked_steps():
    _, run = started()
    finish(run, "a", fail=True)
    assert runs.settle_runs(TOMORROW_AT_NINE) == 1
    run.refresh_from_db()
    assert run.status == RunStatus.FAILED
    assert run.error_message == "1 of 2 steps failed. a: broken Blocked steps: 1."


def test_a_run_goes_on_while_a_step_that_does_not_need_the_failed_one_runs():
    _, run = started(steps=[a_step("a"), a_step("b")])
    finish(run, "a", fail=True)
    assert runs.settle_runs(TOMORROW_AT_NINE) == 0


def test_a_step_that_waits_for_its_retry_has_not_failed():
    _, run = started(steps=[a_step("a")])
    attempt = claimed(steps_of(run)["a"])
    assert attempt is not None
    attempt.fail(delay_ms=60_000)
    assert runs.settle_runs(TOMORROW_AT_NINE) == 0


def test_a_cancelled_batch_ends_its_run_as_cancelled():
    from jobs import lifecycle as engine

    workflow, run = started()
    engine.cancel(workflow.office_id, [job.id for job in steps_of(run).values()], actor="somebody")
    runs.settle_runs(TOMORROW_AT_NINE)
    run.refresh_from_db()
    assert (run.status, run.error_message) == ("cancelled", "2 of 2 steps were cancelled.")


def test_a_run_that_cannot_be_submitted_fails_and_the_next_is_registered():
    workflow = a_workflow()
    Workflow.objects.filter(id=workflow.id).update(steps=[a_step("a", task_id="was.removed")])
    runs.run_due(TOMORROW_AT_NINE)
    run = the_run(workflow)
    assert run.status == RunStatus.FAILED
    assert "No Task 'was.removed' is registered." in run.error_message
    assert pending(workflow).get().scheduled_time == after(2 * 86_400)
    assert Event.objects.get(type=EventType.WORKFLOW_RUN_FAILED).details["run_id"] == str(run.id)


def test_a_run_whose_unique_key_is_taken_fails_with_the_reason_and_writes_no_job():
    workflow = a_workflow(steps=[a_step("a", unique_key="one at a time")])
    first, second = (runs.run_now(workflow.id, user_id=None, now=T0) for _ in range(2))
    assert (first.status, second.status) == (RunStatus.RUNNING, RunStatus.FAILED)
    assert "unique_key" in second.error_message
    assert Job.objects.count() == 1


def test_a_manual_run_leaves_the_registered_run_unchanged():
    workflow = a_workflow()
    user = a_user()
    run = runs.run_now(workflow.id, user_id=user.id, now=after(5))
    assert (run.status, run.scheduled_time, run.started_by_id) == ("running", after(5), user.id)
    assert pending(workflow).get().scheduled_time == TOMORROW_AT_NINE


def test_the_limits_of_the_office_hold_for_a_workflow():
    workflow = a_workflow(an_office(max_concurrent_jobs=1), steps=[a_step("a"), a_step("b"), a_step("c")])
    runs.run_due(TOMORROW_AT_NINE)
    statuses = [job.status for job in steps_of(the_run(workflow)).values()]
    assert sorted(statuses) == [JobStatus.PROCESSING, JobStatus.READY, JobStatus.READY]


# --- resuming --------------------------------------------------------------------------------------


def failed(**fields):
    """A run whose first step is done, whose second failed, and whose third waits."""
    workflow, run = started(steps=[a_step("a"), a_step("b", "a"), a_step("c", "b")], **fields)
    finish(run, "a")
    finish(run, "b", fail=True)
    runs.settle_runs(TOMORROW_AT_NINE)
    run.refresh_from_db()
    return workflow, run


def test_a_failed_run_is_resumed_from_its_failed_steps():
    _, run = failed()
    done_at = steps_of(run)["a"].completed_at
    runs.resume(run.id, actor="alice", now=after(90_000))
    steps = steps_of(run)
    assert (steps["a"].status, steps["a"].completed_at) == (JobStatus.DONE, done_at)
    assert (steps["b"].status, steps["c"].status) == (JobStatus.PROCESSING, JobStatus.PENDING)
    finish(run, "b")
    finish(run, "c")
    runs.settle_runs(after(90_001))
    run.refresh_from_db()
    assert (run.status, run.retry_count, run.error_message) == ("completed", 1, "")
    assert [row.status for row in WorkflowRunStart.objects.filter(run=run)] == ["failed", "completed"]


def test_a_run_whose_failed_step_was_retried_as_a_job_has_not_failed():
    _, run = failed()
    long_ago = database_now() - timedelta(minutes=1)
    WorkflowRun.objects.filter(id=run.id).update(ended_at=long_ago)
    lifecycle.retry(run.workflow.office_id, [steps_of(run)["b"].id], actor="alice")
    finish(run, "b")
    assert runs.settle_retried_runs(database_now()) == 0, "its last step has not ended"
    finish(run, "c")
    assert runs.settle_retried_runs(database_now()) == 1
    run.refresh_from_db()
    assert (run.status, run.error_message) == ("completed", "")
    assert runs.settle_retried_runs(database_now()) == 0


def test_a_resumed_run_keeps_its_steps_when_the_workflow_was_edited():
    workflow, run = failed()
    workflows.change(workflow.id, {"steps": [a_step("other")]}, now=after(90_000))
    resumed = runs.resume(run.id, actor="", now=after(90_000))
    assert [step["ref"] for step in resumed.workflow_data["steps"]] == ["a", "b", "c"]
    assert set(steps_of(run)) == {"a", "b", "c"}


def test_a_run_that_could_not_be_submitted_is_resumed_with_corrected_steps():
    workflow = a_workflow()
    Workflow.objects.filter(id=workflow.id).update(steps=[a_step("a", task_id="was.removed")])
    runs.run_due(TOMORROW_AT_NINE)
    run = the_run(workflow)
    workflows.change(workflow.id, {"steps": [a_step("mended")]}, now=after(90_000))
    runs.resume(run.id, actor="", now=after(90_000))
    run.refresh_from_db()
    assert (run.status, set(steps_of(run))) == (RunStatus.RUNNING, {"mended"})


def test_a_failed_run_is_retried_by_itself_as_often_as_its_workflow_says():
    _, run = failed(max_run_retries=2)
    assert (run.status, run.retry_count) == ("running", 1)
    assert steps_of(run)["a"].status == JobStatus.DONE
    finish(run, "b", fail=True)
    runs.settle_runs(after(90_000))
    finish(run, "b", fail=True)
    runs.settle_runs(after(90_001))
    run.refresh_from_db()
    assert (run.status, run.retry_count) == ("failed", 2)
    assert [row.status for row in WorkflowRunStart.objects.filter(run=run)] == ["failed"] * 3
    # Resumes by hand count too, so none by itself follows this one.
    runs.resume(run.id, actor="alice", now=after(90_002))
    finish(run, "b", fail=True)
    runs.settle_runs(after(90_003))
    run.refresh_from_db()
    assert (run.status, run.retry_count) == ("failed", 3)


def test_a_retry_that_is_refused_ends_the_run_as_failed():
    workflow, run = started(steps=[a_step("a", unique_key="only one")], max_run_retries=5)
    finish(run, "a", fail=True)
    submitted(workflow.office, {"unique_key": "only one"})
    runs.settle_runs(TOMORROW_AT_NINE)
    run.refresh_from_db()
    assert (run.status, run.retry_count) == ("failed", 0)


def test_only_the_last_failure_of_a_run_is_an_event_of_its_office():
    workflow, run = failed(max_run_retries=1)
    events = Event.objects.filter(office_id=workflow.office_id, type=EventType.WORKFLOW_RUN_FAILED)
    assert not events
    finish(run, "b", fail=True)
    runs.settle_runs(after(90_000))
    event = events.get()
    error = event.details.pop("error")
    assert event.batch_id == run.batch_id
    assert event.details == {
        "workflow_id": str(workflow.id),
        "workflow": "report",
        "run_id": str(run.id),
        "retry_count": 1,
    }
    assert error.startswith("1 of 3 steps failed. b: ")


def test_a_webhook_receives_the_failure_of_a_run_by_default(settings):
    office = an_office()
    settings.DURE_HTTP_ALLOW = ("127.0.0.1/32",)
    webhooks.add(office, "http://127.0.0.1:8080/")
    workflow = a_workflow(office, steps=[a_step("a")])
    run = runs.run_now(workflow.id, user_id=None, now=database_now())
    finish(run, "a", fail=True)
    runs.settle_runs(database_now())
    create_from_events(office.id)
    types = [json.loads(body)["type"] for body in Notification.objects.values_list("body", flat=True)]
    assert EventType.WORKFLOW_RUN_FAILED in types


# --- cancelling ------------------------------------------------------------------------------------


def test_a_cancelled_run_ends_when_its_steps_have_stopped_and_is_not_retried():
    _, run = started(steps=[a_step("a"), a_step("b"), a_step("c", "a")], max_run_retries=3)
    finish(run, "a", fail=True)
    running = claimed(steps_of(run)["b"])
    assert running is not None
    cancelled = runs.cancel(run.id, actor="alice", now=after(90_000))
    assert (cancelled.status, steps_of(run)["c"].status) == ("running", JobStatus.CANCELLED)
    assert running.finish(Outcome.CANCELLED) is not None
    runs.settle_runs(after(90_001))
    run.refresh_from_db()
    assert (run.status, run.retry_count) == ("cancelled", 0)
    # A person may resume it, and then it is like any other.
    runs.resume(run.id, actor="alice", now=after(90_002))
    run.refresh_from_db()
    assert (run.status, run.cancel_requested_at) == ("running", None)


def test_a_cancelled_run_without_a_running_step_ends_at_once():
    _, run = started()
    assert runs.cancel(run.id, actor="alice", now=after(90_000)).status == "cancelled"
    with pytest.raises(Conflict):
        runs.cancel(run.id, actor="alice", now=after(90_001))


def test_a_run_whose_steps_were_cancelled_one_by_one_is_not_retried():
    _, run = started(steps=[a_step("a"), a_step("b")], max_run_retries=3)
    finish(run, "a", fail=True)
    lifecycle.cancel(run.workflow.office_id, [steps_of(run)["b"].id], actor="alice")
    runs.settle_runs(TOMORROW_AT_NINE)
    run.refresh_from_db()
    assert (run.status, run.retry_count) == ("failed", 0)


def test_a_pending_run_cannot_be_cancelled():
    run = pending(a_workflow()).get()
    with pytest.raises(Conflict):
        runs.cancel(run.id, actor="alice", now=after(1))


def test_a_plain_insert_of_a_run_is_picked_up():
    workflow = a_workflow(status="draft")
    call.change(
        "INSERT INTO scheduled_jobs (workflow_id, scheduled_time) VALUES (%s, %s)", [workflow.id, after(5)]
    )
    assert len(runs.run_due(after(6))) == 1
    assert the_run(workflow).status == RunStatus.RUNNING


def test_a_live_run_cannot_be_resumed():
    _, run = started()
    with pytest.raises(Conflict):
        runs.resume(run.id, actor="", now=after(90_000))


def test_a_removed_workflow_takes_its_runs_along_and_leaves_the_jobs():
    workflow, run = started()
    batch = run.batch_id
    workflows.remove(workflow.id, now=after(1))
    assert Job.objects.filter(batch=batch).count() == 2
    later = after(1) + deletions.MARKED
    assert retention.delete_old(later).deleted["workflows"] == 0
    assert retention.delete_old(later + timedelta(seconds=1)).deleted["workflows"] == 1
    assert not WorkflowRun.objects.exists()
    assert not Workflow.with_deleted.exists()
    assert Job.objects.filter(batch=batch).count() == 2


def test_an_edit_that_began_before_a_start_does_not_start_the_run_again():
    workflow = a_workflow()
    runs.run_due(TOMORROW_AT_NINE)
    before = TOMORROW_AT_NINE - timedelta(seconds=1)
    workflows.change(workflow.id, {"schedule_config": {**DAILY, "timezone": "Asia/Tokyo"}}, now=before)
    assert pending(workflow).get().scheduled_time == TOMORROW_AT_NINE + timedelta(days=1)
