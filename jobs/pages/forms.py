"""The forms of an action on jobs: its arguments, and the confirmation of many."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from jobs.bulk import REPRIORITISE, Action
from jobs.field_types import HIGHEST_PRIORITY, LONGEST_REASON, LOWEST_PRIORITY

PRIORITY_FIELDS = ("priority", "delta", "urgent")


class ActionForm(forms.Form):
    reason = forms.CharField(
        label=_("Reason (optional, kept in the activity log)"), max_length=LONGEST_REASON, required=False
    )
    priority = forms.IntegerField(
        label=_("Priority (lower runs first)"),
        required=False,
        min_value=LOWEST_PRIORITY,
        max_value=HIGHEST_PRIORITY,
    )
    delta = forms.IntegerField(
        label=_("Adjust by"),
        required=False,
        min_value=LOWEST_PRIORITY,
        max_value=HIGHEST_PRIORITY,
    )
    urgent = forms.NullBooleanField(
        label=_("Urgent (front of the queue)"),
        required=False,
        widget=forms.Select(choices=[("", _("No change")), ("true", _("yes")), ("false", _("no"))]),
    )

    def __init__(self, *args: Any, verb: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.verb = verb
        if verb != REPRIORITISE:
            for name in PRIORITY_FIELDS:
                del self.fields[name]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if self.verb == REPRIORITISE and not self.errors:
            if all(data.get(name) is None for name in PRIORITY_FIELDS):
                raise forms.ValidationError(_("Nothing to change."))
            if data.get("priority") is not None and data.get("delta") is not None:
                raise forms.ValidationError(_("Give either a priority or an adjustment, not both."))
        return data

    def action(self, actor: str) -> Action:
        return Action(verb=self.verb, actor=actor, **self.cleaned_data)


class NumberField(forms.IntegerField):
    """Accepts a number as it was shown, with commas between its thousands."""

    def to_python(self, value: Any) -> int | None:
        return super().to_python(value.replace(",", "") if isinstance(value, str) else value)


class CountForm(forms.Form):
    """Makes the user type the number that was shown, before very many jobs are changed."""

    counted = forms.IntegerField(widget=forms.HiddenInput)
    typed = NumberField(widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}))
    problems: list[str] = []

    def __init__(self, *args: Any, count: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.count = count
        self.fields["counted"].initial = count
        self.fields["typed"].label = _("Type %(count)s to confirm") % {"count": f"{count:,}"}

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not self.errors:
            if data["typed"] != data["counted"]:
                raise forms.ValidationError(_("That is not the number of jobs. Nothing was changed."))
            # Fewer do no harm: some have ended since they were counted.
            if self.count > data["counted"]:
                raise forms.ValidationError(_("More jobs match now. Nothing was changed."))
        return data

    def with_current_count(self) -> "CountForm":
        """The form again with the current number, and with the errors."""
        form = CountForm(count=self.count)
        form.problems = [str(error) for errors in self.errors.values() for error in errors]
        return form
