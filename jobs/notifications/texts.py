"""The words for an event in mail and chats: those of the pages."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils import timezone, translation
from django.utils.dateparse import parse_datetime
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext

from jobs import display
from jobs.states import EventType, JobStatus

MAX_ERROR = 500
TEST_TYPE = "test"
BAD = (
    *(EventType.JOB_FAILED, EventType.JOB_TIMEOUT),
    EventType.WORKFLOW_RUN_FAILED,
    EventType.SCHEDULE_FAILING,
)
GOOD = (EventType.JOB_COMPLETED, EventType.SCHEDULE_RECOVERED)


@dataclass(frozen=True)
class Summary:
    """An event for people who read it in a chat."""

    title: str
    lines: tuple[str, ...]
    error: str
    link: str
    link_text: str
    # Where and when it happened.
    context: str
    tone: str = ""


def summarize(body: dict[str, Any], office_name: str) -> Summary:
    """In the installation's language: there is no request, hence no reader's."""
    with translation.override(settings.LANGUAGE_CODE):
        tones = {**dict.fromkeys(BAD, "bad"), **dict.fromkeys(GOOD, "good")}
        return Summary(
            title=title_of(body),
            lines=tuple(_lines_of(body)),
            error=error_of(body["data"].get("details", {})),
            link=link_of(body),
            link_text=gettext("Open in Dure"),
            context=f"{single_line(office_name)} · {time_of(body)}",
            tone=tones.get(body["type"], ""),
        )


def title_of(body: dict[str, Any]) -> str:
    data, event = body["data"], body["type"]
    details = data.get("details", {})
    match event:
        case EventType.JOB_FAILED:
            return gettext("Job %(job)s has failed") % {"job": job_name(data)}
        case EventType.SCHEDULE_FAILING:
            return gettext("Schedule %(schedule)s is failing") % {"schedule": schedule_name(details)}
        case EventType.SCHEDULE_RECOVERED:
            return gettext("Schedule %(schedule)s has recovered") % {"schedule": schedule_name(details)}
        case EventType.BATCH_COMPLETED:
            name = data.get("batch_name") or _jobs_of(details)
        case EventType.WORKFLOW_RUN_FAILED:
            name = details["workflow"] or details["workflow_id"]
        case _ if event == TEST_TYPE:
            return gettext("Test message")
        case _:
            name = job_name(data)
    return single_line(f"{EventType(event).label}: {name}")


def _jobs_of(counts: dict[str, Any]) -> str:
    number = sum(counts.get(state) or 0 for state in JobStatus.values)
    return ngettext("%(count)s job", "%(count)s jobs", number) % {"count": f"{number:,}"}


def link_of(body: dict[str, Any]) -> str:
    data = body["data"]
    details, office = data.get("details", {}), f"/offices/{data['office_id']}"
    match body["type"]:
        case EventType.SCHEDULE_FAILING | EventType.SCHEDULE_RECOVERED:
            path = f"/schedules/{details['schedule_id']}"
        case EventType.WORKFLOW_RUN_FAILED:
            path = f"/workflows/{details['workflow_id']}/runs/{details['run_id']}"
        case EventType.BATCH_COMPLETED:
            path = f"{office}/batches/{data['batch_id']}"
        case event if event == TEST_TYPE:
            path = f"{office}/webhooks/{data['webhook_id']}"
        case _:
            path = f"{office}/jobs/{data['job_id']}"
    return f"{settings.BASE_URL}{path}"


def _lines_of(body: dict[str, Any]) -> list[str]:
    data, event = body["data"], body["type"]
    details = data.get("details", {})
    if event == EventType.SCHEDULE_FAILING:
        return [failures_of(details)]
    if event == EventType.BATCH_COMPLETED:
        counts = ((state, details.get(state)) for state in JobStatus.values)
        return [" · ".join(f"{display.STATE_LABELS[state].name} {n}" for state, n in counts if n)]
    named = {name: value for name, value in details.items() if name != "error"}
    lines = [single_line(f"{name}: {value}") for name, value in display.event_details(named)]
    if event == EventType.JOB_FAILED and (remedy := remedy_of(details)):
        lines.append(remedy)
    return lines


def failures_of(details: dict[str, Any]) -> str:
    counts = {"failures": details["failures"], "missed": details["missed"]}
    return gettext("Since its last success: %(failures)s failed, %(missed)s missed.") % counts


def remedy_of(details: dict[str, Any]) -> str:
    """What to do about it; empty where another attempt may help."""
    return str(display.REMEDIES.get(details.get("failure_type") or "", ""))


def error_of(details: dict[str, Any]) -> str:
    return str(details.get("error") or "").strip()[:MAX_ERROR]


def time_of(body: dict[str, Any]) -> str:
    at = parse_datetime(str(body["timestamp"]))
    return date_format(timezone.localtime(at), "DATETIME_FORMAT") if at else ""


def schedule_name(details: dict[str, Any]) -> str:
    return single_line(f"{details['schedule']} ({details['task_id']})")


def job_name(data: dict[str, Any]) -> str:
    """The ref that its owner gave it, and its task."""
    ref, task_id = data.get("ref") or data["job_id"], data.get("task_id")
    return single_line(f"{ref} ({task_id})" if task_id else str(ref))


def single_line(text: str) -> str:
    """Keeps a name from breaking out of a header."""
    return " ".join(text.split())
