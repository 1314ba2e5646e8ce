"""Finds what a user may open by its name or id, for the search that every page has."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from jobs.access import offices_of
from jobs.ids import parse_number, parse_uuid
from jobs.models import Batch, Office
from scheduler.access import schedules_of, workflows_of
from scheduler.models import Schedule, StepQueue, Workflow
from scheduler.runs import search
from scheduler.runs.filters import RunFilter
from scheduler.runs.rows import Run
from scheduler.steps.access import queues_of

MOST = 6
SHORTEST = 2
BATCHES_SEARCHED = 5_000


@dataclass(frozen=True)
class Results:
    runs: Iterable[Run] = ()
    batches: Iterable[Batch] = ()
    schedules: Iterable[Schedule] = ()
    workflows: Iterable[Workflow] = ()
    queues: Iterable[StepQueue] = ()
    offices: Iterable[Office] = ()

    @property
    def is_empty(self) -> bool:
        return not any(vars(self).values())


def find(user: User, text: str) -> Results:
    """The newest of each kind whose name or id has this text."""
    text = text.strip()
    if len(text) < SHORTEST:
        return Results()
    offices = offices_of(user)
    batches = Batch.objects.filter(office__in=offices.values("id"))
    newest = batches.filter(pk__in=Batch.objects.order_by("-id").values("id")[:BATCHES_SEARCHED])
    number = parse_number(text.lstrip("#"))
    queues = queues_of(user).filter(Q(name__icontains=text) | Q(queue_id=number))
    return Results(
        search.search(user, RunFilter(q=text), size=MOST).rows,
        _find_by_name(batches if parse_uuid(text) else newest, text),
        _find_by_name(schedules_of(user), text),
        _find_by_name(workflows_of(user).defer("steps"), text),
        list(queues.order_by("-queue_id")[:MOST]),
        _find_by_name(offices, text),
    )


def _find_by_name(rows: QuerySet[Any], text: str) -> list[Any]:
    identity = parse_uuid(text)
    condition = Q(pk=identity) if identity else Q(name__icontains=text)
    return list(rows.filter(condition).order_by("-id")[:MOST])
