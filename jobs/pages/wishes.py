"""The form in which somebody says what is to become of jobs, and why."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from jobs.api.control import HIGHEST, LOWEST
from jobs.pages.bulk import Wish

REASON = 500


class WishForm(forms.Form):
    reason = forms.CharField(label=_("Reason (goes into the events)"), max_length=REASON, required=False)
    priority = forms.IntegerField(
        label=_("Priority (the lower, the earlier)"), required=False, min_value=LOWEST, max_value=HIGHEST
    )
    delta = forms.IntegerField(
        label=_("or: added to the priority it has"), required=False, min_value=LOWEST, max_value=HIGHEST
    )
    urgent = forms.NullBooleanField(
        label=_("Urgent (before all others)"),
        required=False,
        widget=forms.Select(choices=[("", _("unchanged")), ("true", _("yes")), ("false", _("no"))]),
    )

    def __init__(self, *args: Any, verb: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.verb = verb
        unused = ("reason",) if verb == "reprioritise" else ("priority", "delta", "urgent")
        for name in unused:
            del self.fields[name]

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if self.verb == "reprioritise" and not self.errors:
            if all(given.get(name) is None for name in ("priority", "delta", "urgent")):
                raise forms.ValidationError(_("Say what is to change."))
            if given.get("priority") is not None and given.get("delta") is not None:
                raise forms.ValidationError(_("Give either a priority or what is added to it."))
        return given

    def wish(self, actor: str) -> Wish:
        return Wish(verb=self.verb, actor=actor, **self.cleaned_data)
