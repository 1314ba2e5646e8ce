"""Creates notifications from an office's events: one for each webhook that subscribes to the event's type,
and one for each mail address when a job has failed for good, or a schedule fails or has recovered.

`create_from_events` reads the events after the office's cursor, in order, and advances the cursor in the
same transaction. The cursor's row lock admits one creator at a time, and a unique constraint guards the
rows as well. delivery.py sends them later, with no transaction open. Each event is sent at least once,
whatever process dies in between.

Mail is collected: an address gets at most one mail a minute for each office, which lists everything that
has failed since the previous one.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction

from jobs import serialize
from jobs.api_model import iso_time
from jobs.models import Batch, Event, EventCursor, Job, Notification, Office, Webhook
from jobs.notifications.requests import request_sending
from jobs.sql import call
from jobs.sql import notifications as statements
from jobs.states import EventType

DEFAULT_TYPES = (
    *(EventType.JOB_FAILED, EventType.BATCH_COMPLETED, EventType.WORKFLOW_RUN_FAILED),
    *(EventType.SCHEDULE_FAILING, EventType.SCHEDULE_RECOVERED),
)
MAIL_TYPES = (EventType.JOB_FAILED, EventType.SCHEDULE_FAILING, EventType.SCHEDULE_RECOVERED)
MAIL_INTERVAL = timedelta(minutes=1)
PAGE = 500


def create_from_events(office: UUID | str, now: datetime | None = None) -> int:
    """Create missing notifications of an office and return how many; none while another process does so."""
    created, more = 0, True
    while more:
        with transaction.atomic():
            cursor = _locked_cursor(office, wait=False)
            if cursor is None:
                break
            count, more = _create_page(cursor, database_time(now))
        created += count
    if created:
        request_sending()
    return created


@contextmanager
def events_drained(office: UUID) -> Iterator[None]:
    """A transaction that begins with every past event turned into notifications.

    A change of receivers or event types made inside therefore applies to later events only.
    """
    with transaction.atomic():
        cursor = _locked_cursor(office, wait=True)
        if cursor is not None:
            while _create_page(cursor, database_time(None))[1]:
                pass
        yield
        transaction.on_commit(request_sending)


def sweep(now: datetime | None = None) -> int:
    """Create the notifications whose message was lost, and have all due ones sent."""
    created = sum(create_from_events(office, now) for (office,) in call.rows(statements.OFFICES_BEHIND))
    if not created and Notification.objects.filter(next_at__lte=database_time(now)).exists():
        request_sending()
    return created


def database_time(now: datetime | None) -> datetime:
    """The time of the argument, or the database's clock."""
    time: datetime = call.rows(statements.NOW, [now])[0][0]
    return time


def lock_cursor(office: UUID) -> bool:
    """Inside a transaction: keep others from creating for this office. False while another one does."""
    return _locked_cursor(office, wait=False) is not None


def _locked_cursor(office: UUID | str, *, wait: bool) -> EventCursor | None:
    locked = EventCursor.objects.select_for_update(skip_locked=not wait).filter(office_id=office)
    cursor = locked.first()
    if cursor is None and call.change(statements.CREATE_CURSOR, {"office": str(office)}):
        cursor = locked.first()
    return cursor


def _create_page(cursor: EventCursor, now: datetime) -> tuple[int, bool]:
    """The number of notifications created, and whether there are more events to read."""
    events = Event.objects.filter(office_id=cursor.office_id, id__gt=cursor.event_id)
    newest = events.order_by("-id").values_list("id", flat=True).first()
    if newest is None:
        return 0, False
    office = Office.objects.get(pk=cursor.office_id)
    webhooks = list(Webhook.objects.filter(office=office, enabled=True))
    types = {event_type for webhook in webhooks for event_type in webhook.event_types}
    if office.notify_emails:
        types.update(MAIL_TYPES)
    page = list(events.filter(id__lte=newest, type__in=sorted(types)).order_by("id")[:PAGE]) if types else []
    notifications = _build(office, webhooks, page, now)
    Notification.objects.bulk_create(notifications, batch_size=1_000, ignore_conflicts=True)
    more = len(page) == PAGE
    cursor.event_id = page[-1].id if more else newest
    cursor.save(update_fields=["event_id"])
    return len(notifications), more


def _build(
    office: Office, webhooks: Sequence[Webhook], events: Sequence[Event], now: datetime
) -> list[Notification]:
    if not events:
        return []
    mail_times = {address: _mail_time(office, address, now) for address in _addresses(office)}
    notifications = []
    for event, body in zip(events, event_bodies(events), strict=True):
        receivers: list[dict[str, Any]] = [
            {"webhook": webhook, "next_at": now} for webhook in webhooks if event.type in webhook.event_types
        ]
        if event.type in MAIL_TYPES:
            receivers += [{"address": address, "next_at": at} for address, at in mail_times.items()]
        text = call.as_json(body)
        notifications += [
            Notification(office=office, event_id=event.id, body=text, created_at=now, **receiver)
            for receiver in receivers
        ]
    return notifications


def event_bodies(events: Sequence[Event]) -> list[dict[str, Any]]:
    """The messages: type, time, and as data the event of the API with the names of its job and batch."""
    names: dict[UUID | None, dict[str, str | None]] = defaultdict(dict)
    jobs = Job.objects.filter(pk__in={event.job_id for event in events if event.job_id})
    for job, ref, task_id, role in jobs.values_list("id", "ref", "task_id", "role"):
        names[job] = {"ref": ref or None, "task_id": task_id, "role": role}
    batches = Batch.objects.filter(pk__in={event.batch_id for event in events if event.batch_id})
    for batch, name in batches.values_list("id", "name"):
        names[batch] = {"batch_name": name or None}
    return [
        {
            "type": event.type,
            "timestamp": iso_time(event.at),
            "data": {**serialize.event_json(event), **names[event.job_id], **names[event.batch_id]},
        }
        for event in events
    ]


def _addresses(office: Office) -> list[str]:
    return list(dict.fromkeys(address.strip() for address in office.notify_emails))


def _mail_time(office: Office, address: str, now: datetime) -> datetime:
    """Now, or together with the next mail to this address: a minute after the last, or one that waits."""
    last = Notification.objects.filter(office=office, address=address, webhook=None).order_by("-id").first()
    if last is None:
        return now
    due = last.sent_at + MAIL_INTERVAL if last.sent_at else last.next_at
    return max(now, min(due or now, now + MAIL_INTERVAL))
