"""Forms of the admin, which show refusals of verbs beside their fields and mask secrets."""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from jobs.display import Text
from jobs.errors import Refused
from jobs.masks import MASK_MOVED, has_mask, mask_secrets, restore_secrets
from jobs.pages.edit_form import add_errors
from jobs.pages.fields import milliseconds_of, seconds_of


def add_refusals(form: "forms.BaseModelForm[Any]", check: Callable[[], object]) -> None:
    """Add the refusals of a verb's check to the fields that they are about."""
    try:
        check()
    except Refused as refused:
        add_errors(form, refused.errors or {"": [refused.text]})


class SecondsByNameField(forms.JSONField):
    """Milliseconds by name, edited as JSON in seconds."""

    def bound_data(self, data: Any, initial: Any) -> Any:
        return data

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return json.dumps({name: json.loads(seconds_of(number)) for name, number in value.items()})

    def clean(self, value: Any) -> Any:
        entries = super().clean(value)
        if not isinstance(entries, dict):
            return entries
        # The config refuses what is no number.
        return {
            name: milliseconds_of(Decimal(str(number))) if isinstance(number, int | float) else number
            for name, number in entries.items()
        }

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.clean(data) != initial)
        except forms.ValidationError:
            return True


class MaskedForm(forms.ModelForm):  # type: ignore[type-arg]
    """Masks the secrets in JSON fields; a mask that stays is replaced by the secret again.

    Then the values are checked as the verb that takes them does.
    """

    masked: ClassVar[tuple[str, ...]] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Before Django writes the submitted values into the instance.
        self.before = {name: getattr(self.instance, name) for name in self.masked}
        for name in self.masked:
            if name in self.initial:
                self.initial[name] = mask_secrets(self.initial[name])

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        for name in self.masked:
            if name in data:
                data[name] = restore_secrets(data[name], self.before[name])
                if has_mask(data[name]):
                    self.add_error(name, str(MASK_MOVED))
        if not self.errors:
            add_refusals(self, lambda: self.check(data))
        return data

    def check(self, values: dict[str, Any]) -> None:
        """Raises Refused for what is wrong with the values of valid fields."""
        raise NotImplementedError


def secret_page(
    model_admin: "admin.ModelAdmin[Any]", request: HttpRequest, title: Text, secret: str
) -> HttpResponse:
    """Show a secret this once; it is in no message and in no address."""
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "title": title,
        "secret": secret,
    }
    return TemplateResponse(request, "admin/dure/once.html", context)
