"""Step queues and their jobs."""

from typing import Any, Literal, Unpack

from dure.operations.base import Operations, path_part, without_none
from dure.step_records import (
    NewStepQueue,
    OperationLibrary,
    Step,
    StepOptions,
    StepQueue,
    StepQueueCheck,
    StepQueueEvent,
)


class Steps(Operations):
    async def libraries(self) -> list[OperationLibrary]:
        return await self._list("/api/libraries", OperationLibrary, None)

    async def queues(
        self,
        *,
        name: str | None = None,
        state: Literal["EMPTY", "READY", "RUNNING"] | None = None,
        office: str | None = None,
        limit: int = 100,
    ) -> list[StepQueue]:
        office_id = await self.office_id(office) if office else None
        params = {"name": name, "state": state, "office": office_id}
        return await self._list("/api/queues", StepQueue, limit, params)

    async def queue(self, queue_id: int) -> StepQueue:
        return await self._get(StepQueue, _path(queue_id))

    async def create_queue(
        self,
        name: str = "",
        *,
        library: str | None = None,
        callback_url: str | None = None,
        office: str | None = None,
    ) -> NewStepQueue:
        """`library` is that of jobs which name none. Without an office only you see the queue."""
        body = without_none(
            name=name or None,
            queue_library=library,
            callback_url=callback_url,
            office=await self.office_id(office) if office else None,
        )
        return await self._post(NewStepQueue, "/api/queues", body)

    async def copy_queue(self, queue: StepQueue | int, name: str = "") -> NewStepQueue:
        """A queue with the same library, office, callback and jobs."""
        body = without_none(name=name or None)
        return await self._post(NewStepQueue, f"{_path(queue)}/copy", body)

    async def delete_queue(self, queue: StepQueue | int) -> None:
        await self._requests.delete(_path(queue))

    async def check_queue(self, queue: StepQueue | int) -> StepQueueCheck:
        """What would go wrong in a run, without running anything."""
        return await self._get(StepQueueCheck, f"{_path(queue)}/check")

    async def run_queue(self, queue: StepQueue | int) -> StepQueue:
        """Starts a run; `wait` waits for its end."""
        return await self._post(StepQueue, f"{_path(queue)}/run")

    async def resume_queue(self, queue: StepQueue | int) -> StepQueue:
        """Goes forward again in a run that has rolled back."""
        return await self._post(StepQueue, f"{_path(queue)}/resume")

    async def cancel_queue(self, queue: StepQueue | int) -> StepQueue:
        """Rolls the run back."""
        return await self._post(StepQueue, f"{_path(queue)}/cancel")

    async def queue_events(
        self, queue: StepQueue | int, *, after: int = 0, limit: int = 1000
    ) -> list[StepQueueEvent]:
        page = await self._requests.get(f"{_path(queue)}/events", {"after": after, "limit": limit})
        return [StepQueueEvent.read(document) for document in page["results"]]

    async def steps(self, queue: StepQueue | int | None = None, *, limit: int = 1000) -> list[Step]:
        """The jobs of the queue, in order; without one, your jobs that are in no queue."""
        return await self._list("/api/steps" if queue is None else f"{_path(queue)}/jobs", Step, limit)

    async def step(self, queue: StepQueue | int, job_id: str) -> Step:
        return await self._get(Step, _step_path(queue, job_id))

    async def create_step(self, **options: Unpack[StepOptions]) -> Step:
        """A job that is in no queue yet."""
        return await self._post(Step, "/api/steps", dict(options))

    async def delete_step(self, step: Step | str) -> None:
        """Deletes a job that is in no queue."""
        await self._requests.delete(f"/api/steps/{_job_id(step)}")

    async def enqueue(
        self, queue: StepQueue | int, step: Step | str | None = None, **options: Unpack[StepOptions]
    ) -> Step:
        """Appends a job: the one of `create_step`, or a new one with these options."""
        body: dict[str, Any] = dict(options) if step is None else {"job_id": _job_id(step), **options}
        return await self._post(Step, f"{_path(queue)}/jobs", body)

    async def move_step(self, queue: StepQueue | int, step: Step | str, number: int) -> Step:
        """Moves a job to this place, from 1."""
        return await self._patch(Step, _step_path(queue, step), {"number": number})

    async def remove_step(self, queue: StepQueue | int, step: Step | str) -> None:
        await self._requests.delete(_step_path(queue, step))

    async def rerun_backward(self, queue: StepQueue | int, step: Step | str) -> StepQueue:
        """Runs a backward operation again that has failed."""
        return await self._post(StepQueue, f"{_step_path(queue, step)}/rerun")


def _path(queue: StepQueue | int) -> str:
    return f"/api/queues/{path_part(queue, 'queue_id')}"


def _step_path(queue: StepQueue | int, step: Step | str) -> str:
    return f"{_path(queue)}/jobs/{_job_id(step)}"


def _job_id(step: Step | str) -> str:
    return path_part(step, "job_id")
