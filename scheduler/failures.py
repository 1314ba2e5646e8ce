"""Groups the recent failures by their error, so that one cause is one line."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Left

from jobs.models import Execution
from jobs.states import ExecutionStatus, JobStatus
from jobs.texts import first_line
from scheduler.monitor import WINDOW, select_shown

# The newest failures that are grouped.
MOST_FAILURES = 2_000
LONGEST = 200
# What differs between two errors of the same cause: ids, addresses in memory, numbers, and quoted values.
VARIABLE = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|0x[0-9a-f]+|\b[0-9a-f]{12,}\b"
    r"|'[^']*'|\"[^\"]*\"|\d+(?:[.:,]\d+)*",
    re.IGNORECASE,
)
SHORTEST_TEXT = 4


class Failure(NamedTuple):
    """What is read of each failed run: thousands of whole rows would take a second."""

    id: UUID
    failure_type: str
    finished_at: datetime
    # Its beginning.
    error: str
    job_status: str | None
    job_execution: UUID | None

    @property
    def was_retried(self) -> bool:
        return self.job_status is not None and (
            self.job_status != JobStatus.FAILED or self.job_execution != self.id
        )


@dataclass
class FailureGroup:
    """Failures of one type whose errors differ only in ids, numbers and quoted values."""

    failure_type: str
    text: str
    newest: Failure
    first_at: datetime
    count: int = 0
    # Those that nobody has retried yet.
    unhandled: int = 0
    last: Execution | None = None

    @property
    def search_text(self) -> str:
        """The longest part that all errors of the group have."""
        parts = [part.strip() for part in self.text.split("…")]
        longest = max(parts, key=len)
        return longest if len(longest) >= SHORTEST_TEXT else ""


def normalise(error: str) -> str:
    """The first line of an error, with an ellipsis for each value that differs from run to run."""
    return VARIABLE.sub("…", first_line(error))[:LONGEST]


def recent_groups(executions: QuerySet[Execution], now: datetime, most: int) -> list[FailureGroup]:
    """The groups of the last day's failures: those that were not retried first, then the most frequent."""
    failed = executions.filter(status=ExecutionStatus.FAILED, finished_at__gte=now - WINDOW)
    columns = "id", "failure_type", "finished_at", Left("error", 4 * LONGEST)
    rows = failed.values_list(*columns, "job__status", "job__execution_id").order_by("-finished_at")
    groups = group(Failure(*row) for row in rows[:MOST_FAILURES])
    groups = sorted(groups, key=lambda entry: (not entry.unhandled, -entry.count))[:most]
    newest = [entry.newest.id for entry in groups]
    last = select_shown(Execution.objects.all()).in_bulk(newest) if newest else {}
    for entry in groups:
        entry.last = last.get(entry.newest.id)
    return [entry for entry in groups if entry.last is not None]


def group(failures: Iterable[Failure]) -> list[FailureGroup]:
    """The groups of these failures, which come newest first."""
    groups: dict[tuple[str, str], FailureGroup] = {}
    for failure in failures:
        text = normalise(failure.error)
        key = (failure.failure_type, text)
        entry = groups.setdefault(key, FailureGroup(*key, failure, failure.finished_at))
        entry.count += 1
        entry.unhandled += not failure.was_retried
        entry.first_at = failure.finished_at
    return list(groups.values())
