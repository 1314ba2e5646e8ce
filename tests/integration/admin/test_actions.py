"""Actions of the admin change the rows that allow it, skip the others, and log actor and reason."""

from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.utils import timezone
from django_celery_beat.models import PeriodicTask

from exports.models import DeadLetter, ExportJob, StreamOutbox
from exports.states import Status
from jobs import redis
from jobs.models import Event, Execution, Notification, Office, PausedRole, ServedRole, Webhook
from jobs.states import EventType, JobStatus, Outcome
from scheduler.clock import database_now
from scheduler.models import Schedule, Step, StepQueue, Workflow, WorkflowRun
from scheduler.states import RunStatus, WorkflowStatus
from scheduler.steps.states import Direction, QueueState
from scheduler.workflows import runs
from scheduler.workflows.runs import run_now, settle_runs
from tests.factories import a_user, an_office, claimed, serve_roles, submitted
from tests.integration.admin import action_form
from tests.integration.admin.action_form import address
from tests.integration.export_tools import export_of, roots
from tests.schedule_factories import a_schedule, a_workflow
from tests.step_factories import a_job, a_queue, run_to_end
from tests.step_factories import fresh as fresh_queue

pytestmark = pytest.mark.django_db


def act(client: Client, name: str, *rows: Any, sure: bool = True, **more: str) -> str:
    answer = action_form.act(client, type(rows[0]), name, *rows, **more, **({"sure": "yes"} if sure else {}))
    assert answer.status_code == 200
    return str(answer.content.decode())


def test_every_action_of_every_table_is_confirmed_first(root, settings, tmp_path):
    roots(settings, tmp_path)
    rows = [
        *(a_schedule(now=database_now()), a_workflow(now=database_now()), a_queue(a_job())),
        *(export_of(a_user("minji")), submitted(an_office(name="of jobs"), {})[0]),
    ]
    confirmed = 0
    for row in rows:
        for action in admin.site._registry[type(row)].row_actions:  # type: ignore[attr-defined]
            before = type(row)._default_manager.values().get(pk=row.pk)
            executions = Execution.objects.count()
            assert 'name="sure"' in act(root, action.name, row, sure=False), (row, action.name)
            assert type(row)._default_manager.values().get(pk=row.pk) == before
            assert Execution.objects.count() == executions
            confirmed += 1
    assert confirmed > 10
    assert not LogEntry.objects.exists()


# --- schedules and workflows -----------------------------------------------------------------------


def test_schedules_are_paused_and_resumed_if_their_state_allows(root):
    made = [a_schedule(now=database_now()) for _ in range(2)]
    assert "Applied to 2." in act(root, "pause", *made, reason="holiday")
    assert Schedule.objects.filter(enabled=False, next_run_at=None).count() == 2
    assert {entry.change_message for entry in LogEntry.objects.all()} == {"pause: holiday"}
    page = act(root, "pause", *made, sure=False)
    assert "2: paused already" in page
    assert "None of the selected items can be changed" in page
    act(root, "resume", made[0])
    assert list(Schedule.objects.filter(enabled=True)) == [made[0]]


def test_a_queue_is_paused_and_resumed(root):
    serve_roles("FE")
    row = ServedRole.objects.get(role="FE")
    act(root, "pause", row, reason="the shop moves")
    pause = PausedRole.objects.get()
    assert (pause.role, pause.by, pause.reason) == ("FE", "root", "the shop moves")
    assert "1: paused already" in act(root, "pause", row, sure=False)
    act(root, "resume", pause)
    assert not PausedRole.objects.exists()


def test_a_schedule_is_run_now_once_and_keeps_its_next_run(root):
    schedule = a_schedule(now=database_now())
    before = schedule.next_run_at
    assert "Applied to 1." in act(root, "run_now", schedule)
    assert "1 skipped" in act(root, "run_now", schedule)
    run = Execution.objects.get()
    assert (run.trigger, run.task_id) == ("MANUAL", schedule.task_id)
    schedule.refresh_from_db()
    assert schedule.next_run_at == before


def test_a_workflow_is_run_paused_and_activated(root):
    workflow = a_workflow(now=database_now())
    act(root, "run_now", workflow)
    run = WorkflowRun.objects.get(status=RunStatus.RUNNING)
    assert run.started_by == a_user("root")
    assert LogEntry.objects.get().object_id == str(workflow.pk)
    act(root, "pause", workflow)
    assert Workflow.objects.get().status == WorkflowStatus.PAUSED
    assert not WorkflowRun.objects.filter(status=RunStatus.PENDING).exists()
    act(root, "resume", workflow)
    assert WorkflowRun.objects.filter(status=RunStatus.PENDING).exists()
    empty = a_workflow(now=database_now(), status="draft", steps=[])
    assert "no steps" in act(root, "run_now", empty, sure=False)


def test_a_workflow_run_is_cancelled_and_its_failed_steps_retried(root):
    workflow = a_workflow(now=database_now())
    run = run_now(workflow.pk, user_id=None, now=database_now())
    act(root, "cancel", run, reason="too early")
    event = Event.objects.filter(type=EventType.JOB_CANCELLED).first()
    assert (event.details["actor"], event.details["reason"]) == ("root", "too early")
    settle_runs(database_now())
    assert "1: Cancelled" in act(root, "cancel", run, sure=False)
    act(root, "resume", run)
    run.refresh_from_db()
    assert (run.status, run.retry_count) == (RunStatus.RUNNING, 1)
    assert run.history.count() == 2


# --- step queues -----------------------------------------------------------------------------------


def test_a_step_queue_is_run_and_cancelled(root):
    queue = a_queue(a_job("one", backward="fail"), a_job("two", forward="fail"))
    act(root, "run", queue)
    assert fresh_queue(queue).state == QueueState.RUNNING
    assert "Applied to 1." in act(root, "cancel", queue)
    assert fresh_queue(queue).cancel_requested_at is not None
    assert "there is nothing to cancel" in act(root, "cancel", queue, sure=False)


def test_a_failed_rollback_is_retried(root):
    queue = a_queue(a_job("one", backward="fail"), a_job("two", forward="fail"))
    act(root, "run", queue)
    run_to_end(queue)
    assert fresh_queue(queue).operation_direction == Direction.BACKWARD
    failed, other = Step.objects.filter(queue=queue).order_by("number")
    assert "1: rollback has not failed" in act(root, "rerun", failed, other, sure=False)
    act(root, "rerun", failed)
    assert fresh_queue(queue).state == QueueState.RUNNING


def test_a_running_step_queue_is_not_deleted(root):
    queue = a_queue(a_job())
    act(root, "run", queue)
    assert root.post(address(StepQueue, "delete", queue.pk), {"post": "yes"}).status_code == 403
    idle = a_queue(a_job())
    root.post(address(StepQueue, "delete", idle.pk), {"post": "yes"})
    assert list(StepQueue.objects.all()) == [queue]


# --- exports ---------------------------------------------------------------------------------------


def test_an_export_is_cancelled_and_requested_again(root, settings, tmp_path):
    roots(settings, tmp_path)
    job = export_of(a_user("minji"))
    assert "1: Queued" in act(root, "again", job, sure=False)
    act(root, "cancel", job)
    job.refresh_from_db()
    assert job.status == Status.CANCELLED
    assert "1: Cancelled" in act(root, "cancel", job, sure=False)
    act(root, "again", job)
    again = ExportJob.objects.exclude(pk=job.pk).get()
    assert (again.status, again.replay_id, again.owner_id) == (Status.QUEUED, job.replay_id, job.owner_id)


@pytest.fixture
def dead_letters() -> list[DeadLetter]:
    return [
        DeadLetter.objects.create(
            source_stream="job.results",
            source_id=f"{number}-0",
            fields={"jobId": "1"},
            whole=number > 0,
            reason="no such job",
            failed_at=timezone.now(),
        )
        for number in range(2)
    ]


def test_a_dead_letter_is_republished_or_discarded_once(root, dead_letters):
    page = act(root, "republish", *dead_letters, sure=False)
    assert "1: The message was cut" in page
    act(root, "republish", *dead_letters, reason="worker was fixed")
    assert StreamOutbox.objects.filter(stream="job.results").count() == 1
    cut, whole = DeadLetter.objects.order_by("pk")
    assert (cut.state, whole.state) == (DeadLetter.State.OPEN, DeadLetter.State.REPUBLISHED)
    assert whole.handled_by == a_user("root")
    assert "1: Sent again" in act(root, "discard", *dead_letters, sure=False)
    act(root, "discard", *dead_letters)
    cut.refresh_from_db()
    assert cut.state == DeadLetter.State.DISCARDED


# --- webhooks, offices, periodic tasks -------------------------------------------------------------


def test_a_webhook_is_disabled_with_a_reason_and_enabled_again(root):
    hook = Webhook.objects.create(
        office=an_office(), url="https://a.example", secret="s", event_types=["job_failed"]
    )
    act(root, "disable", hook, reason="floods us")
    hook.refresh_from_db()
    assert (hook.enabled, hook.disabled_reason) == (False, "floods us")
    act(root, "enable", hook)
    hook.refresh_from_db()
    assert hook.enabled


def test_a_notification_is_sent_again_unless_it_is_pending_or_its_webhook_disabled(root):
    office = an_office()
    hook = Webhook.objects.create(office=office, url="https://a.example", secret="s")
    now = timezone.now()
    notification = Notification.objects.create(
        office=office, webhook=hook, event_id=1, body="{}", created_at=now, gave_up_at=now
    )
    act(root, "send_again", notification)
    notification.refresh_from_db()
    assert (notification.gave_up_at, notification.attempts) == (None, 0)
    assert "1: pending delivery" in act(root, "send_again", notification, sure=False)
    Notification.objects.update(next_at=None, gave_up_at=timezone.now())
    Webhook.objects.update(enabled=False)
    assert "1 skipped" in act(root, "send_again", notification)


def test_an_office_is_paused_and_resumed(root):
    office = an_office(max_concurrent_jobs=1)
    jobs = submitted(office, {}, {})
    act(root, "pause", office)
    run = claimed(jobs[0])
    assert run is not None
    run.finish(Outcome.SUCCESS)
    jobs[1].refresh_from_db()
    assert jobs[1].status == JobStatus.READY
    act(root, "resume", office)
    jobs[1].refresh_from_db()
    assert (Office.objects.get().paused, jobs[1].status) == (False, JobStatus.PROCESSING)


def test_a_periodic_task_is_paused_but_not_one_that_the_engine_needs(root):
    own = PeriodicTask.objects.get(name="dure: sweep")
    other = PeriodicTask.objects.create(name="mine", task="dure.sweep", interval=own.interval)
    page = act(root, "pause", own, other, sure=False)
    assert "1: the engine needs it" in page
    act(root, "pause", own, other)
    assert list(PeriodicTask.objects.filter(enabled=False)) == [other]
    act(root, "resume", other)
    assert not PeriodicTask.objects.filter(enabled=False).exists()


def test_a_periodic_task_is_sent_now(root):
    task = PeriodicTask.objects.get(name="dure: sweep")
    before = redis.client().llen("control")
    act(root, "run_now", task)
    assert redis.client().llen("control") == before + 1
    PeriodicTask.objects.filter(pk=task.pk).update(task="no.such")
    assert "There is no Celery task named" in act(root, "run_now", task)


def test_a_row_that_changed_after_the_confirmation_is_skipped_and_reported(root, monkeypatch):
    workflow = a_workflow(now=database_now())
    run = run_now(workflow.pk, user_id=None, now=database_now())
    act(root, "cancel", run)
    settle_runs(database_now())
    run.refresh_from_db()

    resume = runs.resume

    def twice(*args: Any, **kwargs: Any) -> Any:
        # Another user is a moment quicker.
        resume(*args, **kwargs)
        return resume(*args, **kwargs)

    monkeypatch.setattr(runs, "resume", twice)
    assert "1 skipped: Only a failed or cancelled run can be resumed" in act(root, "resume", run)
