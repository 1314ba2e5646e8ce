"""When a schedule fires: by a cron expression, at an interval, or once.

Each due time is derived from the one before it, never from the current time, so a late tick does not shift
the due times after it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import islice
from typing import Any, Self
from zoneinfo import ZoneInfo

from scheduler.schedules import cron

INSTANT = timedelta(microseconds=1)
# The fields of a schedule that are its rule.
TIMING = ("kind", "cron", "every_seconds", "at", "timezone", "starts_at", "ends_at")


class Kind(StrEnum):
    CRON = "cron"
    INTERVAL = "interval"
    ONCE = "once"


@dataclass(frozen=True, slots=True)
class Rule:
    kind: Kind
    zone: ZoneInfo
    cron: str = ""
    every_seconds: int = 0
    at: datetime | None = None
    # Intervals are counted from here in elapsed time: the start, or when the rule was set.
    anchor: datetime | None = None
    starts_at: datetime | None = None
    ends_at: datetime | None = None

    @classmethod
    def read(cls, values: Mapping[str, Any], anchor: datetime) -> Self:
        """The rule of these fields of TIMING; those of other kinds may be missing or empty."""
        return cls(
            kind=Kind(values["kind"]),
            zone=ZoneInfo(values["timezone"]),
            cron=values.get("cron") or "",
            every_seconds=values.get("every_seconds") or 0,
            at=values.get("at"),
            anchor=anchor,
            starts_at=values.get("starts_at"),
            ends_at=values.get("ends_at"),
        )


def next_after(rule: Rule, moment: datetime) -> datetime | None:
    """The first due time later than `moment`, not before `starts_at` nor after `ends_at`."""
    if rule.starts_at is not None:
        moment = max(moment, rule.starts_at - INSTANT)
    due = _next_unbounded(rule, moment)
    if due is None or (rule.ends_at is not None and due > rule.ends_at):
        return None
    return due


def upcoming_times(rule: Rule, moment: datetime, count: int) -> list[datetime]:
    """Up to `count` due times later than `moment`."""
    return list(islice(times_after(rule, moment), count))


def times_after(rule: Rule, moment: datetime) -> Iterator[datetime]:
    """The due times later than `moment`, soonest first."""
    due = next_after(rule, moment)
    while due is not None:
        yield due
        due = next_after(rule, due)


def due_times(
    rule: Rule, first: datetime, now: datetime, limit: int
) -> tuple[list[datetime], datetime | None]:
    """The due times from `first` up to `now`, at most `limit`, and the one after them.

    After a long outage the one after them may be due as well; the next call handles it.
    """
    dues: list[datetime] = []
    following: datetime | None = first
    while following is not None and following <= now and len(dues) < limit:
        dues.append(following)
        following = next_after(rule, following)
    return dues, following


def _next_unbounded(rule: Rule, moment: datetime) -> datetime | None:
    if rule.kind == Kind.CRON:
        return cron.next_after(cron.parse(rule.cron), moment, rule.zone)
    if rule.kind == Kind.INTERVAL:
        return _next_interval(rule, moment)
    return rule.at if rule.at is not None and rule.at > moment else None


def _next_interval(rule: Rule, moment: datetime) -> datetime:
    every = timedelta(seconds=rule.every_seconds)
    anchor = (rule.anchor or moment).astimezone(UTC)
    return anchor if moment < anchor else anchor + every * ((moment - anchor) // every + 1)
