"""Workers as of their last heartbeat, and the engine's counters."""

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from jobs import workers
from jobs.admin import columns
from jobs.admin.base import ReadOnlyAdmin
from jobs.admin.links import Link
from jobs.models import Counter, ServedRole, Worker


@columns.computed(_("online"), boolean=True)
def online(worker: Worker) -> bool:
    return workers.is_online(worker, timezone.now())


@columns.computed(_("roles"))
def roles(worker: Worker) -> str:
    return ", ".join(worker.roles) or "–"


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    list_display = ("name", online, roles, "slots", "running", "draining", "started_at", "seen_at")
    search_fields = ()
    fields = ("name", online, roles, "slots", "running", "draining", "started_at", "seen_at")

    def links(self, request: HttpRequest, row: Worker) -> list[Link]:
        address = settings.DURE_FLOWER_URL
        return [Link(f"{address}/worker/{row.name}", "Flower")] if address else []


@admin.register(ServedRole)
class ServedRoleAdmin(ReadOnlyAdmin):
    list_display = ("role", "until")
    search_fields = ()
    fields = ("role", "until")


@admin.register(Counter)
class CounterAdmin(ReadOnlyAdmin):
    list_display = ("name", "value")
    search_fields = ()
    fields = ("name", "value")
