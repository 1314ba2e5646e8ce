"""Beat, and the maintenance that beat sends."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from django.core.checks import CheckMessage
from django.utils import timezone
from django_celery_beat.models import PeriodicTask

from jobs.diagnostics import error, ok, postgresql, register, warning
from jobs.sql import call
from scheduler.clock import database_now
from scheduler.diagnostics.zones import check_zones
from scheduler.models import BeatLeader, Schedule
from scheduler.periodic_tasks import SWEEP
from scheduler.sql import reports
from scheduler.steps.sql import FUNCTIONS

postgresql.function_files.append(FUNCTIONS)

MAINTENANCE = (
    SWEEP,
    "dure.send_queue_probes",
    "dure.rollup_minutes",
    "dure.retention",
    "dure.schedule_workflows",
)
LATE = 10.0
# The sweep is sent every few seconds, and beat records when.
SWEEP_SILENT = 60.0
DAY = 86_400
START_BEAT = "start one: `celery -A config beat`"


@dataclass(frozen=True)
class Maintenance:
    """A PeriodicTask of this application; `seconds` since it was last sent."""

    task: str
    enabled: bool
    seconds: float | None


@register("upkeep")
def check_upkeep() -> Iterator[CheckMessage]:
    now = database_now()
    leading = BeatLeader.objects.filter(leads_until__gt=now).values_list("since", flat=True)
    yield check_beat([(now - since).total_seconds() for since in leading])
    yield check_maintenance(read_maintenance())
    yield check_overdue("schedules", call.rows(reports.SCHEDULE_FIGURES)[0][2])
    yield check_overdue("workflows", call.rows(reports.RUN_FIGURES)[0][2])
    yield check_leases(*call.rows(reports.EXPIRED_LEASES)[0])
    yield check_retention(call.rows(reports.OLDEST_END)[0][0], settings.DURE_RETENTION_DAYS)
    zones = Schedule.objects.order_by().values_list("timezone", flat=True).distinct()
    yield check_zones(zones, "zones in use")


def check_beat(leaders: list[float]) -> CheckMessage:
    """One beat at a time holds a lock, as long as its session lives."""
    if not leaders:
        return error("beat", "none leads: schedules, retries and rescue do not run", START_BEAT)
    return ok("beat", f"one has been leading for {leaders[0]:,.0f} s")


def read_maintenance() -> list[Maintenance]:
    now = timezone.now()
    return [
        Maintenance(
            row.task, row.enabled, (now - row.last_run_at).total_seconds() if row.last_run_at else None
        )
        for row in PeriodicTask.objects.filter(task__in=MAINTENANCE)
    ]


def check_maintenance(tasks: list[Maintenance]) -> CheckMessage:
    enabled = {row.task: row for row in tasks if row.enabled}
    missing = [task for task in MAINTENANCE if task not in enabled]
    if missing:
        severity = error if SWEEP in missing else warning
        return severity(
            "maintenance",
            f"not enabled: {', '.join(missing)}",
            "enable it in the admin, under Periodic tasks; `manage.py migrate` creates missing ones",
        )
    seconds = enabled[SWEEP].seconds
    if seconds is None:
        return warning("maintenance", "the sweep was never sent", START_BEAT)
    if seconds > SWEEP_SILENT:
        return error("maintenance", f"the sweep was last sent {seconds:,.0f} s ago", "see beat's log")
    return ok("maintenance", f"all enabled, the last sweep was sent {seconds:.0f} s ago")


def check_overdue(name: str, seconds: float) -> CheckMessage:
    if seconds > LATE:
        return error(name, f"the most overdue is {seconds:,.0f} s late", "check that beat runs, and its log")
    return ok(name, "none is overdue")


def check_leases(count: int, seconds: float) -> CheckMessage:
    if not count:
        return ok("leases", "none has expired")
    text = f"{count} expired, the oldest {seconds:,.0f} s ago"
    if seconds > LATE + settings.DURE_SWEEP_SECONDS:
        return error(
            "leases", f"{text}: nothing rescues these runs", "check that beat runs and `control` is consumed"
        )
    return warning("leases", text, "run this again in a few seconds: the sweep is about to rescue them")


def check_retention(oldest: float | None, days: int) -> CheckMessage:
    excess = (oldest or 0.0) - days * DAY
    if excess > DAY:
        return warning(
            "retention",
            f"the oldest ended Execution is kept {excess / DAY:.0f} d longer than {days} d",
            "check that dure.retention is sent and `control` is consumed; after a change it takes a while",
        )
    return ok("retention", f"ended work is kept {days} d")
