"""Prunes ended exports: the file expires first, then the row goes. Only owners delete replays.

The database decides and the files follow: the sweep of orphan files removes the file of an expired export.
So a crash between the two leaves nothing half done. A row is deleted only a day after its file expired.
"""

import logging
import time
from datetime import datetime, timedelta
from functools import partial

from django.conf import settings
from django.db.models import Q

from exports import sql
from exports.models import DeadLetter, ExportLink
from jobs import retention

log = logging.getLogger(__name__)

BATCH = 1_000
LONGEST_SECONDS = 10.0
DELETE_AFTER_EXPIRY = timedelta(days=1)


def prune(now: datetime, *, batch: int = BATCH) -> dict[str, int]:
    """Works in batches until nothing is left or the time is over; answers how many of each."""
    file_days, row_days = settings.DURE_EXPORT_FILE_DAYS, settings.DURE_EXPORT_RETENTION_DAYS
    values = {"now": now, "limit": batch}
    # Open letters have no such time.
    letters = DeadLetter.objects.filter(handled_at__lt=now - timedelta(days=settings.DURE_RETENTION_DAYS))
    # Links that open nothing any more: they expired, or the result did.
    links = ExportLink.objects.filter(Q(expires_at__lt=now) | Q(export__expired_at__isnull=False))
    steps: list[retention.Step] = [
        ("dead_letters", partial(retention.delete_first, letters, batch)),
        ("links", partial(retention.delete_first, links, batch)),
    ]
    # A file never outlives its row.
    if max_days := min((days for days in (file_days, row_days) if days), default=0):
        steps.append(
            retention.delete_by("expired", sql.EXPIRE, {**values, "before": now - timedelta(days=max_days)})
        )
    if row_days:
        old = {"before": now - timedelta(days=row_days), "swept": now - DELETE_AFTER_EXPIRY}
        steps.append(retention.delete_by("deleted", sql.DELETE_EXPORTS, {**values, **old}))
    none = {"expired": 0, "deleted": 0}
    done = none | retention.delete_in_turn(steps, batch, time.monotonic() + LONGEST_SECONDS).deleted
    if any(done.values()):
        log.info("pruned exports: %s", ", ".join(f"{count} {what}" for what, count in done.items()))
    return done
