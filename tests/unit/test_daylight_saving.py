"""Clock changes: fixed times run once, intervals run in elapsed time."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from scheduler.schedules.cron import next_after, parse
from scheduler.schedules.wallclock import instant_of, instants_of

NEW_YORK = ZoneInfo("America/New_York")  # 2026-03-08 02:00 -> 03:00, 2026-11-01 02:00 -> 01:00
SANTIAGO = ZoneInfo("America/Santiago")  # 2026-09-06 00:00 -> 01:00, 2026-04-05 00:00 -> 23:00
LORD_HOWE = ZoneInfo(
    "Australia/Lord_Howe"
)  # half an hour: 2026-10-04 02:00 -> 02:30, 2026-04-05 02:00 -> 01:30
SEOUL = ZoneInfo("Asia/Seoul")  # 1988-05-08 02:00 -> 03:00, 1988-10-09 03:00 -> 02:00
APIA = ZoneInfo("Pacific/Apia")  # 2011-12-30 did not take place


def wall(text):
    return datetime.fromisoformat(text)


def fires(text, zone, begin, end):
    """The fire times from `begin` to `end` on the zone's clock, with their offsets in hours."""
    cron, times = parse(text), []
    moment, end = begin.replace(tzinfo=zone), end.replace(tzinfo=zone)
    while (moment := next_after(cron, moment, zone)) is not None and moment <= end:
        here = moment.astimezone(zone)
        offset = (here.utcoffset() or timedelta()) / timedelta(hours=1)
        times.append(f"{here:%d %H:%M} {offset:+g}")
    return times


@pytest.mark.parametrize(
    ("text", "zone", "day", "expected"),
    [
        ("30 2 * * *", NEW_YORK, wall("2026-03-08"), ["08 03:00 -4"]),
        ("0,15,30 2 * * *", NEW_YORK, wall("2026-03-08"), ["08 03:00 -4"]),
        ("0 0 * * *", SANTIAGO, wall("2026-09-05T23:00"), ["06 01:00 -3"]),
        ("10 2 * * *", LORD_HOWE, wall("2026-10-04"), ["04 02:30 +11"]),
        ("30 2 * * *", LORD_HOWE, wall("2026-10-04"), ["04 02:30 +11"]),
        ("30 2 * * *", SEOUL, wall("1988-05-08"), ["08 03:00 +10"]),
        ("0 12 30 12 *", APIA, wall("2011-12-29T12:00"), ["31 00:00 +14"]),
    ],
)
def test_a_fixed_time_that_does_not_exist_runs_at_the_first_instant_after_the_gap(text, zone, day, expected):
    assert fires(text, zone, day, day + timedelta(hours=23)) == expected


@pytest.mark.parametrize(
    ("text", "zone", "day", "expected"),
    [
        ("30 1 * * *", NEW_YORK, wall("2026-11-01"), ["01 01:30 -4"]),
        (
            "0,30 1,2 * * *",
            NEW_YORK,
            wall("2026-11-01"),
            ["01 01:00 -4", "01 01:30 -4", "01 02:00 -5", "01 02:30 -5"],
        ),
        ("30 23 * * *", SANTIAGO, wall("2026-04-04T12:00"), ["04 23:30 -3"]),
        ("45 1 * * *", LORD_HOWE, wall("2026-04-05"), ["05 01:45 +11"]),
        ("30 2 * * *", SEOUL, wall("1988-10-09"), ["09 02:30 +10"]),
    ],
)
def test_a_fixed_time_that_exists_twice_runs_once_the_first_time(text, zone, day, expected):
    assert fires(text, zone, day, day + timedelta(hours=23)) == expected


@pytest.mark.parametrize(
    ("text", "zone", "day", "expected"),
    [
        (
            "30 * * * *",
            NEW_YORK,
            wall("2026-11-01"),
            ["01 00:30 -4", "01 01:30 -4", "01 01:30 -5", "01 02:30 -5"],
        ),
        ("0 * * * *", NEW_YORK, wall("2026-03-08"), ["08 01:00 -5", "08 03:00 -4"]),
        ("*/30 2 * * *", NEW_YORK, wall("2026-03-08"), []),
        ("0 */2 * * *", LORD_HOWE, wall("2026-04-05"), ["05 02:00 +10.5"]),
        (
            "45 * * * *",
            LORD_HOWE,
            wall("2026-04-05"),
            ["05 00:45 +11", "05 01:45 +11", "05 01:45 +10.5", "05 02:45 +10.5"],
        ),
    ],
)
def test_a_rhythm_runs_in_elapsed_time(text, zone, day, expected):
    assert fires(text, zone, day, day.replace(hour=3)) == expected


def test_a_repeated_hour_does_not_lead_back_to_its_first_time():
    second_half_past_one = datetime(2026, 11, 1, 1, 10, tzinfo=NEW_YORK, fold=1)
    due = next_after(parse("30 1 * * *"), second_half_past_one, NEW_YORK)
    assert due == datetime(2026, 11, 2, 1, 30, tzinfo=NEW_YORK)


def test_a_wall_clock_time_has_zero_to_two_instants():
    assert instants_of(wall("2026-03-08T02:30"), NEW_YORK) == []
    assert instants_of(wall("2026-11-01T01:30"), NEW_YORK) == [
        datetime(2026, 11, 1, 5, 30, tzinfo=UTC),
        datetime(2026, 11, 1, 6, 30, tzinfo=UTC),
    ]
    assert instant_of(wall("2026-03-08T02:59:59"), NEW_YORK) == datetime(2026, 3, 8, 7, 0, tzinfo=UTC)
