"""How much waits and runs in the queue of each role: for staff of the installation, for others their own."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Count, Min, QuerySet

from jobs.access import office_ids_of
from jobs.models import Execution, Job, Office, PausedRole
from jobs.queries import known_roles
from jobs.sql import call
from jobs.states import ExecutionStatus, JobStatus
from scheduler import access
from scheduler.sql import reports

MOST_OFFICES = 50


@dataclass(frozen=True)
class QueueStatus:
    role: str
    ready: int
    processing: int
    oldest_ready_seconds: float | None
    probe_seconds: float | None
    pause: PausedRole | None


@dataclass(frozen=True)
class WaitingOffice:
    """What one office has in a queue; without an office, what belongs to none."""

    office: UUID | None
    name: str | None
    queued: int
    seconds: float


@dataclass
class Length:
    """How much is queued and runs, and since when the oldest of the queued work waits."""

    queued: int = 0
    running: int = 0
    since: datetime | None = None

    def add(self, queued: int, running: int, since: datetime | None) -> None:
        self.queued += queued
        self.running += running
        self.since = min(filter(None, (self.since, since)), default=None)

    def age(self, now: datetime) -> float | None:
        return None if self.since is None else max(0.0, (now - self.since).total_seconds())


def queues(user: User, now: datetime) -> list[QueueStatus]:
    """Every role's queue: ready and running work, its oldest entry, the age of its last probe, and its pause.

    The roles that every installation knows come first, then others that have work or a worker.
    """
    live = _all_lengths() if user.is_staff else _own_lengths(user, now)
    probes = {role: seconds for role, seconds, was_seen in call.rows(reports.QUEUE_PROBES) if was_seen}
    pauses = PausedRole.objects.in_bulk()
    roles = dict.fromkeys([*known_roles(), *sorted(live), *(sorted(pauses) if user.is_staff else ())])
    return [
        QueueStatus(
            *(role, ready, processing, None if age is None else max(0.0, age)),
            *(probes.get(role), pauses.get(role)),
        )
        for role in roles
        for ready, processing, age in [live.get(role, (0, 0, None))]
    ]


def waiting_offices(user: User, role: str, now: datetime) -> list[WaitingOffice]:
    """Whose work waits in the queue of this role, most first."""
    if user.is_staff:
        rows = call.rows(reports.WAITING_OFFICES, {"role": role, "limit": MOST_OFFICES})
        return [WaitingOffice(*row) for row in rows]
    lengths: dict[UUID | None, Length] = defaultdict(Length)
    for _, office, queued, running, since in _own_work(user, role):
        lengths[office].add(queued, running, since)
    waiting = {office: length for office, length in lengths.items() if length.queued}
    named = Office.objects.filter(pk__in=[office for office in waiting if office])
    names = dict(named.values_list("pk", "name"))
    offices = [
        WaitingOffice(office, names.get(office) if office else None, length.queued, length.age(now) or 0.0)
        for office, length in waiting.items()
    ]
    return sorted(offices, key=lambda row: (-row.queued, -row.seconds))[:MOST_OFFICES]


def _all_lengths() -> dict[str, tuple[int, int, float | None]]:
    return {role: (ready, processing, age) for role, ready, processing, age in call.rows(reports.QUEUES)}


def _own_lengths(user: User, now: datetime) -> dict[str, tuple[int, int, float | None]]:
    lengths: dict[str, Length] = defaultdict(Length)
    for role, _, queued, running, since in _own_work(user):
        lengths[role].add(queued, running, since)
    return {role: (length.queued, length.running, length.age(now)) for role, length in lengths.items()}


def _own_work(
    user: User, role: str | None = None
) -> Iterator[tuple[str, UUID | None, int, int, datetime | None]]:
    """The live work that the user may see, by partial indexes: role, office, and a Length's numbers."""
    own = access.executions_of(user, access.read_origins(user))
    jobs = Job.objects.filter(office__in=office_ids_of(user), status=JobStatus.READY)
    sent = own.filter(status=ExecutionStatus.PENDING, dispatched_at__isnull=False)
    running = own.filter(status=ExecutionStatus.RUNNING)
    for rows, since in ((jobs, "ready_at"), (sent, "dispatched_at")):
        for name, office, number, oldest in _by_role_and_office(rows, role, since):
            yield name, office, number, 0, oldest
    for name, office, number, _ in _by_role_and_office(running, role, "attempt_started_at"):
        yield name, office, 0, number, None


def _by_role_and_office(
    rows: QuerySet[Job] | QuerySet[Execution], role: str | None, since: str
) -> Iterable[tuple[str, UUID | None, int, datetime | None]]:
    narrowed = rows if role is None else rows.filter(role=role)
    grouped = narrowed.order_by().values_list("role", "office_id")
    return grouped.annotate(number=Count("pk"), oldest=Min(since))
