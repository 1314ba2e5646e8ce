"""Queue probes: no-op messages that show whether workers consume a queue, and not only answer pings.

A probe is sent after the previous one was consumed, so probes do not pile up in a queue without workers.
"""

from datetime import timedelta

from celery import current_app
from django.conf import settings

from jobs.queries import known_roles
from jobs.sql import call
from scheduler.models import QueueProbe
from scheduler.sql import statements

# A probe that was not consumed for this long counts as lost, and another one is sent.
LOST_AFTER = timedelta(minutes=5)
QUEUE_PROBE = "dure.queue_probe"


def send_due() -> int:
    """Send a probe to each queue that is due for one, and return their number."""
    queues = [*known_roles(), settings.DURE_CONTROL_QUEUE]
    unsent = [role for (role,) in call.rows(statements.START_PROBES, {"roles": queues, "lost": LOST_AFTER})]
    due = len(unsent)
    try:
        while unsent:
            _send(unsent[-1])
            unsent.pop()
    finally:
        # The broker is down: the next call sends these probes, without waiting until they count as lost.
        if unsent:
            QueueProbe.objects.filter(role__in=unsent).update(sent_at=None)
    return due


def _send(role: str) -> None:
    expires = LOST_AFTER.total_seconds()
    current_app.send_task(
        QUEUE_PROBE, args=(role,), queue=role, priority=0, ignore_result=True, retry=False, expires=expires
    )


def mark_seen(role: str) -> None:
    """Record that a worker consumed a probe."""
    call.change(statements.MARK_PROBE_SEEN, [role])
