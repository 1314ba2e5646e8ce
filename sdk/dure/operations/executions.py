"""Executions, logs and events."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Literal

from dure.job_records import Batch, Job
from dure.operations.base import SHORTEST_POLL, Operations, path_part
from dure.records import Event, Execution, LogLine
from dure.schedule_records import Schedule

ExecutionStatus = Literal["PENDING", "RUNNING", "SUCCESS", "FAILED", "CANCELLED"]
Trigger = Literal["JOB", "SCHEDULE", "MANUAL", "WORKFLOW", "STEP", "EXPORT"]
Level = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]


class Executions(Operations):
    async def run_task(self, task_id: str, args: Mapping[str, Any] | None = None) -> Execution:
        """Runs a Task at once, without an office. Refused with 409 while a run of it by you goes on."""
        answer = await self._requests.post(f"/api/tasks/{path_part(task_id)}/run", {"args": dict(args or {})})
        return await self.execution(answer["execution_id"])

    async def executions(
        self,
        *,
        task_id: str | None = None,
        status: ExecutionStatus | Sequence[ExecutionStatus] | None = None,
        trigger: Trigger | None = None,
        schedule: Schedule | str | None = None,
        limit: int = 100,
    ) -> list[Execution]:
        """The newest ones that you may see."""
        params = {
            "task_id": task_id,
            "status": status,
            "trigger": trigger,
            "schedule": schedule.id if isinstance(schedule, Schedule) else schedule,
        }
        return await self._list("/api/executions", Execution, limit, params)

    async def execution(self, execution_id: str) -> Execution:
        return await self._get(Execution, _path(execution_id))

    async def cancel_execution(self, execution: Execution | str) -> Execution:
        return await self._post(Execution, f"{_path(execution)}/cancel")

    async def log(
        self, work: Job | Execution, *, after: int = 0, level: Level | None = None
    ) -> AsyncIterator[LogLine]:
        """The lines that the job's latest run, or the Execution, has logged and printed until now."""
        while True:
            page = await self._requests.get(f"{work.path}/logs", {"after": after, "level": level})
            for line in page["results"]:
                yield LogLine.read(line)
            if not page["results"]:
                return
            after = page["next_after"]

    async def follow(
        self, work: Job | Execution, *, after: int = 0, level: Level | None = None
    ) -> AsyncIterator[LogLine]:
        """The same lines as they come, until the job or Execution has ended."""
        finished = False
        while not finished:
            # First the state: what ended before the log was read has written all of its lines.
            finished = (await self.refresh(work)).finished
            async for line in self.log(work, after=after, level=level):
                yield line
                after = line.seq
            if not finished:
                await self._requests.transport.sleep(SHORTEST_POLL * 2)

    async def follow_events(
        self, work: Job | Batch | None = None, *, after: int = 0, office: str | None = None
    ) -> AsyncIterator[Event]:
        """The events of a job or batch until it has ended; without one those of the office, without end.

        Store the `id` of the last event, and continue with it as `after`.
        """
        path = f"/api/offices/{work.office_id}" if work else await self._office_path(office)
        while True:
            finished = work is not None and (await self.refresh(work)).finished
            while page := (await self._requests.get(f"{path}/events", {"after": after, "limit": 1000}))[
                "results"
            ]:
                for event in map(Event.read, page):
                    if work is None or work.id in (event.job_id, event.batch_id):
                        yield event
                after = page[-1]["id"]
            if finished:
                return
            await self._requests.transport.sleep(SHORTEST_POLL * 5)


def _path(execution: Execution | str) -> str:
    return f"/api/executions/{path_part(execution, 'execution_id')}"
