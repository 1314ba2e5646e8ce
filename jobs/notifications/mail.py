"""Writes the mail about jobs that have failed finally, and passes it to Django's mail backend."""

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

MAX_LISTED = 50
MAX_ERROR = 500


def send_failures(address: str, office_name: str, bodies: Sequence[str], count: int) -> None:
    """Send one mail about `count` failures, the first of which are described by `bodies`.

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
    if count == 1:
        title = gettext("Job %(job)s has failed") % {"job": job_name(json.loads(bodies[0])["data"])}
    else:
        title = ngettext("%(count)s job has failed", "%(count)s jobs have failed", count) % {"count": count}
    return single_line(f"[Dure] {office_name}: {title}")[:200]


def text(office_name: str, bodies: Sequence[str], count: int) -> str:
    parts = [gettext("These jobs of %(office)s will not be tried again:") % {"office": office_name}]
    parts += [failure(json.loads(body)) for body in bodies[:MAX_LISTED]]
    if (rest := count - min(len(bodies), MAX_LISTED)) > 0:
        parts.append(ngettext("and %(count)s more.", "and %(count)s more.", rest) % {"count": rest})
    return "\n\n".join(parts) + "\n"


def failure(body: dict[str, Any]) -> str:
    data = body["data"]
    at = parse_datetime(str(body["timestamp"]))
    when = date_format(timezone.localtime(at), "DATETIME_FORMAT") if at else ""
    details = data["details"]
    error = str(details.get("error") or "").strip()[:MAX_ERROR]
    lines = [
        f"{job_name(data)} · {details.get('failure_type') or ''} · {when}",
        *(f"  {line}" for line in error.splitlines()),
        *([f"  {remedy}"] if (remedy := REMEDIES.get(details.get("failure_type") or "")) else []),
        f"  {settings.BASE_URL}/offices/{data['office_id']}/jobs/{data['job_id']}",
    ]
    return "\n".join(lines)


def job_name(data: dict[str, Any]) -> str:
    """The ref that its owner gave it, and its task."""
    ref, task_id = data.get("ref") or data["job_id"], data.get("task_id")
    return single_line(f"{ref} ({task_id})" if task_id else str(ref))


def single_line(text: str) -> str:
    """Keeps a name from breaking out of a header."""
    return " ".join(text.split())
