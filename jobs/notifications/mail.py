"""Writes the mail about jobs that have failed finally and schedules that fail, and sends it by Django."""

import json
from collections.abc import Sequence

from django.conf import settings
from django.core.mail import EmailMessage
from django.utils import translation
from django.utils.translation import gettext, ngettext

from jobs.api_model import JSON
from jobs.notifications.texts import (
    error_of,
    failures_of,
    job_name,
    link_of,
    remedy_of,
    single_line,
    time_of,
    title_of,
)
from jobs.states import EventType

MAX_LISTED = 50


def send_failures(address: str, office_name: str, bodies: Sequence[str], count: int) -> None:
    """Send one mail about `count` events, the first MAX_LISTED of which are described by `bodies`.

    Raises what the mail backend raises.
    """
    listed = [json.loads(body) for body in bodies]
    # There is no request, hence no reader's language: the mail uses the installation's.
    with translation.override(settings.LANGUAGE_CODE):
        message = EmailMessage(
            subject=subject(office_name, listed, count),
            body=text(office_name, listed, count),
            to=[address],
            # Keeps out-of-office assistants from answering.
            headers={"Auto-Submitted": "auto-generated"},
        )
        message.send()


def subject(office_name: str, listed: Sequence[JSON], count: int) -> str:
    if count == 1:
        title = title_of(listed[0])
    elif all(body["type"] == EventType.JOB_FAILED for body in listed):
        title = ngettext("%(count)s job has failed", "%(count)s jobs have failed", count) % {"count": count}
    else:
        title = ngettext("%(count)s alert", "%(count)s alerts", count) % {"count": count}
    return single_line(f"[Dure] {office_name}: {title}")[:200]


def text(office_name: str, listed: Sequence[JSON], count: int) -> str:
    jobs = [failure(body) for body in listed if body["type"] == EventType.JOB_FAILED]
    schedules = [schedule_change(body) for body in listed if body["type"] != EventType.JOB_FAILED]
    parts = []
    if jobs:
        parts += [gettext("These jobs of %(office)s will not be tried again:") % {"office": office_name}]
    parts += [*jobs, *schedules]
    if (rest := count - len(listed)) > 0:
        parts.append(ngettext("and %(count)s more.", "and %(count)s more.", rest) % {"count": rest})
    return "\n\n".join(parts) + "\n"


def schedule_change(body: JSON) -> str:
    details = body["data"]["details"]
    lines = [f"{title_of(body)} · {time_of(body)}"]
    if body["type"] == EventType.SCHEDULE_FAILING:
        lines.append(f"  {failures_of(details)}")
    return "\n".join([*lines, *error_lines(details), f"  {link_of(body)}"])


def failure(body: JSON) -> str:
    data = body["data"]
    details = data["details"]
    lines = [
        f"{job_name(data)} · {details.get('failure_type') or ''} · {time_of(body)}",
        *error_lines(details),
        *([f"  {remedy}"] if (remedy := remedy_of(details)) else []),
        f"  {link_of(body)}",
    ]
    return "\n".join(lines)


def error_lines(details: JSON) -> list[str]:
    return [f"  {line}" for line in error_of(details).splitlines()]
