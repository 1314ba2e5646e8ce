"""/ws/offices/:id/events?after=<id>: the events of an office's jobs."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Q
from django.urls import URLPattern, path
from django.utils import timezone

from jobs import queries, serialize
from jobs.access import access_for
from jobs.models import Event
from jobs.pubsub import OFFICE_CHANNEL
from jobs.sockets.base import NotFound
from jobs.sockets.database import in_database
from jobs.sockets.fanout import FeedSocket, Row
from jobs.sql import call, statements

# The engine publishes an office's changes while it is watched; two renewals may fail.
WATCH_SECONDS = 60


class OfficeEvents:
    """The source: one for all sockets of an office in this process."""

    def __init__(self, office: UUID) -> None:
        self._office = office
        self._readers: set[int] | None = None

    async def read(self, after: int, limit: int) -> list[Row]:
        return await in_database(events_after, self._office, after, limit)

    async def renew(self) -> None:
        """Renew the watch, and read again who may listen: once for all sockets."""
        self._readers = await in_database(watch, self._office)

    def may_listen(self, user: User) -> bool:
        return self._readers is None or user.pk in self._readers


class EventsSocket(FeedSocket[OfficeEvents]):
    """Sends the office's events in order, without a gap after `after`, which defaults to the newest event."""

    async def snapshot(self) -> tuple[int, Any]:
        self.office: UUID = self.scope["url_route"]["kwargs"]["office_id"]
        return await in_database(snapshot, self.credentials.user, self.office, self.after)

    def channel(self) -> str:
        return OFFICE_CHANNEL.format(self.office)

    def source(self) -> OfficeEvents:
        return OfficeEvents(self.office)

    def check_access(self, source: OfficeEvents) -> None:
        if not source.may_listen(self.credentials.user):
            raise NotFound


def snapshot(user: User, office: UUID, after: int | None) -> tuple[int, dict[str, Any]]:
    """The id to begin after, and what the client can know about it."""
    access = access_for(user, office)
    if access is None:
        raise NotFound
    events = Event.objects.filter(office_id=office)
    first = events.order_by("id").values_list("id", flat=True).first()
    newest = events.order_by("-id").values_list("id", flat=True).first()
    if after is None:
        last_id, complete = newest or 0, True
    else:
        # An id beyond the newest is from before a backup was restored: nothing follows it.
        last_id = min(after, newest or 0)
        # Something between `after` and the first event may have been deleted for its age.
        is_new = access.office.created_at > timezone.now() - timedelta(days=settings.DURE_RETENTION_DAYS)
        complete = after == last_id and (is_new or (first is not None and first <= after))
    return last_id, {"office_id": str(office), "first_id": first, "complete": complete}


def events_after(office: UUID, after: int, limit: int) -> list[Row]:
    return [serialize.event_json(event) for event in queries.client_events_after(office, after, limit)]


def watch(office: UUID) -> set[int]:
    """Have the engine publish the office's changes; the users who may see them."""
    call.change(statements.WATCH, {"office": office, "seconds": WATCH_SECONDS})
    may_look = Q(memberships__office=office) | Q(is_staff=True) | Q(is_superuser=True)
    return set(User.objects.filter(may_look, is_active=True).values_list("pk", flat=True))


urlpatterns: list[URLPattern] = [path("ws/offices/<uuid:office_id>/events", EventsSocket.as_asgi())]
