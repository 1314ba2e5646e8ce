"""/ws/jobs?after=<id>: the exports of the signed-in user."""

from typing import Any

from django.contrib.auth.models import User
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.timezone import localtime

from exports.access import exports_of
from exports.events import CHANNEL
from exports.models import ExportEvent
from exports.schemas import ExportOut
from exports.states import LIVE
from jobs.sockets.database import in_database
from jobs.sockets.fanout import FeedSocket, Row

# The snapshot shows at most this many live exports, and as many of the latest that have ended.
MAX_EXPORTS = 50


class OwnerEvents:
    """The source: one for all sockets of an owner in this process."""

    def __init__(self, owner: int) -> None:
        self._owner = owner

    async def read(self, after: int, limit: int) -> list[Row]:
        return await in_database(events_after, self._owner, after, limit)

    async def renew(self) -> None:
        """Do nothing, since every change of an export is published."""


class ExportsSocket(FeedSocket[OwnerEvents]):
    """A snapshot, then the events after it, or after `?after=` without a gap."""

    async def snapshot(self) -> tuple[int, Any]:
        return await in_database(snapshot, self.credentials.user, self.after)

    def channel(self) -> str:
        return CHANNEL.format(self.credentials.user.pk)

    def source(self) -> OwnerEvents:
        return OwnerEvents(self.credentials.user.pk)


def snapshot(user: User, after: int | None) -> tuple[int, dict[str, Any]]:
    """The id to begin after, and the user's exports now.

    The newest id is read first: what happens in between is in the exports already, and is sent again.
    """
    newest = ExportEvent.objects.filter(owner=user).order_by("-id").values_list("id", flat=True).first() or 0
    # An id beyond the newest is from before a backup was restored: nothing follows it.
    last_id = newest if after is None else min(after, newest)
    now = timezone.now()
    own = exports_of(user).order_by("-id")
    exports = [
        *own.filter(status__in=LIVE)[:MAX_EXPORTS],
        *own.exclude(status__in=LIVE)[:MAX_EXPORTS],
    ]
    return last_id, {"jobs": [ExportOut.at(export, now).dump() for export in exports]}


def events_after(owner: int, after: int, limit: int) -> list[Row]:
    events = ExportEvent.objects.filter(owner_id=owner, id__gt=after).order_by("id")[:limit]
    return [
        {"id": event.pk, "type": event.type, "timestamp": localtime(event.at).isoformat(), **event.data}
        for event in events
    ]


urlpatterns: list[URLPattern] = [path("ws/jobs", ExportsSocket.as_asgi())]
