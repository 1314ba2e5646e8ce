"""What all operations share: the office, pages of lists, and the wait for an end."""

import time
import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import quote

from dure import login as logins
from dure.errors import ConfigurationError, WaitTimeout
from dure.office_records import Office
from dure.record import Record, Work
from dure.records import Task
from dure.requests import Requests
from dure.transport import AsyncTransport, Transport

R = TypeVar("R", bound=Record)
W = TypeVar("W", bound=Work)

LARGEST_PAGE = 200
SHORTEST_POLL, LONGEST_POLL = 0.2, 2.0


class Operations:
    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        office: str | None = None,
        timeout: float = 30.0,
        transport: Transport | None = None,
    ) -> None:
        login = logins.find(url, token, office)
        self._requests = Requests(login, transport or AsyncTransport(), timeout)
        self._office = login.office
        self._office_ids: dict[str | None, str] = {}

    async def offices(self) -> list[Office]:
        """The offices of the user."""
        return await self._list("/api/offices", Office, None)

    async def office_id(self, office: str | None = None) -> str:
        """The id of the office with this id or name; without one the client's, or the only one."""
        name_or_id = office or self._office
        if name_or_id and _is_uuid(name_or_id):
            return name_or_id
        if name_or_id not in self._office_ids:
            offices = await self.offices()
            ids = [each.id for each in offices if name_or_id in (None, each.name)]
            if len(ids) != 1:
                names = ", ".join(f"{each.name} ({each.id})" for each in offices) or "none"
                problem = f"No single office is named {name_or_id!r}" if name_or_id else "Name an office"
                raise ConfigurationError(f"{problem}; yours: {names}.")
            self._office_ids[name_or_id] = ids[0]
        return self._office_ids[name_or_id]

    async def tasks(self) -> list[Task]:
        return await self._list("/api/tasks", Task, None)

    async def task(self, task_id: str) -> Task:
        return await self._get(Task, f"/api/tasks/{path_part(task_id)}")

    async def refresh(self, work: W) -> W:
        """The same job, batch, Execution, workflow run, step queue or export as it is now."""
        return type(work).read({**work.raw, **await self._requests.get(work.path)})

    async def wait(self, work: W, timeout: float | None = None) -> W:
        """Waits until a job, batch, Execution, workflow run, step queue or export has ended.

        `succeeded` says how. Raises `WaitTimeout` after `timeout` seconds.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        poll = SHORTEST_POLL
        while not (work := await self.refresh(work)).finished:
            left = LONGEST_POLL if deadline is None else deadline - time.monotonic()
            if left <= 0:
                raise WaitTimeout(f"{work.path} has not ended within {timeout:g} s.")
            await self._requests.transport.sleep(min(poll, left))
            poll = min(LONGEST_POLL, poll * 1.5)
        return work

    async def _get(self, record: type[R], path: str) -> R:
        return record.read(await self._requests.get(path))

    async def _post(self, record: type[R], path: str, body: Any = None) -> R:
        return record.read(await self._requests.post(path, body))

    async def _patch(self, record: type[R], path: str, body: Mapping[str, Any]) -> R:
        return record.read(await self._requests.patch(path, body))

    async def _list(
        self,
        path: str,
        record: type[R],
        limit: int | None,
        params: Mapping[str, Any] | None = None,
        **added: str,
    ) -> list[R]:
        """`added` are fields that the answer leaves out."""
        records: list[R] = []
        size = min(limit or LARGEST_PAGE, LARGEST_PAGE)
        for number in range(1, 1_000_000):
            page = await self._requests.get(path, {**(params or {}), "page": number, "page_size": size})
            records += [record.read({**document, **added}) for document in page["results"]]
            if not page["next"] or (limit is not None and len(records) >= limit):
                break
        return records[:limit]

    async def _office_path(self, office: str | None) -> str:
        return f"/api/offices/{await self.office_id(office)}"


def path_part(named: Record | str | int, field: str = "id") -> str:
    """One part of a path: this field of a record, or the value itself, whatever it contains."""
    return quote(str(getattr(named, field) if isinstance(named, Record) else named), safe="")


def _is_uuid(value: str) -> bool:
    try:
        return str(uuid.UUID(value)) == value.lower()
    except ValueError:
        return False


def without_none(**fields: Any) -> dict[str, Any]:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def to_json(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields for JSON: a time without a zone is one of this machine's zone."""
    return {
        name: value.astimezone().isoformat() if isinstance(value, datetime) else value
        for name, value in fields.items()
    }
