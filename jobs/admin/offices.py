"""Offices and their members, edited by the verbs of the API, so that new limits apply at once."""

from collections.abc import Collection
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from dure.failures import RETRYABLE
from jobs import display, members, office_config, office_deletion, offices
from jobs.admin import columns
from jobs.admin.actions import RowAction
from jobs.admin.base import LargeTableAdmin, ReadOnlyAdmin, SmallTableAdmin
from jobs.admin.columns import fieldset
from jobs.admin.filters import boolean_filter, choice
from jobs.admin.forms import SecondsByNameField
from jobs.admin.links import Link, rows_of
from jobs.errors import Invalid
from jobs.field_types import LONGEST_DELAY_MS
from jobs.models import Activity, Batch, Event, Job, Membership, Office, Webhook
from jobs.models.office import default_role_timeouts
from jobs.office_config import COLUMNS, LONGEST_DEFAULT_MS
from jobs.pages.fields import AddressesField, SecondsField
from jobs.pages.permissions import current_user
from jobs.states import MemberRole


class OfficeForm(forms.ModelForm):  # type: ignore[type-arg]
    notify_emails = AddressesField(
        label=_("Email addresses"),
        required=False,
        help_text=_("Notified when a job fails and has no retries left. One address per line."),
    )
    default_timeout_ms = SecondsField(
        label=_("Default time limit (s)"), initial=1_800_000, low_ms=1, high_ms=LONGEST_DEFAULT_MS
    )
    default_timeout_by_role = SecondsByNameField(
        label=_("Default time limits by role (s)"),
        required=False,
        initial=default_role_timeouts,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_('As JSON, in seconds: {"QA": 2700}.'),
    )
    retry_base_delay_ms = SecondsField(
        label=_("Initial retry delay (s)"), initial=60_000, low_ms=0, high_ms=LONGEST_DELAY_MS
    )
    retryable_failures = forms.MultipleChoiceField(
        label=_("Retry on"),
        required=False,
        choices=[(str(failure), display.FAILURE_NAMES[failure]) for failure in RETRYABLE],
        initial=[str(failure) for failure in RETRYABLE],
        widget=forms.CheckboxSelectMultiple,
    )

    class Meta:
        model = Office
        fields = ("name", "notify_emails", *COLUMNS.values())
        widgets = {
            "max_concurrent_by_role": forms.Textarea(attrs={"rows": 3}),
        }
        help_texts = {
            "max_concurrent_by_role": _(
                'As JSON: {"FE": 1}. A role that is not named has the office\'s limit.'
            ),
        }

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not self.errors:
            try:
                office_config.validate_config(patch_of(data, COLUMNS.values()))
            except Invalid as refused:
                for name, texts in refused.errors.items():
                    column = COLUMNS[name.partition(".")[0]]
                    self.add_error(column, f"{name}: {' '.join(map(str, texts))}")
        return data


def patch_of(data: dict[str, Any], columns: Collection[str]) -> dict[str, Any]:
    return {name: data[column] for name, column in COLUMNS.items() if column in columns}


def replacement_patch(patch: dict[str, Any], office: Office) -> dict[str, Any]:
    """A merge patch keeps entries that it does not name, so it sets removed roles to null."""
    before = office_config.config_of(office)
    return {
        name: {**dict.fromkeys(before[name]), **value}
        if name in office_config.JobSchedulerConfig.maps
        else value
        for name, value in patch.items()
    }


# For staff who may not change them.
DURATIONS = {
    "default_timeout_ms": columns.milliseconds("default_timeout_ms", _("time limit")),
    "default_timeout_by_role": columns.milliseconds_by_name(
        "default_timeout_by_role", _("time limits by role")
    ),
    "retry_base_delay_ms": columns.milliseconds("retry_base_delay_ms", _("initial retry delay")),
}


@admin.register(Office)
class OfficeAdmin(SmallTableAdmin):
    form = OfficeForm
    list_display = ("name", "max_concurrent_jobs", "paused", "created_at")
    list_filter = (boolean_filter("paused", _("paused")),)
    search_fields = ("name",)
    ordering = ("name", "id")
    readonly_fields = ("id", "created_at")
    fieldsets = (
        fieldset(None, "id", "name", "created_at", "paused", "notify_emails"),
        fieldset(_("Limits"), "max_concurrent_jobs", "max_concurrent_by_role"),
        fieldset(_("Time limits"), "default_timeout_ms", "default_timeout_by_role"),
        fieldset(_("Retries"), "max_retries", "retry_backoff", "retry_base_delay_ms", "retryable_failures"),
    )
    row_actions = (
        RowAction(
            "pause",
            _("Pause…"),
            lambda n: ngettext("Pause %d office", "Pause %d offices", n) % n,
            do=lambda office, operator: office_config.change(office.pk, {"paused": True}),
            refusal=lambda office: _("paused already") if office.paused else "",
            note=_("No new runs start; current runs continue."),
        ),
        RowAction(
            "resume",
            _("Resume…"),
            lambda n: ngettext("Resume %d office", "Resume %d offices", n) % n,
            do=lambda office, operator: office_config.change(office.pk, {"paused": False}),
            refusal=lambda office: "" if office.paused else _("not paused"),
        ),
    )

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None or self.has_change_permission(request, obj):
            return self.fieldsets
        return columns.in_fieldsets(self.fieldsets, DURATIONS)

    def links(self, request: HttpRequest, row: Office) -> list[Link]:
        return [
            Link(reverse("pages:jobs", args=[row.pk]), _("View page")),
            rows_of(Job, _("Jobs"), office=row.pk),
            rows_of(Batch, _("Batches"), office=row.pk),
            rows_of(Event, _("Events"), office_id=row.pk),
            rows_of(Activity, _("Activity"), office=row.pk),
            rows_of(Membership, _("Members"), office=row.pk),
            rows_of(Webhook, _("Webhooks"), office=row.pk),
        ]

    def save_model(self, request: HttpRequest, obj: Office, form: Any, change: bool) -> None:
        data = form.cleaned_data
        if not change:
            office = offices.create(current_user(request), **data)
            obj.pk, obj._state.adding = office.pk, False
            return
        basics = {name: data[name] for name in ("name", "notify_emails") if name in form.changed_data}
        if basics:
            offices.change(obj, basics)
        if patch := patch_of(data, form.changed_data):
            replacement = replacement_patch(patch, Office.objects.get(pk=obj.pk))
            office_config.change(obj.pk, replacement)

    def delete_model(self, request: HttpRequest, obj: Office) -> None:
        office_deletion.delete_office(obj.pk)


@admin.register(Membership)
class MembershipAdmin(LargeTableAdmin):
    list_display = (*("id", columns.USER, columns.OFFICE, "role"),)
    list_filter = (choice("role", _("role"), dict(MemberRole.choices)),)
    list_select_related = ("user", "office")
    ids = ("office",)
    people = ("user",)
    fields = ("office", "user", "role")
    autocomplete_fields = ("office", "user")

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        # Django's own action would delete the last owner.
        return {}

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("office", "user") if obj else ()

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:
        member, _is_new = members.set_role(obj.office, obj.user.get_username(), obj.role)
        obj.pk = member.pk

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        members.remove(obj.office, obj.user.get_username())


@admin.register(Activity)
class ActivityAdmin(ReadOnlyAdmin):
    list_display = (
        *("id", "at", "actor", "surface", "act"),
        *(columns.OFFICE, columns.link("owner", _("owner"))),
    )
    list_select_related = ("office", "owner")
    ids = ("office", "owner")
    beginnings = ("actor",)
    fields = (
        *("id", "at", "actor", "surface", "token", "act", "office", "owner"),
        columns.json("details", _("details")),
    )
