"""The forms of exports: their options, and the age of a download link."""

from datetime import timedelta
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from exports import options
from exports.eventlog import MAX_DURATION_MS
from exports.models import Replay
from exports.render.options import MAX_FPS, RESOLUTIONS, RenderOptions
from exports.states import JobType
from jobs.errors import Invalid
from jobs.pages.edit_form import add_errors

SECONDS: dict[str, Any] = {"min_value": 0, "max_value": MAX_DURATION_MS / 1000, "required": False}
# The form's fields for the API's, where they have another name.
FIELD_NAMES = {"fromMs": "start", "toMs": "end"}
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
AGES = ((HOUR, _("1 hour")), (DAY, _("1 day")), (7 * DAY, _("7 days")), (30 * DAY, _("30 days")))


class OptionsForm(forms.Form):
    resolution = forms.ChoiceField(
        label=_("Resolution"),
        choices=[("", _("default")), *((name, name) for name in RESOLUTIONS)],
        required=False,
    )
    fps = forms.IntegerField(label=_("Frames per second"), min_value=1, max_value=MAX_FPS, required=False)
    start = forms.FloatField(label=_("From (seconds)"), **SECONDS)
    end = forms.FloatField(label=_("To (seconds)"), **SECONDS)
    sound = forms.BooleanField(label=_("Sound of a video"), initial=True, required=False)

    def __init__(
        self, data: Any = None, replay: Replay | None = None, job_type: JobType = JobType.MP4
    ) -> None:
        super().__init__(data)
        self._replay, self._job_type = replay, job_type

    def clean(self) -> None:
        if self.errors or self._replay is None:
            return
        try:
            options.check(self._job_type, self.options(), self._replay.duration_ms)
        except Invalid as invalid:
            add_errors(self, invalid.errors, FIELD_NAMES)

    def options(self) -> RenderOptions:
        data = self.cleaned_data
        return RenderOptions(
            data["resolution"] or None,
            data["fps"],
            _milliseconds(data["start"]),
            _milliseconds(data["end"]),
            # The box is there for GIFs and thumbnails too.
            False if self._job_type in options.WITH_SOUND and not data["sound"] else None,
        )


class LinkForm(forms.Form):
    hours = forms.TypedChoiceField(
        label=_("The link expires after"),
        choices=[(int(age / HOUR), text) for age, text in AGES],
        initial=int(7 * DAY / HOUR),
        coerce=int,
    )

    @property
    def age(self) -> timedelta:
        return int(self.cleaned_data["hours"]) * HOUR


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)
