"""The form of a schedule: creating, previewing, changing, and errors."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from scheduler.models import Schedule
from scheduler.schedules import calendars
from tests.factories import a_user
from tests.integration.pages.clients import field_error, sign_in, text_of
from tests.integration.pages.schedule_pages import FORM, form_data, of_alice
from tests.schedule_factories import a_schedule

pytestmark = pytest.mark.django_db


# --- creating ------------------------------------------------------------------------------------------


def test_the_form_creates_a_schedule(alice):
    answer = alice.post("/schedules/new", FORM)
    made = Schedule.objects.get()
    assert answer["Location"] == f"/schedules/{made.id}"
    assert (made.name, made.task_id, made.cron) == ("nightly", "demo.sum", "0 9 * * MON-FRI")
    assert made.args == {"numbers": [1, 2]}
    assert (made.owner, made.enabled, made.next_run_at is None) == (a_user("alice"), True, False)


def test_an_interval_has_a_unit_and_a_time_is_by_the_clock_of_its_zone(alice):
    alice.post(
        "/schedules/new", {**FORM, "kind": "interval", "cron": "left over", "every": "2", "unit": "hours"}
    )
    assert (Schedule.objects.get().every_seconds, Schedule.objects.get().cron) == (7200, "")
    zone = {"kind": "once", "at": "2030-07-01T09:00", "timezone": "America/New_York"}
    alice.post("/schedules/new", {**FORM, **zone, "name": "once"})
    at = Schedule.objects.get(name="once").at
    assert at is not None
    assert at.isoformat() == "2030-07-01T13:00:00+00:00"


@pytest.mark.parametrize(
    ("change", "field", "message", "korean_message"),
    [
        ({"cron": "0 25 * * *"}, "cron", "hour: 25 is out of range; allowed: 0-23.", "시: 25 값이"),
        ({"cron": "* * * * * * *"}, "cron", "six with the second first", "맨 앞에 초를"),
        ({"cron": "30 2 30 2 *"}, "cron", "no day fits '30 2 *'", "맞는 날이 없어"),
        ({"cron": ""}, "cron", "This field is required.", "필수 항목"),
        ({"kind": "interval", "every": "0"}, "every", "greater than or equal to 1", "1 이상"),
        ({"kind": "interval", "every": "x"}, "every", "Enter a whole number.", "정수"),
        ({"kind": "once", "at": "2001-01-01T09:00"}, "at", "Must be in the future.", "지난 시각"),
        ({"kind": "once", "at": "soon"}, "at", "Enter a time", "시각을 입력"),
        ({"timezone": "Mars"}, "timezone", "'Mars' is not a time zone", "시간대는 없습니다"),
        ({"ends_at": "2001-01-01T09:00"}, "ends_at", "would never run", "실행되지 않습니다"),
        ({"task_id": "no.such"}, "task_id", "No Task 'no.such' is registered.", "'no.such' 태스크"),
        ({"task_id": "exports.render"}, "task_id", "Only the system starts", "시스템만"),
        ({"args": '{"numbers": "x"}'}, "args", "numbers: ", "numbers: 형식이"),
        ({"args": "{}"}, "args", "numbers: This field is required.", "numbers: 필수"),
        ({"args": '{"numbers": [1], "n": 2}'}, "args", "n: The Task takes no such argument.", "없는 인자"),
        ({"args": "{numbers: 1}"}, "args", "Not valid JSON", "JSON이 아닙니다"),
        ({"max_retries": "101"}, "max_retries", "less than or equal to 100", "100"),
        ({"notify_after_failures": "1001"}, "notify_after_failures", "less than or equal to 1000", "1000"),
        ({"notify_after_missed": "0"}, "notify_after_missed", "greater than or equal to 1", "1 이상"),
        ({"notify_office": "0199c0de-0000-7000-8000-000000000015"}, "notify_office", "", ""),
        ({"name": ""}, "name", "", ""),
    ],
)
def test_an_error_is_shown_at_its_field_in_the_readers_language(change, field, message, korean_message):
    for language, expected in (("en", message), ("ko", korean_message)):
        answer = sign_in(language=language).post("/schedules/new", {**FORM, **change})
        assert answer.status_code == 400
        errors = field_error(answer, field)
        assert errors
        assert expected in errors
        assert not Schedule.objects.exists()


# --- preview -------------------------------------------------------------------------------------


def test_the_preview_shows_the_rule_and_its_next_five_runs(alice):
    answer = alice.post("/schedules/preview", FORM)
    assert "at 09:00, Monday to Friday" in text_of(answer)
    assert len(answer.context["next"]) == 5
    assert {time.there[-8:] for time in answer.context["next"]} == {"09:00:00"}
    assert "list of" in text_of(answer)
    assert not Schedule.objects.exists()


def test_the_preview_reports_errors_but_not_of_empty_fields(alice):
    answer = alice.post(
        "/schedules/preview", {"kind": "cron", "cron": "0 9 * *", "args": "{", "timezone": "UTC"}
    )
    assert "five are expected" in field_error(answer, "cron")
    assert "Not valid JSON" in field_error(answer, "args")
    assert {field_error(answer, field) for field in ("name", "task_id", "every", "max_retries")} == {""}
    empty = alice.post("/schedules/preview", {})
    assert empty.status_code == 200
    assert "Enter a schedule" in text_of(empty)


def test_the_preview_agrees_with_what_is_saved(alice):
    form = {**FORM, "kind": "interval", "every": "90", "unit": "seconds", "starts_at": "2030-01-01T00:00"}
    previewed = [time.at for time in alice.post("/schedules/preview", form).context["next"]]
    alice.post("/schedules/new", form)
    saved = alice.get(f"/schedules/{Schedule.objects.get().id}").context["next"]
    assert [time.at for time in saved] == previewed


# --- editing ---------------------------------------------------------------------------------------


def post_edit(client, schedule: Schedule, **change):
    """The form as the page shows it, with this change."""
    path = f"/schedules/{schedule.id}/edit"
    return client.post(path, {**form_data(client.get(path)), **change})


def test_saving_an_unchanged_form_keeps_the_rule(alice):
    start = timezone.now() - timedelta(seconds=20)
    schedule = a_schedule(now=start, owner=a_user("alice"), every_seconds=3600)
    before = (schedule.anchor, schedule.next_run_at)
    assert post_edit(alice, schedule, name="other").status_code == 302
    schedule.refresh_from_db()
    assert schedule.name == "other"
    assert (schedule.anchor, schedule.next_run_at) == before


def test_a_change_of_kind_uses_the_field_of_that_kind_only(alice):
    schedule = of_alice()
    post_edit(alice, schedule, kind="cron", cron="5 4 * * *")
    schedule.refresh_from_db()
    assert (schedule.kind, schedule.cron, schedule.every_seconds) == ("cron", "5 4 * * *", None)
    post_edit(alice, schedule, kind="interval", every="3", unit="days")
    schedule.refresh_from_db()
    assert (schedule.kind, schedule.cron, schedule.every_seconds) == ("interval", "", 3 * 86_400)


def test_the_end_and_the_policies_of_a_schedule_are_set_and_removed(alice):
    owner = a_user("alice")
    assert 'href="/calendars"' in text_of(alice.get("/schedules/new"))
    values = {"name": "holidays", "dates": ["2026-12-25"]}
    holidays = calendars.create(values, owner=owner, now=timezone.now())
    policies = {
        **{"ends_at": "2030-01-01T00:00", "grace": "600", "calendar": str(holidays.id)},
        **{"retry_backoff": "linear", "retry_base_delay": "500", "timeout_ms": "9000", "on_lost": "fail"},
    }
    alice.post("/schedules/new", FORM | policies)
    made = Schedule.objects.get()
    assert made.ends_at is not None
    assert (made.grace, made.calendar, made.retry_backoff) == (600, holidays, "linear")
    assert (made.retry_base_delay, made.timeout_ms, made.on_lost) == (500, 9000, "fail")
    path = f"/schedules/{made.id}"
    assert "holidays" in text_of(alice.get(path))
    emptied = dict.fromkeys(policies.keys() - {"grace"}, "")
    alice.post(f"{path}/edit", form_data(alice.get(f"{path}/edit")) | emptied)
    made = Schedule.objects.get()
    assert (made.ends_at, made.grace, made.calendar, made.retry_backoff) == (None, 600, None, "")
    assert (made.retry_base_delay, made.timeout_ms, made.on_lost) == (None, None, "")


def test_the_preview_names_what_daylight_saving_does(alice):
    rule = {"cron": "30 2 * * *", "timezone": "Europe/Berlin"}
    text = text_of(alice.post("/schedules/preview", FORM | rule))
    assert 'id="clock-changes"' in text
    assert "02:30 does not exist: it runs at" in text
    assert 'id="clock-changes"' not in text_of(alice.post("/schedules/preview", FORM))


def test_times_are_in_the_selected_zone(alice):
    schedule = of_alice(kind="once", at=timezone.now() + timedelta(days=400))
    before = schedule.at
    post_edit(alice, schedule, timezone="UTC")
    schedule.refresh_from_db()
    assert before is not None
    assert schedule.at == before.replace(microsecond=0) + timedelta(hours=9)


def test_a_masked_value_is_kept(alice):
    headers = {"Authorization": "Bearer abc", "X": "1"}
    args = {"method": "GET", "url": "https://a.example", "headers": headers}
    schedule = of_alice(task_id="http.request", args=args)
    texts = form_data(alice.get(f"/schedules/{schedule.id}/edit"))
    masked = json.loads(str(texts["args"]))
    masked["headers"]["X"] = "2"
    post_edit(alice, schedule, args=json.dumps(masked))
    schedule.refresh_from_db()
    assert schedule.args["headers"] == {"Authorization": "Bearer abc", "X": "2"}
    masked["headers"] = {"Cookie": masked["headers"]["Authorization"]}
    moved = post_edit(alice, schedule, args=json.dumps(masked))
    assert "Write the hidden value again" in field_error(moved, "args")


def test_a_refused_change_changes_nothing_and_keeps_the_input(alice):
    schedule = of_alice()
    answer = post_edit(alice, schedule, name="other", kind="cron", cron="nonsense")
    assert answer.status_code == 400
    assert 'value="nonsense"' in text_of(answer)
    schedule.refresh_from_db()
    assert (schedule.name, schedule.kind) == ("sums", "interval")


def test_the_preview_of_an_unchanged_rule_is_the_rule_itself(alice):
    start = timezone.now() - timedelta(seconds=1000)
    schedule = a_schedule(now=start, owner=a_user("alice"), every_seconds=3600)
    texts = form_data(alice.get(f"/schedules/{schedule.id}/edit"))
    page = alice.post(f"/schedules/{schedule.id}/preview", {**texts, "name": "other"})
    assert page.context["next"][0].at == schedule.next_run_at


# --- notifications -------------------------------------------------------------------------------------


def test_the_form_sets_and_clears_the_notifications(alice, office):
    notify = {"notify_after_failures": "3", "notify_after_missed": "2", "notify_office": str(office.id)}
    alice.post("/schedules/new", {**FORM, **notify})
    made = Schedule.objects.get()
    assert (made.notify_after_failures, made.notify_after_missed, made.notify_office) == (3, 2, office)
    page = alice.get(f"/schedules/{made.id}")
    assert "3 failed runs in a row, 2 missed runs · " in text_of(page)
    data = form_data(alice.get(f"/schedules/{made.id}/edit"))
    assert {name: str(data[name]) for name in notify} == notify
    alice.post(f"/schedules/{made.id}/edit", {**data, "notify_after_missed": "", "notify_office": ""})
    made.refresh_from_db()
    assert (made.notify_after_failures, made.notify_after_missed, made.notify_office) == (3, None, None)


def test_the_page_of_a_failing_schedule_says_so(alice):
    schedule = of_alice()
    Schedule.objects.filter(pk=schedule.pk).update(failing_since=timezone.now(), consecutive_failures=4)
    page = text_of(alice.get(f"/schedules/{schedule.id}"))
    assert "4 failed and 0 missed runs since the last success." in page


def test_the_preview_leaves_out_the_times_of_the_chosen_calendar(alice):
    days = [(timezone.localtime() + timedelta(days=number)).date().isoformat() for number in range(3)]
    holidays = calendars.create({"name": "h", "dates": days}, owner=a_user("alice"), now=timezone.now())
    daily = {**FORM, "cron": "0 9 * * *", "calendar": str(holidays.id)}
    page = text_of(alice.post("/schedules/preview", daily))
    assert not any(day in page for day in days)
    assert (timezone.localtime() + timedelta(days=3)).date().isoformat() in page
    theirs = calendars.create({"name": "h", "dates": days}, owner=a_user("bob"), now=timezone.now())
    assert days[-1] in text_of(alice.post("/schedules/preview", {**daily, "calendar": str(theirs.id)}))
