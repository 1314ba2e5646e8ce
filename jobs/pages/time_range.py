"""The fields of a list's filter by the time of creation."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

CUSTOM = "custom"
RANGES = {"1h": timedelta(hours=1), "24h": timedelta(days=1), "7d": timedelta(days=7)}
RANGE_NAMES = [("1h", _("Last hour")), ("24h", _("Last 24 hours")), ("7d", _("Last 7 days"))]


class TimeRangeForm(forms.Form):
    range = forms.ChoiceField(
        label=_("Created"), choices=[*RANGE_NAMES, (CUSTOM, _("Custom"))], required=False
    )
    since = forms.DateTimeField(label=_("From"), required=False)
    until = forms.DateTimeField(label=_("To"), required=False)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("since") and data.get("until") and data["since"] >= data["until"]:
            raise forms.ValidationError(_("The end of the time range must be after its beginning."))
        return data

    def bounds(self, now: datetime) -> tuple[datetime | None, datetime | None]:
        """The beginning and the end of a valid form."""
        data = self.cleaned_data
        if data["range"] in RANGES:
            return now - RANGES[data["range"]], None
        return data["since"], data["until"]
