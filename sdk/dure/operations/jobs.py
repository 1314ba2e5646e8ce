"""Jobs and batches."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack

from dure.job_records import Batch, Explanation, Job, JobOptions, JobSubmission
from dure.operations.base import Operations, path_part, to_json, without_none


class Jobs(Operations):
    async def submit(
        self,
        task_id: str,
        args: Mapping[str, Any] | None = None,
        *,
        office: str | None = None,
        **options: Unpack[JobOptions],
    ) -> Job:
        """Submits one job."""
        body = {"task_id": task_id, "args": dict(args or {}), **to_json(options)}
        return await self._post(Job, f"{await self._office_path(office)}/jobs", body)

    async def submit_batch(
        self, jobs: Sequence[JobSubmission], *, name: str | None = None, office: str | None = None
    ) -> Batch:
        """Submits all of these jobs or none; their `depends_on` names `ref`s of this batch or ids of jobs."""
        office_id = await self.office_id(office)
        body = {"batch": {"name": name}, "jobs": [to_json(job) for job in jobs]}
        answer = await self._requests.post(f"/api/offices/{office_id}/jobs", body)
        return Batch.read({**answer["batch"], "office_id": office_id, "jobs": answer["jobs"]})

    async def job(self, job_id: str, *, office: str | None = None) -> Job:
        return await self._get(Job, await self._job_path(job_id, office))

    async def jobs(
        self,
        *,
        status: str | Sequence[str] | None = None,
        task_id: str | None = None,
        batch: str | None = None,
        office: str | None = None,
        limit: int = 100,
    ) -> list[Job]:
        """The newest jobs of the office."""
        params = {"status": status, "task_id": task_id, "batch": batch, "ordering": "-created_at"}
        return await self._list(f"{await self._office_path(office)}/jobs", Job, limit, params)

    async def batch(self, batch_id: str, *, office: str | None = None) -> Batch:
        office_id = await self.office_id(office)
        answer = await self._requests.get(f"/api/offices/{office_id}/batches/{path_part(batch_id)}")
        return Batch.read({**answer, "office_id": office_id})

    async def batches(self, *, office: str | None = None, limit: int = 100) -> list[Batch]:
        """The newest batches of the office."""
        office_id = await self.office_id(office)
        return await self._list(f"/api/offices/{office_id}/batches", Batch, limit, office_id=office_id)

    async def cancel(self, job: Job | str, *, reason: str = "", office: str | None = None) -> Job:
        path = await self._job_path(job, office)
        return await self._post(Job, f"{path}/cancel", without_none(reason=reason or None))

    async def cancel_all(
        self,
        *,
        batch: Batch | str | None = None,
        role: str | None = None,
        status: Sequence[Literal["pending", "timeout", "ready", "processing"]] | None = None,
        reason: str = "",
        office: str | None = None,
    ) -> int:
        """Cancels the unfinished jobs of the office that match, and returns their number.

        Those that run are asked to stop; `status` without `processing` lets them go on.
        """
        body = without_none(
            batch=batch.id if isinstance(batch, Batch) else batch,
            role=role,
            status=None if status is None else list(status),
            reason=reason or None,
        )
        answer = await self._requests.post(f"{await self._office_path(office)}/jobs/cancel-all", body)
        return int(answer["cancelled"] + answer["cancelling"])

    async def set_priority(
        self,
        job: Job | str,
        priority: int | None = None,
        *,
        urgent: bool | None = None,
        office: str | None = None,
    ) -> Job:
        """Changes what is given: a lower number runs earlier, urgent jobs before all others."""
        body = without_none(priority=priority, urgent=urgent)
        return await self._patch(Job, f"{await self._job_path(job, office)}/priority", body)

    async def retry(self, job: Job | str, *, reason: str = "", office: str | None = None) -> Job:
        """Runs a failed or cancelled job again, from the start."""
        path = await self._job_path(job, office)
        return await self._post(Job, f"{path}/retry", without_none(reason=reason or None))

    async def explain(self, job: Job | str, *, office: str | None = None) -> Explanation:
        """Why the job is not running; the decisive reason is the first."""
        path = await self._job_path(job, office)
        return await self._get(Explanation, f"{path}/explain")

    async def _job_path(self, job: Job | str, office: str | None) -> str:
        if isinstance(job, Job):
            return job.path
        return f"{await self._office_path(office)}/jobs/{path_part(job)}"
