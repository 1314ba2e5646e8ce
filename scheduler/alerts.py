"""The alerts of a user: failed jobs and workflow runs of their offices, and schedules that are failing.

They are read from the events and the schedules themselves, so nothing has to be set up or kept in step. Only
the time until which the user has seen them is stored.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet

from jobs.models import Event, Job, Membership
from jobs.states import ALERT_EVENTS, EventType
from jobs.texts import first_line
from scheduler.models import AlertsSeen, Schedule, WorkflowRunStart

# How far back the list goes, and what is new for a user who has never seen it.
LISTED_DAYS = timedelta(days=30)
NEW_AT_FIRST = timedelta(days=1)
MOST = 100


@dataclass(frozen=True)
class Alert:
    """`target` names what failed: an office and its job, a workflow and its run, or a schedule."""

    id: str
    at: datetime
    type: str
    name: str
    error: str
    target: tuple[Any, ...]


def of_user(user: User, since: datetime) -> list[Alert]:
    """The alerts after this time, newest first, at most MOST."""
    own = Schedule.objects.filter(owner=user)
    schedules = own.filter(failing_since__gt=since).order_by("-failing_since")[:MOST]
    alerts = [_of_schedule(schedule) for schedule in schedules]
    listed = {str(schedule.id) for schedule in schedules}
    offices = list(Membership.objects.filter(user=user).values_list("office_id", flat=True))
    events = Event.objects.filter(office_id__in=offices, type__in=ALERT_EVENTS, at__gt=since).order_by("-at")
    # A failing schedule of the user's own is listed already, whatever office it notifies.
    alerts += _of_events(
        [each for each in events[:MOST] if each.details.get("schedule_id") not in listed], own
    )
    return sorted(alerts, key=lambda alert: alert.at, reverse=True)[:MOST]


def seen_until(user: User, now: datetime) -> datetime:
    seen = AlertsSeen.objects.filter(user=user).values_list("seen_at", flat=True).first()
    return seen or now - NEW_AT_FIRST


def mark_seen(user: User, until: datetime) -> None:
    AlertsSeen.objects.update_or_create(user=user, defaults={"seen_at": until})


def _of_schedule(schedule: Schedule) -> Alert:
    at = schedule.failing_since or schedule.updated_at  # never the latter: of_user selects by the former
    number = f"schedule-{schedule.id}-{at.timestamp()}"
    return Alert(number, at, EventType.SCHEDULE_FAILING, schedule.name, "", (schedule.id,))


def _of_events(events: Sequence[Event], own: QuerySet[Schedule]) -> list[Alert]:
    """Of schedules only the user's own have a page that they may see."""
    ids = {event.details["schedule_id"] for event in events if event.type == EventType.SCHEDULE_FAILING}
    visible = set(map(str, own.filter(pk__in=ids).values_list("pk", flat=True))) if ids else set()
    jobs = Job.objects.filter(pk__in={event.job_id for event in events if event.job_id})
    names = {
        pk: f"{ref} ({task_id})" if ref else task_id
        for pk, ref, task_id in jobs.values_list("pk", "ref", "task_id")
    }
    errors = _errors_of_runs([event for event in events if event.type == EventType.WORKFLOW_RUN_FAILED])
    return [_of_event(event, names, visible, errors.get(event.id)) for event in events]


def _errors_of_runs(events: Sequence[Event]) -> dict[int, str]:
    """The errors of workflow runs in the reader's language, by event; those of events are English."""
    starts = WorkflowRunStart.objects.filter(
        run__in={event.details["run_id"] for event in events}, ended_at__in={event.at for event in events}
    )
    errors = {(str(start.run_id), start.ended_at): start.error for start in starts}
    return {event.id: error for event in events if (error := errors.get((event.details["run_id"], event.at)))}


def _of_event(
    event: Event, names: Mapping[Any, str], visible: Collection[str], error_of_run: str | None
) -> Alert:
    details = event.details
    target: tuple[Any, ...]
    if event.type == EventType.WORKFLOW_RUN_FAILED:
        name, target = details["workflow"], (details["workflow_id"], details["run_id"])
    elif event.type == EventType.SCHEDULE_FAILING:
        number = details["schedule_id"]
        name, target = details["schedule"], (number,) if number in visible else ()
    else:
        name, target = names.get(event.job_id, str(event.job_id)), (event.office_id, event.job_id)
    error = error_of_run or str(details.get("error") or "")
    return Alert(f"event-{event.id}", event.at, event.type, name, first_line(error), target)
