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
SING = "dure.sing"


def send_canaries() -> int:
    """One for each queue that is ready for another; how many went out."""
    queues = [*settings.DURE_ROLES, settings.DURE_CONTROL_QUEUE]
    unsent = [role for (role,) in call.rows(sql.SEND_CANARIES, {"roles": queues, "lost": LOST_AFTER})]
    wanted = len(unsent)
    try:
        while unsent:
            _send(unsent[-1])
            unsent.pop()
    finally:
        # The broker is away: what did not go out is sent the next time, not when it counts as lost.
        if unsent:
            call.change(sql.CANARIES_NOT_SENT, [unsent])
    return wanted


def _send(role: str) -> None:
    expires = LOST_AFTER.total_seconds()
    current_app.send_task(
        SING, args=(role,), queue=role, priority=0, ignore_result=True, retry=False, expires=expires
    )


def seen(role: str) -> None:
    """A worker has consumed one."""
    call.change(sql.CANARY_SEEN, [role])
