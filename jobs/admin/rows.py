"""The base of all admins: the page of a row with its links, and actions that call verbs."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import helpers
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.admin.utils import quote
from django.contrib.admin.widgets import AdminSplitDateTime
from django.db.models import DateTimeField, Model, QuerySet
from django.forms import SplitDateTimeField
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from jobs.admin import actions
from jobs.admin.actions import Operator, Preview, ReasonForm, RowAction
from jobs.admin.changelist import EstimatingPaginator
from jobs.admin.links import Link
from jobs.errors import Refused
from jobs.pages.permissions import current_user

if TYPE_CHECKING:
    DjangoAdmin = admin.ModelAdmin[Any]
else:
    DjangoAdmin = admin.ModelAdmin


class DateAndTime(AdminSplitDateTime):
    """Django's own widget, with a label for each of its two fields."""

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        for field, label in zip(context["widget"]["subwidgets"], (_("Date"), _("Time")), strict=True):
            field["attrs"]["aria-label"] = label
        return context


class BaseAdmin(DjangoAdmin):
    """Pages with links and drawings; actions that ask first; verbs whose refusals become messages."""

    change_form_template = "admin/dure/change.html"
    formfield_overrides: ClassVar = {
        DateTimeField: {"form_class": SplitDateTimeField, "widget": DateAndTime},
    }
    paginator = EstimatingPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    # The actions in the menu of the list, and on the page of each row to which they apply.
    row_actions: ClassVar[tuple[RowAction, ...]] = ()
    # Millions of other rows may be deleted with a row: a page cannot list them.
    lists_deleted_rows: ClassVar[bool] = False

    class Media:
        css = {"all": ("jobs/admin.css",)}

    def links(self, request: HttpRequest, row: Any) -> list[Link]:
        """The links to the row's page, to Flower, and to lists of related rows."""
        return []

    def panels(self, request: HttpRequest, row: Any) -> list[SafeString]:
        """Drawings and tables below the fields."""
        return []

    def has_operate_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether the user may call actions: they need the permission to change rows of this model."""
        return current_user(request).has_perm(f"{self.opts.app_label}.change_{self.opts.model_name}")

    # --- pages ---

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        title = capfirst(str(self.opts.verbose_name_plural))
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

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
            return self._refuse(request, refused, object_id)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        try:
            return super().delete_view(request, object_id, extra_context)
        except Refused as refused:
            return self._refuse(request, refused, object_id)

    def _refuse(self, request: HttpRequest, refused: Refused, object_id: str | None) -> HttpResponse:
        self.message_user(request, str(refused.text), messages.ERROR)
        if object_id:
            return redirect(f"admin:{self._url_name}_change", quote(object_id))
        return redirect(f"admin:{self._url_name}_changelist")

    def get_deleted_objects(self, objs: Iterable[Model], request: HttpRequest) -> Any:
        if self.lists_deleted_rows:
            return super().get_deleted_objects(list(objs), request)
        return [str(row) for row in objs], {}, set(), []

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        row = context.get("original")
        if row is not None:
            context |= {"links": self.links(request, row), "panels": self.panels(request, row)}
            if not self.has_change_permission(request, row):
                context["title"] = capfirst(str(self.opts.verbose_name))
            if self.has_operate_permission(request):
                context["row_actions"] = [action for action in self.row_actions if not action.refusal(row)]
                context["changelist"] = f"admin:{self._url_name}_changelist"
        return super().render_change_form(request, context, *args, **kwargs)

    @property
    def _url_name(self) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}"

    # --- actions ---

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        # Rows are deleted one by one, with a confirmation, since Django's own bulk action calls no verb.
        default_actions = dict(super().get_actions(request))
        default_actions.pop("delete_selected", None)
        if self.actions is None or not self.has_operate_permission(request):
            return default_actions
        return default_actions | {
            action.name: (partial(_confirm, action), action.name, action.label) for action in self.row_actions
        }

    def confirm(
        self, request: HttpRequest, rows: QuerySet[Any], action: RowAction
    ) -> HttpResponseBase | None:
        """Show what the action would do, then do it."""
        form = ReasonForm(request.POST if "sure" in request.POST else None)
        fitting, preview = actions.select(rows, action)
        if not form.is_valid():
            return self.confirmation(request, action, preview, form)
        self.apply(request, action, fitting, Operator(current_user(request), form.cleaned_data["reason"]))
        return actions.go_back(request)

    def apply(self, request: HttpRequest, action: RowAction, rows: Sequence[Any], operator: Operator) -> None:
        done, refusals = list[Any](), Counter[str]()
        for row in rows:
            try:
                action.do(row, operator)
                done.append(row)
            except Refused as refused:
                # The row has changed since the confirmation was shown.
                refusals[str(refused.text)] += 1
        if done:
            text = f"{action.name}: {operator.reason}" if operator.reason else action.name
            LogEntry.objects.log_actions(operator.user.pk, done, CHANGE, text)
        actions.add_result_message(request, len(done), refusals)

    def confirmation(
        self, request: HttpRequest, action: RowAction, preview: Preview, form: forms.Form
    ) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": action.question(preview.count),
            "act": action.name,
            "note": action.note,
            "form": form,
            "preview": preview,
            "ids": request.POST.getlist(helpers.ACTION_CHECKBOX_NAME),
            "across": request.POST.get("select_across", "0"),
            "back": request.POST.get("back", ""),
            "back_to": actions.back_address(request) or request.get_full_path(),
        }
        return TemplateResponse(request, "admin/dure/confirm.html", context)


def _confirm(
    action: RowAction, model_admin: "admin.ModelAdmin[Any]", request: HttpRequest, rows: QuerySet[Any]
) -> HttpResponseBase | None:
    return cast(BaseAdmin, model_admin).confirm(request, rows, action)
