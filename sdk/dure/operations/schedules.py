"""Schedules and workflows."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack

from dure.operations.base import Operations, path_part
from dure.records import Schedule, Workflow, WorkflowRun
from dure.submissions import JobSubmission, ScheduleOptions, to_json


class Schedules(Operations):
    async def schedules(self, *, name: str | None = None, limit: int = 100) -> list[Schedule]:
        return await self._list("/api/schedules", Schedule, limit, {"name": name})

    async def create_schedule(
        self,
        name: str,
        task_id: str,
        *,
        kind: Literal["cron", "interval", "once"],
        args: Mapping[str, Any] | None = None,
        **options: Unpack[ScheduleOptions],
    ) -> Schedule:
        """Takes `cron`, `every_seconds` or `at`, as `kind` says."""
        body = {"name": name, "task_id": task_id, "kind": kind, "args": dict(args or {}), **to_json(options)}
        return Schedule.read(await self._requests.post("/api/schedules", body))

    async def pause_schedule(self, schedule_id: str) -> Schedule:
        return Schedule.read(await self._requests.post(f"/api/schedules/{path_part(schedule_id)}/pause"))

    async def resume_schedule(self, schedule_id: str) -> Schedule:
        return Schedule.read(await self._requests.post(f"/api/schedules/{path_part(schedule_id)}/resume"))

    async def workflows(
        self, *, name: str | None = None, office: str | None = None, limit: int = 100
    ) -> list[Workflow]:
        office_id = await self.office_id(office) if office else None
        return await self._list("/api/workflows", Workflow, limit, {"name": name, "office": office_id})

    async def create_workflow(
        self,
        name: str,
        steps: Sequence[JobSubmission],
        *,
        schedule_config: Mapping[str, Any] | None = None,
        input_schema: Mapping[str, Any] | None = None,
        status: Literal["draft", "active"] = "draft",
        office: str | None = None,
    ) -> Workflow:
        """Saves a graph of jobs. Without `schedule_config` it runs only by `execute`."""
        body = {
            "office": await self.office_id(office),
            "name": name,
            "status": status,
            "steps": [to_json(step) for step in steps],
            "schedule_config": dict(schedule_config or {"mode": "immediate"}),
            "input_schema": input_schema,
        }
        return Workflow.read(await self._requests.post("/api/workflows", body))

    async def execute(
        self, workflow: Workflow | str, input: Any = None, *, wait: float | None = None
    ) -> WorkflowRun:
        """Starts a run of the workflow now, and waits up to `wait` seconds for its end."""
        workflow_id = workflow if isinstance(workflow, str) else workflow.id
        body = {"workflow_id": workflow_id} | ({} if input is None else {"input": input})
        run = WorkflowRun.read(await self._requests.post("/api/workflow/execute", body))
        return await self.wait(run, wait) if wait else run
