"""Form fields that schedules and workflows share: JSON with hidden secrets, and times of a time zone."""

import json
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from jobs.api.framework import strict_json
from jobs.errors import InvalidValue
from jobs.masks import MASK_MOVED, has_mask, mask_secrets, restore_secrets
from jobs.pages.time_input import TimeInput
from scheduler.schedules import timezones
from scheduler.schedules.timezones import KOREAN_TIME
from scheduler.schedules.wallclock import instant_of

UNITS = {"seconds": 1, "minutes": 60, "hours": 3_600, "days": 86_400}
UNIT_CHOICES = [
    ("seconds", _("seconds")),
    ("minutes", _("minutes")),
    ("hours", _("hours")),
    ("days", _("days")),
]
COMMON_ZONES = (
    *("Asia/Seoul", "UTC", "Asia/Tokyo", "Asia/Shanghai", "Asia/Singapore", "Asia/Kolkata"),
    *("Australia/Sydney", "Europe/London", "Europe/Paris", "Europe/Berlin"),
    *("America/New_York", "America/Chicago", "America/Los_Angeles"),
)
LINE_LENGTH = 76


class JSONTextField(forms.CharField):
    """JSON as text. Secrets in it are hidden; one that stays hidden keeps its value of `before`."""

    def __init__(self, *, rows: int, empty: str, **options: Any) -> None:
        attrs = {"rows": rows, "cols": None, "spellcheck": "false", "class": "mono"}
        super().__init__(required=False, widget=forms.Textarea(attrs), **options)
        self.empty = empty
        self.before: Any = None
        # Whether masks may stay: the text is a part of a form that restores the secrets itself.
        self.keeps_masks = False

    def to_python(self, value: Any) -> Any:
        try:
            parsed = restore_secrets(
                strict_json.loads((value or "").strip().encode() or self.empty.encode()), self.before
            )
        except strict_json.InvalidJSON as invalid:
            raise forms.ValidationError(str(invalid.text)) from None
        if has_mask(parsed) and not self.keeps_masks:
            raise forms.ValidationError(str(MASK_MOVED))
        return parsed

    def run_validators(self, value: Any) -> None:
        """Run no validators of texts, since the value is not a text any more."""

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.to_python(data) != self.before)
        except forms.ValidationError:
            return True


def datetime_field(label: Any) -> forms.CharField:
    """A time by the clock of the form's time zone; `instant` parses it."""
    return forms.CharField(label=label, required=False, widget=TimeInput())


class ZoneInput(forms.TextInput):
    """The name of a time zone, with suggestions; any name is accepted."""

    def __init__(self) -> None:
        super().__init__({"list": "zones", "autocapitalize": "none", "spellcheck": "false"})

    def render(self, *args: Any, **kwargs: Any) -> SafeString:
        options = format_html_join("", '<option value="{}"></option>', ((zone,) for zone in COMMON_ZONES))
        return format_html('{}<datalist id="zones">{}</datalist>', super().render(*args, **kwargs), options)


def zone_field() -> forms.CharField:
    return forms.CharField(label=_("Time zone"), required=False, max_length=64, widget=ZoneInput())


def json_text(value: Any) -> str:
    """JSON to be edited, without secrets."""
    return indent_json(mask_secrets(value))


def indent_json(value: Any, margin: str = "") -> str:
    """Values that fit stay on one line, so that a step is a line or a few."""
    line = json.dumps(value, ensure_ascii=False)
    if len(margin) + len(line) <= LINE_LENGTH or not isinstance(value, (dict, list)):
        return line
    inner = margin + "  "
    if isinstance(value, dict):
        parts = [
            f"{json.dumps(key, ensure_ascii=False)}: {indent_json(item, inner)}"
            for key, item in value.items()
        ]
    else:
        parts = [indent_json(item, inner) for item in value]
    start, end = "{}" if isinstance(value, dict) else "[]"
    return f"{start}\n" + ",\n".join(inner + part for part in parts) + f"\n{margin}{end}"


def duration_parts(seconds: int) -> tuple[int, str]:
    """A duration in the largest unit that divides it."""
    unit = next(name for name in reversed(UNITS) if seconds % UNITS[name] == 0)
    return seconds // UNITS[unit], unit


def instant(text: str, zone: str) -> datetime:
    """The instant of a time by the clock of this zone."""
    try:
        wall = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidValue("time_example") from None
    return wall.astimezone(UTC) if wall.tzinfo else instant_of(wall, _zone(zone))


def wall_text(at: datetime | None, zone: str) -> str:
    """The value of a datetime field."""
    return at.astimezone(_zone(zone)).strftime("%Y-%m-%d %H:%M:%S") if at else ""


def _zone(name: str) -> ZoneInfo:
    # An unknown time zone is reported by its own field.
    return ZoneInfo(name if name in timezones.names() else KOREAN_TIME)
