"""Previews the rule of a form in words, with its next times, before it is saved."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString

from jobs.admin.rows import BaseAdmin

PREVIEWED = 5


@dataclass(frozen=True)
class RulePreview:
    words: str = ""
    times: Sequence[datetime] = ()
    problems: Sequence[str] = field(default_factory=tuple)


class PreviewAdmin(BaseAdmin):
    change_form_template = "admin/dure/rule_form.html"

    def preview_of_form(self, form: Any) -> RulePreview:
        """The preview of a validated form, which may have errors in other fields."""
        raise NotImplementedError

    def preview_of_row(self, row: Any) -> RulePreview:
        raise NotImplementedError

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.preview)
        return [path("preview/", view, name=f"{self._url_name}_preview"), *super().get_urls()]

    def preview(self, request: HttpRequest) -> HttpResponse:
        row = self.get_object(request, key) if (key := request.GET.get("id")) else None
        if not self._may_save(request, row):
            raise PermissionDenied
        form = self.get_form(request, row, change=row is not None)(request.POST, instance=row)
        form.full_clean()
        return HttpResponse(render_preview(self.preview_of_form(form)))

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        row = context.get("original")
        context["preview"] = render_preview(self.preview_of_row(row)) if row is not None else ""
        if self._may_save(request, row):
            query = {"id": row.pk} if row is not None else None
            context["preview_url"] = reverse(f"admin:{self._url_name}_preview", query=query)
        return super().render_change_form(request, context, *args, **kwargs)

    def _may_save(self, request: HttpRequest, row: Any) -> bool:
        return self.has_add_permission(request) if row is None else self.has_change_permission(request, row)


def render_preview(preview: RulePreview) -> SafeString:
    return render_to_string("admin/dure/rule_preview.html", {"preview": preview})


def field_errors(form: Any, names: Sequence[str]) -> list[str]:
    """The errors of these fields, each with its label."""
    return [
        f"{form.fields[name].label}: {' '.join(form.errors[name])}" for name in names if name in form.errors
    ]
