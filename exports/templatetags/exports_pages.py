"""How the pages of exports show words of strangers, and what only they have."""

from typing import Any

from django import template

from exports.pages import labels

register = template.Library()


@register.filter
def visible(text: Any) -> str:
    """Words of a stranger: what would not be seen, or would turn the text around, is shown by its number."""
    return "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in str(text))


@register.filter
def file_format(kind: str) -> labels.Words:
    return labels.FORMATS.get(kind, kind)


@register.filter
def seconds(milliseconds: int | None) -> float | None:
    """Tenths where they are seen, and no second lost where they are not."""
    if milliseconds is None or milliseconds < 10_000:
        return None if milliseconds is None else milliseconds / 1000
    return round(milliseconds / 1000)


@register.filter
def error_name(code: str) -> labels.Words:
    return labels.error_name(code)


@register.filter
def clock(seconds: int) -> str:
    """Whole seconds as the page's script writes them too: 0:07, 1:02:03."""
    minutes, rest = divmod(max(0, seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
