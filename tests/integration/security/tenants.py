"""Tenants with one object of each kind that a path may name."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from exports import links
from exports.models import DeadLetter
from jobs import deletions
from jobs.models import ApiToken, Membership, Notification
from jobs.notifications import webhooks
from jobs.states import DeletedKind, MemberRole
from scheduler.models import SavedView
from scheduler.schedules import calendars
from scheduler.steps import queues as step_queues
from scheduler.workflows import runs
from tests import factories, schedule_factories, step_factories
from tests.integration import export_tools
from tests.integration.exports.outcomes import finished
from tests.integration.rest_support import client_of, make_user

# They name no tenant's object: everybody sees the same.
SHARED = {"task_id": "demo.sum", "name": "provisioning", "code": "invalid", "role": "FE"}


class Tenant:
    """An owner with an office, and the ids of its objects by the name of their parameter."""

    def __init__(self, name: str) -> None:
        # It is part of every text of this tenant, so that a leak shows.
        self.mark = f"mark-of-{name}"
        self.owner = make_user(name)
        self.office = factories.an_office(self.owner, name=self.mark)
        now = timezone.now()
        (job,) = factories.submitted(self.office, {"ref": self.mark}, name=self.mark)
        viewer = self.member("viewer", MemberRole.VIEWER)
        webhook = webhooks.add(self.office, url=f"https://{self.mark}.example/")
        body = '{"type": "test"}'
        delivery = Notification.objects.create(
            office=self.office, webhook=webhook, event_id=1, body=body, created_at=now, gave_up_at=now
        )
        a_calendar = {"name": self.mark, "dates": ["2026-12-25"]}
        daily = {"kind": "cron", "cron": "0 9 * * *"}
        schedule = schedule_factories.a_schedule(now, self.owner, name=self.mark, **daily)
        workflow = schedule_factories.a_workflow(self.office, now, name=self.mark)
        step = {"forward_operation": "reserve_address"}
        queue = step_factories.a_queue(step, owner=self.owner, queue_library=SHARED["name"], name=self.mark)
        export = finished(export_tools.export_of(self.owner, seconds=21))
        link = links.create(export, links.DEFAULT_AGE, now)
        execution = factories.a_start(source=str(self.owner.pk))
        letter = DeadLetter.objects.create(
            source_stream="job.progress", source_id=name, fields={}, reason=self.mark, failed_at=now
        )
        view = SavedView.objects.create(user=self.owner, name=self.mark)
        removed = SavedView.objects.create(user=self.owner, name=f"{self.mark} removed")
        deletion = deletions.record(DeletedKind.VIEW, removed, self.owner, now)
        removed.delete()
        step_job = step_factories.steps(queue)[0].job_id
        self._ids: list[tuple[str, str, Any]] = [
            ("office_id", "", self.office.id),
            *(("job_id", below, job.id) for below in ("/api/offices", "/offices")),
            *(("job_id", below, export.pk) for below in ("/api/jobs", "/exports")),
            *(("job_id", below, step_job) for below in ("/api/queues", "/step-queues")),
            ("job_id", "/api/steps", step_queues.create_job(step, self.owner).job_id),
            ("batch_id", "", job.batch_id),
            ("username", "", viewer.username),
            ("webhook_id", "", webhook.pk),
            ("delivery_id", "", delivery.pk),
            ("schedule_id", "", schedule.id),
            ("calendar_id", "", calendars.create(a_calendar, owner=self.owner, now=now).pk),
            ("workflow_id", "", workflow.id),
            ("run_id", "/runs", execution),
            ("run_id", "", runs.run_now(workflow.id, user_id=self.owner.pk, now=now).id),
            ("execution_id", "", execution),
            ("queue_id", "", queue.queue_id),
            ("replay_id", "", export.replay_id),
            ("letter_id", "", letter.pk),
            ("link_id", "", link.pk),
            ("token", "", links.token_of(link)),
            ("token_id", "", ApiToken.issue(self.owner, self.mark, now)[0].pk),
            ("view_id", "", view.pk),
            ("deletion_id", "", deletion.pk),
        ]

    def member(self, name: str, role: str) -> Any:
        user = make_user(f"{self.mark}-{name}")
        Membership.objects.create(office=self.office, user=user, role=role)
        return user

    def id_of(self, parameter: str, path: str = "") -> Any:
        if parameter in SHARED:
            return SHARED[parameter]
        for name, below, value in self._ids:
            if name == parameter and path.startswith(below):
                return value
        raise AssertionError(f"{path}: let Tenant create an object for the parameter {parameter}")

    def fill(self, path: str, parameters: list[str]) -> str:
        for name in parameters:
            path = path.replace(f"{{{name}}}", str(self.id_of(name, path)))
        return path


def clients_without_access(tenant: Tenant) -> dict[str, Client]:
    """Clients whose credentials are missing or not valid."""
    now = timezone.now()
    _, expired = ApiToken.issue(
        tenant.owner, "expired", now - timedelta(days=2), expires_at=now - timedelta(days=1)
    )
    revoked, revoked_text = ApiToken.issue(tenant.owner, "revoked", now)
    revoked.revoked_at = now
    revoked.save()
    left = make_user(f"{tenant.mark}-inactive")
    inactive = client_of(left)
    left.is_active = False
    left.save()

    def client(authorization: str) -> Client:
        return Client(headers={"Authorization": authorization}, raise_request_exception=False)

    return {
        "nobody": Client(raise_request_exception=False),
        "wrong token": client("Token dure_" + "x" * 43),
        "short token": client("Token dure_"),
        "expired token": client(f"Token {expired}"),
        "revoked token": client(f"Token {revoked_text}"),
        "inactive user": inactive,
        "wrong secret": client("Bearer wrong"),
        "basic": client("Basic YWxpY2U6YWxpY2U="),
    }


def snapshot() -> dict[str, Any]:
    """A digest of every table, and the files, to show that nothing was written."""
    tables = sorted({model._meta.db_table for model in apps.get_models(include_auto_created=True)})
    # A valid token records its use.
    row = "md5((to_jsonb(t) - 'last_used_at')::text)"
    query = " UNION ALL ".join(
        f"SELECT '{table}', count(*), md5(string_agg({row}, '' ORDER BY {row})) FROM \"{table}\" t"
        for table in tables
    )
    with connection.cursor() as cursor:
        cursor.execute(query)
        result: dict[str, Any] = {table: rest for table, *rest in cursor.fetchall()}
    for root in (settings.DURE_EXPORT_PATH, settings.DURE_REPLAY_PATH):
        result[str(root)] = sorted(str(path) for path in root.rglob("*"))
    return result


def changes(before: dict[str, Any]) -> list[str]:
    now = snapshot()
    return [name for name in now if now[name] != before[name]]


@contextmanager
def undone() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
