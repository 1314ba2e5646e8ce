"""/ws/jobs?after=<id>: the signed-in user's exports, as they go on, and nobody else's."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Any

from django.contrib.auth.models import User
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.timezone import localtime

from exports import serialize
from exports.models import ExportEvent, ExportJob
from exports.pubsub import CHANNEL
from exports.states import LIVE
from jobs.sockets import fanout
from jobs.sockets.base import Socket
from jobs.sockets.database import in_database
from jobs.sockets.events import read_after

# The snapshot shows all live exports up to this many, and as many of the latest that have ended.
SHOWN = 50


class ExportsSocket(Socket):
    """A snapshot, then the events after it, or after `?after=` without a gap."""

    async def snapshot(self) -> tuple[int, Any]:
        after = read_after(self.scope["query"].get("after"))
        return await in_database(start, self.credentials.user, after)

    async def events(self, after: int) -> AsyncGenerator[dict[str, Any]]:
        owner = self.credentials.user.pk
        async with (
            fanout.feed(CHANNEL.format(owner), partial(OwnExports, owner)) as feed,
            aclosing(feed.rows(after)) as rows,
        ):
            async for row in rows:
                yield row


class OwnExports:
    """The source: one for all sockets of an owner in this process."""

    def __init__(self, owner: int) -> None:
        self._owner = owner

    async def read(self, after: int, limit: int) -> list[fanout.Row]:
        return await in_database(events_after, self._owner, after, limit)

    async def keep(self) -> None:
        """Nothing to renew: an owner's bell is always rung."""


def start(user: User, after: int | None) -> tuple[int, dict[str, Any]]:
    """Where to begin, and what the user's exports look like now.

    The newest id is read first: what happens in between is in the exports already, and is told again.
    """
    newest = _newest(user)
    # An id beyond the newest is from another time, before a backup was restored: nothing follows it.
    last_id = newest if after is None else min(after, newest)
    now = timezone.now()
    own = ExportJob.objects.filter(owner=user).order_by("-id")
    shown = [*own.filter(status__in=LIVE)[:SHOWN], *own.exclude(status__in=LIVE)[:SHOWN]]
    return last_id, {"jobs": [serialize.export(job, now) for job in shown]}


def events_after(owner: int, after: int, limit: int) -> list[fanout.Row]:
    found = ExportEvent.objects.filter(owner_id=owner, id__gt=after).order_by("id")[:limit]
    return [
        {"id": one.pk, "type": one.type, "timestamp": localtime(one.at).isoformat(), **one.data}
        for one in found
    ]


def _newest(user: User) -> int:
    return ExportEvent.objects.filter(owner=user).order_by("-id").values_list("id", flat=True).first() or 0


urlpatterns: list[URLPattern] = [path("ws/jobs", ExportsSocket.as_asgi())]
