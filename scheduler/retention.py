"""Deletes rows that ended longer ago than DURE_RETENTION_DAYS, in batches.

Those are the engine's rows (jobs, Executions, events, notifications, idempotency records), occurrences,
deleted schedules without Executions, ended workflow runs, the step queues that runs have copied and minute
statistics; after a day also the deletions, which nobody can undo any more, and the webhooks and workflows
that they marked. It never deletes live rows.
"""

import logging
import time
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from jobs import deletions, retention
from jobs.models import Deletion
from jobs.retention import Pass, Step
from scheduler.models import Minute, Occurrence, RoleMinute
from scheduler.sql import statements
from scheduler.steps.sql import DELETE_COPIES

log = logging.getLogger(__name__)

# Short, since other tasks of the control queue wait meanwhile, and the locks of a batch are held to its end.
PASS_SECONDS = 2.0
BATCH = 2_000
STATEMENTS = {
    "schedules": statements.DELETE_SCHEDULES,
    "runs": statements.DELETE_RUNS,
    "runs_of_deleted_workflows": statements.DELETE_RUNS_OF_DELETED,
    "workflows": statements.DELETE_WORKFLOWS,
    "step_queues": DELETE_COPIES,
}


def delete_old(now: datetime, *, batch: int = BATCH) -> Pass:
    before = now - timedelta(days=settings.DURE_RETENTION_DAYS)
    values = {"before": before, "marked_before": now - deletions.MARKED, "limit": batch}
    rows: dict[str, QuerySet[Any]] = {
        "occurrences": Occurrence.objects.filter(decided_at__lt=before).order_by("decided_at"),
        "minutes": Minute.objects.filter(minute__lt=before).order_by("minute"),
        "minutes_of_roles": RoleMinute.objects.filter(minute__lt=before).order_by("minute"),
        # Those that nobody can undo any more.
        "deletions": Deletion.objects.filter(deleted_at__lt=now - deletions.KEPT).order_by("deleted_at"),
    }
    steps: list[Step] = [
        *retention.steps(before, now, batch),
        *((kind, partial(retention.delete_first, old, batch)) for kind, old in rows.items()),
        *(retention.delete_by(kind, statement, values) for kind, statement in STATEMENTS.items()),
    ]
    done = retention.delete_in_turn(steps, batch, time.monotonic() + PASS_SECONDS)
    if any(done.deleted.values()):
        counts = ", ".join(f"{count} {kind}" for kind, count in done.deleted.items() if count)
        log.info("retention deleted %s", counts)
    return done
