"""Plays a worker without a process: the engine's own verbs, called one after the other."""

from uuid import UUID

from jobs import lifecycle, submission
from jobs.models import Execution, Job, Office
from jobs.states import FailureType, Outcome


def submit(office: Office, *refs: str, **more: object) -> list[UUID]:
    """One batch of jobs, one for each ref."""
    jobs = [
        {"ref": ref, "task_id": "demo.sum", "args": {"numbers": [1]}, "role": "PO", **more} for ref in refs
    ]
    return lifecycle.submit(submission.read(office, {"jobs": jobs, "batch": {"name": "by hand"}}))


def run(job: UUID, outcome: str, *, error: str = "", delay_ms: int | None = None) -> None:
    execution = Execution.objects.get(pk=Job.objects.get(pk=job).execution_id)
    claimed = lifecycle.claim(str(execution.pk), execution.dispatch, token="by hand", worker="by hand")
    assert claimed is not None
    failure = FailureType.ERROR if outcome == Outcome.FAILURE else ""
    ended = lifecycle.finish(
        str(execution.pk),
        claimed["fence"],
        outcome,
        trigger=claimed["trigger"],
        result="1" if outcome == Outcome.SUCCESS else None,
        failure_type=failure,
        error=error,
        delay_ms=delay_ms,
    )
    assert ended is not None


def succeed(job: UUID) -> None:
    run(job, Outcome.SUCCESS)


def fail(job: UUID, error: str = "It broke.") -> None:
    """For good."""
    run(job, Outcome.FAILURE, error=error)


def fail_and_retry(job: UUID) -> None:
    run(job, Outcome.FAILURE, error="It broke.", delay_ms=60_000)
