"""Fields of the forms of an office, in the admin as well."""

from decimal import Decimal
from typing import Any

from django import forms
from django.core.validators import validate_email
from django.utils.translation import gettext_lazy as _

from jobs.offices import MOST_ADDRESSES


class AddressesField(forms.CharField):
    """Email addresses, one per line."""

    widget = forms.Textarea({"rows": 3, "cols": None, "spellcheck": "false"})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        addresses = (value or "").replace(",", " ").split()
        if len(addresses) > MOST_ADDRESSES:
            raise forms.ValidationError(_("At most %(count)s addresses.") % {"count": MOST_ADDRESSES})
        for address in addresses:
            validate_email(address)
        return list(dict.fromkeys(addresses))

    def run_validators(self, value: Any) -> None:
        """Run no validators of texts, since the value is a list."""


class SecondsField(forms.DecimalField):
    """A time in milliseconds, edited in seconds."""

    def __init__(self, *, low_ms: int, high_ms: int, **options: Any) -> None:
        super().__init__(
            min_value=Decimal(low_ms) / 1000,
            max_value=Decimal(high_ms) / 1000,
            decimal_places=3,
            widget=forms.NumberInput({"step": "any"}),
            **options,
        )

    def prepare_value(self, value: Any) -> Any:
        # What was sent is a text already, in seconds.
        return seconds_of(value) if isinstance(value, int) else value

    def clean(self, value: Any) -> Any:
        seconds = super().clean(value)
        return None if seconds is None else milliseconds_of(seconds)

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(self.prepare_value(initial), data)


def milliseconds_of(seconds: Decimal) -> int:
    return int(seconds * 1000)


def seconds_of(milliseconds: int) -> str:
    return f"{Decimal(milliseconds) / 1000:f}"
