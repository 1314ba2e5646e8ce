"""Forms for JSON that may hold secrets: they are not shown, and stay what they were unless written anew."""

from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext as _

from jobs.pages.secrets import HIDDEN, hidden


def restored(given: Any, before: Any) -> Any:
    """What was given, with the secrets that stood in the same place before."""
    if isinstance(given, dict) and isinstance(before, dict):
        return {
            key: before[key] if value == HIDDEN and key in before else restored(value, before.get(key))
            for key, value in given.items()
        }
    if isinstance(given, list) and isinstance(before, list):
        return [restored(value, _same(value, place, before)) for place, value in enumerate(given)]
    return given


def _same(value: Any, place: int, before: list[Any]) -> Any:
    """A step is known by its ref, wherever it has moved to; everything else by its place."""
    if isinstance(value, dict) and "ref" in value:
        found = (one for one in before if isinstance(one, dict) and one.get("ref") == value["ref"])
        return next(found, None)
    return before[place] if place < len(before) else None


def still_hides(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(still_hides, value.values()))
    if isinstance(value, list):
        return any(map(still_hides, value))
    return bool(value == HIDDEN)


class MaskedForm(forms.ModelForm):  # type: ignore[type-arg]
    masked: ClassVar[tuple[str, ...]] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Before Django writes into the instance what was given.
        self.before = {name: getattr(self.instance, name) for name in self.masked}
        for name in self.masked:
            if name in self.initial:
                self.initial[name] = hidden(self.initial[name])

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        for name in self.masked:
            if name in given:
                given[name] = restored(given[name], self.before[name])
                if still_hides(given[name]):
                    self.add_error(name, _("Write the hidden value again: it has moved, or is new."))
        return given
