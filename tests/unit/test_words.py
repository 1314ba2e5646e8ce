"""Rules in plain words."""

import random
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from scheduler.schedules.cron import parse
from scheduler.schedules.rules import Kind, Rule
from scheduler.schedules.words import config_in_words, cron_in_words, rule_in_words
from scheduler.workflows.recurrence import read
from tests.bench.next_fire import random_expression

SEOUL = ZoneInfo("Asia/Seoul")


@pytest.mark.parametrize(
    ("text", "korean", "english"),
    [
        ("* * * * *", "1분마다", "every minute"),
        ("*/5 * * * *", "5분마다", "every 5 minutes"),
        ("0 * * * *", "매시 정각", "every hour"),
        ("5,35 * * * *", "매시 5분, 35분", "every hour, at minute 5 and 35"),
        ("0 */2 * * *", "0시부터 2시간마다 정각", "every 2 hours from 0"),
        ("30 9,18 * * *", "매일 09:30, 18:30", "at 09:30 and 18:30, every day"),
        ("0 9 * * MON-FRI", "매주 월요일부터 금요일까지 09:00", "at 09:00, Monday to Friday"),
        ("0 9 * * FRI-SUN", "매주 금요일부터 일요일까지 09:00", "at 09:00, Friday to Sunday"),
        ("0 9 * * 6,0", "매주 토요일, 일요일 09:00", "at 09:00, Saturday and Sunday"),
        ("*/10 9-17 * * *", "9시부터 17시까지 시간대에 10분마다", "every 10 minutes, in hour 9 to 17"),
        ("0 0 1 * *", "매월 1일 00:00", "at 00:00, on day 1 of the month"),
        ("0 0 1 1 *", "1월 1일 00:00", "at 00:00, on day 1 of the month, in January"),
        (
            "0 0 13 * FRI",
            "매월 13일 또는 매주 금요일 00:00",
            "at 00:00, on day 13 of the month, or on Friday",
        ),
        (
            "0 0 13 * */5",
            "매월 13일 중 금요일, 일요일 00:00",
            "at 00:00, on day 13 of the month, if it is Friday and Sunday",
        ),
        ("0 9 L * *", "매월 말일 09:00", "at 09:00, on the last day of the month"),
        (
            "0 9 1,LW * *",
            "매월 1일, 마지막 평일(월~금) 09:00",
            "at 09:00, on day 1 and the last day from Monday to Friday of the month",
        ),
        ("0 9 * * FRI#3", "매월 셋째 금요일 09:00", "at 09:00, the third Friday of the month"),
        (
            "0 9 * * MON,5L",
            "매주 월요일, 매월 마지막 금요일 09:00",
            "at 09:00, Monday and the last Friday of the month",
        ),
        (
            "0 9 L * 1#1",
            "매월 말일 또는 매월 첫째 월요일 09:00",
            "at 09:00, on the last day of the month, or on the first Monday of the month",
        ),
        ("0 0 1-31 * 1", "매일 00:00", "at 00:00, every day"),
        (
            "0 9 1,15W * *",
            "매월 1일, 15일에 가장 가까운 평일(월~금) 09:00",
            "at 09:00, on day 1 and the day from Monday to Friday nearest to day 15 of the month",
        ),
        ("0 0 9 * * *", "매일 09:00", "at 09:00, every day"),
        ("30 0 9 * * *", "매일 09:00:30", "at 09:00:30, every day"),
        ("* * * * * *", "1초마다", "every second"),
        ("*/10 * * * * *", "10초마다", "every 10 seconds"),
        ("15 * * * * *", "매분 15초", "at second 15, in every minute"),
        ("* 0 * * * *", "매시 0분에 1초마다", "every second, in minute 0"),
        ("7 0-10 * * * *", "매시 0분부터 10분까지 7초", "at second 7, in minute 0 to 10"),
        (
            "*/5 30 9-17 * * MON-FRI",
            "매주 월요일부터 금요일까지 9시부터 17시까지 시간대에 30분에 5초마다",
            "every 5 seconds, in minute 30, in hour 9 to 17, Monday to Friday",
        ),
        (
            "10 */15 */2 1 * *",
            "매월 1일 0시부터 2시간 간격의 시간대에 0분부터 15분 간격으로 10초",
            "at second 10, in every 15th minute from 0, in every 2nd hour from 0, on day 1 of the month",
        ),
    ],
)
def test_a_cron_rule_is_described_in_words(text, korean, english):
    assert cron_in_words(parse(text), "ko") == korean
    assert cron_in_words(parse(text), "en") == english


@pytest.mark.parametrize("language", ["ko", "en"])
def test_rules_that_fire_at_different_times_read_differently(language):
    dice, meanings = random.Random(7), dict[str, object]()
    seconds = ("", "0 ", "30 ", "* ", "*/10 ", "5,6 ", "1-4 ")
    for _ in range(3_000):
        cron = parse(dice.choice(seconds) + random_expression(dice))
        meaning = (cron.seconds, cron.values[0], cron.values[1], cron.values[3], days_of(cron))
        assert meanings.setdefault(cron_in_words(cron, language), meaning) == meaning
    assert len(meanings) > 2_500


def days_of(cron):
    """Every pair of a day of the month and a day of the week on which it runs."""
    both = all if cron.stars[2] or cron.stars[4] else any
    return frozenset(
        (day, weekday)
        for day in range(1, 32)
        for weekday in range(7)
        if both((day in cron.values[2], weekday in cron.values[4]))
    )


def test_intervals_and_single_times_are_described_in_words():
    def words(language, **rule):
        return rule_in_words(Rule(zone=SEOUL, **rule), language)

    assert words("ko", kind=Kind.INTERVAL, every_seconds=90) == "90초마다"
    assert words("en", kind=Kind.INTERVAL, every_seconds=1) == "every 1 second"
    assert words("en", kind=Kind.INTERVAL, every_seconds=86_400) == "every 24 hours"
    at = datetime(2026, 12, 1, 0, 0, tzinfo=UTC)
    assert words("ko", kind=Kind.ONCE, at=at) == "2026-12-01 09:00 한 번"
    assert words("en-us", kind=Kind.ONCE, at=at) == "once, at 2026-12-01 09:00"


def test_a_zone_other_than_the_default_is_named():
    rule = Rule(kind=Kind.CRON, zone=ZoneInfo("America/New_York"), cron="0 9 * * *")
    assert rule_in_words(rule, "ko") == "매일 09:00 (America/New_York)"


@pytest.mark.parametrize(
    ("config", "korean", "english"),
    [
        ({"mode": "immediate"}, "활성화하면 바로 한 번", "once, as soon as it is active"),
        (
            {"mode": "delayed", "delay_seconds": 90},
            "활성화하고 90초 뒤 한 번",
            "once, 90 seconds after it becomes active",
        ),
        (
            {"mode": "scheduled", "at": "2026-12-01T09:00:00"},
            "2026-12-01 09:00 한 번",
            "once, at 2026-12-01 09:00",
        ),
        ({"mode": "recurring", "pattern": "daily", "time": "09:00"}, "매일 09:00", "every day at 09:00"),
        (
            {"mode": "recurring", "pattern": "weekly", "time": "09:00", "days_of_week": [0, 4]},
            "매주 월요일, 금요일 09:00",
            "every Monday and Friday at 09:00",
        ),
        (
            {"mode": "recurring", "pattern": "daily", "times": ["18:30", "09:00"], "timezone": "UTC"},
            "매일 09:00, 18:30 (UTC)",
            "every day at 09:00 and 18:30 (UTC)",
        ),
        (
            {
                "mode": "recurring",
                "pattern": "weekly",
                "time": "09:00",
                "days_of_week": [0],
                "every_weeks": 2,
                "starts_on": "2026-11-16",
            },
            "2주마다 월요일 09:00(2026-11-16부터)",
            "every 2 weeks on Monday at 09:00, from 2026-11-16",
        ),
        (
            {"mode": "recurring", "pattern": "monthly", "time": "09:00", "day_of_month": 31},
            "매월 31일(없으면 말일) 09:00",
            "on day 31 of every month (or its last day) at 09:00",
        ),
        (
            {"mode": "recurring", "pattern": "monthly", "time": "09:00", "day_of_month": "last"},
            "매월 말일 09:00",
            "on the last day of every month at 09:00",
        ),
    ],
)
def test_a_workflow_rule_is_described_in_words(config, korean, english):
    assert config_in_words(read(config), "ko") == korean
    assert config_in_words(read(config), "en") == english
