"""A workflow's schedule_config: parsing, errors, and the next run."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from jobs.errors import in_english
from scheduler.workflows.recurrence import ConfigError, next_time, read, upcoming_times

SEOUL = ZoneInfo("Asia/Seoul")
WEEKLY = {"mode": "recurring", "pattern": "weekly", "time": "09:00", "days_of_week": [0]}
ACTIVE = datetime(2026, 11, 18, 10, 0, tzinfo=SEOUL)  # a Wednesday


def recurring(pattern, **more):
    return read({"mode": "recurring", "pattern": pattern, "time": "09:00", **more})


def turns(config, count, start=ACTIVE):
    times, after = [], None
    for _ in range(count):
        after = next_time(config, start, after)
        assert after is not None
        times.append(f"{after.astimezone(SEOUL):%m-%d %a %H:%M}")
    return times


def test_an_immediate_rule_runs_once_when_it_is_activated():
    config = read({"mode": "immediate"})
    assert next_time(config, ACTIVE, None) == ACTIVE
    assert next_time(config, ACTIVE, ACTIVE) is None


def test_a_delayed_workflow_runs_once_after_its_delay():
    config = read({"mode": "delayed", "delay_seconds": 90})
    assert next_time(config, ACTIVE, None) == ACTIVE + timedelta(seconds=90)
    assert next_time(config, ACTIVE, ACTIVE + timedelta(seconds=90)) is None


def test_a_scheduled_rule_without_an_offset_runs_in_korean_time():
    with_offset = read({"mode": "scheduled", "at": "2026-12-01T09:00:00+09:00"})
    without = read({"mode": "scheduled", "at": "2026-12-01T09:00:00"})
    assert next_time(with_offset, ACTIVE, None) == datetime(2026, 12, 1, 0, 0, tzinfo=UTC)
    assert next_time(without, ACTIVE, None) == datetime(2026, 12, 1, 0, 0, tzinfo=UTC)


def test_a_daily_rule_is_in_korean_time():
    assert turns(recurring("daily"), 2) == ["11-19 Thu 09:00", "11-20 Fri 09:00"]


def test_a_weekly_rule_counts_monday_as_zero():
    assert turns(recurring("weekly", days_of_week=[0, 4]), 3) == [
        "11-20 Fri 09:00",
        "11-23 Mon 09:00",
        "11-27 Fri 09:00",
    ]


def test_a_rule_runs_at_several_times_of_its_days():
    several = ["18:30", "09:00", "09:00"]
    config = read({"mode": "recurring", "pattern": "weekly", "days_of_week": [2, 0], "times": several})
    assert turns(config, 5) == [
        "11-18 Wed 18:30",
        "11-23 Mon 09:00",
        "11-23 Mon 18:30",
        "11-25 Wed 09:00",
        "11-25 Wed 18:30",
    ]


def test_a_rule_runs_every_nth_week_from_the_week_of_a_date():
    # The 19th is a Thursday: the Monday of that week is before it.
    config = recurring("weekly", days_of_week=[0, 4], every_weeks=3, starts_on="2026-11-19")
    expected = ["11-20 Fri 09:00", "12-07 Mon 09:00", "12-11 Fri 09:00", "12-28 Mon 09:00"]
    assert turns(config, 4) == expected
    assert turns(config, 1, datetime(2026, 12, 7, 9, 0, tzinfo=SEOUL)) == ["12-11 Fri 09:00"]


def test_a_rule_for_every_52nd_week_begins_and_goes_on_after_a_year():
    config = recurring("weekly", days_of_week=[6], every_weeks=52, starts_on="2028-01-03")
    assert turns(config, 1) == ["01-09 Sun 09:00"]
    first = next_time(config, ACTIVE, None)
    assert first == datetime(2028, 1, 9, 0, 0, tzinfo=UTC)
    assert next_time(config, ACTIVE, first) == first + timedelta(weeks=52)


def test_times_that_the_clock_skips_run_once_after_the_gap_and_in_order():
    """In New York the clock shows 03:00 after 01:59 on 8 March 2026."""
    config = read(
        {
            "mode": "recurring",
            "pattern": "daily",
            "times": ["02:15", "02:45", "03:00", "03:30"],
            "timezone": "America/New_York",
        }
    )
    start = datetime(2026, 3, 8, 5, 0, tzinfo=UTC)
    first = next_time(config, start, None)
    assert first == datetime(2026, 3, 8, 7, 0, tzinfo=UTC)
    assert next_time(config, start, first) == datetime(2026, 3, 8, 7, 30, tzinfo=UTC)


def test_an_nth_week_is_one_of_the_calendar_also_across_a_change_of_the_clock():
    zone = ZoneInfo("America/New_York")
    config = recurring(
        "weekly", days_of_week=[6], every_weeks=2, starts_on="2026-02-22", timezone="America/New_York"
    )
    dues = upcoming_times(config, datetime(2026, 2, 20, tzinfo=UTC), 3)
    local_times = [f"{due.astimezone(zone):%m-%d %H:%M}" for due in dues]
    assert local_times == ["02-22 09:00", "03-08 09:00", "03-22 09:00"]


def test_a_month_without_the_day_runs_on_its_last():
    assert turns(recurring("monthly", day_of_month=31), 5) == [
        "11-30 Mon 09:00",
        "12-31 Thu 09:00",
        "01-31 Sun 09:00",
        "02-28 Sun 09:00",
        "03-31 Wed 09:00",
    ]


def test_the_29th_is_the_29th_in_a_leap_year():
    start = datetime(2028, 2, 1, tzinfo=SEOUL)
    assert turns(recurring("monthly", day_of_month=29), 1, start) == ["02-29 Tue 09:00"]
    assert turns(recurring("monthly", day_of_month="last"), 1, start) == ["02-29 Tue 09:00"]


def test_a_rule_runs_on_the_same_day_before_its_time():
    start = datetime(2026, 11, 18, 8, 59, 59, tzinfo=SEOUL)
    assert turns(recurring("daily"), 1, start) == ["11-18 Wed 09:00"]


@pytest.mark.parametrize(
    "pattern",
    [
        {"pattern": "daily"},
        {"pattern": "weekly", "days_of_week": [2, 5, 6]},
        {"pattern": "monthly", "day_of_month": 30},
    ],
)
@pytest.mark.parametrize("zone", ["Asia/Seoul", "America/Santiago", "Australia/Lord_Howe"])
def test_a_recurring_rule_fires_on_every_matching_day_of_a_year_only(pattern, zone):
    config = read({"mode": "recurring", "time": "00:15", "timezone": zone, **pattern})
    start = datetime(2026, 1, 1, tzinfo=ZoneInfo(zone))
    expected, day = [], start.date()
    while day.year == 2026:
        last_of_month = (day + timedelta(days=1)).month != day.month
        right = {
            "daily": True,
            "weekly": day.weekday() in (2, 5, 6),
            "monthly": day.day == 30 or (last_of_month and day.day < 30),
        }
        if right[pattern["pattern"]]:
            expected.append(day)
        day += timedelta(days=1)
    days: list[date] = []
    after = next_time(config, start, None)
    while after and after.astimezone(ZoneInfo(zone)).year == 2026:
        days.append(after.astimezone(ZoneInfo(zone)).date())
        after = next_time(config, start, after)
    assert days == expected


@pytest.mark.parametrize(
    ("config", "field", "message"),
    [
        ({}, "mode", "Must be an object with a mode: immediate, delayed, scheduled or recurring."),
        ([], "mode", "Must be an object with a mode"),
        ({"mode": "sometimes"}, "mode", "Must be an object with a mode"),
        ({"mode": "immediate", "at": "x"}, "at", "There is no such field."),
        ({"mode": "delayed"}, "delay_seconds", "This field is required."),
        ({"mode": "delayed", "delay_seconds": -1}, "delay_seconds", "at least 0"),
        ({"mode": "delayed", "delay_seconds": "5"}, "delay_seconds", "Wrong type; expected: int"),
        ({"mode": "scheduled", "at": 5}, "at", "a text such as"),
        ({"mode": "scheduled", "at": "soon"}, "at", "expected: datetime"),
        ({"mode": "scheduled", "at": "9999-01-01T00:00:00Z"}, "at", "between 1970 and 2200"),
        (
            {"mode": "recurring", "pattern": "yearly", "time": "09:00"},
            "pattern",
            "'daily', 'weekly' or 'monthly'",
        ),
        ({"mode": "recurring", "pattern": "daily"}, "time", "either time or times"),
        (
            {"mode": "recurring", "pattern": "daily", "time": "09:00", "times": ["10:00"]},
            "time",
            "either time or times",
        ),
        ({"mode": "recurring", "pattern": "daily", "times": []}, "times", "minimum length is 1"),
        ({"mode": "recurring", "pattern": "daily", "times": ["09:00", "9"]}, "times", "'9' is not a time"),
        ({"mode": "recurring", "pattern": "daily", "times": ["09:00"] * 25}, "times", "24"),
        ({"mode": "recurring", "pattern": "daily", "times": "09:00"}, "times", "list"),
        *(
            ({**WEEKLY, **values}, field, message)
            for values, field, message in (
                ({"every_weeks": 2}, "starts_on", "belong together"),
                ({"starts_on": "2026-11-16"}, "every_weeks", "belong together"),
                ({"every_weeks": 0, "starts_on": "2026-11-16"}, "every_weeks", "at least 1"),
                ({"every_weeks": 53, "starts_on": "2026-11-16"}, "every_weeks", "at most 52"),
                ({"every_weeks": "2", "starts_on": "2026-11-16"}, "every_weeks", "int"),
                ({"every_weeks": 2, "starts_on": "2026-W47-1"}, "starts_on", "a date such as"),
                ({"every_weeks": 2, "starts_on": "2026-02-30"}, "starts_on", "a date such as"),
                ({"every_weeks": 2, "starts_on": 20261116}, "starts_on", "a date such as"),
                ({"every_weeks": 2, "starts_on": "9999-12-31"}, "starts_on", "between 1970 and 2200"),
            )
        ),
        (
            {"mode": "recurring", "pattern": "daily", "time": "09:00", "every_weeks": 2},
            "every_weeks",
            "weekly pattern only",
        ),
        ({"mode": "recurring", "pattern": "daily", "time": "9:00"}, "time", "'9:00' is not a time"),
        ({"mode": "recurring", "pattern": "daily", "time": "24:00"}, "time", "'24:00' is not a time"),
        ({"mode": "recurring", "pattern": "weekly", "time": "09:00"}, "days_of_week", "at least one day"),
        (
            {"mode": "recurring", "pattern": "weekly", "time": "09:00", "days_of_week": [7]},
            "days_of_week",
            "at most 6",
        ),
        (
            {"mode": "recurring", "pattern": "daily", "time": "09:00", "day_of_month": 1},
            "day_of_month",
            "monthly",
        ),
        (
            {"mode": "recurring", "pattern": "monthly", "time": "09:00", "day_of_month": 32},
            "day_of_month",
            "'32' is not",
        ),
        (
            {"mode": "recurring", "pattern": "monthly", "time": "09:00", "day_of_month": True},
            "day_of_month",
            "'True' is not",
        ),
        (
            {"mode": "recurring", "pattern": "daily", "time": "09:00", "timezone": "Mars"},
            "timezone",
            "'Mars' is not",
        ),
    ],
)
def test_an_error_names_the_field(config, field, message):
    with pytest.raises(ConfigError) as refused:
        read(config)
    assert message in " ".join(map(in_english, refused.value.errors[field]))
    assert list(refused.value.errors) == [field]
