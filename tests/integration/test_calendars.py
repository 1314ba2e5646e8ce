"""Calendars: the API, and the runs that schedules skip."""

from datetime import timedelta

import pytest

from scheduler.models import Calendar, Occurrence
from scheduler.schedules import calendars
from scheduler.schedules import lifecycle as schedules
from scheduler.schedules.catchup import IN_CALENDAR
from scheduler.schedules.firing import fire_due
from tests.integration.rest_support import client_of, make_user
from tests.schedule_factories import T0, a_schedule, after, turns

pytestmark = pytest.mark.django_db

JSON = "application/json"
HOLIDAYS = {
    "name": "holidays",
    "dates": ["2027-01-01", "2026-12-25", "2026-12-25"],
    "windows": [{"starts_at": "2026-12-05T01:00:00", "ends_at": "2026-12-05T03:00:00+09:00"}],
}
BAD_DATES = (["2026-02-30"], ["x"], [""], [1], "2026-12-25", None, ["2026-01-01"] * 1001)
BAD_TIMES = ("2026-12-05T01:00:00", "x", "2026-13-05T01:00:00", "1000-12-05T01:00:00")


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def client(alice):
    return client_of(alice)


def create(client, **fields):
    return client.post("/api/calendars", {**HOLIDAYS, **fields}, content_type=JSON)


def closed(owner, *, start: float, end: float) -> Calendar:
    """A calendar with one window, in seconds after T0."""
    window = {"starts_at": after(start).isoformat(), "ends_at": after(end).isoformat()}
    return calendars.create({"name": "maintenance", "windows": [window]}, owner=owner, now=T0)


def test_a_calendar_is_created_changed_and_deleted(client):
    answer = create(client)
    made = answer.json()
    assert (answer.status_code, answer["Location"].rpartition("/")[2]) == (201, made["id"])
    assert made["dates"] == ["2026-12-25", "2027-01-01"]
    assert made["windows"] == [
        {"starts_at": "2026-12-05T01:00:00+09:00", "ends_at": "2026-12-05T03:00:00+09:00"}
    ]
    path = f"/api/calendars/{made['id']}"
    assert client.get(path).json() == made
    assert client.get("/api/calendars").json()["results"] == [made]
    changed = client.patch(path, {"dates": []}, content_type=JSON).json()
    assert (changed["dates"], changed["windows"]) == ([], made["windows"])
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("dates", value) for value in BAD_DATES),
        *(("windows", value) for value in ([{}], [1], "x", [{"starts_at": "2026-12-05T01:00:00"}])),
        *(("windows", [{"starts_at": time, "ends_at": "2026-12-05T01:00:00"}]) for time in BAD_TIMES),
        *(("timezone", value) for value in ("Mars/Olympus", "", None)),
        *(("name", value) for value in ("", None, "x" * 201)),
    ],
)
def test_a_bad_calendar_is_refused_and_nothing_is_written(client, field, value):
    refused = create(client, **{field: value})
    assert refused.status_code == 400
    assert all(name.partition(".")[0] == field for name in refused.json()["errors"])
    assert not Calendar.objects.exists()
    made = create(client).json()
    path = f"/api/calendars/{made['id']}"
    assert client.patch(path, {field: value}, content_type=JSON).status_code == 400
    assert client.get(path).json() == made


def test_staff_only_read_the_calendars_of_others(client):
    path = f"/api/calendars/{create(client).json()['id']}"
    staff = client_of(make_user("staff", is_staff=True))
    assert staff.get(path).status_code == 200
    assert staff.patch(path, {"name": "mine"}, content_type=JSON).status_code == 403
    assert staff.delete(path).status_code == 403


def test_a_schedule_takes_only_a_calendar_of_its_owner(client, alice):
    theirs = closed(make_user("bob"), start=0, end=1)
    schedule = a_schedule(owner=alice)
    path = f"/api/schedules/{schedule.id}"
    refused = client.patch(path, {"calendar": str(theirs.id)}, content_type=JSON)
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["calendar"])
    mine = create(client).json()["id"]
    assert client.patch(path, {"calendar": mine}, content_type=JSON).json()["calendar"] == mine
    used = client.delete(f"/api/calendars/{mine}")
    assert (used.status_code, used.json()["code"]) == (409, "calendar_in_use")
    # A deleted schedule does not use it any more.
    assert client.delete(path).status_code == 204
    assert client.delete(f"/api/calendars/{mine}").status_code == 204


def test_runs_within_the_calendar_are_skipped_with_the_reason(alice):
    schedule = a_schedule(owner=alice, calendar=closed(alice, start=100, end=180).id, overlap="allow")
    for minute in (60, 120, 180):
        fire_due(after(minute))
    assert turns(schedule) == [(60, "run"), (120, "skipped"), (180, "run")]
    assert Occurrence.objects.get(outcome="skipped").reason == IN_CALENDAR


def test_the_catch_up_after_an_outage_runs_the_last_time_outside_of_the_calendar(alice):
    schedule = a_schedule(owner=alice, calendar=closed(alice, start=100, end=130).id)
    fire_due(after(125))
    assert turns(schedule) == [(60, "run"), (120, "skipped")]


def test_a_change_of_the_calendar_counts_for_the_next_run(alice):
    calendar = closed(alice, start=100, end=180)
    schedule = a_schedule(owner=alice, calendar=calendar.id)
    calendars.change(calendar.id, {"windows": []}, now=T0)
    schedules.change(schedule.id, {"name": "other"}, now=T0)
    fire_due(after(120))
    assert turns(schedule)[-1] == (120, "run")


def test_dates_are_days_in_the_zone_of_the_calendar(alice):
    # T0 is nine o'clock of the 18th in Seoul, and midnight in London.
    values = {"name": "x", "dates": ["2026-11-18"], "timezone": "Europe/London"}
    closures = calendars.Closures(calendars.create(values, owner=alice, now=T0))
    moments = (T0 - timedelta(seconds=1), T0, T0 + timedelta(hours=24, seconds=-1), T0 + timedelta(hours=24))
    assert [closures.include(moment) for moment in moments] == [False, True, True, False]


def test_upcoming_times_leave_out_those_of_the_calendar(alice):
    schedule = a_schedule(owner=alice, calendar=closed(alice, start=100, end=180).id)
    times = calendars.upcoming_times(schedule.rule, schedule.calendar, T0, 2)
    assert times == [after(60), after(180)]
