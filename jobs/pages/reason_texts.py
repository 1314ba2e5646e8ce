"""The reasons that `explain` finds, in the user's language: its own messages are the API's English."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from jobs.display import REMEDIES, Text, local_time
from jobs.insight.reasons import Code, Reason, Why

SENTENCES: dict[Code, Text] = {
    Code.DEPENDENCY_FAILED: _("Failed or cancelled dependencies: %(jobs)s. Retry them, or cancel this job."),
    Code.DEPENDENCIES_UNFINISHED: _("Waiting for %(jobs)s."),
    Code.RETRY_BACKOFF: _("Next attempt at %(until)s (retry %(retry_count)s of %(max_retries)s)."),
    Code.SCHEDULED: _("Scheduled for %(until)s."),
    Code.OFFICE_PAUSED: _("The office is paused: no new runs start."),
    Code.QUEUE_PAUSED: _("%(by)s paused the queue %(role)s at %(since)s. %(why)s"),
    Code.EXCLUSIVE_RUNNING: _("The Task %(task_id)s has one run at a time in an office: %(jobs)s is first."),
    Code.RATE_LIMITED: _(
        "The Task %(task_id)s has %(limit)s starts in %(seconds)s s at most; the next one is possible at "
        "%(until)s."
    ),
    Code.NO_WORKER_FOR_ROLE: _("No online worker serves the role %(role)s."),
    Code.NO_WORKER_FOR_TASK: _("No online worker of the role %(role)s has the Task %(task_id)s."),
    Code.OFFICE_LIMIT: _("%(running)s jobs are running; the office allows %(limit)s."),
    Code.ROLE_LIMIT: _("%(running)s jobs of the role %(role)s are running; the office allows %(limit)s."),
    Code.WAITING_FOR_WORKER: _("Sent to workers at %(since)s; not picked up yet."),
    Code.QUEUE_TIMEOUT: _("Fails unless it has started by %(until)s."),
    Code.RUNNING: _("Running on %(worker)s (lease until %(lease_until)s)."),
}
NO_JOBS_OF_ROLE: Text = _("The office allows no jobs of the role %(role)s: its limit is 0.")
LIMITS = (Code.OFFICE_LIMIT, Code.ROLE_LIMIT, Code.OFFICE_PAUSED)
NAMED = 3


def sentence(reason: Reason) -> str:
    if reason.code == Code.NOT_RETRIED:
        remedy = REMEDIES.get(reason.facts["failure_type"], "")
        return f"{Why(reason.facts['why']).label} {remedy}".strip()
    facts = {name: _fact(value) for name, value in reason.facts.items()}
    none_allowed = reason.code == Code.ROLE_LIMIT and reason.facts["limit"] == 0
    text = (str(NO_JOBS_OF_ROLE if none_allowed else SENTENCES[reason.code]) % facts).strip()
    if reason.facts.get("cancelling"):
        text += " " + gettext("Cancellation requested.")
    return text


def start_worker(reasons: Iterable[Reason]) -> str:
    """The command that starts the worker for which the job waits, if any."""
    roles = [reason.facts["role"] for reason in reasons if reason.code == Code.NO_WORKER_FOR_ROLE]
    return f"celery -A config worker -Q {roles[0]}" if roles else ""


def _fact(value: Any) -> Any:
    if isinstance(value, datetime):
        return local_time(value)
    if not isinstance(value, list):
        return value
    names = ", ".join(str(job["ref"] or job["id"][-8:]) for job in value[:NAMED])
    rest = len(value) - NAMED
    return names if rest <= 0 else gettext("%(names)s and %(rest)s more") % {"names": names, "rest": rest}
