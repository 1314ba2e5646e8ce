"""Workflows and their runs."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack

from dure.job_records import JobSubmission
from dure.operations.base import Operations, path_part, to_json, without_none
from dure.schedule_records import Workflow, WorkflowChanges, WorkflowRun


class Workflows(Operations):
    async def workflows(
        self, *, name: str | None = None, office: str | None = None, limit: int = 100
    ) -> list[Workflow]:
        office_id = await self.office_id(office) if office else None
        return await self._list("/api/workflows", Workflow, limit, {"name": name, "office": office_id})

    async def workflow(self, workflow_id: str) -> Workflow:
        return await self._get(Workflow, _path(workflow_id))

    async def create_workflow(
        self,
        name: str,
        steps: Sequence[JobSubmission],
        *,
        schedule_config: Mapping[str, Any] | None = None,
        input_schema: Mapping[str, Any] | None = None,
        max_run_retries: int = 0,
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
            "max_run_retries": max_run_retries,
        }
        return await self._post(Workflow, "/api/workflows", body)

    async def change_workflow(self, workflow: Workflow | str, **changes: Unpack[WorkflowChanges]) -> Workflow:
        """Changes what is given; runs that have begun keep the steps that they began with."""
        body: dict[str, Any] = dict(changes)
        if "steps" in changes:
            body["steps"] = [to_json(step) for step in changes["steps"]]
        return await self._patch(Workflow, _path(workflow), body)

    async def pause_workflow(self, workflow: Workflow | str) -> Workflow:
        """Its schedule starts nothing until it is resumed; `execute` still does."""
        return await self.change_workflow(workflow, status="paused")

    async def resume_workflow(self, workflow: Workflow | str) -> Workflow:
        """Lets its schedule start runs: of a paused workflow again, of a draft for the first time."""
        return await self.change_workflow(workflow, status="active")

    async def delete_workflow(self, workflow: Workflow | str) -> None:
        """Deletes its runs too; the jobs of a run in progress continue."""
        await self._requests.delete(_path(workflow))

    async def execute(
        self, workflow: Workflow | str, input: Any = None, *, wait: float | None = None
    ) -> WorkflowRun:
        """Starts a run of the workflow now, and waits up to `wait` seconds for its end."""
        workflow_id = workflow if isinstance(workflow, str) else workflow.id
        body = without_none(workflow_id=workflow_id, input=input)
        run = WorkflowRun.read(await self._requests.post("/api/workflow/execute", body))
        return await self.wait(run, wait) if wait else run

    async def workflow_runs(
        self,
        workflow: Workflow | str,
        *,
        status: Literal["pending", "running", "completed", "failed", "cancelled"] | None = None,
        limit: int = 100,
    ) -> list[WorkflowRun]:
        """The newest runs."""
        return await self._list(f"{_path(workflow)}/runs", WorkflowRun, limit, {"status": status})

    async def workflow_run(self, workflow: Workflow | str, run_id: str) -> WorkflowRun:
        return await self._get(WorkflowRun, f"{_path(workflow)}/runs/{path_part(run_id)}")

    async def cancel_run(self, run: WorkflowRun) -> WorkflowRun:
        """Cancels all of its jobs."""
        return await self._post(WorkflowRun, f"{run.path}/cancel")

    async def resume_run(self, run: WorkflowRun) -> WorkflowRun:
        """Tries a failed run again, from its failed steps."""
        return await self._post(WorkflowRun, f"{run.path}/resume")


def _path(workflow: Workflow | str) -> str:
    return f"/api/workflows/{path_part(workflow)}"
