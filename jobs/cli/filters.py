"""Which jobs a command is about: those that it names, or those that fit its filters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from django.conf import settings
from django.core.management.base import CommandParser
from django.db.models import F, Model, QuerySet
from django.utils import timezone

from jobs.cli import times
from jobs.cli.command import Complaint, several
from jobs.models import Job, Office
from jobs.selection import in_states, narrowed
from jobs.states import JOB_ENDED, TRIGGERS_OF_JOBS, FailureType, JobStatus

M = TypeVar("M", bound=Model)

FILTERS = ("office", "status", "role", "task", "trigger", "batch", "failure", "since")


def add_filters(parser: CommandParser) -> None:
    several(parser, "--status", JobStatus.values, "states")
    parser.add_argument("--office", help="an office, by its id or its exact name")
    several(parser, "--role", settings.DURE_ROLES, "roles")
    parser.add_argument("--task", metavar="TASK_ID", help="a Task")
    several(parser, "--trigger", [str(one) for one in TRIGGERS_OF_JOBS], "what caused them")
    parser.add_argument("--batch", type=UUID, metavar="ID", help="a batch")
    several(parser, "--failure", FailureType.values, "kinds of failure")
    add_since(parser)


def add_since(parser: CommandParser) -> None:
    parser.add_argument(
        "--since",
        type=times.since(timezone.now()),
        metavar="WHEN",
        help="made since then: 30m, 2h, 7d, 2026-12-01 or 2026-12-01T09:00",
    )


def are_given(options: dict[str, Any], filters: Sequence[str] = FILTERS) -> bool:
    return any(options.get(name) for name in filters)


def matching(options: dict[str, Any]) -> QuerySet[Job]:
    found = of_office(made_since(Job.objects.all(), options), options)
    if options["status"]:
        found = found.filter(in_states(options["status"]))
    lookups = {"role": "role__in", "task": "task_id", "trigger": "trigger__in", "batch": "batch_id"}
    return narrowed(found, options, lookups | {"failure": "failure_type__in"})


def of_office(rows: QuerySet[M], options: dict[str, Any]) -> QuerySet[M]:
    return rows.filter(office_id=office_of(options["office"]).pk) if options["office"] else rows


def made_since(rows: QuerySet[M], options: dict[str, Any]) -> QuerySet[M]:
    """By the key as well, which is an index in the order of time."""
    made = options["since"]
    return rows.filter(created_at__gte=made, pk__gte=times.first_id_since(made)) if made else rows


def newest_first(jobs: QuerySet[Job], options: dict[str, Any]) -> QuerySet[Job]:
    if options["status"] and set(options["status"]).isdisjoint(JOB_ENDED):
        # Few among very many: an expression, so that no index in this order is walked to find them.
        return jobs.order_by((F("seq") + 0).desc())
    return jobs.order_by("-seq" if options["office"] else "-pk")


def office_of(text: str) -> Office:
    try:
        found = list(Office.objects.filter(pk=UUID(text)))
    except ValueError:
        found = list(Office.objects.filter(name=text)[:3])
    if not found:
        raise Complaint(f"There is no office {text!r}.")
    if len(found) > 1:
        raise Complaint(f"Several offices are called {text!r}: name one by its id.")
    return found[0]


@dataclass(frozen=True)
class Named:
    """Those that are there, and the ids for which there is nothing."""

    jobs: QuerySet[Job]
    missing: list[UUID]


def named(ids: Sequence[UUID]) -> Named:
    found = Job.objects.filter(pk__in=ids)
    known = set(found.values_list("pk", flat=True))
    return Named(found, [one for one in dict.fromkeys(ids) if one not in known])
