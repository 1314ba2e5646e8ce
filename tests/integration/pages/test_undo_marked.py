"""Undo of a workflow and of a webhook, which are only marked as deleted: nothing uses them meanwhile."""

from datetime import datetime, timedelta

import pytest

from jobs import deletions, lifecycle, retention
from jobs.models import Deletion, Job, Membership, Notification, Office, Webhook
from jobs.notifications import creation, delivery, webhooks
from scheduler import access, monitor
from scheduler.clock import database_now
from scheduler.models import Workflow, WorkflowRun
from scheduler.states import RunStatus
from scheduler.workflows import lifecycle as workflows
from scheduler.workflows import runs
from tests.factories import a_user
from tests.integration.manual_engine import fail, submit
from tests.integration.pages.clients import at, text_of
from tests.integration.pages.test_undo import delete, fields_of
from tests.schedule_factories import a_workflow

pytestmark = pytest.mark.django_db
URL = "https://example.org/hook"


def end_of_steps(run: WorkflowRun) -> datetime:
    """Cancels the jobs of a run, as a user may do one by one; a time at which the run could end."""
    jobs = Job.objects.filter(batch=run.batch_id)
    lifecycle.cancel(run.workflow.office_id, list(jobs.values_list("id", flat=True)), actor="alice")
    return database_now() + timedelta(minutes=1)


def test_a_workflow_comes_back_with_its_runs_and_its_next_run(office, alice):
    workflow = a_workflow(office, now=database_now())
    started = runs.run_now(workflow.id, user_id=None, now=database_now())
    before, due = fields_of(workflow), WorkflowRun.objects.get(status=RunStatus.PENDING).scheduled_time
    undo = delete(alice, f"/workflows/{workflow.id}/delete")
    assert alice.get(f"/workflows/{workflow.id}").status_code == 404
    assert alice.get(f"/workflows/{workflow.id}/runs/{started.id}").status_code == 404
    assert alice.get(f"/api/workflows/{workflow.id}").status_code == 404
    assert not access.runs_of(a_user("alice")).exists()
    assert alice.post(undo)["Location"] == f"/workflows/{workflow.id}"
    assert fields_of(Workflow.objects.get()) | {"updated_at": None} == before | {"updated_at": None}
    assert set(WorkflowRun.objects.values_list("status", "scheduled_time")) == {
        (RunStatus.PENDING, due),
        (RunStatus.RUNNING, started.scheduled_time),
    }
    acts = list(office.activity.order_by("id").values_list("act", "surface"))
    assert acts[-2:] == [("workflow_deleted", "page"), ("workflow_restored", "page")]


def test_nothing_starts_or_ends_runs_of_a_deleted_workflow(office, alice):
    workflow = a_workflow(office, now=database_now())
    started = runs.run_now(workflow.id, user_id=None, now=database_now())
    undo = delete(alice, f"/workflows/{workflow.id}/delete")
    later = end_of_steps(started)
    workflows.schedule_all(later)
    assert runs.run_due(later + timedelta(days=2)) == []
    assert runs.settle_runs(later) == 0
    visible = access.runs_of(a_user("alice"))
    assert monitor.late_runs(visible, monitor.pending_runs(visible), later) == []
    with pytest.raises(WorkflowRun.DoesNotExist):
        runs.cancel(started.id, actor="", now=later)
    assert runs.settle_retried_runs(later) == 0
    alice.post(undo)
    assert runs.settle_runs(later) == 1


def test_a_webhook_comes_back_with_its_deliveries_and_without_the_events_of_the_meantime(office, alice):
    webhook = webhooks.add(office, URL, ["job_failed"])
    submitted = submit(office, "before", "meanwhile")
    fail(submitted[0], "No space left.")
    creation.create_from_events(office.pk)
    before, waiting = fields_of(Webhook.objects.get()), Notification.objects.get()
    undo = delete(alice, at(office, f"/webhooks/{webhook.pk}/delete"))
    assert alice.get(at(office, f"/webhooks/{webhook.pk}")).status_code == 404
    assert alice.get(f"/api/offices/{office.pk}/webhooks/{webhook.pk}").status_code == 404
    assert not Office.objects.get(pk=office.pk).has_webhooks
    fail(submitted[1], "No space left.")
    creation.create_from_events(office.pk)
    assert delivery.claim(10, [], None) == []
    assert alice.post(undo)["Location"] == at(office, f"/webhooks/{webhook.pk}")
    assert fields_of(Webhook.objects.get()) == before
    assert Office.objects.get(pk=office.pk).has_webhooks
    creation.create_from_events(office.pk)
    (batch,) = delivery.claim(10, [], None)
    assert [message.id for message in batch.messages] == [waiting.pk]
    acts = list(office.activity.order_by("id").values_list("act", "actor"))
    assert acts[-2:] == [("webhook_deleted", "alice"), ("webhook_restored", "alice")]


def test_a_webhook_comes_back_only_where_there_is_room(office, alice, monkeypatch):
    monkeypatch.setattr(webhooks, "MAX_WEBHOOKS", 1)
    webhook = webhooks.add(office, URL)
    undo = delete(alice, at(office, f"/webhooks/{webhook.pk}/delete"))
    webhooks.add(office, "https://example.org/other")
    refused = alice.post(undo)
    assert refused.status_code == 409
    assert "at most 1 webhooks" in text_of(refused)
    assert Webhook.objects.get().url == "https://example.org/other"


def test_a_former_member_and_a_late_user_restore_nothing(office, alice):
    undo = [
        delete(alice, at(office, f"/webhooks/{webhooks.add(office, URL).pk}/delete")),
        delete(alice, f"/workflows/{a_workflow(office, now=database_now()).id}/delete"),
    ]
    Deletion.objects.update(deleted_at=database_now() - deletions.KEPT - timedelta(minutes=1))
    assert [alice.post(each).status_code for each in undo] == [409, 409]
    Membership.objects.all().delete()
    assert [alice.post(each).status_code for each in undo] == [404, 404]
    assert not Webhook.objects.exists()
    assert not Workflow.objects.exists()


def test_a_deleted_webhook_and_its_notifications_are_deleted_after_a_day(office):
    webhook = webhooks.add(office, URL)
    webhooks.send_test(webhook)
    webhooks.remove(webhook)
    now, long_ago = database_now(), database_now() - timedelta(days=30)

    def delete_old(at: datetime) -> None:
        for _kind, step in retention.steps(long_ago, at, 100):
            step()

    delete_old(now + deletions.KEPT)
    assert Webhook.with_deleted.count() == Notification.objects.count() == 1
    delete_old(now + deletions.MARKED + timedelta(minutes=1))
    assert Webhook.with_deleted.count() == Notification.objects.count() == 0
