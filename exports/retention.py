"""Prunes ended exports: the file expires first, then the row goes. Only owners delete replays.

The database decides and the files follow: the sweep of orphan files removes the file of an expired export.
So a crash between the two leaves nothing half done. A row is deleted only a day after its file expired.
"""

import logging
import time
from datetime import datetime, timedelta

from django.conf import settings

from exports import sql
from jobs.retention import delete_batches

log = logging.getLogger(__name__)

BATCH = 1_000
DELETE_AFTER_EXPIRY = timedelta(days=1)


def prune(now: datetime, *, seconds: float = 10.0, batch: int = BATCH) -> dict[str, int]:
    """Works in batches until nothing is left or the time is over; answers how many of each."""
    until = time.monotonic() + seconds
    file_days, row_days = settings.DURE_EXPORT_FILE_DAYS, settings.DURE_EXPORT_RETENTION_DAYS
    handled_before = {"before": now - timedelta(days=settings.DURE_RETENTION_DAYS), "limit": batch}
    done = {
        "expired": 0,
        "links": 0,
        "deleted": 0,
        "dead_letters": delete_batches(sql.DELETE_DEAD_LETTERS, handled_before, until),
    }
    # A file never outlives its row.
    if max_days := min((days for days in (file_days, row_days) if days), default=0):
        values = {"before": now - timedelta(days=max_days), "now": now, "limit": batch}
        done["expired"] = delete_batches(sql.EXPIRE, values, until)
    done["links"] = delete_batches(sql.DELETE_LINKS, {"now": now, "limit": batch}, until)
    if row_days:
        values = {
            "before": now - timedelta(days=row_days),
            "swept": now - DELETE_AFTER_EXPIRY,
            "limit": batch,
        }
        done["deleted"] = delete_batches(sql.DELETE_EXPORTS, values, until)
    if any(done.values()):
        log.info("pruned exports: %s", ", ".join(f"{count} {what}" for what, count in done.items()))
    return done
