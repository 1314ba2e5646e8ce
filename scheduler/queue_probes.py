"""A no-op through each queue, to show that work is consumed there and not only that workers answer pings.

One is sent when the one before was consumed, so they do not pile up in a queue that nobody reads.
"""

from datetime import timedelta

from celery import current_app
from django.conf import settings

from jobs.sql import call
from scheduler import sql

# A message that was not seen for so long is taken for lost, and another one is sent.
LOST_AFTER = timedelta(minutes=5)
QUEUE_PROBE = "dure.queue_probe"


def send_due() -> int:
    """One for each queue that is ready for another; how many went out."""
    queues = [*settings.DURE_ROLES, settings.DURE_CONTROL_QUEUE]
    unsent = [role for (role,) in call.rows(sql.START_PROBES, {"roles": queues, "lost": LOST_AFTER})]
    wanted = len(unsent)
    try:
        while unsent:
            _send(unsent[-1])
            unsent.pop()
    finally:
        # The broker is away: what did not go out is sent the next time, not when it counts as lost.
        if unsent:
            call.change(sql.RESET_UNSENT_PROBES, [unsent])
    return wanted


def _send(role: str) -> None:
    expires = LOST_AFTER.total_seconds()
    current_app.send_task(
        QUEUE_PROBE, args=(role,), queue=role, priority=0, ignore_result=True, retry=False, expires=expires
    )


def mark_seen(role: str) -> None:
    """A worker has consumed one."""
    call.change(sql.MARK_PROBE_SEEN, [role])
