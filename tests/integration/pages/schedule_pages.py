"""Helpers of the tests of schedule pages: a completed form, and alice's schedules."""

from django.utils import timezone

from scheduler.models import Schedule
from tests.factories import a_user
from tests.schedule_factories import a_schedule

FORM = {
    "name": "nightly",
    "task_id": "demo.sum",
    "args": '{"numbers": [1, 2]}',
    "kind": "cron",
    "cron": "0 9 * * MON-FRI",
    "every": "",
    "unit": "minutes",
    "at": "",
    "timezone": "Asia/Seoul",
    "starts_at": "",
    "ends_at": "",
    "overlap": "skip",
    "catch_up": "latest",
    "grace": "60",
    "max_retries": "3",
    "enabled": "on",
}


def form_data(page) -> dict[str, object]:
    """The values that a browser would post of the form on this page."""
    values = {field.name: field.value() for field in page.context["form"]}
    return {name: value for name, value in values.items() if value is not False and value not in (None, "")}


def of_alice(**fields) -> Schedule:
    return a_schedule(now=timezone.now(), owner=a_user("alice"), **fields)
