"""Writes the mail about jobs that have failed finally and schedules that fail, and sends it by Django."""

import json
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.utils import timezone, translation
from django.utils.dateparse import parse_datetime
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext

from jobs.display import REMEDIES
from jobs.states import EventType

MAX_LISTED = 50
MAX_ERROR = 500


def send_failures(address: str, office_name: str, bodies: Sequence[str], count: int) -> None:
    """Send one mail about `count` events, the first of which are described by `bodies`.

    Raises what the mail backend raises.
    """
    # There is no request, hence no reader's language: the mail uses the installation's.
    with translation.override(settings.LANGUAGE_CODE):
        message = EmailMessage(
            subject=subject(office_name, bodies, count),
            body=text(office_name, bodies, count),
            to=[address],
            # Keeps out-of-office assistants from answering.
            headers={"Auto-Submitted": "auto-generated"},
        )
        message.send()


def subject(office_name: str, bodies: Sequence[str], count: int) -> str:
    read = [json.loads(body) for body in bodies]
    if count == 1:
        title = title_of(read[0])
    elif all(body["type"] == EventType.JOB_FAILED for body in read):
        title = ngettext("%(count)s job has failed", "%(count)s jobs have failed", count) % {"count": count}
    else:
        title = ngettext("%(count)s alert", "%(count)s alerts", count) % {"count": count}
    return single_line(f"[Dure] {office_name}: {title}")[:200]


def text(office_name: str, bodies: Sequence[str], count: int) -> str:
    read = [json.loads(body) for body in bodies[:MAX_LISTED]]
    jobs = [failure(body) for body in read if body["type"] == EventType.JOB_FAILED]
    schedules = [schedule_change(body) for body in read if body["type"] != EventType.JOB_FAILED]
    parts = []
    if jobs:
        parts += [gettext("These jobs of %(office)s will not be tried again:") % {"office": office_name}]
    parts += [*jobs, *schedules]
    if (rest := count - min(len(bodies), MAX_LISTED)) > 0:
        parts.append(ngettext("and %(count)s more.", "and %(count)s more.", rest) % {"count": rest})
    return "\n\n".join(parts) + "\n"


def title_of(body: dict[str, Any]) -> str:
    data = body["data"]
    if body["type"] == EventType.JOB_FAILED:
        return gettext("Job %(job)s has failed") % {"job": job_name(data)}
    names = {"schedule": schedule_name(data["details"])}
    if body["type"] == EventType.SCHEDULE_FAILING:
        return gettext("Schedule %(schedule)s is failing") % names
    return gettext("Schedule %(schedule)s has recovered") % names


def schedule_change(body: dict[str, Any]) -> str:
    details = body["data"]["details"]
    lines = [f"{title_of(body)} · {time_of(body)}"]
    if body["type"] == EventType.SCHEDULE_FAILING:
        counts = {"failures": details["failures"], "missed": details["missed"]}
        lines.append(
            "  " + gettext("Since its last success: %(failures)s failed, %(missed)s missed.") % counts
        )
    lines += error_lines(details)
    return "\n".join([*lines, f"  {settings.BASE_URL}/schedules/{details['schedule_id']}"])


def failure(body: dict[str, Any]) -> str:
    data = body["data"]
    details = data["details"]
    lines = [
        f"{job_name(data)} · {details.get('failure_type') or ''} · {time_of(body)}",
        *error_lines(details),
        *([f"  {remedy}"] if (remedy := REMEDIES.get(details.get("failure_type") or "")) else []),
        f"  {settings.BASE_URL}/offices/{data['office_id']}/jobs/{data['job_id']}",
    ]
    return "\n".join(lines)


def time_of(body: dict[str, Any]) -> str:
    at = parse_datetime(str(body["timestamp"]))
    return date_format(timezone.localtime(at), "DATETIME_FORMAT") if at else ""


def error_lines(details: dict[str, Any]) -> list[str]:
    error = str(details.get("error") or "").strip()[:MAX_ERROR]
    return [f"  {line}" for line in error.splitlines()]


def schedule_name(details: dict[str, Any]) -> str:
    return single_line(f"{details['schedule']} ({details['task_id']})")


def job_name(data: dict[str, Any]) -> str:
    """The ref that its owner gave it, and its task."""
    ref, task_id = data.get("ref") or data["job_id"], data.get("task_id")
    return single_line(f"{ref} ({task_id})" if task_id else str(ref))


def single_line(text: str) -> str:
    """Keeps a name from breaking out of a header."""
    return " ".join(text.split())
