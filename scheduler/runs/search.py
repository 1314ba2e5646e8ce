"""Finds runs, without reading more than a bounded number of rows.

A filter on a text has no index. So a search reads the newest rows that its indexed conditions leave, or in an
ascending order the oldest, up to a limit. It says how far that was, and the next search can continue there.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from django.contrib.auth.models import User
from django.db import OperationalError, connection, transaction
from django.db.models import F

from jobs.ids import time_of
from jobs.models import Job
from scheduler.runs.filters import RunFilter, Sort
from scheduler.runs.parts import Part, beyond, bound, parts_of, up_to
from scheduler.runs.rows import Run, read_rows
from scheduler.sql import reports

PAGE = 50
# The first rows of each part that a search reads; if these do not suffice, so many, for so long.
SEARCHED_FIRST, SEARCHED = 1_000, 20_000
TIMEOUT_MS = 200
# Searches, one after the other, for all runs that match.
MOST_SEARCHES = 200
# Lists count up to this number.
COUNTED = 10_000
_QUERY_CANCELED = "57014"

T = TypeVar("T")


@dataclass(frozen=True)
class RunPage:
    """A page of runs. `bound`: no run beyond it was searched; None: all were, or the next page continues."""

    rows: Sequence[Run]
    newer: UUID | None = None
    older: UUID | None = None
    bound: UUID | None = None

    @property
    def searched_to(self) -> datetime | None:
        return time_of(self.bound) if self.bound else None


@dataclass(frozen=True)
class Matches:
    """Ids of jobs, and of Executions without a job. `bound`: older runs were not searched."""

    jobs: list[UUID]
    executions: list[UUID]
    bound: UUID | None = None


@dataclass(frozen=True)
class Count:
    number: int
    more: bool


def search(
    user: User, values: RunFilter, *, after: UUID | None = None, before: UUID | None = None, size: int = PAGE
) -> RunPage:
    """One page of the runs that match."""
    backward = before is not None
    start = before if backward else after
    upward = (values.sort == Sort.OLDEST) != backward

    def page(parts: Sequence[Part], end: UUID | None) -> RunPage:
        if values.sort == Sort.LONGEST:
            return RunPage(_longest(parts, size), bound=end)
        ids = _next_ids(parts, upward, size + 1)
        more, ids = len(ids) > size, ids[:size]
        rows = read_rows(ids[::-1] if backward else ids)
        first, last = (rows[0].id, rows[-1].id) if rows else (None, None)
        if backward:
            return RunPage(rows, first if more else end, last or before)
        return RunPage(
            rows, first if after is not None else None, last if more else None, None if more else end
        )

    parts = parts_of(user, values)
    if start is not None and values.sort != Sort.LONGEST:
        parts = beyond(parts, start, upward=upward)
    return _read_enough(
        parts,
        page,
        upward=upward,
        suffices=lambda result: len(result.rows) == size and result.bound is None,
    )


def count(user: User, values: RunFilter, *, since: UUID | None = None) -> Count:
    """How many runs match, up to a number; with `since` only the newer ones."""

    def number(parts: Sequence[Part], end: UUID | None) -> Count:
        total = 0
        for part in parts:
            total += part.matching_rows().values("id")[: COUNTED + 1 - total].count()
        return Count(min(total, COUNTED), total > COUNTED or end is not None)

    parts = parts_of(user, values)
    return _read_enough(parts if since is None else beyond(parts, since, upward=True), number)


def find_ids(user: User, values: RunFilter, most: int, until: float) -> Matches:
    """The ids of matching runs, newest first: one search after the other, until a monotonic time.

    It ends after the search with which it has `most` jobs, or as many Executions without a job.
    """
    parts = parts_of(user, values)
    matches = Matches([], [])
    while True:
        more = _read_enough(parts, lambda parts, end: _read_ids(parts, end, most))
        matches = Matches(
            [*matches.jobs, *more.jobs][:most], [*matches.executions, *more.executions][:most], more.bound
        )
        if more.bound is None or most in (len(matches.jobs), len(matches.executions)):
            return replace(matches, bound=None)
        if time.monotonic() >= until:
            return matches
        parts = beyond(parts, more.bound, upward=False)


def _read_ids(parts: Sequence[Part], end: UUID | None, most: int) -> Matches:
    matches = Matches([], [], end)
    for part in parts:
        rows = part.in_order(upward=False).values_list("id", flat=True)[:most]
        (matches.jobs if part.scope.model is Job else matches.executions).extend(rows)
    return matches


def every(user: User, values: RunFilter, most: int) -> Iterator[Run]:
    """The matching runs, page by page, up to a number."""
    after, size = None, min(500, most)
    for _ in range(MOST_SEARCHES):
        matches = search(user, values, after=after, size=min(size, most))
        yield from matches.rows
        most -= len(matches.rows)
        after = matches.older or matches.bound
        if after is None or most <= 0 or values.sort == Sort.LONGEST:
            return


def _read_enough(
    parts: Sequence[Part],
    read: Callable[[Sequence[Part], UUID | None], T],
    *,
    upward: bool = False,
    suffices: Callable[[T], bool] | None = None,
) -> T:
    """Read the first rows; more of them if they do not suffice, unless that takes too long."""

    def read_first(number: int) -> tuple[T, UUID | None]:
        end = bound(parts, number, upward=upward)
        return read(parts if end is None else up_to(parts, end, upward=upward), end), end

    result, end = read_first(SEARCHED_FIRST)
    if end is None or (suffices is not None and suffices(result)):
        return result
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(reports.LIMIT_TIME, [f"{TIMEOUT_MS}ms"])
            result, _ = read_first(SEARCHED)
            cursor.execute(reports.DEFAULT_TIME)
    except OperationalError as error:
        if getattr(error.__cause__, "pgcode", "") != _QUERY_CANCELED:
            raise
    return result


def _next_ids(parts: Sequence[Part], upward: bool, most: int) -> list[tuple[UUID, bool]]:
    """The next ids in this direction, each with whether it is a job's."""
    matches: list[tuple[UUID, bool]] = []
    for part in parts:
        is_job = part.scope.model is Job
        rows = part.in_order(upward=upward)
        matches += [(identity, is_job) for identity in rows.values_list("id", flat=True)[:most]]
    return sorted(matches, reverse=not upward)[:most]


def _longest(parts: Sequence[Part], size: int) -> list[Run]:
    """The runs that took the longest, of those that ended."""
    matches: list[tuple[Any, UUID, bool]] = []
    for part in parts:
        is_job = part.scope.model is Job
        end = "completed_at" if is_job else "finished_at"
        rows = part.matching_rows().filter(**{f"{end}__isnull": False, "started_at__isnull": False})
        longest = rows.annotate(took=F(end) - F("started_at")).order_by("-took", "-id")
        matches += [(took, identity, is_job) for took, identity in longest.values_list("took", "id")[:size]]
    matches.sort(reverse=True)
    return read_rows([(identity, is_job) for _, identity, is_job in matches[:size]])
