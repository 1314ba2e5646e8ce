"""Schedules: the list, and one with what it does next and what became of its turns."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django import forms
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from jobs.display import Label
from jobs.ids import parse_uuid
from jobs.keyset import page_links, page_of
from jobs.models import Execution
from jobs.pages.permissions import current_user
from jobs.pages.refusals import told
from jobs.pages.selection import filter_query
from jobs.selection import narrowed
from jobs.sql import call
from scheduler import sql
from scheduler.access import schedule_for, schedules_of
from scheduler.clock import database_now
from scheduler.models import Occurrence, Schedule
from scheduler.pages import labels
from scheduler.pages.times import language, moments
from scheduler.schedules import rules, words

ORDER = ("name", "id")
MARKS = 10
TURNS = 20
NEXT = 5


class ScheduleFilterForm(forms.Form):
    state = forms.ChoiceField(
        label=_("State"), choices=[("enabled", _("enabled")), ("paused", _("paused"))], required=False
    )
    kind = forms.ChoiceField(label=_("Kind"), choices=list(labels.KINDS.items()), required=False)
    q = forms.CharField(label=_("Name or Task"), max_length=200, required=False)


@dataclass(frozen=True)
class Mark:
    at: str
    label: Label


@require_safe
@login_required
def schedules(request: HttpRequest) -> HttpResponse:
    user, form = current_user(request), ScheduleFilterForm(request.GET)
    valid = form.is_valid()
    mine = schedules_of(user).select_related("owner").defer("args")
    page = page_of(
        chosen(mine, form.cleaned_data) if valid else mine.none(),
        order=ORDER,
        among=mine,
        after=parse_uuid(request.GET.get("after")),
        before=parse_uuid(request.GET.get("before")),
    )
    query = filter_query(request.GET, form.fields)
    marks = marks_of([schedule.id for schedule in page.rows])
    rows = [
        {
            "schedule": schedule,
            "label": labels.of_schedule(schedule),
            **rule_told(schedule),
            "marks": marks.get(schedule.id, []),
            "may_act": may_act(user, schedule),
        }
        for schedule in page.rows
    ]
    context = {"section": "schedules", "rows": rows, "query": query, "form": form, **page_links(page, query)}
    return render(request, "scheduler/schedules.html", context)


def chosen(found: QuerySet[Schedule], wanted: dict[str, Any]) -> QuerySet[Schedule]:
    if wanted["state"]:
        found = found.filter(enabled=wanted["state"] == "enabled")
    if wanted["q"]:
        found = found.filter(Q(name__icontains=wanted["q"]) | Q(task_id__icontains=wanted["q"]))
    return narrowed(found, wanted, {"kind": "kind"})


def marks_of(schedules: Collection[UUID]) -> dict[UUID, list[Mark]]:
    """The last turns of each, the newest last."""
    found: dict[UUID, list[Mark]] = {}
    rows = call.rows(sql.RECENT_OCCURRENCES, {"schedules": list(schedules), "limit": MARKS})
    for schedule, due_at, turn, status in rows:
        found.setdefault(schedule, []).append(mark(due_at, labels.of_turn(turn, status)))
    return found


def mark(at: datetime, label: Label) -> Mark:
    return Mark(f"{timezone.localtime(at):%Y-%m-%d %H:%M:%S}", label)


def rule_told(schedule: Schedule) -> dict[str, str]:
    """In words, and the time zone where the words do not name it."""
    told_so = words.rule_in_words(schedule.rule, language())
    return {"in_words": told_so, "zone": "" if schedule.timezone in told_so else schedule.timezone}


def may_act(user: User, schedule: Schedule) -> bool:
    return schedule.owner_id == user.pk or user.is_superuser


@require_safe
@login_required
def schedule(request: HttpRequest, schedule_id: UUID) -> HttpResponse:
    return _answer(request, schedule_id, "scheduler/schedule.html")


@require_safe
@login_required
def schedule_live(request: HttpRequest, schedule_id: UUID) -> HttpResponse:
    return _answer(request, schedule_id, "scheduler/schedule_live.html")


def _answer(request: HttpRequest, schedule_id: UUID, template: str) -> HttpResponse:
    user = current_user(request)
    found = schedule_for(user, schedule_id)
    context = {"section": "schedules", "may_act": may_act(user, found), **reading(found)}
    return render(request, template, context)


def reading(found: Schedule) -> dict[str, Any]:
    upcoming = rules.upcoming(found.rule, database_now(), NEXT) if found.next_run_at else []
    turns = turns_of(found)
    return {
        "now": timezone.now(),
        "schedule": found,
        "label": labels.of_schedule(found),
        **rule_told(found),
        "kind": labels.KINDS[found.kind],
        "next": moments(upcoming, found.timezone),
        "overlap": labels.OVERLAPS[found.overlap],
        "catch_up": labels.CATCH_UPS[found.catch_up],
        "turns": turns,
        "runs_now": any(turn["execution"] and not turn["execution"].finished_at for turn in turns),
    }


def turns_of(found: Schedule) -> list[dict[str, Any]]:
    """The newest turns with their Executions, as far as these are kept."""
    turns = list(Occurrence.objects.filter(schedule=found).order_by("-due_at")[:TURNS])
    ids = [turn.execution_id for turn in turns if turn.execution_id]
    runs = Execution.objects.defer("args", "result").in_bulk(ids)
    return [turn_row(turn, runs.get(turn.execution_id) if turn.execution_id else None) for turn in turns]


def turn_row(turn: Occurrence, run: Execution | None) -> dict[str, Any]:
    label = labels.of_turn(turn.outcome, run.status if run else None)
    return {"turn": turn, "execution": run, "label": label, "reason": told(turn.reason)}
