"""Forms for JSON that may hold secrets: they are not shown, and stay what they were unless written anew."""

from typing import Any, ClassVar

from django import forms

from jobs.display import MASK_MOVED, has_mask, mask_secrets, restore_secrets


class MaskedForm(forms.ModelForm):  # type: ignore[type-arg]
    masked: ClassVar[tuple[str, ...]] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Before Django writes into the instance what was given.
        self.before = {name: getattr(self.instance, name) for name in self.masked}
        for name in self.masked:
            if name in self.initial:
                self.initial[name] = mask_secrets(self.initial[name])

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        for name in self.masked:
            if name in given:
                given[name] = restore_secrets(given[name], self.before[name])
                if has_mask(given[name]):
                    self.add_error(name, str(MASK_MOVED))
        return given
