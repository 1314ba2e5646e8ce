"""Workflows. The form changes them by the verbs of the API, which schedule the next run at once."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from jobs.admin import columns
from jobs.admin.actions import Operator, RowAction
from jobs.admin.base import SmallTableAdmin
from jobs.admin.filters import choice
from jobs.admin.forms import MaskedForm
from jobs.admin.links import Link, rows_of
from jobs.errors import ErrorText, FieldErrors, Invalid, Refused
from scheduler.admin.preview import PREVIEWED, PreviewAdmin, RulePreview, field_errors
from scheduler.clock import database_now
from scheduler.display import config_in_words, state_choices
from scheduler.models import Workflow, WorkflowRun
from scheduler.pages.workflows import in_words
from scheduler.states import WorkflowStatus
from scheduler.workflows import lifecycle as workflows
from scheduler.workflows import recurrence, runs, steps
from scheduler.workflows.recurrence import ConfigError

CONFIG = "schedule_config"


class WorkflowForm(MaskedForm):
    masked = ("steps",)

    class Meta:
        model = Workflow
        fields = ("office", "name", "status", "max_run_retries", "steps", CONFIG)
        widgets = {"steps": forms.Textarea(attrs={"rows": 16, "cols": 90})}

    def check(self, values: dict[str, Any]) -> None:
        try:
            recurrence.read(values[CONFIG])
            prepared = steps.prepare(values.get("office") or self.instance.office, values["steps"])
        except ConfigError as refused:
            raise Invalid(errors={CONFIG: with_paths(refused.errors)}) from None
        except Refused as refused:
            raise Invalid(errors={"steps": with_paths(refused.errors) or [refused.text]}) from None
        if values["status"] == WorkflowStatus.ACTIVE and not prepared.jobs:
            raise Invalid(errors={"steps": ["steps_empty"]})


def with_paths(errors: FieldErrors) -> list[ErrorText]:
    """The texts with the paths of their fields, for the one field that the form has."""
    return [ErrorText("in_field", field=path, text=text) for path, texts in errors.items() for text in texts]


def set_status(status: WorkflowStatus) -> Any:
    return lambda workflow, operator: workflows.change(workflow.pk, {"status": status}, now=database_now())


def run_now(workflow: Workflow, operator: Operator) -> None:
    runs.run_now(workflow.pk, user_id=operator.user.pk, now=database_now())


@admin.register(Workflow)
class WorkflowAdmin(PreviewAdmin, SmallTableAdmin):
    form = WorkflowForm
    list_display = (
        "name",
        columns.link("office", _("office")),
        columns.state(_("state")),
        columns.display(_("in words"))(in_words),
        "updated_at",
    )
    list_filter = (choice("status", _("state"), dict(state_choices(WorkflowStatus))),)
    search_fields = ("name",)
    list_select_related = ("office",)
    autocomplete_fields = ("office",)
    row_actions = (
        RowAction(
            "run_now",
            _("Run now…"),
            lambda n: ngettext("Run %d workflow now", "Run %d workflows now", n) % n,
            do=run_now,
            refusal=lambda workflow: "" if workflow.steps else _("no steps"),
            note=_("The pending run is not affected."),
        ),
        RowAction(
            "pause",
            _("Pause…"),
            lambda n: ngettext("Pause %d workflow", "Pause %d workflows", n) % n,
            do=set_status(WorkflowStatus.PAUSED),
            refusal=lambda workflow: "" if workflow.is_active else _("not active"),
            note=_("The pending run is removed; a run in progress continues."),
        ),
        RowAction(
            "resume",
            _("Activate…"),
            lambda n: ngettext("Activate %d workflow", "Activate %d workflows", n) % n,
            do=set_status(WorkflowStatus.ACTIVE),
            refusal=lambda workflow: _("active already") if workflow.is_active else "",
            note=_("Counts from now on; missed runs are not backfilled."),
        ),
    )

    def preview_of_form(self, form: Any) -> RulePreview:
        if problems := field_errors(form, (CONFIG,)):
            return RulePreview(problems=problems)
        try:
            config = recurrence.read(form.cleaned_data.get(CONFIG))
        except ConfigError as refused:
            return RulePreview(problems=[str(text) for text in with_paths(refused.errors)])
        times = recurrence.upcoming_times(config, database_now(), PREVIEWED)
        return RulePreview(config_in_words(config), times)

    def preview_of_row(self, row: Workflow) -> RulePreview:
        config = recurrence.read(row.schedule_config)
        times = (
            recurrence.upcoming_times(config, database_now(), PREVIEWED, activated_at=row.activated_at)
            if row.is_active
            else []
        )
        return RulePreview(config_in_words(config), times)

    def get_readonly_fields(self, request: HttpRequest, obj: Workflow | None = None) -> tuple[str, ...]:
        return ("office",) if obj else ()

    def links(self, request: HttpRequest, row: Workflow) -> list[Link]:
        page = Link(reverse("scheduler:workflow", args=[row.pk]), _("View page"))
        return [page, rows_of(WorkflowRun, _("Runs"), workflow=row.pk)]

    def save_model(self, request: HttpRequest, obj: Workflow, form: Any, change: bool) -> None:
        if change:
            values = {name: form.cleaned_data[name] for name in form.changed_data}
            workflows.change(obj.pk, values, now=database_now())
        else:
            values = {name: value for name, value in form.cleaned_data.items() if name != "office"}
            created = workflows.create(form.cleaned_data["office"], values, now=database_now())
            obj.pk, obj._state.adding = created.pk, False

    def delete_model(self, request: HttpRequest, obj: Workflow) -> None:
        workflows.remove(obj.pk, now=database_now())
