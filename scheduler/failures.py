"""Groups the recent failures by their error, so that one cause is one line."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models.functions import Left

from jobs.display import first_line
from jobs.models import Execution
from jobs.states import ExecutionStatus, JobStatus
from scheduler.access import executions_of
from scheduler.monitor import WINDOW

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


@dataclass
class FailureGroup:
    """Failures of one type whose errors differ only in ids, numbers and quoted values."""

    failure_type: str
    text: str
    last: Execution
    # The beginning of the last error.
    example: str = ""
    first_at: datetime | None = None
    count: int = 0
    # Those that nobody has retried yet.
    unhandled: int = 0
    tasks: set[str] = field(default_factory=set)

    @property
    def search_text(self) -> str:
        """The longest part that all errors of the group have."""
        parts = [part.strip() for part in self.text.split("…")]
        longest = max(parts, key=len)
        return longest if len(longest) >= SHORTEST_TEXT else ""


def normalise(error: str) -> str:
    """The first line of an error, with an ellipsis for each value that differs from run to run."""
    return VARIABLE.sub("…", first_line(error))[:LONGEST] if error.strip() else ""


def recent_groups(user: User, now: datetime, worker: str = "") -> list[FailureGroup]:
    """The groups of the last day's failures: those that were not retried first, then the most frequent."""
    failed = executions_of(user).filter(status=ExecutionStatus.FAILED, finished_at__gte=now - WINDOW)
    failed = failed.filter(worker=worker) if worker else failed
    rows = failed.select_related("job").annotate(beginning=Left("error", 4 * LONGEST))
    rows = rows.defer("args", "result", "progress", "error", "job__args", "job__error_message")
    newest = rows.order_by("-finished_at")[:MOST_FAILURES]
    groups = group((run, run.beginning) for run in newest)
    return sorted(groups, key=lambda entry: (not entry.unhandled, -entry.count))


def group(failures: Iterable[tuple[Execution, str]]) -> list[FailureGroup]:
    """The groups of these runs and their errors, which come newest first."""
    groups: dict[tuple[str, str], FailureGroup] = {}
    for run, error in failures:
        text = normalise(error)
        entry = groups.setdefault((run.failure_type, text), FailureGroup(run.failure_type, text, run, error))
        entry.count += 1
        entry.unhandled += not was_retried(run)
        entry.first_at = run.finished_at
        entry.tasks.add(run.task_id)
    return list(groups.values())


def was_retried(run: Execution) -> bool:
    job = run.job
    return job is not None and (job.status != JobStatus.FAILED or job.execution_id != run.id)
