"""The field of a time: a text in the form in which the pages show times.

The browser's own field would order day, month and year by the browser's language instead of the page's.
"""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

EXAMPLE = "2026-12-01 09:00"
PATTERN = r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2})?"


class TimeInput(forms.TextInput):
    def __init__(self) -> None:
        super().__init__(
            {
                "pattern": PATTERN,
                "placeholder": EXAMPLE,
                "title": _("Year-month-day hour:minute, such as 2026-12-01 09:00"),
                "size": "19",
                "autocomplete": "off",
                "spellcheck": "false",
            }
        )

    def format_value(self, value: Any) -> str | None:
        text: str | None = super().format_value(value)
        return text and text.replace("T", " ")
