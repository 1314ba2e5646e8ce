"""The labels and durations of the admin."""

import re

import pytest
from django.contrib import admin
from django.contrib.auth import get_user
from django.test import RequestFactory
from django.utils import timezone, translation

from jobs.models import Office, TaskLimit
from scheduler.models import Minute, Schedule
from tests.factories import an_office
from tests.integration.admin.action_form import address
from tests.integration.admin.test_forms import form_of, staff
from tests.schedule_factories import a_schedule

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("language", ["en", "ko"])
def test_every_label_of_a_form_begins_with_a_capital_letter(root, language):
    request = RequestFactory().get("/")
    request.user = get_user(root)
    with translation.override(language):
        labels = {
            (model.__name__, str(field.label))
            for model, site in admin.site._registry.items()
            if site.has_add_permission(request)
            for field in site.get_form(request, None).base_fields.values()
        }
    assert len(labels) > 30
    assert [label for label in labels if re.match("[a-z]", label[1])] == []


def test_durations_are_shown_as_such(root):
    Minute.objects.create(minute=timezone.now(), done=1, failed=0, wait_ms=400, run_ms=65_000)
    text = root.get(address(Minute)).content.decode()
    assert "0.4s" in text and "1:05" in text and "65000" not in text
    TaskLimit.objects.create(task_id="demo.sum", max_starts=10, period="60")
    assert "1:00</td>" in root.get(address(TaskLimit)).content.decode()


def test_the_time_limits_of_an_office_are_edited_in_seconds(root):
    office = an_office(default_timeout_by_role={"QA": 1_500})
    change = address(Office, "change", office.pk)
    values = form_of(root.get(change))
    assert (values["default_timeout_ms"], values["default_timeout_by_role"]) == ("1800", '{"QA": 1.5}')
    edited = values | {"default_timeout_ms": "0.25", "default_timeout_by_role": '{"QA": 2, "FE": 0.5}'}
    assert root.post(change, edited).status_code == 302
    office.refresh_from_db()
    assert office.default_timeout_ms == 250
    assert office.default_timeout_by_role == {"QA": 2_000, "FE": 500}
    assert office.retry_base_delay_ms == 60_000
    refused = root.post(change, edited | {"default_timeout_by_role": '{"QA": "long"}'})
    assert refused.status_code == 200
    assert "QA" in refused.content.decode()


def test_staff_who_may_only_view_read_durations(root):
    office = an_office(default_timeout_by_role={"QA": 90_000})
    schedule = a_schedule(timeout_ms=125_000)
    viewer = staff("vera", "view_office", "view_schedule")
    text = viewer.get(address(Office, "change", office.pk)).content.decode()
    assert "30:00" in text and "QA 1:30" in text and "1800000" not in text
    text = viewer.get(address(Schedule, "change", schedule.pk)).content.decode()
    assert "2:05" in text and "125000" not in text
