"""/ws/executions/:id/logs?after=<seq>: the lines of a run, while it writes them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.urls import URLPattern, path

from jobs.models import Execution
from jobs.pubsub import RUN_LOG_CHANNEL
from jobs.run_logs import reading
from jobs.run_logs.reading import NEWEST
from jobs.sockets.base import NotFound
from jobs.sockets.database import in_database
from jobs.sockets.fanout import RENEW_SECONDS, FeedSocket, Row
from scheduler.access import executions_of

LINES_IN_EVENT = 100


class RunLogLines:
    """The source: one for all sockets of a run in this process."""

    def __init__(self, execution: UUID) -> None:
        self._execution = execution

    async def read(self, after: int, limit: int) -> list[Row]:
        return await in_database(events_after, self._execution, after, limit)

    async def renew(self) -> None:
        """Workers announce all lines."""


class RunLogSocket(FeedSocket[RunLogLines]):
    """Sends the lines after `after`, which defaults to the newest one, in order."""

    async def snapshot(self) -> tuple[int, Any]:
        self.execution: UUID = self.scope["url_route"]["kwargs"]["execution_id"]
        return await in_database(snapshot, self.credentials.user, self.execution, self.after)

    def channel(self) -> str:
        return RUN_LOG_CHANNEL.format(self.execution)

    def source(self) -> RunLogLines:
        return RunLogLines(self.execution)

    async def events(self, after: int) -> AsyncGenerator[Row]:
        loop = asyncio.get_running_loop()
        checked_at = loop.time()
        async with aclosing(super().events(after)) as rows:
            async for row in rows:
                if loop.time() >= checked_at + RENEW_SECONDS:
                    await in_database(visible_run, self.credentials.user, self.execution)
                    checked_at = loop.time()
                yield row


def visible_run(user: User, execution: UUID) -> Execution:
    run = executions_of(user).filter(pk=execution).first()
    if run is None:
        raise NotFound
    return run


def snapshot(user: User, execution: UUID, after: int | None) -> tuple[int, dict[str, Any]]:
    """The line to begin after, and what the client can know about it."""
    run = visible_run(user, execution)
    newest = next((line.seq for line in reading.lines_before(execution, NEWEST, 1)), 0)
    data = {
        "execution_id": str(execution),
        "status": run.status,
        "truncated": bool(reading.cut_lines(run)),
    }
    return (newest if after is None else min(after, newest)), data


def events_after(execution: UUID, after: int, limit: int) -> list[Row]:
    lines = reading.lines_after(execution, after, limit * LINES_IN_EVENT)
    return [
        {
            "type": "lines",
            "id": part[-1].seq,
            "lines": [reading.LogLineOut.write(line) for line in part],
        }
        for start in range(0, len(lines), LINES_IN_EVENT)
        if (part := lines[start : start + LINES_IN_EVENT])
    ]


urlpatterns: list[URLPattern] = [path("ws/executions/<uuid:execution_id>/logs", RunLogSocket.as_asgi())]
