"""The pages of calendars: the list, the form, and who may change one."""

import pytest

from scheduler.models import Calendar
from scheduler.schedules import calendars
from tests.factories import a_user
from tests.integration.pages.clients import field_error, sign_in, text_of
from tests.integration.pages.schedule_pages import of_alice
from tests.schedule_factories import T0

pytestmark = pytest.mark.django_db
FORM = {
    "name": "holidays",
    "dates": "2027-01-01, 2026-12-25\n",
    "windows": "2026-12-05 01:00 ~ 2026-12-05 03:00\n",
    "timezone": "America/New_York",
}


@pytest.fixture
def calendar():
    return calendars.create({"name": "holidays", "dates": ["2026-12-25"]}, owner=a_user("alice"), now=T0)


def test_the_form_creates_a_calendar_by_the_clock_of_its_zone_and_changes_it(alice):
    answer = alice.post("/calendars/new", FORM)
    made = Calendar.objects.get()
    assert answer["Location"] == f"/calendars/{made.id}"
    assert (made.owner, made.dates) == (a_user("alice"), ["2026-12-25", "2027-01-01"])
    assert made.windows == [
        {"starts_at": "2026-12-05T06:00:00+00:00", "ends_at": "2026-12-05T08:00:00+00:00"}
    ]
    page = alice.get(f"/calendars/{made.id}")
    assert page.context["form"]["windows"].value() == "2026-12-05 01:00 ~ 2026-12-05 03:00"
    alice.post(f"/calendars/{made.id}", {**FORM, "name": "closed", "dates": "", "windows": ""})
    made.refresh_from_db()
    assert (made.name, made.dates, made.windows) == ("closed", [], [])
    assert "closed" in text_of(alice.get("/calendars"))


@pytest.mark.parametrize(
    ("change", "field", "message", "korean_message"),
    [
        ({"name": ""}, "name", "This field is required.", "필수 항목"),
        ({"dates": "2026-02-30"}, "dates", "Must be dates", "날짜"),
        ({"windows": "tonight"}, "windows", "Write each window like", "형식으로 쓰세요"),
        (
            {"windows": "2026-12-05 03:00 ~ 2026-12-05 01:00"},
            "windows",
            "A window must end after its start.",
            "끝",
        ),
        ({"windows": "2026-13-05 03:00 ~ 2026-12-05 01:00"}, "windows", "Enter a time", "시각을 입력"),
        ({"timezone": "Mars"}, "timezone", "'Mars' is not a time zone", "시간대는 없습니다"),
    ],
)
def test_a_refusal_is_beside_its_field_and_writes_nothing(alice, change, field, message, korean_message):
    refused = alice.post("/calendars/new", {**FORM, **change})
    assert refused.status_code == 400
    assert message in field_error(refused, field)
    korean = sign_in(language="ko").post("/calendars/new", {**FORM, **change})
    assert korean_message in field_error(korean, field)
    assert not Calendar.objects.exists()


def test_a_calendar_that_a_schedule_uses_is_named_there_and_not_deleted(alice, calendar):
    schedule = of_alice(calendar=calendar.id)
    path = f"/calendars/{calendar.id}"
    assert f'href="{path}"' in text_of(alice.get(f"/schedules/{schedule.id}"))
    assert "Delete calendar" not in text_of(alice.get(path))
    alice.post(f"{path}/delete")
    assert Calendar.objects.exists()
    schedule.delete()
    assert alice.post(f"{path}/delete")["Location"] == "/calendars"
    assert not Calendar.objects.exists()


def test_the_calendars_of_others_are_not_listed_and_staff_only_read_them(calendar):
    path, staff = f"/calendars/{calendar.id}", sign_in("staff", is_staff=True)
    assert "holidays" not in text_of(sign_in("bob").get("/calendars"))
    assert staff.get(path).status_code == 200
    assert (staff.post(path, FORM).status_code, staff.post(f"{path}/delete").status_code) == (403, 403)
    calendar.refresh_from_db()
    assert calendar.dates == ["2026-12-25"]
