"""/ws/offices/:id/events?after=<id>: what happens to an office's jobs, as it happens."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Q
from django.utils import timezone

from jobs import serialize
from jobs.access import seat_of
from jobs.models import Event
from jobs.pubsub import OFFICE_CHANNEL
from jobs.sockets import fanout
from jobs.sockets.base import Close, Ended, NotYours, Socket
from jobs.sockets.database import in_database
from jobs.sql import call, statements
from jobs.states import TOLD_TO_CLIENTS

# The engine rings for an office while it is watched; three renewals may fail until it stops.
WATCHED_SECONDS = 60
HIGHEST = 2**63 - 1


class EventsSocket(Socket):
    """Sends the office's events in order, without a gap from `after` on; from now on when it is not given."""

    async def snapshot(self) -> tuple[int, Any]:
        self.office: UUID = self.scope["url_route"]["kwargs"]["office_id"]
        after = read_after(self.scope["query"].get("after"))
        return await in_database(start, self.credentials.user, self.office, after)

    async def events(self, after: int) -> AsyncGenerator[dict[str, Any]]:
        channel = OFFICE_CHANNEL.format(self.office)
        async with (
            fanout.feed(channel, partial(OfficeEvents, self.office)) as feed,
            aclosing(feed.rows(after)) as rows,
        ):
            async for row in rows:
                if not feed.source.admits(self.credentials.user):
                    raise NotYours
                yield row


class OfficeEvents:
    """The source: one for all sockets of an office in this process."""

    def __init__(self, office: UUID) -> None:
        self._office = office
        self._admitted: set[int] | None = None

    async def read(self, after: int, limit: int) -> list[fanout.Row]:
        return await in_database(events_after, self._office, after, limit)

    async def keep(self) -> None:
        """Has the engine ring, and asks again who may listen: once for all, however many they are."""
        self._admitted = await in_database(watch, self._office)

    def admits(self, user: User) -> bool:
        return self._admitted is None or user.pk in self._admitted


def read_after(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 19 and int(text) <= HIGHEST):
        raise Ended(Close.MALFORMED)
    return int(text)


def start(user: User, office: UUID, after: int | None) -> tuple[int, dict[str, Any]]:
    """Where to begin, and what is known about that place."""
    seat = seat_of(user, office)
    if seat is None:
        raise NotYours
    events = Event.objects.filter(office_id=office)
    first = events.order_by("id").values_list("id", flat=True).first()
    newest = events.order_by("-id").values_list("id", flat=True).first()
    if after is None:
        last_id, complete = newest or 0, True
    else:
        # An id beyond the newest is from another time, before a backup was restored: nothing follows it.
        last_id = min(after, newest or 0)
        # Something between `after` and the first event may have been deleted for its age.
        young = seat.office.created_at > timezone.now() - timedelta(days=settings.DURE_RETENTION_DAYS)
        complete = after == last_id and (young or (first is not None and first <= after))
    return last_id, {"office_id": str(office), "first_id": first, "complete": complete}


def events_after(office: UUID, after: int, limit: int) -> list[fanout.Row]:
    told = Event.objects.filter(office_id=office, id__gt=after, type__in=TOLD_TO_CLIENTS)
    return [serialize.event_json(one) for one in told.order_by("id")[:limit]]


def watch(office: UUID) -> set[int]:
    call.change(statements.WATCH, {"office": office, "seconds": WATCHED_SECONDS})
    may_look = Q(memberships__office=office) | Q(is_staff=True) | Q(is_superuser=True)
    return set(User.objects.filter(may_look, is_active=True).values_list("pk", flat=True))
