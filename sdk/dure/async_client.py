"""The client for asyncio. `dure.Client` has the same methods without `await`."""

from types import TracebackType
from typing import Self

from dure.operations.calendars import Calendars
from dure.operations.executions import Executions
from dure.operations.exports import Exports
from dure.operations.jobs import Jobs
from dure.operations.offices import Offices
from dure.operations.roles import Roles
from dure.operations.schedules import Schedules
from dure.operations.steps import Steps
from dure.operations.workflows import Workflows


class AsyncClient(Jobs, Executions, Schedules, Workflows, Calendars, Offices, Roles, Steps, Exports):
    """Calls Dure's API.

    `url`, `token` and `office` come from the arguments, else from `DURE_URL`, `DURE_TOKEN` and `DURE_OFFICE`,
    else from `dure login`. An office is an id or a name; a member of one office only needs to name none.
    """

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._requests.transport.close()
