"""/ws/queues/:id?after=<id>: a step queue and what happens to it, as it happens."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404
from django.urls import URLPattern, path

from jobs.sockets import fanout
from jobs.sockets.base import NotYours, Socket
from jobs.sockets.database import in_database
from jobs.sockets.events import read_after
from scheduler.steps import pubsub
from scheduler.steps.access import queue_for
from scheduler.steps.api import shapes
from scheduler.steps.models import StepEvent

# Renewed every 20 s while anybody listens here.
WATCHED_SECONDS = 60


class QueueSocket(Socket):
    """The queue, then its events without a gap from `after` on; from now on when it is not given."""

    async def snapshot(self) -> tuple[int, Any]:
        self.queue_id: int = self.scope["url_route"]["kwargs"]["queue_id"]
        after = read_after(self.scope["query"].get("after"))
        return await in_database(start, self.credentials.user, self.queue_id, after)

    async def events(self, after: int) -> AsyncGenerator[dict[str, Any]]:
        make = partial(QueueEvents, self.queue_id)
        async with (
            fanout.feed(pubsub.CHANNEL.format(self.queue_id), make) as feed,
            aclosing(feed.rows(after)) as rows,
        ):
            async for row in rows:
                yield row


class QueueEvents:
    """The source: one for all sockets of a queue in this process."""

    def __init__(self, queue_id: int) -> None:
        self._queue_id = queue_id

    async def read(self, after: int, limit: int) -> list[fanout.Row]:
        return await in_database(events_after, self._queue_id, after, limit)

    async def keep(self) -> None:
        await in_database(pubsub.watch, self._queue_id, WATCHED_SECONDS)


def start(user: User, queue_id: int, after: int | None) -> tuple[int, dict[str, Any]]:
    """Both read under the queue's lock, which whoever writes an event holds: they belong together."""
    with transaction.atomic():
        try:
            queue = queue_for(user, queue_id)
        except (Http404, PermissionDenied):
            raise NotYours from None
        type(queue).objects.select_for_update(no_key=True).get(pk=queue_id)
        queue.refresh_from_db()
        newest = StepEvent.objects.filter(queue=queue).order_by("-id").values_list("id", flat=True).first()
        last_id = newest or 0
        return (last_id if after is None else min(after, last_id)), shapes.queue(queue)


def events_after(queue_id: int, after: int, limit: int) -> list[fanout.Row]:
    found = StepEvent.objects.filter(queue=queue_id, id__gt=after).order_by("id")[:limit]
    return [shapes.event(event) for event in found]


urlpatterns: list[URLPattern] = [path("ws/queues/<int:queue_id>", QueueSocket.as_asgi())]
