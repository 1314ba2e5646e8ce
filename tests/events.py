"""The recorded events of jobs and batches, for tests to compare."""

from typing import Any

from jobs.models import Event, Job, Office
from jobs.states import EventType

T = EventType


def event_types(job: Job) -> list[str]:
    """The types of a job's events, in the order of their commits."""
    return list(Event.objects.filter(job_id=job.id).order_by("id").values_list("type", flat=True))


def details(job: Job, kind: str) -> dict[str, Any]:
    """The details of the last event of that type."""
    event = Event.objects.filter(job_id=job.id, type=kind).order_by("id").last()
    assert event is not None, f"there is no {kind}, only {event_types(job)}"
    return dict(event.details)


def batches_completed(office: Office) -> list[dict[str, int]]:
    events = Event.objects.filter(office_id=office.id, type=T.BATCH_COMPLETED).order_by("id")
    return [event.details for event in events]
