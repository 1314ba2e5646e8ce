"""Workers as of their last heartbeat, and the engine's counters."""

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from jobs import queues, workers
from jobs.admin import columns
from jobs.admin.actions import RowAction
from jobs.admin.base import PlainReadOnlyAdmin
from jobs.admin.links import NONE, Link
from jobs.models import Counter, PausedRole, ServedRole, TaskLimit, Worker

PERIOD = columns.period("period", _("period"))
ROLES = columns.column("roles", _("roles"), lambda roles: ", ".join(roles) or NONE)


@columns.display(_("online"), boolean=True)
def online(worker: Worker) -> bool:
    return workers.is_online(worker, timezone.now())


@admin.register(Worker)
class WorkerAdmin(PlainReadOnlyAdmin):
    list_display = ("name", online, ROLES, "slots", "running", "draining", "started_at", "seen_at")

    def links(self, request: HttpRequest, row: Worker) -> list[Link]:
        address = settings.DURE_FLOWER_URL
        return [Link(f"{address}/worker/{row.name}", "Flower")] if address else []


@admin.register(ServedRole)
class ServedRoleAdmin(PlainReadOnlyAdmin):
    list_display = ("role", "until")
    row_actions = (
        RowAction(
            "pause",
            _("Pause…"),
            lambda n: ngettext("Pause %d queue", "Pause %d queues", n) % n,
            do=lambda row, operator: queues.pause_queue(row.role, operator.user, operator.reason),
            refusal=lambda row: _("paused already") if row.role in queues.paused_roles() else "",
            note=_("No new runs start; current runs continue."),
        ),
    )


@admin.register(PausedRole)
class PausedRoleAdmin(PlainReadOnlyAdmin):
    list_display = ("role", "since", "by", "reason")
    row_actions = (
        RowAction(
            "resume",
            _("Resume…"),
            lambda n: ngettext("Resume %d queue", "Resume %d queues", n) % n,
            do=lambda row, operator: queues.resume_queue(row.role, operator.user),
        ),
    )


@admin.register(TaskLimit)
class TaskLimitAdmin(PlainReadOnlyAdmin):
    list_display = ("task_id", "exclusive", "max_starts", PERIOD, "started")


@admin.register(Counter)
class CounterAdmin(PlainReadOnlyAdmin):
    list_display = ("name", "value")
