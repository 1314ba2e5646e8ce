"""A worker without a process, for tests of what follows the end of a job."""

from typing import Any
from uuid import UUID

from jobs.models import Job, Office
from tests.factories import running, submitted


def submit(office: Office, *refs: str) -> list[UUID]:
    """A batch with a job for each ref."""
    jobs = submitted(office, *({"ref": ref, "role": "PO"} for ref in refs), name="by hand")
    return [job.id for job in jobs]


def succeed(job: UUID) -> None:
    assert running(Job.objects.get(pk=job)).finish() is not None


def fail(job: UUID, error: str = "It broke.", **details: Any) -> None:
    """Fails the run: finally, or with a delay until its retry."""
    assert running(Job.objects.get(pk=job)).fail(error=error, **details) is not None


def fail_and_retry(job: UUID) -> None:
    fail(job, delay_ms=60_000)


def a_failure(office: Office, ref: str = "build", **details: Any) -> UUID:
    """A job that has failed."""
    (job,) = submit(office, ref)
    fail(job, **details)
    return job
