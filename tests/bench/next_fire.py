"""Compare the next-fire calculation with a brute-force reference, minute by minute.

    python -m tests.bench.next_fire [--rules 2000] [--years 2] [--seed 1]

The reference shares nothing with the code under test: it reads the expression by itself, looks at every
minute of the zone's real calendar, and knows the rules about daylight saving as `docs/schedules.md` tells
them. A rule with few fires is walked from end to end; a dense one is walked around every change of the
clock and asked at random moments.
"""

import argparse
import random
import sys
import time
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TypeAlias
from zoneinfo import ZoneInfo

from scheduler.schedules.cron import next_after, parse

ZONES = ("Asia/Seoul", "America/New_York", "America/Santiago", "Australia/Lord_Howe")
MINUTE = timedelta(minutes=1)
WALKED = 1_500  # consecutive fires
BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
# The number of a name is its position in the text divided by three.
NAMES = {3: "...JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC", 4: "SUNMONTUEWEDTHUFRISAT"}
Minutes: TypeAlias = "array[int]"


@dataclass
class Calendar:
    """Every minute of a zone between two instants: which day and minute of the day its clock shows."""

    zone: ZoneInfo
    start: datetime
    days: dict[date, tuple[Minutes, Minutes]] = field(default_factory=dict)
    changes: list[datetime] = field(default_factory=list)
    end: datetime = field(init=False)

    def __init__(self, zone_name: str, start: datetime, length: timedelta) -> None:
        self.zone, self.start, self.end = ZoneInfo(zone_name), start, start + length
        self.days, self.changes = {}, []
        instant, offset = start, start.astimezone(self.zone).utcoffset()
        for index in range(length // MINUTE):
            wall = instant.astimezone(self.zone)
            if wall.utcoffset() != offset:
                offset = wall.utcoffset()
                self.changes.append(instant)
            minutes = self.days.setdefault(wall.date(), (array("I"), array("H")))
            minutes[0].append(index)
            minutes[1].append(wall.hour * 60 + wall.minute)
            instant += MINUTE

    def at(self, index: int) -> datetime:
        return self.start + index * MINUTE


def read_values(text: str, place: int) -> set[int]:
    low, high = BOUNDS[place]
    values: set[int] = set()
    for term in text.split(","):
        span, _, step = term.partition("/")
        if span == "*":
            first, last = low, high
        else:
            ends = [int(end) if end.isdigit() else NAMES[place].index(end) // 3 for end in span.split("-")]
            first, last = (ends[0], ends[-1]) if len(ends) > 1 or not step else (ends[0], high)
        values |= set(range(first, last + 1, int(step or 1)))
    return {value % 7 for value in values} if place == 4 else values


def expected_fires(expression: str, calendar: Calendar) -> list[int]:
    """The minutes, counted from the calendar's start, at which the expression fires; sorted, each once."""
    texts = expression.upper().split()
    minutes, hours, month_days, months, week_days = (read_values(text, i) for i, text in enumerate(texts))
    starred = ["*" in text for text in texts]
    rule_minutes = {hour * 60 + minute for hour in hours for minute in minutes}
    fires: set[int] = set()
    for day, (indexes, clock_minutes) in calendar.days.items():
        by_month = day.day in month_days
        by_week = day.isoweekday() % 7 in week_days
        if day.month not in months:
            continue
        if not (by_month and by_week if starred[2] or starred[4] else by_month or by_week):
            continue
        if starred[0] or starred[1]:  # an interval: every minute whose clock matches
            fires.update(
                index for index, minute in zip(indexes, clock_minutes, strict=True) if minute in rule_minutes
            )
            continue
        left = set(rule_minutes)
        for index, minute in zip(indexes, clock_minutes, strict=True):
            if minute in left:  # a fixed time: the first of two
                left.discard(minute)
                fires.add(index)
        for missing in left:  # in a gap: the first instant after it
            after = [index for index, minute in zip(indexes, clock_minutes, strict=True) if minute > missing]
            whole_day_seen = indexes[0] != 0 and calendar.at(indexes[-1] + 1) < calendar.end
            if after and whole_day_seen:
                fires.add(after[0])
            elif whole_day_seen:
                fires.add(indexes[-1] + 1)
    return sorted(fires)


def random_expression(dice: random.Random) -> str:
    def term(place: int) -> str:
        low, high = BOUNDS[place]
        first = dice.randint(low, high)
        last = dice.randint(first, high)
        kind = dice.random()
        if kind < 0.55:
            return str(first)
        if kind < 0.75:
            return f"{first}-{last}"
        return f"{first}-{last}/{dice.randint(1, 9 if place < 3 else 3)}"

    def text(place: int, star: float) -> str:
        low, high = BOUNDS[place]
        if dice.random() < star:
            return "*" if dice.random() < 0.6 else f"*/{dice.randint(2, min(30, high - low))}"
        return ",".join(term(place) for _ in range(dice.choice((1, 1, 1, 2, 3))))

    return " ".join(text(place, star) for place, star in enumerate((0.2, 0.35, 0.6, 0.7, 0.6)))


def differences(expression: str, calendar: Calendar, dice: random.Random) -> Iterator[str | None]:
    """Yields None or the difference for each comparison."""
    fires = expected_fires(expression, calendar)
    # The first and last days of the calendar are cut, so only what lies between is compared.
    first, last = calendar.start + timedelta(days=2), calendar.end - timedelta(days=2)
    instants = [calendar.at(index) for index in fires]
    windows = [(first, last)]
    if len(fires) > WALKED:
        windows = [
            (change - timedelta(hours=30), change + timedelta(hours=30)) for change in calendar.changes
        ]
        windows = [(max(begin, first), min(end, last)) for begin, end in windows]
    for begin, end in windows:
        yield from _walk(expression, calendar, instants, begin, end)
    for _ in range(40):
        moment = first + (last - first) * dice.random()
        position = bisect_right(instants, moment)
        want = instants[position] if position < len(instants) else None
        got = next_after(parse(expression), moment, calendar.zone)
        if want is None or want > last:
            yield None if got is None or got > last else f"{expression} after {moment}: {got}, expected none"
        else:
            yield None if got == want else f"{expression} after {moment}: {got}, expected {want}"


def _walk(
    expression: str, calendar: Calendar, instants: list[datetime], begin: datetime, end: datetime
) -> Iterator[str | None]:
    cron, moment = parse(expression), begin
    for want in (instant for instant in instants if begin < instant <= end):
        got = next_after(cron, moment, calendar.zone)
        if got != want:
            yield f"{expression} in {calendar.zone.key} after {moment}: {got}, expected {want}"
            return
        yield None
        moment = want
    got = next_after(cron, moment, calendar.zone)
    yield (
        f"{expression} in {calendar.zone.key} after {moment}: {got}, expected none"
        if got and got <= end
        else None
    )


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rules", type=int, default=2_000)
    options.add_argument("--years", type=int, default=2)
    options.add_argument("--seed", type=int, default=1)
    arguments = options.parse_args()
    began, compared, different = time.monotonic(), 0, 0
    for zone_name in ZONES:
        dice = random.Random(arguments.seed)
        calendar = Calendar(
            zone_name, datetime(2027, 1, 1, tzinfo=UTC), timedelta(days=366 * arguments.years)
        )
        for _ in range(arguments.rules):
            for difference in differences(random_expression(dice), calendar, dice):
                compared += 1
                if difference:
                    different += 1
                    print(difference)
        took = time.monotonic() - began
        print(
            f"{zone_name}: {arguments.rules} rules; "
            f"in all {compared:,} compared, {different} differ, {took:.0f} s"
        )
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
