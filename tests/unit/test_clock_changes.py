"""The jumps of daylight saving time, and the times of a rule that they move, leave out or repeat."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from scheduler.schedules.clock_changes import of_config, of_rule
from scheduler.schedules.rules import Kind, Rule
from scheduler.workflows import recurrence

NOW = datetime(2026, 11, 19, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


def changes(
    cron: str, zone: ZoneInfo = BERLIN, ends_at: datetime | None = None
) -> list[tuple[str, str, int]]:
    rule = Rule(kind=Kind.CRON, zone=zone, cron=cron, ends_at=ends_at)
    return [
        (each.change.value, f"{each.clock:%m-%d %H:%M}", len(each.runs_at)) for each in of_rule(rule, NOW)
    ]


@pytest.mark.parametrize(
    ("cron", "expected"),
    [
        ("30 2 * * *", [("moved", "03-28 02:30", 1), ("once", "10-31 02:30", 1)]),
        (
            "*/30 2 * * *",
            [
                ("missing", "03-28 02:00", 0),
                ("missing", "03-28 02:30", 0),
                ("doubled", "10-31 02:00", 2),
                ("doubled", "10-31 02:30", 2),
            ],
        ),
        ("30 2 * * MON-SAT", []),
        ("0 3 * * *", []),
        ("59 1 * * *", []),
    ],
)
def test_times_in_a_jump_are_named(cron, expected):
    assert changes(cron) == expected


def test_the_times_are_those_at_which_the_rule_fires():
    moved, once = of_rule(Rule(kind=Kind.CRON, zone=BERLIN, cron="30 2 * * *"), NOW)
    assert moved.runs_at == (datetime(2027, 3, 28, 1, tzinfo=UTC),)
    assert once.runs_at == (datetime(2027, 10, 31, 0, 30, tzinfo=UTC),)


def test_a_rule_in_korea_or_one_that_ends_before_has_none():
    assert changes("30 2 * * *", ZoneInfo("Asia/Seoul")) == []
    assert changes("30 2 * * *", ends_at=datetime(2027, 1, 1, tzinfo=UTC)) == []


def test_a_minutely_rule_lists_a_few_times_of_each_jump():
    assert len(changes("* * * * *")) == 10


def test_a_recurring_workflow_names_fixed_times():
    def config(**fields: object) -> recurrence.ScheduleConfig:
        base = {"mode": "recurring", "pattern": "daily", "time": "02:15", "timezone": "America/New_York"}
        return recurrence.read(base | fields)

    named = [(each.change.value, f"{each.clock:%m-%d %H:%M}") for each in of_config(config(), NOW)]
    assert named == [("moved", "03-14 02:15")]
    several = config(time=None, times=["04:00", "02:45", "02:15"])
    named = [(each.change.value, f"{each.clock:%m-%d %H:%M}") for each in of_config(several, NOW)]
    assert named == [("moved", "03-14 02:15"), ("moved", "03-14 02:45")]
    assert of_config(config(pattern="weekly", days_of_week=[0]), NOW) == []
    assert of_config(recurrence.read({"mode": "immediate"}), NOW) == []
