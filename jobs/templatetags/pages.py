"""How the pages show states, moments and durations."""

import json
from datetime import datetime
from typing import Any

from django import template
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from jobs import display
from jobs.pages import refusals
from jobs.pages.secrets import hidden

register = template.Library()

# Of a value that may have 256 KiB: a page that asks again every few seconds shows its beginning.
MOST_CHARACTERS, LINE_CHARACTERS = 20_000, 600


@register.filter
def state(status: Any) -> SafeString:
    """A word, a sign and a colour: none of them alone."""
    return shown(display.state_label(status))


@register.filter
def outcome(value: Any) -> SafeString:
    return shown(display.OUTCOME_LABELS.get(str(value)) or display.Label(str(value)))


@register.filter
def shown(one: display.Label) -> SafeString:
    return format_html(
        '<span class="state tone-{}"><i aria-hidden="true">{}</i>{}</span>', one.tone, one.sign, one.name
    )


@register.filter
def tone(status: Any) -> str:
    return f"tone-{display.state_label(status).tone}"


@register.filter
def state_name(status: Any) -> display.Text:
    return display.state_label(status).name


@register.filter
def failure(value: str) -> display.Text:
    return display.FAILURE_NAMES.get(value, value)


@register.filter
def told(sentence: str) -> str:
    """What a verb wrote in the API's English."""
    return refusals.told(sentence)


@register.filter
def happened(value: str) -> display.Text:
    return display.EVENT_NAMES.get(value, value)


@register.filter
def details(given: dict[str, Any]) -> list[tuple[display.Text, Any]]:
    """What is worth reading of an event's details; the rest is for programs."""
    shown = [
        (name, words)
        for name, words in display.EVENT_DETAIL_NAMES.items()
        if given.get(name) not in (None, "")
    ]
    return [(words, failure(given[name]) if name == "failure_type" else given[name]) for name, words in shown]


@register.filter
def trigger(value: str) -> display.Text:
    return display.TRIGGER_NAMES.get(value, value)


@register.filter
def member(value: str) -> display.Text:
    return display.MEMBER_ROLE_NAMES.get(value, value)


@register.filter
def moment(value: datetime | str | None) -> SafeString | str:
    """The local time, and in the machine's words what it is exactly."""
    at = _at(value)
    if at is None:
        return "–"
    local = timezone.localtime(at)
    return format_html('<time datetime="{}">{}</time>', at.isoformat(), f"{local:%Y-%m-%d %H:%M:%S}")


@register.filter
def clock(value: datetime) -> SafeString:
    """The time of day alone, for an axis."""
    local = timezone.localtime(value)
    return format_html('<time datetime="{}">{}</time>', value.isoformat(), f"{local:%H:%M:%S}")


@register.filter
def since(value: datetime | str | None) -> SafeString | str:
    """How long it has lasted: the page's script goes on counting."""
    at = _at(value)
    if at is None:
        return "–"
    lasted = duration((timezone.now() - at).total_seconds())
    return format_html('<time data-since="{}">{}</time>', at.isoformat(), lasted)


@register.filter
def duration(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    if 0 <= seconds < 10:
        return f"{seconds:.1f}s"
    whole = max(0, int(seconds))
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@register.simple_tag
def took(start: datetime | str | None, end: datetime | str | None) -> str:
    began, ended = _at(start), _at(end)
    return duration((ended - began).total_seconds()) if began and ended else "–"


@register.filter
def as_json(value: Any) -> str:
    """For people to read: not more than a page of it, and nothing that is secret by its name."""
    return _beginning(json.dumps(hidden(value), ensure_ascii=False, indent=2), MOST_CHARACTERS)


@register.filter
def as_line(value: Any) -> str:
    """The same in few lines, for a place among many."""
    return _beginning(json.dumps(hidden(value), ensure_ascii=False), LINE_CHARACTERS)


def _beginning(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    rest = gettext("… and %(count)s characters more") % {"count": f"{len(text) - most:,}"}
    return f"{text[:most]}\n{rest}"


@register.filter
def short(value: Any) -> str:
    """The end of an id: the beginning of ours is the time, which neighbours share."""
    return f"…{str(value)[-8:]}"


def _at(value: datetime | str | None) -> datetime | None:
    return parse_datetime(value) if isinstance(value, str) else value
