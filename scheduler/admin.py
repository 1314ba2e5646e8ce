"""Schedules and workflows in the admin: the same verbs as the API, so a change counts at the next tick."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from jobs.errors import Refused
from scheduler import recurrence, words
from scheduler.clock import database_now
from scheduler.definition import check_rule, check_task
from scheduler.lifecycle import schedules, workflows
from scheduler.models import Occurrence, RunHistory, Schedule, ScheduledJob, Workflow
from scheduler.recurrence import ConfigError

RULE = ("kind", "cron", "every_seconds", "at", "timezone", "starts_at", "ends_at")


class ScheduleForm(forms.ModelForm):  # type: ignore[type-arg]
    """Says what the API says, beside the field that is to blame."""

    class Meta:
        model = Schedule
        fields = ("name", "task_id", "args", *RULE, "overlap", "catch_up", "max_retries", "enabled")

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if self.errors:
            return given
        try:
            check_task(given["task_id"], given["args"] or {})
            if not self.instance.pk or set(self.changed_data) & set(RULE):
                check_rule({field: given[field] for field in RULE}, database_now())
        except Refused as refused:
            for field, why in (refused.errors or {"__all__": [refused.message]}).items():
                self.add_error(field if field in self.fields else None, " ".join(why))
        return given


@admin.register(Schedule)
class ScheduleAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    form = ScheduleForm
    list_display = ("name", "task_id", "in_words", "next_run_at", "last_run_at", "enabled", "owner")
    list_filter = ("enabled", "kind", "task_id")
    search_fields = ("name", "task_id")
    list_select_related = ("owner",)
    readonly_fields = ("in_words", "next_run_at", "last_run_at", "last_execution_id", "owner")
    actions = ("pause", "resume")

    @admin.display(description=_("in words"))
    def in_words(self, schedule: Schedule) -> str:
        return words.rule_in_words(schedule.rule, get_language() or "ko") if schedule.name else ""

    @admin.action(description=_("Pause the chosen schedules"))
    def pause(self, request: HttpRequest, chosen: QuerySet[Schedule]) -> None:
        for schedule in chosen:
            schedules.pause(schedule.pk, now=database_now())

    @admin.action(description=_("Resume the chosen schedules"))
    def resume(self, request: HttpRequest, chosen: QuerySet[Schedule]) -> None:
        for schedule in chosen:
            schedules.resume(schedule.pk, now=database_now())

    def save_model(self, request: HttpRequest, obj: Schedule, form: Any, change: bool) -> None:
        if change:
            given = {field: form.cleaned_data[field] for field in form.changed_data}
            schedules.change(obj.pk, given, now=database_now())
        else:
            # The admin goes on with this object, so it has to be the row that is written.
            made = schedules.create(dict(form.cleaned_data), owner=request.user, now=database_now())
            obj.pk, obj._state.adding = made.pk, False

    def delete_model(self, request: HttpRequest, obj: Schedule) -> None:
        schedules.remove(obj.pk)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        # A schedule of every second has more turns than a page can list.
        return [str(one) for one in objs], {}, set(), []


class WorkflowForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Workflow
        fields = ("office", "name", "status", "steps", "schedule_config")

    def clean(self) -> dict[str, Any]:
        from scheduler import steps

        given = super().clean() or {}
        if self.errors:
            return given
        try:
            recurrence.read(given["schedule_config"])
            steps.prepare(given.get("office") or self.instance.office, given["steps"])
        except ConfigError as refused:
            self.add_error("schedule_config", str(refused))
        except Refused as refused:
            why = [f"{field}: {' '.join(said)}" for field, said in refused.errors.items()]
            self.add_error("steps", "; ".join(why) or refused.message)
        return given


@admin.register(Workflow)
class WorkflowAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    form = WorkflowForm
    list_display = ("name", "office", "status", "in_words", "updated_at")
    list_filter = ("status",)
    search_fields = ("name",)
    list_select_related = ("office",)

    @admin.display(description=_("in words"))
    def in_words(self, workflow: Workflow) -> str:
        return words.config_in_words(recurrence.read(workflow.schedule_config), get_language() or "ko")

    def save_model(self, request: HttpRequest, obj: Workflow, form: Any, change: bool) -> None:
        given = {field: form.cleaned_data[field] for field in form.cleaned_data if field != "office"}
        if change:
            workflows.change(obj.pk, given, now=database_now())
        else:
            made = workflows.create(form.cleaned_data["office"], given, now=database_now())
            obj.pk, obj._state.adding = made.pk, False

    def get_readonly_fields(self, request: HttpRequest, obj: Workflow | None = None) -> tuple[str, ...]:
        return ("office",) if obj else ()

    def delete_model(self, request: HttpRequest, obj: Workflow) -> None:
        workflows.remove(obj.pk)


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]
    """History: written by the verbs only."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Occurrence)
class OccurrenceAdmin(ReadOnly):
    list_display = ("due_at", "schedule", "turn", "reason", "execution_id")
    list_select_related = ("schedule",)
    show_full_result_count = False


class RunHistoryInline(admin.TabularInline):  # type: ignore[type-arg]
    model = RunHistory
    extra = 0
    can_delete = False


@admin.register(ScheduledJob)
class ScheduledJobAdmin(ReadOnly):
    list_display = ("scheduled_time", "workflow", "status", "executed_at", "retry_count", "error_message")
    list_filter = ("status",)
    list_select_related = ("workflow",)
    inlines = (RunHistoryInline,)
    show_full_result_count = False
