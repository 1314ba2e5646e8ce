"""When a schedule fires: a cron expression, an interval, or once.

The next time is always derived from the last scheduled one, never from the moment somebody looked, so
a late tick does not shift what follows.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from scheduler.schedules import cron

INSTANT = timedelta(microseconds=1)


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
    # An interval counts from here in elapsed time: its beginning, or when it was made.
    anchor: datetime | None = None
    starts_at: datetime | None = None
    ends_at: datetime | None = None


def next_after(rule: Rule, moment: datetime) -> datetime | None:
    """The first due time later than `moment`, not before `starts_at` nor after `ends_at`."""
    if rule.starts_at is not None:
        moment = max(moment, rule.starts_at - INSTANT)
    due = _raw(rule, moment)
    if due is None or (rule.ends_at is not None and due > rule.ends_at):
        return None
    return due


def upcoming(rule: Rule, moment: datetime, count: int) -> list[datetime]:
    """Up to `count` due times later than `moment`."""
    found: list[datetime] = []
    due = next_after(rule, moment)
    while due is not None and len(found) < count:
        found.append(due)
        due = next_after(rule, due)
    return found


def due_times(
    rule: Rule, first: datetime, now: datetime, limit: int
) -> tuple[list[datetime], datetime | None]:
    """The due times from `first` up to `now`, at most `limit`, and the one that follows them.

    After a long outage the one that follows may be due as well: the rest is for the next pass.
    """
    dues: list[datetime] = []
    following: datetime | None = first
    while following is not None and following <= now and len(dues) < limit:
        dues.append(following)
        following = next_after(rule, following)
    return dues, following


def _raw(rule: Rule, moment: datetime) -> datetime | None:
    if rule.kind == Kind.CRON:
        return cron.next_after(cron.parse(rule.cron), moment, rule.zone)
    if rule.kind == Kind.INTERVAL:
        return _on_the_grid(rule, moment)
    return rule.at if rule.at is not None and rule.at > moment else None


def _on_the_grid(rule: Rule, moment: datetime) -> datetime:
    every = timedelta(seconds=rule.every_seconds)
    anchor = (rule.anchor or moment).astimezone(UTC)
    return anchor if moment < anchor else anchor + every * ((moment - anchor) // every + 1)
