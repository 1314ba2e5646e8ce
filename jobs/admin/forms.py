"""What is edited in the admin is written by the verbs of the API, and their refusals are told in the form."""

from collections.abc import Callable, Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin.utils import quote
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from jobs.admin.base import Linked
from jobs.display import Text
from jobs.errors import Refused
from jobs.pages.refusals import all_told, told


def blamed(form: "forms.BaseModelForm[Any]", check: Callable[[], object]) -> None:
    """Tells each reason for a refusal beside the field that is to blame."""
    try:
        check()
    except Refused as refused:
        for name, why in (all_told(refused.errors) or {"": [told(refused.text)]}).items():
            field, _dot, _rest = name.partition(".")
            text = " ".join(why)
            known = field in form.fields
            form.add_error(field if known else None, text if known or not name else f"{name}: {text}")


class ByVerbs(Linked):
    """Saving and deleting call verbs; what changed since the form was read may make them refuse."""

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Any = None,
    ) -> HttpResponse:
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except Refused as refused:
            return self._refused(request, refused, object_id)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        try:
            return super().delete_view(request, object_id, extra_context)
        except Refused as refused:
            return self._refused(request, refused, object_id)

    def get_deleted_objects(self, objs: Iterable[Model], request: HttpRequest) -> Any:
        """What goes with a row may be millions of others: a page cannot list them."""
        return [str(one) for one in objs], {}, set(), []

    def _refused(self, request: HttpRequest, refused: Refused, object_id: str | None) -> HttpResponse:
        self.message_user(request, told(refused.text), messages.ERROR)
        where = f"admin:{self.opts.app_label}_{self.opts.model_name}"
        return redirect(f"{where}_change", quote(object_id)) if object_id else redirect(f"{where}_changelist")


def once(model_admin: Linked, request: HttpRequest, words: Text, secret: str) -> HttpResponse:
    """A page with a secret that is shown this once. It passes through no message and no address."""
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "title": words,
        "secret": secret,
    }
    return TemplateResponse(request, "admin/dure/once.html", context)
