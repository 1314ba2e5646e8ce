"""Template filters of the pages of exports."""

from typing import Any

from django import template

from exports import display
from jobs.display import Text

register = template.Library()
register.filter(display.error_name)
register.filter(display.advice)


@register.filter
def visible(text: Any) -> str:
    """Untrusted text: characters that are invisible or change its direction are shown by their number."""
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in str(text))


@register.filter
def file_format(kind: str) -> Text:
    return display.FORMAT_NAMES.get(kind, kind)


@register.filter
def seconds(milliseconds: int | None) -> float | None:
    """Tenths below ten seconds, whole seconds above."""
    if milliseconds is None or milliseconds < 10_000:
        return None if milliseconds is None else milliseconds / 1000
    return round(milliseconds / 1000)


@register.filter
def clock(seconds: int) -> str:
    """0:07 or 1:02:03, as app.js writes it."""
    minutes, rest = divmod(max(0, seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
