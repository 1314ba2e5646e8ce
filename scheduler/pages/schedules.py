"""Schedules: the list, and a schedule with its next runs and recent occurrences."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django import forms
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from jobs.display import Label
from jobs.keyset import page_links, page_of
from jobs.models import Execution
from jobs.pages.live_list import Place
from jobs.pages.permissions import current_user
from jobs.pages.selection import filter_query
from jobs.selection import narrow
from jobs.sql import call
from scheduler import display
from scheduler.access import may_change, schedule_for, schedules_of
from scheduler.clock import database_now
from scheduler.models import Occurrence, Schedule
from scheduler.pages.times import change_texts, language, moments
from scheduler.schedules import calendars, clock_changes, words
from scheduler.sql import reports

ORDER = ("name", "id")
MARKS = 10
OCCURRENCES = 20
NEXT_RUNS = 5


class ScheduleFilterForm(forms.Form):
    state = forms.ChoiceField(
        label=_("State"), choices=[("enabled", _("Enabled")), ("paused", _("Paused"))], required=False
    )
    kind = forms.ChoiceField(label=_("Schedule type"), choices=list(display.KINDS.items()), required=False)
    q = forms.CharField(label=_("Name or Task"), max_length=200, required=False)


@dataclass(frozen=True)
class Mark:
    """One past run in the small history of a list."""

    at: str
    label: Label


@require_safe
def schedules(request: HttpRequest, *, template: str = "schedules.html") -> HttpResponse:
    """The page, or with another template the part of it that is refreshed."""
    user, form = current_user(request), ScheduleFilterForm(request.GET)
    place, visible = Place.read(request.GET), schedules_of(user).select_related("owner").defer("args")
    matching = filter_schedules(visible, form.cleaned_data) if form.is_valid() else visible.none()
    page = page_of(
        place.exclude_newer(matching), order=ORDER, among=visible, after=place.after, before=place.before
    )
    query = filter_query(request.GET, form.fields)
    marks = recent_marks([schedule.id for schedule in page.rows])
    rows = [
        {
            "schedule": schedule,
            "label": display.schedule_label(schedule),
            **rule_in_words(schedule),
            "marks": marks.get(schedule.id, []),
            "may_act": may_change(user, schedule),
        }
        for schedule in page.rows
    ]
    at = reverse("scheduler:schedules")
    context = {
        "section": "schedules",
        "now": timezone.now(),
        "rows": rows,
        "query": query,
        "form": form,
        **page_links(page, query),
        **place.context(at, query, place.count_new(matching)),
    }
    return render(request, f"scheduler/{template}", context)


def filter_schedules(schedules: QuerySet[Schedule], values: dict[str, Any]) -> QuerySet[Schedule]:
    if values["state"]:
        schedules = schedules.filter(enabled=values["state"] == "enabled")
    if values["q"]:
        schedules = schedules.filter(Q(name__icontains=values["q"]) | Q(task_id__icontains=values["q"]))
    return narrow(schedules, values, {"kind": "kind"})


def recent_marks(schedules: Collection[UUID]) -> dict[UUID, list[Mark]]:
    """The recent occurrences of each schedule, newest last."""
    marks: dict[UUID, list[Mark]] = {}
    rows = call.rows(reports.RECENT_OCCURRENCES, {"schedules": list(schedules), "limit": MARKS})
    for schedule, due_at, outcome, status in rows:
        marks.setdefault(schedule, []).append(mark(due_at, display.occurrence_label(outcome, status)))
    return marks


def mark(at: datetime, label: Label) -> Mark:
    return Mark(f"{timezone.localtime(at):%Y-%m-%d %H:%M:%S}", label)


def rule_in_words(schedule: Schedule) -> dict[str, str]:
    """The rule in words, and its time zone where the words do not name it."""
    text = words.rule_in_words(schedule.rule, language())
    return {"in_words": text, "zone": "" if schedule.timezone in text else schedule.timezone}


@require_safe
def schedule(request: HttpRequest, schedule_id: UUID, *, template: str = "schedule.html") -> HttpResponse:
    """The page, or with another template the part of it that is refreshed."""
    user = current_user(request)
    schedule = schedule_for(user, schedule_id)
    context = {"section": "schedules", "may_act": may_change(user, schedule), **details(schedule)}
    return render(request, f"scheduler/{template}", context)


def details(schedule: Schedule) -> dict[str, Any]:
    now = database_now()
    is_due = schedule.next_run_at is not None
    upcoming = calendars.upcoming_times(schedule.rule, schedule.calendar, now, NEXT_RUNS) if is_due else []
    changes = clock_changes.of_rule(schedule.rule, now) if upcoming else []
    occurrences = recent_occurrences(schedule)
    executions = [row["execution"] for row in occurrences if row["execution"]]
    return {
        "now": timezone.now(),
        "schedule": schedule,
        "label": display.schedule_label(schedule),
        **rule_in_words(schedule),
        "kind": display.KINDS[schedule.kind],
        "next": moments(upcoming, schedule.timezone),
        "clock_changes": change_texts(changes, schedule.timezone),
        "overlap": display.OVERLAPS[schedule.overlap],
        "catch_up": display.CATCH_UPS[schedule.catch_up],
        "occurrences": occurrences,
        "is_running": any(not execution.finished_at for execution in executions),
    }


def recent_occurrences(schedule: Schedule) -> list[dict[str, Any]]:
    """The newest occurrences with their Executions, as long as these are kept."""
    occurrences = list(Occurrence.objects.filter(schedule=schedule).order_by("-due_at")[:OCCURRENCES])
    ids = [occurrence.execution_id for occurrence in occurrences if occurrence.execution_id]
    executions = Execution.objects.defer("args", "result").in_bulk(ids)
    return [
        occurrence_row(row, executions.get(row.execution_id) if row.execution_id else None)
        for row in occurrences
    ]


def occurrence_row(occurrence: Occurrence, execution: Execution | None) -> dict[str, Any]:
    return {
        "occurrence": occurrence,
        "execution": execution,
        "label": display.occurrence_label(occurrence.outcome, execution.status if execution else None),
        "reason": display.occurrence_reason(occurrence.reason),
    }
