"""Writes the mail about jobs that have failed for good, and hands it to Django's mail backend."""

import json
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.utils import timezone, translation
from django.utils.dateparse import parse_datetime
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext

LISTED = 50
LONGEST_ERROR = 500


def send_failures(address: str, office_name: str, bodies: Sequence[str], count: int) -> None:
    """One mail about `count` failures, of which the first are told. Raises what the mail backend raises."""
    # Nobody asks here, so there is no reader's language: the installation's.
    with translation.override(settings.LANGUAGE_CODE):
        message = EmailMessage(
            subject=subject(office_name, bodies, count),
            body=text(office_name, bodies, count),
            to=[address],
            # Nobody's out-of-office assistant shall answer this.
            headers={"Auto-Submitted": "auto-generated"},
        )
        message.send()


def subject(office_name: str, bodies: Sequence[str], count: int) -> str:
    if count == 1:
        said = gettext("Job %(job)s has failed") % {"job": name_of(json.loads(bodies[0])["data"])}
    else:
        said = ngettext("%(count)s job has failed", "%(count)s jobs have failed", count) % {"count": count}
    return on_one_line(f"[Dure] {office_name}: {said}")[:200]


def text(office_name: str, bodies: Sequence[str], count: int) -> str:
    parts = [gettext("These jobs of %(office)s will not be tried again:") % {"office": office_name}]
    parts += [failure(json.loads(body)) for body in bodies[:LISTED]]
    if (rest := count - min(len(bodies), LISTED)) > 0:
        parts.append(ngettext("and %(count)s more.", "and %(count)s more.", rest) % {"count": rest})
    return "\n\n".join(parts) + "\n"


def failure(body: dict[str, Any]) -> str:
    data = body["data"]
    at = parse_datetime(str(body["timestamp"]))
    when = date_format(timezone.localtime(at), "DATETIME_FORMAT") if at else ""
    details = data["details"]
    error = str(details.get("error") or "").strip()[:LONGEST_ERROR]
    lines = [
        f"{name_of(data)} · {details.get('failure_type') or ''} · {when}",
        *(f"  {line}" for line in error.splitlines()),
        f"  {address_of(data)}",
    ]
    return "\n".join(lines)


def name_of(data: dict[str, Any]) -> str:
    """As people call it: by the ref they gave, and what it runs."""
    ref, task_id = data.get("ref") or data["job_id"], data.get("task_id")
    return on_one_line(f"{ref} ({task_id})" if task_id else str(ref))


def address_of(data: dict[str, Any]) -> str:
    return f"{settings.BASE_URL}/offices/{data['office_id']}/jobs/{data['job_id']}"


def on_one_line(words: str) -> str:
    """A header cannot be broken out of by a name."""
    return " ".join(words.split())
