"""What becomes of ended exports in time: first the file goes, then the row. Replays go only by their owner.

The database decides, and the files follow: an expired export's file belongs to nothing any more, and the
sweep of leftovers removes it. So whatever dies between the two, nothing is half done. A row is deleted only
when its file has been nobody's for a day.
"""

import logging
import time
from datetime import datetime, timedelta

from django.conf import settings

from exports import sql
from jobs.retention import all_of

log = logging.getLogger(__name__)

BATCH = 1_000
SWEPT_AFTER = timedelta(days=1)


def pass_once(now: datetime, *, seconds: float = 10.0, batch: int = BATCH) -> dict[str, int]:
    """Batch by batch until nothing is left, or the time is over; how many of each."""
    until = time.monotonic() + seconds
    file_days, row_days = settings.DURE_EXPORT_FILE_DAYS, settings.DURE_EXPORT_RETENTION_DAYS
    handled = {"before": now - timedelta(days=settings.DURE_RETENTION_DAYS), "limit": batch}
    done = {"expired": 0, "deleted": 0, "letters": all_of(sql.DELETE_LETTERS, handled, until)}
    # A file never outlives its row.
    if kept := min((days for days in (file_days, row_days) if days), default=0):
        values = {"before": now - timedelta(days=kept), "now": now, "limit": batch}
        done["expired"] = all_of(sql.EXPIRE, values, until)
    if row_days:
        values = {"before": now - timedelta(days=row_days), "swept": now - SWEPT_AFTER, "limit": batch}
        done["deleted"] = all_of(sql.DELETE_EXPORTS, values, until)
    if any(done.values()):
        log.info("retention of exports: %s", ", ".join(f"{count} {what}" for what, count in done.items()))
    return done
