"""The next run of a schedule, and the catch-up policies for missed runs."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from scheduler.schedules.catchup import CatchUp, times_to_run
from scheduler.schedules.rules import Kind, Rule, due_times, next_after, upcoming_times

SEOUL = ZoneInfo("Asia/Seoul")
NEW_YORK = ZoneInfo("America/New_York")
MINUTE = timedelta(seconds=60)
T0 = datetime(2026, 11, 18, 0, 0, tzinfo=UTC)


def seconds(count):
    return timedelta(seconds=count)


def interval(every, **more):
    return Rule(kind=Kind.INTERVAL, zone=SEOUL, every_seconds=every, anchor=T0, **more)


def test_a_cron_rule_follows_its_zone():
    nine = Rule(kind=Kind.CRON, zone=SEOUL, cron="0 9 * * *")
    assert next_after(nine, T0) == datetime(2026, 11, 19, 0, 0, tzinfo=UTC)


def test_an_interval_counts_from_its_anchor_and_not_from_the_moment_of_looking():
    assert next_after(interval(90), T0) == T0 + seconds(90)
    assert next_after(interval(90), T0 + seconds(91)) == T0 + seconds(180)
    assert next_after(interval(90), T0 + seconds(180)) == T0 + seconds(270)


def test_an_interval_that_begins_later_first_fires_at_its_beginning():
    begin = T0 + seconds(1000)
    rule = Rule(kind=Kind.INTERVAL, zone=SEOUL, every_seconds=60, anchor=begin, starts_at=begin)
    assert upcoming_times(rule, T0, 2) == [begin, begin + seconds(60)]


def test_an_interval_runs_in_elapsed_time_when_the_clock_is_changed():
    anchor = datetime(2026, 10, 31, 12, 0, tzinfo=NEW_YORK)
    rule = Rule(kind=Kind.INTERVAL, zone=NEW_YORK, every_seconds=86_400, anchor=anchor)
    assert [due.astimezone(NEW_YORK).hour for due in upcoming_times(rule, anchor, 2)] == [11, 11]


def test_a_once_rule_fires_once():
    rule = Rule(kind=Kind.ONCE, zone=SEOUL, at=T0 + seconds(5))
    assert next_after(rule, T0) == T0 + seconds(5)
    assert next_after(rule, T0 + seconds(5)) is None


def test_a_rule_does_not_fire_before_its_beginning_or_after_its_end():
    rule = interval(60, starts_at=T0 + seconds(120), ends_at=T0 + seconds(240))
    assert upcoming_times(rule, T0, 10) == [T0 + seconds(120), T0 + seconds(180), T0 + seconds(240)]


def test_a_cron_and_a_once_rule_respect_their_beginning():
    later = datetime(2026, 12, 1, 0, 0, tzinfo=UTC)
    rule = Rule(kind=Kind.CRON, zone=SEOUL, cron="0 9 * * *", starts_at=later)
    assert next_after(rule, T0) == later  # nine o'clock in Seoul
    assert next_after(Rule(kind=Kind.ONCE, zone=SEOUL, at=T0 + seconds(5), starts_at=later), T0) is None


def test_the_due_times_are_followed_by_the_next_run_time():
    dues, following = due_times(interval(60), T0 + seconds(60), T0 + seconds(185), 100)
    assert dues == [T0 + seconds(60), T0 + seconds(120), T0 + seconds(180)]
    assert following == T0 + seconds(240)


def test_the_number_of_due_times_is_limited_and_the_rest_stays_due():
    dues, following = due_times(interval(1), T0 + seconds(1), T0 + timedelta(days=30), 500)
    assert (len(dues), following) == (500, T0 + seconds(501))


def test_a_rule_is_not_due_before_its_time():
    assert due_times(interval(60), T0 + seconds(60), T0 + seconds(59), 100) == ([], T0 + seconds(60))


def test_a_late_tick_does_not_shift_what_follows():
    _, following = due_times(interval(60), T0 + seconds(60), T0 + seconds(119), 100)
    assert following == T0 + seconds(120)


DUES = [T0 + seconds(60 * turn) for turn in range(1, 4)]
AFTER = T0 + seconds(240)


@pytest.mark.parametrize(
    ("policy", "now", "expected"),
    [
        (CatchUp.LATEST, DUES[-1] + seconds(59), [DUES[-1]]),
        (CatchUp.ALL, DUES[-1] + seconds(59), DUES),
        (CatchUp.NONE, DUES[-1] + seconds(59), [DUES[-1]]),
        (CatchUp.NONE, DUES[-1] + seconds(61), []),
        (CatchUp.LATEST, DUES[-1] + timedelta(days=9), [DUES[-1]]),
    ],
)
def test_the_catch_up_policy_selects_the_missed_runs_that_start(policy, now, expected):
    far = now + timedelta(days=1)
    assert times_to_run(DUES, far, now, policy, MINUTE) == expected


@pytest.mark.parametrize("policy", [CatchUp.LATEST, CatchUp.NONE])
def test_the_latest_missed_run_does_not_start_while_a_later_one_is_due(policy):
    assert times_to_run(DUES, AFTER, AFTER, policy, MINUTE) == []


def test_the_last_run_of_a_schedule_that_ended_is_the_latest():
    assert times_to_run(DUES, None, DUES[-1] + seconds(600), CatchUp.LATEST, MINUTE) == [DUES[-1]]
