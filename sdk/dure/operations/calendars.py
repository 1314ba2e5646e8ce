"""Calendars: the days and windows that schedules skip."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from dure.office_records import Calendar
from dure.operations.base import Operations, path_part, to_json, without_none


class Calendars(Operations):
    async def calendars(self, *, limit: int = 100) -> list[Calendar]:
        return await self._list("/api/calendars", Calendar, limit)

    async def calendar(self, calendar_id: str) -> Calendar:
        return await self._get(Calendar, _path(calendar_id))

    async def create_calendar(
        self,
        name: str,
        *,
        dates: Sequence[date] = (),
        windows: Sequence[tuple[datetime, datetime]] = (),
        timezone: str | None = None,
    ) -> Calendar:
        """A window is its start and the first moment after it. `timezone` is that of the dates."""
        body = {"name": name, **_fields(dates, windows, timezone)}
        return await self._post(Calendar, "/api/calendars", body)

    async def change_calendar(
        self,
        calendar: Calendar | str,
        *,
        name: str | None = None,
        dates: Sequence[date] | None = None,
        windows: Sequence[tuple[datetime, datetime]] | None = None,
        timezone: str | None = None,
    ) -> Calendar:
        """Changes what is given; `dates` and `windows` replace those that it has."""
        body = without_none(name=name) | _fields(dates, windows, timezone)
        return await self._patch(Calendar, _path(calendar), body)

    async def delete_calendar(self, calendar: Calendar | str) -> None:
        await self._requests.delete(_path(calendar))


def _path(calendar: Calendar | str) -> str:
    return f"/api/calendars/{path_part(calendar)}"


def _fields(
    dates: Sequence[date] | None,
    windows: Sequence[tuple[datetime, datetime]] | None,
    timezone: str | None,
) -> dict[str, Any]:
    return without_none(
        dates=None if dates is None else [each.isoformat() for each in dates],
        windows=None if windows is None else [to_json({"starts_at": a, "ends_at": b}) for a, b in windows],
        timezone=timezone,
    )
