"""Forms of the admin, which show refusals of verbs beside their fields and mask secrets."""

from collections.abc import Callable
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from jobs.display import Text
from jobs.errors import Refused
from jobs.masks import MASK_MOVED, has_mask, mask_secrets, restore_secrets


def add_refusals(form: "forms.BaseModelForm[Any]", check: Callable[[], object]) -> None:
    """Add the refusals of a verb's check to the fields that they are about."""
    try:
        check()
    except Refused as refused:
        for name, texts in (refused.errors or {"": [refused.text]}).items():
            field, _dot, _rest = name.partition(".")
            text = " ".join(map(str, texts))
            in_form = field in form.fields
            form.add_error(field if in_form else None, text if in_form or not name else f"{name}: {text}")


class MaskedForm(forms.ModelForm):  # type: ignore[type-arg]
    """Masks the secrets in JSON fields; a mask that stays is replaced by the secret again."""

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
        return data


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
