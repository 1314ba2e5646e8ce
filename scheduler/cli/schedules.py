"""Which schedules a command is about, and how they read."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.management.base import CommandParser
from django.db.models import QuerySet

from jobs.cli.command import Complaint, one_of
from jobs.cli.filters import add_since
from jobs.cli.format import as_text, cut, pairs, table, titled
from jobs.display import local_time
from jobs.models import Execution
from jobs.selection import narrowed
from jobs.serialize import iso_time
from scheduler.api import shapes
from scheduler.display import occurrence_reason_in_english
from scheduler.models import Occurrence, Schedule
from scheduler.schedules import rules
from scheduler.schedules.rules import Kind

ENABLED, PAUSED = "enabled", "paused"
FILTERS = ("status", "task", "kind", "owner", "since")
HEADINGS = ("ID", "NAME", "STATUS", "WHEN", "TASK", "NEXT", "LAST", "OWNER")
LONGEST_NAME, LONGEST_RULE = 32, 48
NEXT_TIMES = 5
LAST_TURNS = 10


def add_filters(parser: CommandParser) -> None:
    kinds = [str(kind) for kind in Kind]
    parser.add_argument("--status", choices=(ENABLED, PAUSED))
    parser.add_argument("--task", metavar="TASK_ID", help="those of a Task")
    parser.add_argument("--kind", type=one_of(kinds), metavar="KIND", help=f"{', '.join(kinds)}")
    parser.add_argument("--owner", metavar="USER", help="those of a user, by name")
    add_since(parser)


def matching(options: dict[str, Any]) -> QuerySet[Schedule]:
    found = Schedule.objects.select_related("owner")
    if options["status"]:
        found = found.filter(enabled=options["status"] == ENABLED)
    lookups = {"task": "task_id", "kind": "kind__in", "owner": "owner__username", "since": "created_at__gte"}
    return narrowed(found, options, lookups)


def named(words: Sequence[str]) -> tuple[list[Schedule], list[str]]:
    """The schedules of these ids or exact names, each once, and the words that name none."""
    found: dict[UUID, Schedule] = {}
    missing = []
    for word in dict.fromkeys(words):
        called = list(_called(word)[:2])
        if len(called) > 1:
            raise Complaint(f"Several schedules are called {word!r}: name one by its id.")
        if called:
            found[called[0].pk] = called[0]
        else:
            missing.append(word)
    return list(found.values()), missing


def _called(word: str) -> QuerySet[Schedule]:
    every = Schedule.objects.select_related("owner")
    try:
        return every.filter(pk=UUID(word))
    except ValueError:
        return every.filter(name=word)


def rows(schedules: Iterable[Schedule]) -> list[str]:
    return table(HEADINGS, [row(one) for one in schedules])


def row(one: Schedule) -> tuple[object, ...]:
    return (
        one.id,
        cut(one.name, LONGEST_NAME),
        status(one),
        cut(in_words(one), LONGEST_RULE),
        cut(one.task_id, LONGEST_NAME),
        local_time(one.next_run_at),
        local_time(one.last_run_at),
        one.owner.get_username() if one.owner else "",
    )


def status(one: Schedule) -> str:
    return ENABLED if one.enabled else PAUSED


def in_words(one: Schedule) -> str:
    return str(shapes.words_of(one.rule)["en"])


def next_times(one: Schedule, now: datetime) -> list[datetime]:
    return rules.upcoming(one.rule, now, NEXT_TIMES) if one.enabled else []


def last_turns(one: Schedule) -> list[Occurrence]:
    return list(one.occurrences.order_by("-due_at")[:LAST_TURNS])


def document(one: Schedule, now: datetime) -> dict[str, Any]:
    """The API's document of a schedule, with its next times and its last turns."""
    return {
        **shapes.schedule(one),
        "next": [iso_time(due) for due in next_times(one, now)],
        "turns": [shapes.turn(turn) for turn in last_turns(one)],
    }


def page(one: Schedule, now: datetime) -> list[str]:
    facts = [
        ("schedule", one.id),
        ("name", one.name),
        ("status", status(one)),
        ("when", in_words(one)),
        ("rule", one.cron or ""),
        ("zone", one.timezone),
        ("from", local_time(one.starts_at)),
        ("until", local_time(one.ends_at)),
        ("task", one.task_id),
        ("args", as_text(one.args)),
        ("overlap", one.overlap),
        ("catch-up", one.catch_up),
        ("retries", one.max_retries),
        ("owner", one.owner.get_username() if one.owner else ""),
    ]
    return [
        *pairs(facts),
        *titled("next", [local_time(due) for due in next_times(one, now)]),
        *titled("turns, the newest first", turns(last_turns(one))),
    ]


def turns(found: Sequence[Occurrence]) -> list[str]:
    outcomes = dict(
        Execution.objects.filter(pk__in=[one.execution_id for one in found if one.execution_id]).values_list(
            "pk", "status"
        )
    )
    shown = [
        (
            local_time(one.due_at),
            one.outcome,
            outcomes.get(one.execution_id) if one.execution_id else occurrence_reason_in_english(one.reason),
            one.execution_id,
        )
        for one in found
    ]
    return table(("DUE", "TURN", "OUTCOME", "EXECUTION"), shown) if shown else []
