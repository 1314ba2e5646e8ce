"""A worker without a process: tests call one operation after the other."""

from uuid import UUID

from jobs.models import Job, Office
from tests.factories import claimed, submitted


def submit(office: Office, *refs: str) -> list[UUID]:
    """A batch with a job for each ref."""
    return [
        job.id for job in submitted(office, *({"ref": ref, "role": "PO"} for ref in refs), name="by hand")
    ]


def succeed(job: UUID) -> None:
    run = claimed(Job.objects.get(pk=job))
    assert run is not None
    assert run.finish() is not None


def fail(
    job: UUID, error: str = "It broke.", delay_ms: int | None = None, failure_type: str = "error"
) -> None:
    """Fails the run: finally, or with a delay until its retry."""
    run = claimed(Job.objects.get(pk=job))
    assert run is not None
    assert run.fail(failure_type, error=error, delay_ms=delay_ms) is not None


def fail_and_retry(job: UUID) -> None:
    fail(job, delay_ms=60_000)
