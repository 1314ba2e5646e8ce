"""Template filters that show states, times, durations and JSON."""

import json
from datetime import datetime
from typing import Any

from django import template
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from dure.roles import is_role
from jobs import display, texts
from jobs.insight.progress import effective_state
from jobs.masks import mask_secrets
from jobs.models import Execution, Job
from jobs.pages.batch_view import BatchView
from jobs.pages.graph_drawing import shorten_detail
from jobs.pages.graph_groups import Group
from jobs.pages.time_input import TimeInput
from jobs.states import EventType, ExecutionStatus, JobStatus, MemberRole

register = template.Library()
register.filter("details", display.event_details)
register.filter("duration", display.duration)
register.filter("local", display.local_time)
register.filter("printable", texts.printable)
register.filter("short", texts.short_id)

# A value may have 256 KiB: a page that refreshes every few seconds shows its beginning.
MOST_CHARACTERS, LINE_CHARACTERS = 20_000, 600
# What a row of a list shows of a long text, and what it shows when it is opened.
CLIPPED, MOST_CLIPPED = 160, 4_000
MINUTES_OF_A_DAY = 24 * 60


@register.filter
def state(status: Any) -> SafeString:
    """A word, a sign and a colour: none of them alone."""
    return badge(display.state_label(status))


@register.filter
def job_state(job: Job) -> SafeString:
    """The state of a job, whose run is loaded with it."""
    return state(effective(job))


@register.filter
def effective(job: Job) -> str:
    """The name of this state in code."""
    return effective_state(job.status, claimed=job.is_claimed)


@register.filter
def run_state(run: Execution) -> SafeString:
    """The state of an Execution; one that was sent and that no worker has claimed is queued."""
    sent = run.status == ExecutionStatus.PENDING and run.dispatched_at is not None
    return state(JobStatus.READY if sent else run.status)


@register.filter
def outcome(value: Any) -> SafeString:
    """How an attempt has ended; without an outcome it runs."""
    if not value:
        return state(ExecutionStatus.RUNNING)
    return badge(display.OUTCOME_LABELS.get(str(value)) or display.Label(str(value)))


@register.filter
def badge(label: display.Label) -> SafeString:
    return format_html(
        '<span class="state tone-{}"><i aria-hidden="true">{}</i>{}</span>',
        label.tone,
        label.sign,
        label.name,
    )


@register.filter
def tone(status: Any) -> str:
    return f"tone-{display.state_label(status).tone}"


@register.filter
def sign(status: Any) -> str:
    return display.state_label(status).sign


@register.filter
def state_name(status: Any) -> display.Text:
    return display.state_label(status).name


@register.filter
def failure(value: str) -> display.Text:
    return display.FAILURE_NAMES.get(value, value)


@register.filter
def event_name(value: str) -> display.Text:
    return dict(EventType.choices).get(value, value)


@register.filter
def act_details(details: dict[str, Any]) -> list[tuple[str, str]]:
    """The details of an act, each as a text."""
    return [
        (name, ", ".join(map(str, value)) if isinstance(value, list) else str(value))
        for name, value in details.items()
    ]


@register.filter
def member(value: str) -> display.Text:
    return dict(MemberRole.choices).get(value, value)


@register.filter
def moment(value: datetime | str | None) -> SafeString | str:
    """The local time; the exact one and its zone on hover."""
    at = _datetime(value)
    return _time(at, display.local_time(at)) if at else "–"


@register.filter
def ago(value: datetime | str | None) -> SafeString | str:
    """How long ago it was, within a day; the exact time and its zone on hover."""
    at = _datetime(value)
    if at is None:
        return "–"
    minutes = int((timezone.now() - at).total_seconds() // 60)
    if not 0 <= minutes < MINUTES_OF_A_DAY:
        return _time(at, display.local_time(at))
    if minutes >= 60:
        text = gettext("%(count)s h ago") % {"count": minutes // 60}
    else:
        text = gettext("%(count)s min ago") % {"count": minutes} if minutes else gettext("just now")
    return _time(at, text)


def _time(at: datetime, text: str) -> SafeString:
    exact = f"{display.local_time(at)} {timezone.localtime(at):%Z} ({timezone.get_current_timezone_name()})"
    return format_html('<time datetime="{}" title="{}">{}</time>', at.isoformat(), exact, text)


@register.filter
def clock(value: datetime) -> SafeString:
    """The time of day alone, for an axis; the exact time and its zone on hover."""
    return _time(value, f"{timezone.localtime(value):%H:%M:%S}")


@register.filter
def since(value: datetime | str | None) -> SafeString | str:
    """The time since then: static/live.js counts on."""
    at = _datetime(value)
    if at is None:
        return "–"
    elapsed = display.duration((timezone.now() - at).total_seconds())
    return format_html('<time data-since="{}">{}</time>', at.isoformat(), elapsed)


@register.filter
def number(value: int) -> str:
    return f"{value:,}"


@register.simple_tag
def duration_between(start: datetime | str | None, end: datetime | str | None) -> str:
    first, last = _datetime(start), _datetime(end)
    return display.duration((last - first).total_seconds()) if first and last else "–"


@register.simple_tag
def box_detail(*parts: Any) -> str:
    """The second line of a box in a drawing, cut to its width."""
    return shorten_detail(" · ".join(str(part) for part in parts if part))


@register.simple_tag
def group_query(view: BatchView, kind: str, key: str) -> str:
    """The address of a batch's page with this group open, or with none."""
    return view.with_open(kind, key).query


@register.filter
def group_counts(group: Group) -> str:
    """How many of its jobs are in which state, in words."""
    return ", ".join(f"{display.state_label(part.state).name} {part.number:,}" for part in group.bar)


@register.filter
def as_json(value: Any) -> str:
    """JSON for people: not more than a page of it, and without its secrets."""
    return _shorten(json.dumps(mask_secrets(value), ensure_ascii=False, indent=2), MOST_CHARACTERS)


@register.filter
def as_line(value: Any) -> str:
    """The same on a few lines, for a row of a list."""
    return _shorten(json.dumps(mask_secrets(value), ensure_ascii=False), LINE_CHARACTERS)


@register.filter
def clip(text: Any, most: int = CLIPPED) -> SafeString | str:
    """A long text for a row of a list: its beginning, which opens the rest."""
    whole = str(text or "")
    if len(whole) <= most:
        return whole
    return format_html(
        '<details class="clip"><summary>{}…</summary>{}</details>',
        whole[:most],
        _shorten(whole[most:], MOST_CLIPPED),
    )


@register.filter
def first_line(text: str) -> str:
    return texts.first_line(texts.printable(text))[:CLIPPED]


def _shorten(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    rest = gettext("… and %(count)s characters more") % {"count": f"{len(text) - most:,}"}
    return f"{text[:most]}\n{rest}"


@register.simple_tag
def time_input(name: str, value: str | None) -> SafeString:
    return TimeInput().render(name, value)


@register.filter
def worker_link(name: str) -> SafeString | str:
    """The name of a worker, with its page."""
    return _link("scheduler:worker", name)


@register.filter
def role_link(name: str) -> SafeString | str:
    """The name of a role, with the page of its queue. The engine's own queues have none."""
    return _link("scheduler:queue", name) if is_role(name) else name or "–"


def _link(page: str, name: str) -> SafeString | str:
    return format_html('<a href="{}">{}</a>', reverse(page, args=[name]), name) if name else "–"


def _datetime(value: datetime | str | None) -> datetime | None:
    return parse_datetime(value) if isinstance(value, str) else value
