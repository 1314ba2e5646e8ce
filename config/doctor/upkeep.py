"""What goes on by itself: beat, the maintenance that it sends, and the rescue of lost work."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from django.utils import timezone
from django_celery_beat.models import PeriodicTask

from config.doctor import sql as ours
from config.doctor.finding import Finding, bad, ok, warn
from jobs.sql import call
from scheduler import sql
from scheduler.leader import LOCK

SWEEP = "dure.sweep"
MAINTENANCE = (
    SWEEP,
    "dure.send_queue_probes",
    "dure.rollup_minutes",
    "dure.retention",
    "dure.schedule_workflows",
)
LATE = 10.0
# Sent every few seconds; beat writes down when.
SILENT = 60.0
DAY = 86_400
START_BEAT = "start one: `celery -A config beat`"


@dataclass(frozen=True)
class Sent:
    """A PeriodicTask of ours; `seconds` since it was last sent."""

    task: str
    enabled: bool
    seconds: float | None


def checks() -> Iterator[Finding]:
    yield beat([seconds for (seconds,) in call.rows(ours.LEADER, [LOCK])])
    yield from maintenance(periodic_tasks())
    yield overdue("schedules", call.rows(sql.SCHEDULE_FIGURES)[0][2])
    yield overdue("workflows", call.rows(sql.RUN_FIGURES)[0][2])
    yield leases(*call.rows(sql.EXPIRED_LEASES)[0])
    yield retention(call.rows(sql.OLDEST_END)[0][0], settings.DURE_RETENTION_DAYS)


def beat(leaders: list[float]) -> Finding:
    """One beat at a time holds a lock for as long as its session lives."""
    if not leaders:
        return bad("beat", "none leads: schedules, retries and rescue stand still", START_BEAT)
    return ok("beat", f"one leads, since {leaders[0]:,.0f} s")


def periodic_tasks() -> list[Sent]:
    now = timezone.now()
    found = PeriodicTask.objects.filter(task__in=MAINTENANCE)
    return [
        Sent(one.task, one.enabled, (now - one.last_run_at).total_seconds() if one.last_run_at else None)
        for one in found
    ]


def maintenance(found: list[Sent]) -> Iterator[Finding]:
    on = {one.task for one in found if one.enabled}
    off = [task for task in MAINTENANCE if task not in on]
    if off:
        judged = bad if SWEEP in off else warn
        yield judged(
            "maintenance",
            f"not enabled: {', '.join(off)}",
            "enable it in the admin, under Periodic tasks; `manage.py migrate` makes those that are missing",
        )
        return
    sweep = next(one for one in found if one.task == SWEEP and one.enabled)
    if sweep.seconds is not None and sweep.seconds > SILENT:
        yield bad("maintenance", f"the sweep was last sent {sweep.seconds:,.0f} s ago", "see beat's log")
    elif sweep.seconds is None:
        yield warn("maintenance", "the sweep was never sent", START_BEAT)
    else:
        yield ok("maintenance", f"all enabled, the last sweep was sent {sweep.seconds:.0f} s ago")


def overdue(name: str, seconds: float) -> Finding:
    if seconds > LATE:
        return bad(
            name, f"the most overdue is due since {seconds:,.0f} s", "see whether beat runs, and its log"
        )
    return ok(name, "none is overdue")


def leases(count: int, seconds: float) -> Finding:
    if not count:
        return ok("leases", "none has run out")
    said = f"{count} ran out, the oldest {seconds:,.0f} s ago"
    if seconds > LATE + settings.DURE_SWEEP_SECONDS:
        return bad("leases", f"{said}: nobody rescues", "see whether beat runs and `control` is consumed")
    return warn("leases", said, "look again in a few seconds: the sweep is about to rescue them")


def retention(oldest: float | None, days: int) -> Finding:
    over = (oldest or 0.0) - days * DAY
    if over > DAY:
        return warn(
            "retention",
            f"the oldest ended Execution is kept {over / DAY:.0f} d longer than {days} d",
            "see whether dure.retention is sent and `control` is consumed; after a change it takes a while",
        )
    return ok("retention", f"what ended is kept {days} d")
