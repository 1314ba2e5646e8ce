"""Deletes rows that ended long ago, of jobs, Executions, events and repeated answers. Live work is kept."""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db.models import QuerySet

from jobs import deletions
from jobs.models import Activity, EarlyMessage, IdempotentAnswer, Notification
from jobs.sql import call, retention
from jobs.states import JOB_ENDED

# How long an answer is repeated for its Idempotency-Key.
ANSWERS_KEPT = timedelta(hours=24)
# A submission that takes longer is not needed to find the mark: the sweep sends its message.
MARKS_KEPT = timedelta(hours=1)


# A kind of rows, and what deletes a batch of them and answers how many they were.
Step = tuple[str, Callable[[], int]]


@dataclass(frozen=True)
class Pass:
    """What was deleted, and whether all that was old enough is gone."""

    deleted: dict[str, int]
    finished: bool


def steps(before: datetime, now: datetime, batch: int) -> list[Step]:
    notices = Notification.objects.filter(created_at__lt=before, next_at=None).order_by("id")
    acts = Activity.objects.filter(at__lt=before).order_by("at")
    marks = EarlyMessage.objects.filter(at__lt=now - MARKS_KEPT).order_by("at")
    answers = IdempotentAnswer.objects.filter(created_at__lt=now - ANSWERS_KEPT).order_by("created_at")
    values = {"before": before, "limit": batch}
    marked = {"before": now - deletions.MARKED, "limit": batch}
    return [
        delete_by("events", retention.DELETE_EVENTS, values),
        delete_by("executions", retention.DELETE_EXECUTIONS, values),
        *(
            delete_by("jobs", retention.DELETE_JOBS, {**values, "office": office, "status": status})
            for office, status in call.rows(retention.OLD_JOBS, {**values, "statuses": list(JOB_ENDED)})
        ),
        delete_by("batches", retention.DELETE_BATCHES, values),
        ("notices", partial(delete_first, notices, batch)),
        delete_by("notifications_of_deleted_webhooks", retention.DELETE_NOTIFICATIONS_OF_DELETED, marked),
        delete_by("webhooks", retention.DELETE_WEBHOOKS, marked),
        ("activity", partial(delete_first, acts, batch)),
        delete_by("offers", retention.DELETE_OFFERS, values),
        delete_by("entries", retention.DELETE_ENTRIES, values),
        ("answers", partial(delete_first, answers, batch)),
        ("early_messages", partial(delete_first, marks, batch)),
    ]


def delete_by(kind: str, statement: str, values: Mapping[str, object]) -> Step:
    return kind, partial(call.change, statement, values)


def delete_first(rows: QuerySet[Any], batch: int) -> int:
    """Delete at most so many of these rows, the first by their order; return the number deleted."""
    keys = list(rows.values_list("pk", flat=True)[:batch])
    return int(rows.model._default_manager.filter(pk__in=keys).delete()[0])


def delete_in_turn(steps: Sequence[Step], batch: int, until: float) -> Pass:
    """Take a batch of each kind in turn until no row is left or the monotonic clock reaches `until`.

    Rows of one kind, however many, do not keep those of the others.
    """
    deleted = dict.fromkeys((kind for kind, _ in steps), 0)
    waiting = deque(steps)
    while waiting and time.monotonic() < until:
        kind, delete = waiting.popleft()
        count = delete()
        deleted[kind] += count
        if count >= batch:
            waiting.append((kind, delete))
    return Pass(deleted, finished=not waiting)
