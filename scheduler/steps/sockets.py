"""/ws/queues/:id?after=<id>: a step queue and its events."""

from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404
from django.urls import URLPattern, path

from jobs.sockets.base import NotFound
from jobs.sockets.database import in_database
from jobs.sockets.fanout import FeedSocket, Row
from scheduler.steps import pubsub
from scheduler.steps.access import queue_for
from scheduler.steps.api.schemas import StepQueueEventOut, StepQueueOut
from scheduler.steps.models import StepEvent

# Renewed every 20 s while a socket of this process listens.
WATCH_SECONDS = 60


class QueueEvents:
    """The source: one for all sockets of a queue in this process."""

    def __init__(self, queue_id: int) -> None:
        self._queue_id = queue_id

    async def read(self, after: int, limit: int) -> list[Row]:
        return await in_database(events_after, self._queue_id, after, limit)

    async def renew(self) -> None:
        await in_database(pubsub.watch, self._queue_id, WATCH_SECONDS)


class QueueSocket(FeedSocket[QueueEvents]):
    """The queue, then its events without a gap after `after`, which defaults to the newest event."""

    async def snapshot(self) -> tuple[int, Any]:
        self.queue_id: int = self.scope["url_route"]["kwargs"]["queue_id"]
        return await in_database(snapshot, self.credentials.user, self.queue_id, self.after)

    def channel(self) -> str:
        return pubsub.CHANNEL.format(self.queue_id)

    def source(self) -> QueueEvents:
        return QueueEvents(self.queue_id)


def snapshot(user: User, queue_id: int, after: int | None) -> tuple[int, dict[str, Any]]:
    """The id to begin after, and the queue, both read under the lock that each writer of events holds."""
    with transaction.atomic():
        try:
            queue = queue_for(user, queue_id)
        except (Http404, PermissionDenied):
            raise NotFound from None
        type(queue).objects.select_for_update(no_key=True).get(pk=queue_id)
        queue.refresh_from_db()
        newest = StepEvent.objects.filter(queue=queue).order_by("-id").values_list("id", flat=True).first()
        last_id = newest or 0
        return (last_id if after is None else min(after, last_id)), StepQueueOut.write(queue)


def events_after(queue_id: int, after: int, limit: int) -> list[Row]:
    events = StepEvent.objects.filter(queue=queue_id, id__gt=after).order_by("id")[:limit]
    return [StepQueueEventOut.write(event) for event in events]


urlpatterns: list[URLPattern] = [path("ws/queues/<int:queue_id>", QueueSocket.as_asgi())]
