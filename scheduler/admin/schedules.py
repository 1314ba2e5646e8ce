"""Schedules and their occurrences. The form changes schedules by the verbs of the API."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from jobs import catalogue
from jobs.access import operated_offices
from jobs.admin import columns, links
from jobs.admin.actions import Operator, RowAction
from jobs.admin.base import ReadOnlyAdmin, SmallTableAdmin
from jobs.admin.columns import fieldset
from jobs.admin.filters import boolean_filter, choice
from jobs.admin.forms import MaskedForm
from jobs.admin.links import Link, rows_of
from jobs.errors import Refused
from jobs.models import Execution, Office
from jobs.states import Trigger
from jobs.templatetags import pages
from jobs.texts import short_id
from scheduler import display
from scheduler.admin.preview import PREVIEWED, PreviewAdmin, RulePreview, field_errors
from scheduler.clock import database_now
from scheduler.manual_runs import run_schedule
from scheduler.models import Calendar, Occurrence, Schedule
from scheduler.pages import schedule_form
from scheduler.pages.schedule_form import POLICIES
from scheduler.schedules import calendars
from scheduler.schedules import lifecycle as schedules
from scheduler.schedules.catchup import CatchUp
from scheduler.schedules.rules import TIMING
from scheduler.schedules.validation import check_rule, check_task
from scheduler.states import Overlap

LAST_RUN = columns.row_of(Execution, "last_execution_id", _("last run"))
OUTCOME = columns.column("outcome", _("outcome"), lambda outcome: pages.badge(display.OUTCOMES[outcome]))
REASON = columns.column("reason", _("reason"), display.occurrence_reason)
RUN = columns.row_of(Execution, "execution_id", _("run"))
FACTS = ("owner", "failing_since", "next_run_at", "last_run_at", LAST_RUN, "created_at", "updated_at")


# For staff who may not change them.
DURATIONS = {
    "every_seconds": columns.seconds("every_seconds", _("repeat every")),
    "grace": columns.seconds("grace", _("grace period")),
    "retry_base_delay": columns.milliseconds("retry_base_delay", _("initial retry delay")),
    "timeout_ms": columns.milliseconds("timeout_ms", _("time limit")),
}
PAGE_FIELDS = schedule_form.ScheduleForm.base_fields


class ScheduleForm(MaskedForm):
    """Reports the errors of the verbs beside their fields."""

    masked = ("args",)
    # Who owns a new schedule.
    creator: ClassVar[User | None] = None

    task_id = forms.ChoiceField(label=_("Task"))
    kind = forms.ChoiceField(label=_("Schedule type"), choices=list(display.KINDS.items()))
    overlap = forms.ChoiceField(
        label=_("If the previous run is still running"),
        choices=list(display.OVERLAPS.items()),
        initial=Overlap.SKIP,
    )
    catch_up = forms.ChoiceField(
        label=_("If runs were missed"), choices=list(display.CATCH_UPS.items()), initial=CatchUp.LATEST
    )
    # With the limits and the choices of the page's form.
    grace, max_retries = PAGE_FIELDS["grace"], PAGE_FIELDS["max_retries"]
    retry_backoff, retry_base_delay = PAGE_FIELDS["retry_backoff"], PAGE_FIELDS["retry_base_delay"]
    timeout_ms, on_lost = PAGE_FIELDS["timeout_ms"], PAGE_FIELDS["on_lost"]
    notify_after_failures = PAGE_FIELDS["notify_after_failures"]
    notify_after_missed = PAGE_FIELDS["notify_after_missed"]

    class Meta:
        model = Schedule
        fields = ("name", "task_id", "args", *TIMING, *POLICIES, "enabled")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        owner = self.instance.owner if self.instance.pk and not self.instance._state.adding else self.creator
        for name, allowed in (
            ("calendar", Calendar.objects.filter(owner=owner)),
            ("notify_office", operated_offices(owner) if owner else Office.objects.none()),
        ):
            if name in self.fields:
                self.fields[name].queryset = allowed  # type: ignore[attr-defined]
        # Include the schedule's own Task even if its code was removed.
        names = dict.fromkeys([self.instance.task_id, *(task.task_id for task in catalogue.public_tasks())])
        if "task_id" in self.fields:
            self.fields["task_id"].choices = [(name, name or "---------") for name in names]  # type: ignore[attr-defined]

    def check(self, values: dict[str, Any]) -> None:
        check_task(values["task_id"], values["args"] or {})
        if not self.instance.pk or set(self.changed_data) & set(TIMING):
            check_rule(values, database_now())


@columns.display(_("in words"))
def in_words(schedule: Schedule) -> str:
    try:
        return display.rule_in_words(schedule.rule)
    except (ValueError, KeyError):  # a row that bypassed the checks must not hide the others
        return "–"


@columns.display(_("state"))
def state(schedule: Schedule) -> SafeString:
    return pages.badge(display.schedule_label(schedule))


def run_now(schedule: Schedule, operator: Operator) -> None:
    """Run the Task by hand, like POST /api/tasks/:id/run. The scheduled runs stay as they are."""
    run_schedule(schedule)


@admin.register(Schedule)
class ScheduleAdmin(PreviewAdmin, SmallTableAdmin):
    form = ScheduleForm
    list_display = (
        *("name", "task_id", in_words, state, "next_run_at", "last_run_at"),
        columns.link("owner", _("owner")),
    )
    list_filter = (boolean_filter("enabled", _("enabled")), choice("kind", _("schedule type"), display.KINDS))
    search_fields = ("name", "task_id")
    readonly_fields = FACTS
    list_select_related = ("owner",)
    fieldsets = (
        fieldset(None, "name", "task_id", "args", "enabled"),
        fieldset(_("When"), *TIMING),
        fieldset(_("How"), *POLICIES),
    )
    row_actions = (
        RowAction(
            "run_now",
            _("Run now…"),
            lambda n: ngettext("Run %d schedule now", "Run %d schedules now", n) % n,
            do=run_now,
            note=_("Starts one manual run each. Scheduled runs are not affected."),
        ),
        RowAction(
            "pause",
            _("Pause…"),
            lambda n: ngettext("Pause %d schedule", "Pause %d schedules", n) % n,
            do=lambda schedule, operator: schedules.pause(schedule.pk, now=database_now()),
            refusal=lambda schedule: "" if schedule.enabled else _("paused already"),
            note=_("Runs due while paused are not backfilled."),
        ),
        RowAction(
            "resume",
            _("Resume…"),
            lambda n: ngettext("Resume %d schedule", "Resume %d schedules", n) % n,
            do=lambda schedule, operator: schedules.resume(schedule.pk, now=database_now()),
            refusal=lambda schedule: _("not paused") if schedule.enabled else "",
        ),
    )

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change, **kwargs)
        form.creator = request.user  # type: ignore[attr-defined]
        return form

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return self.fieldsets
        fieldsets = (*self.fieldsets, fieldset(_("Now"), *FACTS))
        return (
            fieldsets
            if self.has_change_permission(request, obj)
            else columns.in_fieldsets(fieldsets, DURATIONS)
        )

    def preview_of_form(self, form: Any) -> RulePreview:
        if problems := field_errors(form, (*TIMING, "calendar")):
            return RulePreview(problems=problems)
        now = database_now()
        try:
            rule = check_rule(form.cleaned_data, now)
        except Refused as refused:
            return RulePreview(problems=[str(text) for texts in refused.errors.values() for text in texts])
        times = calendars.upcoming_times(rule, form.cleaned_data["calendar"], now, PREVIEWED)
        return RulePreview(display.rule_in_words(rule), times)

    def preview_of_row(self, row: Schedule) -> RulePreview:
        times = calendars.next_times(row, database_now(), PREVIEWED)
        return RulePreview(display.rule_in_words(row.rule), times)

    def links(self, request: HttpRequest, row: Schedule) -> list[Link]:
        return [
            Link(reverse("scheduler:schedule", args=[row.pk]), _("Its page")),
            rows_of(Occurrence, _("Scheduled runs"), schedule=row.pk),
            rows_of(Execution, _("Its runs"), of=f"{Trigger.SCHEDULE}:{row.pk}"),
        ]

    def save_model(self, request: HttpRequest, obj: Schedule, form: Any, change: bool) -> None:
        cleaned = {
            name: value.pk if isinstance(value, Model) else value for name, value in form.cleaned_data.items()
        }
        if change:
            values = {name: cleaned[name] for name in form.changed_data}
            schedules.change(obj.pk, values, now=database_now())
        else:
            # The admin continues with this object, so it must have the id of the written row.
            created = schedules.create(cleaned, owner=request.user, now=database_now())
            obj.pk, obj._state.adding = created.pk, False

    def delete_model(self, request: HttpRequest, obj: Schedule) -> None:
        schedules.remove(obj.pk, now=database_now())


@admin.register(Occurrence)
class OccurrenceAdmin(ReadOnlyAdmin):
    list_display = ("due_at", columns.link("schedule", _("schedule")), OUTCOME, REASON, RUN, "decided_at")
    list_filter = (
        choice(
            "outcome",
            _("outcome"),
            {outcome: label.name for outcome, label in display.OUTCOMES.items()},
            indexed=False,
        ),
    )
    list_select_related = ("schedule",)
    ids = ("schedule",)
    orders = {"schedule": "due_at"}
    fields = ("due_at", "schedule", OUTCOME, REASON, RUN, "decided_at")

    def search(self, rows: QuerySet[Occurrence], term: str) -> QuerySet[Occurrence]:
        """Search by the name of the schedule too."""
        matching = super().search(rows, term)
        if matching.query.is_empty():
            schedule_ids = list(Schedule.objects.filter(name=term).values_list("pk", flat=True)[:20])
            matching = rows.filter(schedule__in=schedule_ids)
        return matching


def schedule_link(source: str) -> Link:
    # Show the id, since the name would be a query for each row of a list.
    return Link(links.address(Schedule, source), short_id(source))


links.register_source(Trigger.SCHEDULE, schedule_link)
