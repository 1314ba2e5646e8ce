"""The parts of the list of runs that a user may see, each of which an index has in order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import F, Q, QuerySet, TextField
from django.db.models.functions import Cast

from jobs.access import offices_of
from jobs.ids import uuid7_at
from jobs.models import Job
from jobs.search import SKEW, number_at, searched_texts
from scheduler.access import executions_without_job
from scheduler.runs import filters
from scheduler.runs.filters import RunFilter

MOST_OFFICES = 30
# Rows that plain SQL inserts have random ids, nearly all of them greater than every id that has a time.
RANDOM_AFTER = timedelta(days=1)


@dataclass(frozen=True)
class Part:
    """Rows of one table: those that may be searched, and the condition that they have to meet."""

    scope: QuerySet[Any]
    condition: Q
    # Whether an index has the rows of the scope by number instead of by id.
    by_number: bool = False

    def matching_rows(self) -> QuerySet[Any]:
        rows: QuerySet[Any] = self.scope.alias(**searched_texts()).filter(self.condition)
        return rows

    def side(self, identity: UUID, number: int, lookup: str) -> "Part":
        """The rows on one side of an id; `number` is that of the newest job up to it."""
        scope = self.scope.filter(**{f"id__{lookup}": identity})
        if self.by_number:
            newer = lookup.startswith("gt")
            scope = scope.filter(seq__gt=number - SKEW) if newer else scope.filter(seq__lte=number + SKEW)
        return replace(self, scope=scope)

    def bound(self, searched: int, *, upward: bool) -> UUID | None:
        """The id up to which it has so many rows; None if it does not have more."""
        sign = "" if upward else "-"
        rows = self.scope.order_by(sign + ("seq" if self.by_number else "id")).values_list("id", flat=True)
        last = list(rows[searched - 1 : searched + 1])
        return last[0] if len(last) > 1 else None

    def in_order(self, *, upward: bool) -> QuerySet[Any]:
        """By id; as a text where the index by id would lead PostgreSQL through the rows of other offices."""
        place = Cast("id", TextField()) if self.by_number else F("id")
        return self.matching_rows().order_by(place.asc() if upward else place.desc())


def parts_of(user: User, values: RunFilter) -> list[Part]:
    """The disjoint parts of the list that the user may see."""
    offices = None if user.is_staff else list(offices_of(user).values_list("id", flat=True))
    parts = []
    selected = offices
    if values.office is not None:
        selected = [values.office] if offices is None or values.office in offices else []
    # Each office has an index by number.
    by_number = selected is not None and len(selected) <= MOST_OFFICES
    condition = filters.of_jobs(values, offices, by_office=by_number)
    if condition is not None:
        parts += [
            Part(jobs.filter(condition.indexed), condition.other, by_number)
            for jobs in _jobs_of(selected, by_number)
        ]
    condition = filters.of_executions(values)
    if condition is not None:
        parts += [
            Part(part.filter(condition.indexed), condition.other) for part in executions_without_job(user)
        ]
    if values.since:
        parts = up_to(parts, uuid7_at(values.since, smallest=True), upward=False)
    if values.newest:
        parts = up_to(parts, values.newest, upward=True)
    return _before(parts, values.until) if values.until else parts


def up_to(parts: Sequence[Part], identity: UUID, *, upward: bool) -> list[Part]:
    """What is older than this id, or newer, with the id itself."""
    return _sides(parts, identity, "lte" if upward else "gte")


def beyond(parts: Sequence[Part], identity: UUID, *, upward: bool) -> list[Part]:
    """What is newer than this id, or older, without the id itself."""
    return _sides(parts, identity, "gt" if upward else "lt")


def _sides(parts: Sequence[Part], identity: UUID, lookup: str) -> list[Part]:
    number = number_at(identity) if any(part.by_number for part in parts) else 0
    return [part.side(identity, number, lookup) for part in parts]


def bound(parts: Sequence[Part], searched: int, *, upward: bool) -> UUID | None:
    """The id up to which every part has at most so many rows; None if no part has more."""
    bounds = [end for part in parts if (end := part.bound(searched, upward=upward)) is not None]
    return (min if upward else max)(bounds, default=None)


def _before(parts: list[Part], until: datetime) -> list[Part]:
    random = [part for part in parts if not part.by_number]
    return [
        *beyond(parts, uuid7_at(until + timedelta(milliseconds=1), smallest=True), upward=False),
        *beyond(random, uuid7_at(max(until, datetime.now(until.tzinfo)) + RANDOM_AFTER), upward=True),
    ]


def _jobs_of(offices: Sequence[UUID] | None, one_by_one: bool) -> list[QuerySet[Job]]:
    """The jobs of these offices; None: of all."""
    if offices is None:
        return [Job.objects.order_by()]
    if one_by_one:
        return [Job.objects.filter(office_id=office) for office in offices]
    return [Job.objects.filter(office_id__in=offices)]
