"""The views of a schedule's form: creating and editing a schedule, and the preview while it is typed."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from jobs.pages.permissions import current_user
from scheduler.access import schedule_for
from scheduler.clock import database_now
from scheduler.display import rule_in_words
from scheduler.models import Schedule
from scheduler.pages.schedule_form import ScheduleForm
from scheduler.pages.task_arguments import help_for
from scheduler.pages.times import change_texts, moments
from scheduler.schedules import calendars, clock_changes
from scheduler.schedules import lifecycle as schedules

PREVIEWED_RUNS = 5


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, schedule_id: UUID | None = None) -> HttpResponse:
    """The form of a schedule, or without an id of a new one; a POST saves it."""
    form = _form(request, schedule_id)
    schedule = form.schedule
    if (saved := form.save(lambda: _save(request, form))) is not None:
        messages.success(request, gettext("Schedule created.") if schedule is None else gettext("Saved."))
        return redirect("scheduler:schedule", saved.id)
    context = {
        "section": "schedules",
        "schedule": schedule,
        "form": form,
        "preview_at": reverse("scheduler:schedule-preview", args=[schedule.id])
        if schedule
        else reverse("scheduler:new-schedule-preview"),
        **_preview_context(form),
    }
    return render(request, "scheduler/schedule_form.html", context, status=400 if form.errors else 200)


@require_POST
def preview(request: HttpRequest, schedule_id: UUID | None = None) -> HttpResponse:
    form = _form(request, schedule_id)
    form.is_valid()
    context = {"errors": form.preview_errors(), **_preview_context(form)}
    return render(request, "scheduler/schedule_preview_update.html", context)


def _form(request: HttpRequest, schedule_id: UUID | None) -> ScheduleForm:
    user = current_user(request)
    schedule = schedule_for(user, schedule_id, acts=True) if schedule_id else None
    data = request.POST if request.method == "POST" else None
    initial = {name: request.GET[name] for name in ("name", "task_id", "args") if name in request.GET}
    owner = schedule.owner if schedule else user
    return ScheduleForm(data, schedule=schedule, owner=owner, now=database_now(), **initial)


def _save(request: HttpRequest, form: ScheduleForm) -> Schedule:
    if form.schedule is None:
        return schedules.create(form.values, owner=current_user(request), now=form.now)
    return schedules.change(form.schedule.id, form.values, now=form.now)


def _preview_context(form: ScheduleForm) -> dict[str, Any]:
    rule = form.rule if form.is_bound or form.schedule is None else form.schedule.rule
    times = calendars.upcoming_times(rule, form.chosen_calendar(), form.now, PREVIEWED_RUNS) if rule else []
    return {
        "in_words": rule_in_words(rule) if rule else "",
        "next": moments(times, rule.zone.key) if rule else [],
        "clock_changes": change_texts(clock_changes.of_rule(rule, form.now), rule.zone.key) if rule else [],
        "paused": not form["enabled"].value(),
        "help": help_for(form["task_id"].value() or ""),
    }
