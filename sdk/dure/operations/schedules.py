"""Schedules."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, Unpack

from dure.operations.base import Operations, path_part, to_json
from dure.schedule_records import Schedule, ScheduleChanges, ScheduleOptions, ScheduleRule, Turn

Kind = Literal["cron", "interval", "once"]


class Schedules(Operations):
    async def schedules(
        self, *, name: str | None = None, task_id: str | None = None, limit: int = 100
    ) -> list[Schedule]:
        return await self._list("/api/schedules", Schedule, limit, {"name": name, "task_id": task_id})

    async def schedule(self, schedule_id: str) -> Schedule:
        return await self._get(Schedule, _path(schedule_id))

    async def create_schedule(
        self,
        name: str,
        task_id: str,
        *,
        kind: Kind,
        args: Mapping[str, Any] | None = None,
        **options: Unpack[ScheduleOptions],
    ) -> Schedule:
        """Takes `cron`, `every_seconds` or `at`, as `kind` says."""
        body = {"name": name, "task_id": task_id, "kind": kind, "args": dict(args or {}), **to_json(options)}
        return await self._post(Schedule, "/api/schedules", body)

    async def change_schedule(self, schedule: Schedule | str, **changes: Unpack[ScheduleChanges]) -> Schedule:
        """Changes what is given."""
        return await self._patch(Schedule, _path(schedule), to_json(changes))

    async def pause_schedule(self, schedule: Schedule | str) -> Schedule:
        return await self._post(Schedule, f"{_path(schedule)}/pause")

    async def resume_schedule(self, schedule: Schedule | str) -> Schedule:
        """Goes on with the next time; what was due meanwhile stays undone."""
        return await self._post(Schedule, f"{_path(schedule)}/resume")

    async def delete_schedule(self, schedule: Schedule | str) -> None:
        """Its Executions stay visible for the retention time."""
        await self._requests.delete(_path(schedule))

    async def next_times(self, schedule: Schedule | str, count: int = 5) -> list[datetime]:
        """When it is due next; none while it is paused."""
        answer = await self._requests.get(f"{_path(schedule)}/next", {"count": count})
        return _times(answer)

    async def preview_schedule(
        self, *, kind: Kind, count: int = 5, **rule: Unpack[ScheduleRule]
    ) -> list[datetime]:
        """When a schedule of this rule would be due next; saves nothing."""
        body = {"kind": kind, "count": count, **to_json(rule)}
        return _times(await self._requests.post("/api/schedules/preview", body))

    async def turns(
        self,
        schedule: Schedule | str,
        *,
        turn: Literal["run", "skipped", "missed"] | None = None,
        limit: int = 100,
    ) -> list[Turn]:
        """What became of its times, the newest first."""
        return await self._list(f"{_path(schedule)}/turns", Turn, limit, {"turn": turn})


def _path(schedule: Schedule | str) -> str:
    return f"/api/schedules/{path_part(schedule)}"


def _times(answer: Mapping[str, Any]) -> list[datetime]:
    return [datetime.fromisoformat(time) for time in answer["next"]]
