"""Cron expressions: parsing, errors and fire times."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from scheduler.schedules.cron import next_after, parse, validate
from scheduler.schedules.cron_fields import CronError

SEOUL = ZoneInfo("Asia/Seoul")
NOW = datetime(2026, 11, 18, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("*/5 * * * *", "*/5 * * * *"),
        ("  0   9 * *\t1-5 ", "0 9 * * 1-5"),
        ("0 9 * jan-MAR Mon,wed", "0 9 * 1-3 1,3"),
        ("0 9 * * FRI-SUN", "0 9 * * 5-7"),
        ("0/15 * * * *", "0-59/15 * * * *"),
        ("0 0 * * 1/2", "0 0 * * 1-6/2"),
        ("5-5/2 * * * *", "5 * * * *"),
        ("7,*/20 * * * *", "*/20,7 * * * *"),
        ("@daily", "0 0 * * *"),
        ("@Weekly", "0 0 * * 0"),
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
        ("@monthly", "0 0 1 * *"),
        ("@midnight", "0 0 * * *"),
        ("@hourly", "0 * * * *"),
    ],
)
def test_an_expression_is_read(text, canonical):
    assert parse(text).canonical == canonical


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("60 * * * *", "minute: 60 is out of range; allowed: 0-59."),
        ("0 24 * * *", "hour: 24 is out of range; allowed: 0-23."),
        ("0 0 0 * *", "day-of-month: 0 is out of range; allowed: 1-31."),
        ("0 0 * 13 *", "month: 13 is out of range; allowed: 1-12 or JAN-DEC."),
        ("0 0 * * 8", "day-of-week: 8 is out of range; allowed: 0-7 or SUN-SAT."),
        ("0 0 * MON *", "month: 'MON' is not understood; allowed: 1-12 or JAN-DEC."),
        ("0 0 * * MONDAY", "day-of-week: 'MONDAY' is not understood; allowed: 0-7 or SUN-SAT."),
        ("1,x * * * *", "minute: 'X' in '1,X' is not understood; allowed: 0-59."),
        ("1,,2 * * * *", "minute: '1,,2' is not understood; allowed: 0-59."),
        ("-5 * * * *", "minute: '-5' is not understood; allowed: 0-59."),
        ("１ * * * *", "minute: '１' is not understood; allowed: 0-59."),
        ("1_0 * * * *", "minute: '1_0' is not understood; allowed: 0-59."),
        ("0 0 W * *", "day-of-month: 'W' is not understood; allowed: 1-31."),
        ("0 0 32W * *", "day-of-month: 32 is out of range; allowed: 1-31."),
        ("0 0 1-5W * *", "day-of-month: '1-5' in '1-5W' is not understood; allowed: 1-31."),
        ("0 0 31W 2,4 *", "no day fits '31W 2,4 *'"),
        ("0 0 * * L", "day-of-week: 'L' is not understood; allowed: 0-7 or SUN-SAT."),
        ("0 0 * * 5#6", "day-of-week: '5#6' needs a number from 1 to 5 after the '#'."),
        ("0 0 * * 5#", "day-of-week: '5#' needs a number from 1 to 5 after the '#'."),
        ("0 0 * * 8L", "day-of-week: 8 is out of range; allowed: 0-7 or SUN-SAT."),
        ("L 0 * * *", "minute: 'L' is not understood; allowed: 0-59."),
        ("0 0 ? * *", "day-of-month: '?' is not understood; allowed: 1-31."),
        ("0 17-9 * * *", "hour: the range '17-9' runs backwards; write it as two in a list."),
        ("*/0 * * * *", "minute: the step 0 in '*/0' is not between 1 and 60."),
        ("*/90 * * * *", "minute: the step 90 in '*/90' is not between 1 and 60."),
        ("*/x * * * *", "minute: '*/X' has no whole number after the '/'."),
        ("0 */ * * *", "hour: '*/' has no whole number after the '/'."),
        ("1,* * * * *", "minute: '*' in the list '1,*' already means every value."),
        (
            "* * * *",
            "The expression has 4 fields; five are expected: minute hour day-of-month month day-of-week, "
            "or six with the second first.",
        ),
        ("", "The expression has 0 fields; five are expected: minute hour day-of-month month day-of-week"),
        (
            "@reboot",
            "'@reboot' is not known; the short forms are @yearly, @annually, @monthly, @weekly, @daily, ",
        ),
        ("0 0 30 2 *", "day-of-month, month and day-of-week: no day fits '30 2 *' within the next 5 years, "),
        ("0 0 31 4,6,9,11 *", "no day fits '31 4,6,9,11 *'"),
        # 29 February 2028 is a Tuesday and 2032's a Sunday.
        ("0 0 29 2 */7", "no day fits '29 2 */7'"),
    ],
)
def test_a_refusal_says_which_field_and_why(text, message):
    with pytest.raises(CronError) as refused:
        validate(text, SEOUL, NOW)
    assert message in str(refused.value)


def test_the_first_of_six_fields_is_the_second():
    cron = parse("*/20 30 9 * * 1-5")
    assert (sorted(cron.seconds), sorted(cron.values[0])) == ([0, 20, 40], [30])
    assert cron.canonical == "*/20 30 9 * * 1-5"
    assert parse("0 30 9 * * *").values == parse("30 9 * * *").values
    with pytest.raises(CronError, match="second: 60 is out of range; allowed: 0-59"):
        parse("60 * * * * *")
    with pytest.raises(CronError, match="has 7 fields; five are expected"):
        parse("0 0 9 * * * 2027")


@pytest.mark.parametrize("zone", ["Asia/Seoul", "Europe/Berlin", "Australia/Lord_Howe"])
@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("*/10 * * * * *", lambda wall: wall.second % 10 == 0),
        ("7,8 */20 * * * *", lambda wall: wall.second in (7, 8) and wall.minute % 20 == 0),
        ("* 30 2 * * *", lambda wall: (wall.hour, wall.minute) == (2, 30)),
        ("*/30 59 1-2 25 10 *", lambda wall: _is(wall, months={10}, days={25}, hours={1, 2}, minutes={59})),
    ],
)
def test_a_rule_with_seconds_fires_at_every_second_whose_clock_matches(zone, text, matches):
    # The last Sunday of October 2026 in Europe, and the first of April 2027 on Lord Howe.
    for start in (datetime(2026, 10, 24, 22, 30, tzinfo=UTC), datetime(2027, 4, 3, 13, 30, tzinfo=UTC)):
        seconds = [start + timedelta(seconds=second) for second in range(1, 4 * 3600)]
        walls = ((moment, moment.astimezone(ZoneInfo(zone))) for moment in seconds)
        expected = [moment for moment, wall in walls if matches(wall) and _fits(text, wall)]
        fired, due = [], next_after(parse(text), start, ZoneInfo(zone))
        while due is not None and due <= seconds[-1]:
            fired.append(due)
            due = next_after(parse(text), due, ZoneInfo(zone))
        assert fired == expected


def _is(wall, *, months, days, hours, minutes):
    return wall.month in months and wall.day in days and wall.hour in hours and wall.minute in minutes


def _fits(text, wall):
    return wall.second in parse(text).seconds


def test_fixed_times_with_seconds_run_once_in_a_repeated_hour_and_after_a_gap():
    berlin, rule = ZoneInfo("Europe/Berlin"), parse("15 30 2 * * *")
    before = datetime(2026, 10, 24, 12, 0, tzinfo=UTC)
    assert next_after(rule, before, berlin) == datetime(2026, 10, 25, 0, 30, 15, tzinfo=UTC)
    first = datetime(2026, 10, 25, 0, 30, 15, tzinfo=UTC)
    assert next_after(rule, first, berlin) == datetime(2026, 10, 26, 1, 30, 15, tzinfo=UTC)
    assert next_after(rule, datetime(2027, 3, 27, 12, 0, tzinfo=UTC), berlin) == datetime(
        2027, 3, 28, 1, 0, tzinfo=UTC
    )


def test_an_expression_of_128_characters_is_read_and_one_of_129_is_not():
    long = "0" + ",0" * 59 + " * * * *"
    assert parse(long.ljust(128)).values[0] == {0}
    with pytest.raises(CronError, match="129 characters; at most 128"):
        parse(long.ljust(129))


def test_a_leap_day_within_five_years_is_allowed():
    assert validate("0 0 29 2 *", SEOUL, NOW).canonical == "0 0 29 2 *"


def test_an_expression_with_both_days_matches_either():
    fires = _fires("0 0 13 * FRI", 3)
    assert [(fire.day, fire.strftime("%a")) for fire in fires] == [(20, "Fri"), (27, "Fri"), (4, "Fri")]
    assert 13 in {fire.day for fire in _fires("0 0 13 * MON", 10)}


def test_an_expression_with_a_star_in_either_day_must_match_both():
    assert {fire.strftime("%a %d") for fire in _fires("0 0 */2 * SUN", 20)} <= {
        f"Sun {day:02}" for day in range(1, 32, 2)
    }


def test_the_weekday_seven_is_sunday():
    assert parse("0 0 * * 7").values[4] == parse("0 0 * * SUN").values[4] == {0}


def test_the_next_fire_is_strictly_later():
    at_nine = datetime(2026, 11, 18, 9, 0, tzinfo=SEOUL)
    assert next_after(parse("0 9 * * *"), at_nine, SEOUL) == datetime(2026, 11, 19, 9, 0, tzinfo=SEOUL)


def test_a_moment_within_a_second_counts():
    just_before = datetime(2026, 11, 18, 8, 59, 59, 999_999, tzinfo=SEOUL)
    assert next_after(parse("0 9 * * *"), just_before, SEOUL) == datetime(2026, 11, 18, 9, 0, tzinfo=SEOUL)


def _fires(text, count):
    cron, fires = parse(text), [NOW]
    for _ in range(count):
        due = next_after(cron, fires[-1], SEOUL)
        assert due is not None
        fires.append(due.astimezone(SEOUL))
    return fires[1:]


@pytest.mark.parametrize(
    ("text", "is_due"),
    [
        ("0 9 L * *", lambda day: (day + timedelta(days=1)).day == 1),
        ("0 9 15,L * *", lambda day: day.day == 15 or (day + timedelta(days=1)).day == 1),
        ("0 9 LW * *", lambda day: day == last_weekday(day)),
        ("0 9 * * FRI#3", lambda day: day.weekday() == 4 and 15 <= day.day <= 21),
        ("0 9 * * 7#5", lambda day: day.weekday() == 6 and day.day >= 29),
        ("0 9 * * MONL", lambda day: day.weekday() == 0 and (day + timedelta(days=7)).month != day.month),
        ("0 9 * * 2,5#1", lambda day: day.weekday() == 1 or (day.weekday() == 4 and day.day <= 7)),
        ("0 9 15W * *", lambda day: day == nearest(day, 15)),
        ("0 9 1W * *", lambda day: day == nearest(day, 1)),
        ("0 9 3,31W * *", lambda day: day.day == 3 or day == nearest(day, 31)),
        ("0 9 30W * MON", lambda day: day == nearest(day, 30) or day.weekday() == 0),
        (
            "0 9 L * 1#1",
            lambda day: (day + timedelta(days=1)).day == 1 or (day.weekday() == 0 and day.day <= 7),
        ),
    ],
)
def test_days_by_their_place_in_the_month_are_those_of_the_calendar(text, is_due):
    start = datetime(2026, 1, 1, tzinfo=SEOUL)
    days = [(start + timedelta(days=number)).date() for number in range(3 * 365)]
    cron, moment, fired = parse(text), start, []
    while (due := next_after(cron, moment, SEOUL)) is not None and due.astimezone(SEOUL).date() <= days[-1]:
        moment = due
        fired.append(due.astimezone(SEOUL).date())
    assert fired == [day for day in days if is_due(day)]


def last_weekday(day: date) -> date:
    following = (day.replace(day=28) + timedelta(days=4)).replace(day=1)
    ends = (following - timedelta(days=back) for back in range(1, 4))
    return next(end for end in ends if end.weekday() < 5)


def nearest(day: date, number: int) -> date | None:
    """By looking at each day from Monday to Friday of the month."""
    month = [day.replace(day=1) + timedelta(days=number) for number in range(31)]
    month = [each for each in month if each.month == day.month]
    weekdays = [each for each in month if each.weekday() < 5]
    return min(weekdays, key=lambda each: abs(each.day - number)) if len(month) >= number else None
