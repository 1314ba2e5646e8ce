"""Makes notices of an office's events: for each, one to every webhook that wants it, and one to every
mail address when a job has failed for good.

relay reads the events after the office's cursor, in order, and moves it along in the same
transaction; its lock lets one relay work at a time, and a unique constraint says so too. Sending is
another verb, in jobs/notifications/delivery.py, with no transaction open. Each event is told at least once,
whatever dies in between.

Mail is gathered: an address is written to at most once a minute for each office, and a mail lists all
that has failed since the last one.
"""

import json
import logging
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction

from jobs import publish
from jobs.api import shapes
from jobs.models import Batch, Event, Job, Notice, NoticeCursor, Office, Webhook
from jobs.sql import call
from jobs.sql import notifications as statements
from jobs.states import EventType

log = logging.getLogger(__name__)

DEFAULT_TYPES = (EventType.JOB_FAILED, EventType.BATCH_COMPLETED)
MAILED_TYPE = EventType.JOB_FAILED
MAIL_PAUSE = timedelta(minutes=1)
PAGE = 500
SEND = "dure.send"


def relay(office: UUID | str, now: datetime | None = None) -> int:
    """Make the notices of what has happened since the last time; how many. Leaves it to a relay under way."""
    made, more = 0, True
    while more:
        with transaction.atomic():
            cursor = _cursor(office, wait=False)
            if cursor is None:
                break
            count, more = _relay_page(cursor, time_of(now))
        made += count
    if made:
        ring()
    return made


@contextmanager
def settled(office: UUID) -> Iterator[None]:
    """A transaction in which all that has happened is noticed already, by those who wanted to know till now.

    Whatever changes inside, who is told or of what, counts from now on and not for the past.
    """
    with transaction.atomic():
        cursor = _cursor(office, wait=True)
        if cursor is not None:
            while _relay_page(cursor, time_of(None))[1]:
                pass
        yield
        transaction.on_commit(ring)


def sweep(now: datetime | None = None) -> int:
    """Relay what no bell was heard for, and see to it that what is due is sent."""
    made = sum(relay(office, now) for (office,) in call.rows(statements.BEHIND))
    if not made and Notice.objects.filter(next_at__lte=time_of(now)).exists():
        ring()
    return made


def forget_old(before: datetime, limit: int) -> int:
    """Deletes at most `limit` notices made before then, of which nothing waits any more."""
    old = Notice.objects.filter(created_at__lt=before, next_at=None).order_by("id")
    return Notice.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:limit])).delete()[0]


def ring() -> None:
    """Have what is due sent: on a queue of its own, since it waits for the servers of strangers."""
    publish.control(SEND, expires=60, queue=settings.DURE_NOTICES_QUEUE)


def time_of(now: datetime | None) -> datetime:
    found: datetime = call.rows(statements.NOW, [now])[0][0]
    return found


def cursor_is_free(office: UUID) -> bool:
    """Inside a transaction: whether nobody relays this office now; nobody will until its end."""
    return _cursor(office, wait=False) is not None


def _cursor(office: UUID | str, *, wait: bool) -> NoticeCursor | None:
    locked = NoticeCursor.objects.select_for_update(skip_locked=not wait).filter(office_id=office)
    found = locked.first()
    if found is None and call.change(statements.BEGIN_CURSOR, {"office": str(office)}):
        found = locked.first()
    return found


def _relay_page(cursor: NoticeCursor, now: datetime) -> tuple[int, bool]:
    """How many notices it made, and whether there are more events to look at."""
    events = Event.objects.filter(office_id=cursor.office_id, id__gt=cursor.event_id)
    newest = events.order_by("-id").values_list("id", flat=True).first()
    if newest is None:
        return 0, False
    office = Office.objects.get(pk=cursor.office_id)
    webhooks = list(Webhook.objects.filter(office=office, enabled=True))
    wanted = {one for webhook in webhooks for one in webhook.event_types}
    if office.notify_emails:
        wanted.add(MAILED_TYPE)
    page = (
        list(events.filter(id__lte=newest, type__in=sorted(wanted)).order_by("id")[:PAGE]) if wanted else []
    )
    made = _notices(office, webhooks, page, now)
    Notice.objects.bulk_create(made, batch_size=1_000, ignore_conflicts=True)
    more = len(page) == PAGE
    NoticeCursor.objects.filter(pk=cursor.pk).update(event_id=page[-1].id if more else newest)
    cursor.event_id = page[-1].id if more else newest
    return len(made), more


def _notices(
    office: Office, webhooks: Sequence[Webhook], events: Sequence[Event], now: datetime
) -> list[Notice]:
    bodies = {event.id: call.as_json(body) for event, body in zip(events, bodies_of(events), strict=True)}
    times = {address: _time_for(office, address, now) for address in _addresses(office)} if events else {}
    made = []
    for event in events:
        told: list[dict[str, Any]] = [
            {"webhook": webhook, "next_at": now} for webhook in webhooks if event.type in webhook.event_types
        ]
        if event.type == MAILED_TYPE:
            told += [{"address": address, "next_at": at} for address, at in times.items()]
        made += [
            Notice(office=office, event_id=event.id, body=bodies[event.id], created_at=now, **one)
            for one in told
        ]
    return made


def bodies_of(events: Sequence[Event]) -> list[dict[str, Any]]:
    """What is sent: type and time, and as data the event as the API shows it, with the names of its job."""
    names: dict[UUID, dict[str, str | None]] = defaultdict(dict)
    jobs = Job.objects.filter(pk__in={event.job_id for event in events if event.job_id})
    for job, ref, task_id, role in jobs.values_list("id", "ref", "task_id", "role"):
        names[job] = {"ref": ref or None, "task_id": task_id, "role": role}
    batches = Batch.objects.filter(pk__in={event.batch_id for event in events if event.batch_id})
    for batch, name in batches.values_list("id", "name"):
        names[batch] = {"batch_name": name or None}
    return [
        {
            "type": event.type,
            "timestamp": shapes.moment(event.at),
            "data": {
                **shapes.event(event),
                **(names[event.job_id] if event.job_id else {}),
                **(names[event.batch_id] if event.batch_id else {}),
            },
        }
        for event in events
    ]


def body_of(notice: Notice) -> Any:
    return json.loads(notice.body)


def _addresses(office: Office) -> list[str]:
    return list(dict.fromkeys(address.strip() for address in office.notify_emails))


def _time_for(office: Office, address: str, now: datetime) -> datetime:
    """Now, or with the next mail to this address: a minute after the last one, or whenever one waits."""
    last = Notice.objects.filter(office=office, address=address, webhook=None).order_by("-id").first()
    if last is None:
        return now
    due = last.sent_at + MAIL_PAUSE if last.sent_at else last.next_at
    return max(now, min(due or now, now + MAIL_PAUSE))
