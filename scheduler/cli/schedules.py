"""Selects the schedules of a command and formats them."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.management.base import CommandParser
from django.db.models import QuerySet

from jobs.api_model import iso_time
from jobs.cli.command import Complaint, one_of
from jobs.cli.filters import add_since
from jobs.cli.format import as_text, cut, pairs, section, table
from jobs.display import local_time
from jobs.models import Execution
from jobs.selection import narrow
from scheduler.api.schemas import OccurrenceOut, ScheduleOut
from scheduler.display import occurrence_reason_in_english
from scheduler.models import Occurrence, Schedule
from scheduler.schedules import calendars, words
from scheduler.schedules.history import recent_occurrences
from scheduler.schedules.rules import Kind

ENABLED, PAUSED = "enabled", "paused"
FILTERS = ("status", "task", "kind", "owner", "since")
HEADINGS = ("ID", "NAME", "STATUS", "WHEN", "TASK", "NEXT", "LAST", "OWNER")
NAME_WIDTH, RULE_WIDTH = 32, 48
NEXT_TIMES = 5
OCCURRENCES = 10


def add_filters(parser: CommandParser) -> None:
    kinds = [str(kind) for kind in Kind]
    parser.add_argument("--status", choices=(ENABLED, PAUSED))
    parser.add_argument("--task", metavar="TASK_ID", help="those of a Task")
    parser.add_argument("--kind", type=one_of(kinds), metavar="KIND", help=f"{', '.join(kinds)}")
    parser.add_argument("--owner", metavar="USER", help="those of a user, by name")
    add_since(parser)


def matching_schedules(options: dict[str, Any]) -> QuerySet[Schedule]:
    schedules = Schedule.objects.select_related("owner")
    if options["status"]:
        schedules = schedules.filter(enabled=options["status"] == ENABLED)
    lookups = {"task": "task_id", "kind": "kind__in", "owner": "owner__username", "since": "created_at__gte"}
    return narrow(schedules, options, lookups)


def by_name(names: Sequence[str]) -> tuple[list[Schedule], list[str]]:
    """The schedules with these ids or exact names, each once, and the names without a match."""
    schedules: dict[UUID, Schedule] = {}
    missing = []
    for word in dict.fromkeys(names):
        matches = list(_matches(word)[:2])
        if len(matches) > 1:
            raise Complaint(f"Several schedules are named {word!r}: use an id.")
        if matches:
            schedules[matches[0].pk] = matches[0]
        else:
            missing.append(word)
    return list(schedules.values()), missing


def _matches(word: str) -> QuerySet[Schedule]:
    schedules = Schedule.objects.select_related("owner")
    try:
        return schedules.filter(pk=UUID(word))
    except ValueError:
        return schedules.filter(name=word)


def rows(schedules: Iterable[Schedule]) -> list[str]:
    return table(HEADINGS, [row(schedule) for schedule in schedules])


def row(schedule: Schedule) -> tuple[object, ...]:
    return (
        schedule.id,
        cut(schedule.name, NAME_WIDTH),
        status(schedule),
        cut(in_words(schedule), RULE_WIDTH),
        cut(schedule.task_id, NAME_WIDTH),
        local_time(schedule.next_run_at),
        local_time(schedule.last_run_at),
        schedule.owner.get_username() if schedule.owner else "",
    )


def status(schedule: Schedule) -> str:
    return ENABLED if schedule.enabled else PAUSED


def in_words(schedule: Schedule) -> str:
    return words.rule_in_words(schedule.rule, "en")


def document(schedule: Schedule, now: datetime) -> dict[str, Any]:
    """The API's document of a schedule, with its next times and recent scheduled runs."""
    return {
        **ScheduleOut.write(schedule),
        "next": [iso_time(due) for due in calendars.next_times(schedule, now, NEXT_TIMES)],
        "turns": [OccurrenceOut.write(row) for row, _ in recent_occurrences(schedule, OCCURRENCES)],
    }


def page(schedule: Schedule, now: datetime) -> list[str]:
    facts = [
        ("schedule", schedule.id),
        ("name", schedule.name),
        ("status", status(schedule)),
        ("when", in_words(schedule)),
        ("rule", schedule.cron or ""),
        ("zone", schedule.timezone),
        ("from", local_time(schedule.starts_at)),
        ("until", local_time(schedule.ends_at)),
        ("task", schedule.task_id),
        ("args", as_text(schedule.args)),
        ("overlap", schedule.overlap),
        ("catch-up", schedule.catch_up),
        ("calendar", schedule.calendar.name if schedule.calendar else ""),
        ("retries", schedule.max_retries),
        ("failing since", local_time(schedule.failing_since)),
        ("failed, missed", failures(schedule)),
        ("owner", schedule.owner.get_username() if schedule.owner else ""),
    ]
    return [
        *pairs(facts),
        *section("next", [local_time(due) for due in calendars.next_times(schedule, now, NEXT_TIMES)]),
        *section("scheduled runs, newest first", occurrence_rows(recent_occurrences(schedule, OCCURRENCES))),
    ]


def failures(schedule: Schedule) -> str:
    """The failed and missed runs since the last success; empty if it does not count them."""
    if schedule.notify_after_failures is None and schedule.notify_after_missed is None:
        return ""
    return f"{schedule.consecutive_failures}, {schedule.consecutive_missed}"


def occurrence_rows(occurrences: Sequence[tuple[Occurrence, Execution | None]]) -> list[str]:
    rows = [
        (
            local_time(row.due_at),
            row.outcome,
            execution.status if execution else occurrence_reason_in_english(row.reason),
            row.execution_id,
        )
        for row, execution in occurrences
    ]
    return table(("DUE", "OUTCOME", "STATE", "EXECUTION"), rows) if rows else []
