"""Which jobs a command is about: those that it names, or those that match its filters."""

import re
from argparse import ArgumentTypeError
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from django.core.management.base import CommandParser
from django.db.models import Model, QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from dure.failures import FailureType
from jobs.api.filters import DEFAULT_ORDER, order_of
from jobs.cli.command import Complaint, add_choices, add_roles
from jobs.ids import uuid7_at
from jobs.models import Job, Office
from jobs.selection import are_few, in_states, narrow
from jobs.states import TRIGGERS_OF_JOBS, JobStatus

M = TypeVar("M", bound=Model)

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
AGO = re.compile(r"([0-9]{1,6})([smhdw])")
# The largest difference between the clocks of hosts that create ids.
CLOCKS_DIFFER = timedelta(hours=1)
FILTERS = ("office", "status", "role", "task", "trigger", "batch", "failure", "since")


def add_filters(parser: CommandParser) -> None:
    add_choices(parser, "--status", JobStatus.values, "states")
    parser.add_argument("--office", help="an office, by its id or its exact name")
    add_roles(parser)
    parser.add_argument("--task", metavar="TASK_ID", help="a Task")
    add_choices(parser, "--trigger", list(map(str, TRIGGERS_OF_JOBS)), "what caused them")
    parser.add_argument("--batch", type=UUID, metavar="ID", help="a batch")
    add_choices(parser, "--failure", list(map(str, FailureType)), "kinds of failure")
    add_since(parser)


def add_since(parser: CommandParser) -> None:
    parser.add_argument(
        "--since",
        type=since(timezone.now()),
        metavar="WHEN",
        help="created since then: 30m, 2h, 7d, 2026-12-01 or 2026-12-01T09:00",
    )


def since(now: datetime) -> Callable[[str], datetime]:
    """`2h` before now, or a date, or a date with a time, in this installation's zone unless it has one."""

    def parse(text: str) -> datetime:
        try:
            if ago := AGO.fullmatch(text.strip().lower()):
                return now - timedelta(**{UNITS[ago[2]]: int(ago[1])})
            moment = parse_datetime(text)
            if moment is None and (day := parse_date(text)) is not None:
                moment = datetime(day.year, day.month, day.day)  # noqa: DTZ001 (made aware below)
        except (ValueError, OverflowError):
            moment = None
        if moment is None:
            raise ArgumentTypeError(f"{text!r} is no time: write 30m, 2h, 7d, 2026-12-01 or 2026-12-01T09:00")
        return moment if timezone.is_aware(moment) else timezone.make_aware(moment)

    return parse


def are_given(options: dict[str, Any], filters: Sequence[str] = FILTERS) -> bool:
    return any(options.get(name) for name in filters)


def matching_jobs(options: dict[str, Any]) -> QuerySet[Job]:
    jobs = of_office(created_since(Job.objects.all(), options), options)
    if options["status"]:
        jobs = jobs.filter(in_states(options["status"]))
    lookups = {"role": "role__in", "task": "task_id", "trigger": "trigger__in", "batch": "batch_id"}
    return narrow(jobs, options, lookups | {"failure": "failure_type__in"})


def of_office(rows: QuerySet[M], options: dict[str, Any]) -> QuerySet[M]:
    return rows.filter(office_id=office_of(options["office"]).pk) if options["office"] else rows


def created_since(rows: QuerySet[M], options: dict[str, Any]) -> QuerySet[M]:
    """Filter by the primary key as well, whose index is in the order of time."""
    since = options["since"]
    return rows.filter(created_at__gte=since, pk__gte=first_id_since(since)) if since else rows


def first_id_since(moment: datetime) -> UUID:
    """The lowest id that a row created since then can have: ids grow with time."""
    return uuid7_at(moment - CLOCKS_DIFFER, smallest=True)


def newest_first(jobs: QuerySet[Job], options: dict[str, Any]) -> QuerySet[Job]:
    if options["office"] or are_few(options["status"]):
        return jobs.order_by(*order_of(DEFAULT_ORDER, options["status"]))
    return jobs.order_by("-pk")


def office_of(text: str) -> Office:
    try:
        offices = list(Office.objects.filter(pk=UUID(text)))
    except ValueError:
        offices = list(Office.objects.filter(name=text)[:2])
    if not offices:
        raise Complaint(f"There is no office {text!r}.")
    if len(offices) > 1:
        raise Complaint(f"Several offices are called {text!r}: give an id.")
    return offices[0]


def find_by_ids(ids: Sequence[UUID]) -> tuple[QuerySet[Job], list[UUID]]:
    """The jobs with these ids, and the ids that no job has."""
    jobs = Job.objects.filter(pk__in=ids)
    existing = set(jobs.values_list("pk", flat=True))
    return jobs, [job for job in dict.fromkeys(ids) if job not in existing]
