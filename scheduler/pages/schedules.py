"""Schedules: the list, and a schedule with its next runs and recent occurrences."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from jobs.display import Label, local_time
from jobs.models import Execution
from jobs.pages.permissions import current_user
from jobs.selection import narrow
from jobs.sql import call
from scheduler import display
from scheduler.access import may_change, schedule_for, schedules_of
from scheduler.clock import database_now
from scheduler.models import Occurrence, Schedule
from scheduler.pages.lists import FilterForm, choice_field, read_list, text_field
from scheduler.pages.times import change_texts, moments
from scheduler.schedules import calendars, clock_changes
from scheduler.schedules.history import recent_occurrences
from scheduler.sql import reports

MARKS = 10
OCCURRENCES = 20
NEXT_RUNS = 5


class ScheduleFilterForm(FilterForm):
    state = choice_field(_("State"), [("enabled", _("Enabled")), ("paused", _("Paused"))])
    kind = choice_field(_("Schedule type"), display.KINDS.items())
    q = text_field(_("Name or Task"))

    def filter(self, rows: QuerySet[Schedule]) -> QuerySet[Schedule]:
        state, text = self.cleaned_data["state"], self.cleaned_data["q"]
        if state:
            rows = rows.filter(enabled=state == "enabled")
        if text:
            rows = rows.filter(Q(name__icontains=text) | Q(task_id__icontains=text))
        return narrow(rows, self.cleaned_data, {"kind": "kind"})


@dataclass(frozen=True)
class Mark:
    """One past run in the small history of a list."""

    at: str
    label: Label


@require_safe
def schedules(request: HttpRequest, *, template: str = "schedules.html") -> HttpResponse:
    """The page, or with another template the part of it that is refreshed."""
    user = current_user(request)
    visible = schedules_of(user).select_related("owner").defer("args")
    address, form = reverse("scheduler:schedules"), ScheduleFilterForm(request.GET)
    listed, context = read_list(request, form, visible, address=address)
    marks = recent_marks([schedule.id for schedule in listed])
    rows = [
        {
            "schedule": schedule,
            "label": display.schedule_label(schedule),
            **rule_in_words(schedule),
            "marks": marks.get(schedule.id, []),
            "may_act": may_change(user, schedule),
        }
        for schedule in listed
    ]
    return render(request, f"scheduler/{template}", context | {"section": "schedules", "rows": rows})


def recent_marks(schedules: Collection[UUID]) -> dict[UUID, list[Mark]]:
    """The recent occurrences of each schedule, newest last."""
    marks: dict[UUID, list[Mark]] = {}
    rows = call.rows(reports.RECENT_OCCURRENCES, {"schedules": list(schedules), "limit": MARKS})
    for schedule, due_at, outcome, status in rows:
        label = display.occurrence_label(outcome, status)
        marks.setdefault(schedule, []).append(Mark(local_time(due_at), label))
    return marks


def rule_in_words(schedule: Schedule) -> dict[str, str]:
    """The rule in words, and its time zone where the words do not name it."""
    text = display.rule_in_words(schedule.rule)
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
    upcoming = calendars.next_times(schedule, now, NEXT_RUNS)
    changes = clock_changes.of_rule(schedule.rule, now) if upcoming else []
    occurrences = recent_occurrences(schedule, OCCURRENCES)
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
        "occurrences": [occurrence_row(occurrence, execution) for occurrence, execution in occurrences],
        "is_running": any(execution and not execution.finished_at for _, execution in occurrences),
    }


def occurrence_row(occurrence: Occurrence, execution: Execution | None) -> dict[str, Any]:
    return {
        "occurrence": occurrence,
        "execution": execution,
        "label": display.occurrence_label(occurrence.outcome, execution.status if execution else None),
        "reason": display.occurrence_reason(occurrence.reason),
    }
