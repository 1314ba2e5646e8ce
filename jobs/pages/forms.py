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
        if verb != "reprioritise":
            for name in ("priority", "delta", "urgent"):
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


class SureForm(forms.Form):
    """Asks for the number that was shown, before very many are acted on."""

    counted = forms.IntegerField(widget=forms.HiddenInput)
    typed = forms.IntegerField(widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}))

    def __init__(self, *args: Any, count: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.count = count
        self.fields["counted"].initial = count
        self.fields["typed"].label = _("Type %(count)s to say that you mean all of them") % {"count": count}

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if not self.errors:
            if given["typed"] != given["counted"]:
                raise forms.ValidationError(_("That is not how many they are. Nothing was changed."))
            # Fewer are no harm: some have ended since they were counted.
            if self.count > given["counted"]:
                raise forms.ValidationError(_("There are more of them by now. Nothing was changed."))
        return given

    def asked_again(self) -> "SureForm":
        """The same question with the number of now, and what was wrong with the answer."""
        again = SureForm(count=self.count)
        again.problems = [str(why) for found in self.errors.values() for why in found]
        return again

    problems: list[str] = []
