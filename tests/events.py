"""What an office was told of its jobs, for tests to compare."""

from typing import Any

from jobs.models import Event, Job, Office
from jobs.states import EventType

T = EventType


def told(job: Job) -> list[str]:
    """The types of a job's events, in the order of their commits."""
    return list(Event.objects.filter(job_id=job.id).order_by("id").values_list("type", flat=True))


def details(job: Job, kind: str) -> dict[str, Any]:
    """Those of the last event of that type."""
    found = Event.objects.filter(job_id=job.id, type=kind).order_by("id").last()
    assert found is not None, f"there is no {kind}, only {told(job)}"
    return dict(found.details)


def batches_completed(office: Office) -> list[dict[str, int]]:
    found = Event.objects.filter(office_id=office.id, type=T.BATCH_COMPLETED).order_by("id")
    return [event.details for event in found]
