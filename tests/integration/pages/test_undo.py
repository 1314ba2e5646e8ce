"""Undo: what was deleted on a page comes back exactly, once, and for who deleted it."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from jobs import deletions
from jobs.models import Deletion
from scheduler import retention
from scheduler.models import Calendar, SavedView, Schedule
from scheduler.schedules import calendars
from scheduler.schedules import lifecycle as schedules
from tests.factories import a_user, an_office
from tests.integration.pages.clients import sign_in, text_of
from tests.schedule_factories import T0, a_schedule

pytestmark = pytest.mark.django_db


def a_calendar(**fields) -> Calendar:
    values = {"name": "holidays", "dates": ["2030-01-01"], **fields}
    return calendars.create(values, owner=a_user("alice"), now=T0)


def fields_of(row) -> dict[str, Any]:
    """All fields, those that no form changes too."""
    return {field.attname: field.value_from_object(row) for field in row._meta.concrete_fields}


def delete(client, address: str) -> str:
    """Deletes on a page; the address of the button in the notice."""
    answer = client.post(address, follow=True)
    button = re.search(r'action="(/undo/[0-9a-f-]+)"', text_of(answer))
    assert button, text_of(answer)
    return button[1]


def test_a_schedule_comes_back_with_its_calendar_its_office_and_its_next_run(alice):
    owner = a_user("alice")
    office, calendar = an_office(owner), a_calendar()
    schedule = a_schedule(
        owner=owner,
        calendar=calendar.id,
        notify_office=office.id,
        notify_after_failures=2,
        args={"numbers": [7]},
    )
    before = fields_of(Schedule.objects.get())
    undo = delete(alice, f"/schedules/{schedule.id}/delete")
    assert not Schedule.objects.exists()
    answer = alice.post(undo)
    assert answer["Location"] == f"/schedules/{schedule.id}"
    now = fields_of(Schedule.objects.get())
    assert now | {"updated_at": None} == before | {"updated_at": None}
    acts = list(owner.activity.order_by("id").values_list("act", "surface"))
    assert acts == [("schedule_deleted", "page"), ("schedule_restored", "page")]


def test_a_calendar_and_a_view_come_back_exactly(alice):
    calendar = a_calendar(windows=[{"starts_at": "2030-01-02T01:00:00Z", "ends_at": "2030-01-02T03:00:00Z"}])
    view = SavedView.objects.create(user=a_user("alice"), name="broken", query="q=disk&state=failed")
    before = [fields_of(row) for row in (Calendar.objects.get(), view)]
    undo = [delete(alice, f"/calendars/{calendar.id}/delete"), delete(alice, f"/runs/views/{view.id}/delete")]
    assert not Calendar.objects.exists()
    assert not SavedView.objects.exists()
    assert [alice.post(each)["Location"] for each in undo] == [
        f"/calendars/{calendar.id}",
        "/runs?q=disk&state=failed",
    ]
    assert [fields_of(Calendar.objects.get()), fields_of(SavedView.objects.get())] == before


def test_a_deletion_is_undone_once(alice):
    schedule = a_schedule(owner=a_user("alice"))
    undo = delete(alice, f"/schedules/{schedule.id}/delete")
    assert alice.post(undo).status_code == 302
    schedules.pause(schedule.id, now=T0)
    again = alice.post(undo)
    assert again.status_code == 409
    assert "restored already" in text_of(again)
    assert "이미 복원" in text_of(sign_in("alice", "ko").post(undo))
    assert not Schedule.objects.get().enabled


def test_an_undo_that_no_longer_fits_is_refused_and_changes_nothing(alice):
    owner, calendar = a_user("alice"), a_calendar()
    schedule = a_schedule(owner=owner, calendar=calendar.id)
    view = SavedView.objects.create(user=owner, name="broken")
    undo = [delete(alice, f"/schedules/{schedule.id}/delete"), delete(alice, f"/runs/views/{view.id}/delete")]
    calendars.remove(calendar.id, now=T0)
    SavedView.objects.create(user=owner, name="broken", query="other")
    for each in undo:
        answer = alice.post(each)
        assert answer.status_code == 409
        assert "cannot be restored as it was" in text_of(answer)
    assert not Schedule.objects.exists()
    assert SavedView.objects.get().query == "other"
    assert not Deletion.objects.exclude(undone_at=None).exists()
    assert "schedule_restored" not in owner.activity.values_list("act", flat=True)


def test_only_who_deleted_it_may_undo_it_and_only_by_a_post(alice):
    schedule = a_schedule(owner=a_user("alice"))
    undo = delete(alice, f"/schedules/{schedule.id}/delete")
    assert sign_in("bob").post(undo).status_code == 404
    assert sign_in("root", is_staff=True, is_superuser=True).post(undo).status_code == 404
    assert alice.get(undo).status_code == 405
    assert not Schedule.objects.exists()


def test_a_deletion_by_the_api_is_not_kept_and_old_ones_are_deleted(alice):
    owner = a_user("alice")
    schedules.remove(a_schedule(owner=owner).id, now=T0)
    assert not Deletion.objects.exists()
    delete(alice, f"/schedules/{a_schedule(owner=owner).id}/delete")
    now = timezone.now()
    for hours, number in ((-1, 0), (1, 1)):
        later = now + deletions.KEPT + timedelta(hours=hours)
        assert retention.delete_old(later).deleted["deletions"] == number
