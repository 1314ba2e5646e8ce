"""PeriodicTasks of django-celery-beat. Of those that the engine needs, only the interval can be changed."""

import json
from typing import Any

from celery import current_app
from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django_celery_beat.admin import PeriodicTaskAdmin, PeriodicTaskForm, TaskSelectWidget
from django_celery_beat.models import (
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
    PeriodicTasks,
    SolarSchedule,
)
from kombu.exceptions import OperationalError

from jobs import catalogue
from jobs.admin import columns
from jobs.admin.actions import Operator, RowAction
from jobs.admin.base import SmallTableAdmin
from jobs.admin.columns import fieldset
from jobs.admin.filters import boolean_filter
from jobs.errors import Conflict
from jobs.known_tasks import UnknownTask
from scheduler.display import language
from scheduler.schedules import cron, words
from scheduler.schedules.cron_fields import CronError

OWN = "dure: "
# Fields of our own tasks that operators cannot change.
FIXED = (
    "name",
    "task",
    "enabled",
    "args",
    "kwargs",
    "queue",
    "exchange",
    "routing_key",
    "headers",
    "one_off",
)
# The library's own label is not translated.
TASK = columns.column("task", _("Task Name"), str)
TIMINGS = (IntervalSchedule, CrontabSchedule, SolarSchedule, ClockedSchedule)

# Texts that the library leaves untranslated, for makemessages.
NAMES = (
    *(_("Periodic Tasks"), _("periodic task"), _("periodic tasks"), _("interval"), _("intervals")),
    *(
        _("crontab"),
        _("crontabs"),
        _("solar event"),
        _("solar events"),
        _("clocked"),
        _("Task Name"),
        _("Task (registered)"),
        _("Task (custom)"),
    ),
    *(_("Interval Schedule"), _("Crontab Schedule"), _("Solar Schedule"), _("Clocked Schedule")),
    *(_("One-off Task"), _("Positional Arguments"), _("Keyword Arguments"), _("Queue Override")),
    *(_("Exchange"), _("Routing Key"), _("Cron Timezone")),
)

for model in (PeriodicTask, *TIMINGS):
    admin.site.unregister(model)


def is_own(task: PeriodicTask | None) -> bool:
    return task is not None and task.name.startswith(OWN)


class CeleryTaskSelect(TaskSelectWidget):  # type: ignore[misc]
    def tasks_as_choices(self) -> tuple[tuple[str, str], ...]:
        registered = {task.task_id for task in catalogue.all_tasks()}
        return tuple(choice for choice in super().tasks_as_choices() if choice[0] not in registered)


class OwnPeriodicTaskForm(PeriodicTaskForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "regtask" in self.fields:
            self.fields["regtask"].widget = CeleryTaskSelect()

    def clean(self) -> dict[str, Any]:
        if is_own(self.instance):
            return forms.ModelForm.clean(self) or {}
        values: dict[str, Any] = super().clean()
        try:
            catalogue.find(values.get("task") or "")
        except UnknownTask:
            return values
        raise forms.ValidationError(
            _("This is a Task of Dure: create a schedule for it. A message alone would start no run.")
        )


def in_words(crontab: CrontabSchedule) -> str:
    names = ("minute", "hour", "day_of_month", "month_of_year", "day_of_week")
    try:
        rule = cron.parse(" ".join(str(getattr(crontab, name)).replace(" ", "") for name in names))
    except CronError:
        return str(crontab.human_readable)
    return f"{words.cron_in_words(rule, language())} ({crontab.timezone})"


@columns.display(_("when"))
def when(task: PeriodicTask) -> str:
    return in_words(task.crontab) if task.crontab else str(task.interval or task.solar or task.clocked or "–")


def set_enabled(task: PeriodicTask, enabled: bool) -> None:
    changes = {} if enabled else {"last_run_at": None}
    PeriodicTask.objects.filter(pk=task.pk).update(enabled=enabled, **changes)
    PeriodicTasks.update_changed()


def run_now(task: PeriodicTask, operator: Operator) -> None:
    current_app.loader.import_default_modules()
    celery_task = current_app.tasks.get(task.task)
    if celery_task is None:
        raise Conflict("unknown_celery_task", task=task.task)
    try:
        celery_task.apply_async(
            args=json.loads(task.args),
            kwargs=json.loads(task.kwargs),
            queue=task.queue or None,
            headers={"periodic_task_name": task.name},
        )
    except OperationalError:
        raise Conflict("redis_unreachable") from None


@admin.register(PeriodicTask)
class OperatorsPeriodicTaskAdmin(SmallTableAdmin, PeriodicTaskAdmin):  # type: ignore[misc]
    form = OwnPeriodicTaskForm
    date_hierarchy = None
    change_form_template = SmallTableAdmin.change_form_template
    lists_deleted_rows = True
    list_display = ("name", "enabled", when, TASK, "last_run_at", "total_run_count")
    list_filter = (boolean_filter("enabled", _("enabled")), boolean_filter("one_off", _("one time only")))
    search_fields = ("name", "task")
    fieldsets = (
        fieldset(None, "name", "regtask", "task", "enabled", "description"),
        fieldset(
            _("When"),
            *("interval", "crontab", "solar", "clocked", "start_time", "last_run_at", "one_off"),
        ),
        fieldset(_("Arguments"), "args", "kwargs"),
        fieldset(
            _("Message"),
            *("expires", "expire_seconds", "queue", "exchange", "routing_key", "priority", "headers"),
        ),
    )
    readonly_fields = ("last_run_at",)
    actions = ()
    row_actions = (
        RowAction(
            "run_now",
            _("Run now…"),
            lambda n: ngettext("Send %d task now", "Send %d tasks now", n) % n,
            do=run_now,
        ),
        RowAction(
            "pause",
            _("Pause…"),
            lambda n: ngettext("Pause %d task", "Pause %d tasks", n) % n,
            do=lambda task, operator: set_enabled(task, False),
            refusal=lambda task: (
                _("the engine needs it") if is_own(task) else "" if task.enabled else _("paused already")
            ),
        ),
        RowAction(
            "resume",
            _("Resume…"),
            lambda n: ngettext("Resume %d task", "Resume %d tasks", n) % n,
            do=lambda task, operator: set_enabled(task, True),
            refusal=lambda task: _("not paused") if task.enabled else "",
        ),
    )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return (*self.readonly_fields, *FIXED, TASK) if is_own(obj) else self.readonly_fields

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if not is_own(obj):
            return self.fieldsets
        _first, *others = self.fieldsets
        return fieldset(None, "name", TASK, "enabled", "description"), *others

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return not is_own(obj) and super().has_delete_permission(request, obj)


class TimingAdmin(SmallTableAdmin):
    """Deleting a timing would delete the tasks that use it, so only unused ones can be deleted."""

    actions = None
    lists_deleted_rows = True

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        used = obj is not None and PeriodicTask.objects.filter(**{self.column: obj}).exists()
        return not used and super().has_delete_permission(request, obj)

    @property
    def column(self) -> str:
        return str(self.opts.model_name).removesuffix("schedule")


@admin.register(CrontabSchedule)
class OperatorsCrontabAdmin(TimingAdmin):
    list_display = (columns.display(_("in words"))(in_words), "__str__")
    list_display_links = list_display


for model in (IntervalSchedule, SolarSchedule, ClockedSchedule):
    admin.site.register(model, TimingAdmin)
