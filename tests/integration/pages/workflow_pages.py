"""Helpers of the tests of workflow pages: a completed form, and workflows of an office."""

import json

from django.utils import timezone

from scheduler.models import Workflow
from tests.schedule_factories import a_step, a_workflow

STEPS = [a_step("load"), a_step("send", "load")]
FORM = {
    "name": "report",
    "status": "active",
    "steps": json.dumps(STEPS),
    "max_run_retries": "1",
    "mode": "recurring",
    "delay": "",
    "unit": "minutes",
    "at": "",
    "pattern": "daily",
    "time": "09:00",
    "day_of_month": "1",
    "timezone": "Asia/Seoul",
}


def made(office, **fields) -> Workflow:
    return a_workflow(office, now=timezone.now(), **fields)


def seen_pages(workflow: Workflow) -> list[str]:
    return [f"/workflows/{workflow.id}", f"/workflows/{workflow.id}/live"]
