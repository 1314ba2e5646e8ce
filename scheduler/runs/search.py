"""Finds runs, newest first, without reading more than a bounded number of rows.

A filter on a text has no index. So a search reads the newest rows that its indexed conditions leave, up to a
limit, and says how far back that was; the next search can continue there.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from django.contrib.auth.models import User
from django.db import OperationalError, connection, transaction
from django.db.models import F, Q, QuerySet, TextField
from django.db.models.functions import Cast

from jobs.access import offices_of
from jobs.ids import time_of
from jobs.models import Job
from jobs.search import SKEW, number_at, searched_texts
from scheduler import sql
from scheduler.access import executions_without_job
from scheduler.runs import filters
from scheduler.runs.filters import RunFilter, RunState, Sort
from scheduler.runs.rows import Run, read_rows

PAGE = 50
# The newest rows of each part that a search reads first; if these do not suffice, so many more, for so long.
SEARCHED_FIRST, SEARCHED = 1_000, 20_000
TIMEOUT_MS = 200
MOST_OFFICES = 30
# Lists count up to this number.
COUNTED = 10_000
ENDED_BADLY = {RunState.FAILED, RunState.CANCELLED}
_QUERY_CANCELED = "57014"

T = TypeVar("T")


@dataclass(frozen=True)
class RunPage:
    """A page of runs. `searched_since`: older runs were not searched; None: all were."""

    rows: Sequence[Run]
    newer: UUID | None = None
    older: UUID | None = None
    floor: UUID | None = None

    @property
    def searched_since(self) -> datetime | None:
        return time_of(self.floor) if self.floor else None


@dataclass(frozen=True)
class Count:
    number: int
    more: bool


@dataclass(frozen=True)
class Part:
    """Rows of one table: those that may be searched, and the condition that they have to meet."""

    scope: QuerySet[Any]
    condition: Q
    # Whether an index has the rows of the scope by number instead of by id.
    by_number: bool = False

    def matching(self, floor: UUID | None) -> QuerySet[Any]:
        rows: QuerySet[Any] = self.scope.alias(**searched_texts()).filter(self.condition)
        if floor is None:
            return rows
        if self.by_number:
            rows = rows.filter(seq__gt=number_at(floor) - SKEW)
        return rows.filter(id__gt=floor)

    def below(self, place: UUID) -> "Part":
        """The part of it that is older than this id."""
        scope = self.scope.filter(id__lt=place)
        if self.by_number:
            scope = scope.filter(seq__lte=number_at(place) + SKEW)
        return replace(self, scope=scope)

    def floor(self, searched: int) -> UUID | None:
        """The id above which it has so many rows; None if it does not have more."""
        rows = self.scope.order_by("-seq" if self.by_number else "-id").values_list("id", flat=True)
        return next(iter(rows[searched : searched + 1]), None)

    def in_order(self, rows: QuerySet[Any], *, upward: bool) -> QuerySet[Any]:
        """By id; as a text where the index by id would lead PostgreSQL through the rows of other offices."""
        place = Cast("id", TextField()) if self.by_number else F("id")
        return rows.order_by(place.asc() if upward else place.desc())


def parts_of(user: User, values: RunFilter) -> list[Part]:
    """The disjoint parts of the list that the user may see."""
    offices = None if user.is_staff else list(offices_of(user).values_list("id", flat=True))
    parts = []
    condition = filters.of_jobs(values, offices)
    if condition is not None:
        parts += [
            Part(_narrow(jobs, values), condition, by_number)
            for jobs, by_number in _jobs_by_office(offices, values.office)
        ]
    condition = filters.of_executions(values)
    if condition is not None:
        parts += [Part(_narrow(part, values), condition) for part in executions_without_job(user)]
    return parts


def _jobs_by_office(
    offices: Sequence[UUID] | None, office: UUID | None
) -> Iterator[tuple[QuerySet[Job], bool]]:
    """The jobs of these offices (None: of all), or of the one; each office has an index by number."""
    if office is not None:
        offices = [office] if offices is None or office in offices else []
    if offices is None:
        yield Job.objects.order_by(), False
    elif len(offices) > MOST_OFFICES:
        yield Job.objects.filter(office_id__in=offices), False
    else:
        for number in offices:
            yield Job.objects.filter(office_id=number), True


def _narrow(rows: QuerySet[Any], values: RunFilter) -> QuerySet[Any]:
    """The condition that has a partial index of its own: many rows are then searched far back."""
    states = set(values.states)
    if states and states <= ENDED_BADLY:
        both = ("failed", "cancelled") if rows.model is Job else ("FAILED", "CANCELLED")
        return rows.filter(status__in=both)
    return rows


def search(
    user: User, values: RunFilter, *, after: UUID | None = None, before: UUID | None = None, size: int = PAGE
) -> RunPage:
    """One page of the runs that match."""

    def page(parts: Sequence[Part], floor: UUID | None) -> RunPage:
        if values.sort == Sort.LONGEST:
            return RunPage(_longest(parts, floor, size), floor=floor)
        upward = values.sort == Sort.OLDEST
        backward = before is not None
        ids = _next_ids(parts, floor, before if backward else after, upward != backward, size + 1)
        more, ids = len(ids) > size, ids[:size]
        rows = read_rows(ids[::-1] if backward else ids)
        first, last = (rows[0].id, rows[-1].id) if rows else (None, None)
        if backward:
            return RunPage(rows, first if more else None, last or before, floor)
        return RunPage(rows, first if after is not None else None, last if more else None, floor)

    return _bounded(user, values, after, page, lambda result: result.older is not None)


def count(user: User, values: RunFilter, *, since: UUID | None = None) -> Count:
    """How many runs match, up to a number; with `since` only the newer ones."""

    def number(parts: Sequence[Part], floor: UUID | None) -> Count:
        lowest = max((bound for bound in (floor, since) if bound is not None), default=None)
        total = 0
        for part in parts:
            total += part.matching(lowest).values("id")[: COUNTED + 1 - total].count()
        return Count(min(total, COUNTED), total > COUNTED or floor is not None)

    return _bounded(user, values, None, number)


def matching_ids(user: User, values: RunFilter, most: int) -> tuple[list[UUID], list[UUID]]:
    """The ids of up to so many matching jobs, and of Executions without a job."""

    def ids(parts: Sequence[Part], floor: UUID | None) -> tuple[list[UUID], list[UUID]]:
        matches: dict[bool, list[UUID]] = {True: [], False: []}
        for part in parts:
            rows = part.in_order(part.matching(floor), upward=False).values_list("id", flat=True)
            matches[part.scope.model is Job] += rows[:most]
        return matches[True][:most], matches[False][:most]

    return _bounded(user, values, None, ids)


def every(user: User, values: RunFilter, most: int) -> Iterator[Run]:
    """The matching runs, page by page, up to a number."""
    after, size = None, min(500, most)
    while most > 0:
        matches = search(user, values, after=after, size=min(size, most))
        yield from matches.rows
        most -= len(matches.rows)
        if matches.older is None:
            return
        after = matches.older


def _bounded(
    user: User,
    values: RunFilter,
    after: UUID | None,
    read: Callable[[Sequence[Part], UUID | None], T],
    suffices: Callable[[T], bool] | None = None,
) -> T:
    """Read the newest rows; more of them if they do not suffice, unless that takes too long."""
    parts = parts_of(user, values)
    if after is not None and values.sort == Sort.NEWEST:
        parts = [part.below(after) for part in parts]
    floor = _floor(parts, SEARCHED_FIRST)
    result = read(parts, floor)
    # Ascending orders and the longest runs need all rows that may be searched.
    if floor is None or (suffices is not None and values.sort == Sort.NEWEST and suffices(result)):
        return result
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql.LIMIT_TIME, [f"{TIMEOUT_MS}ms"])
            result = read(parts, _floor(parts, SEARCHED))
            cursor.execute(sql.DEFAULT_TIME)
    except OperationalError as error:
        if getattr(error.__cause__, "pgcode", "") != _QUERY_CANCELED:
            raise
    return result


def _floor(parts: Sequence[Part], searched: int) -> UUID | None:
    """The id above which every part has at most so many rows; None if no part has more."""
    floors = [floor for part in parts if (floor := part.floor(searched)) is not None]
    return max(floors, default=None)


def _next_ids(
    parts: Sequence[Part], floor: UUID | None, start: UUID | None, upward: bool, most: int
) -> list[tuple[UUID, bool]]:
    """The next ids in this direction, each with whether it is a job's."""
    matches: list[tuple[UUID, bool]] = []
    for part in parts:
        rows = part.in_order(part.matching(floor), upward=upward)
        if start is not None:
            rows = rows.filter(**{"id__gt" if upward else "id__lt": start})
        is_job = part.scope.model is Job
        matches += [(identity, is_job) for identity in rows.values_list("id", flat=True)[:most]]
    return sorted(matches, reverse=not upward)[:most]


def _longest(parts: Sequence[Part], floor: UUID | None, size: int) -> list[Run]:
    """The runs that took the longest, of those that ended."""
    matches: list[tuple[Any, UUID, bool]] = []
    for part in parts:
        is_job = part.scope.model is Job
        end = "completed_at" if is_job else "finished_at"
        rows = part.matching(floor).filter(**{f"{end}__isnull": False, "started_at__isnull": False})
        longest = rows.annotate(took=F(end) - F("started_at")).order_by("-took", "-id")
        matches += [(took, identity, is_job) for took, identity in longest.values_list("took", "id")[:size]]
    matches.sort(reverse=True)
    return read_rows([(identity, is_job) for _, identity, is_job in matches[:size]])
