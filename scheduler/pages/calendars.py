"""Calendars: the list, and the form that creates or changes one."""

import re
from datetime import datetime
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from jobs.errors import ErrorText, InvalidValue, Refused
from jobs.pages.edit_form import EditForm
from jobs.pages.permissions import current_user
from jobs.pages.undo import offer_undo
from scheduler.access import calendar_for, calendars_of, may_change
from scheduler.clock import database_now
from scheduler.models import Calendar
from scheduler.pages.forms import instant, wall_text, zone_field
from scheduler.schedules import calendars as domain
from scheduler.schedules.timezones import KOREAN_TIME

MOST_CALENDARS = 500
MOST_SCHEDULES = 50
TIME = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?"
WINDOW = re.compile(rf"({TIME})\s*[~–/-]\s*({TIME})")
LONGEST_TEXT = 100_000


class CalendarForm(EditForm):
    name = forms.CharField(label=_("Name"), max_length=200)
    dates = forms.CharField(
        label=_("Days"),
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea({"rows": 6, "class": "mono", "placeholder": "2026-12-25"}),
        help_text=_("Such as holidays, one on each line: 2026-12-25."),
    )
    windows = forms.CharField(
        label=_("Maintenance windows"),
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea({"rows": 4, "class": "mono"}),
        help_text=_(
            "One on each line: 2026-12-05 01:00 ~ 2026-12-05 03:00. The end is the first moment after it."
        ),
    )
    timezone = zone_field()

    def __init__(self, data: Any = None, *, calendar: Calendar | None) -> None:
        super().__init__(data, initial=values_of(calendar) if calendar else {"timezone": KOREAN_TIME})
        self.calendar = calendar

    def clean(self) -> None:
        cleaned = self.cleaned_data
        zone = cleaned.get("timezone", "")
        # The fields for the verb.
        self.values = {
            "name": cleaned.get("name"),
            "timezone": zone,
            "dates": cleaned.get("dates", "").replace(",", " ").split(),
            "windows": self._windows(zone),
        }

    def _windows(self, zone: str) -> list[dict[str, str]]:
        windows = []
        for line in filter(None, map(str.strip, self.cleaned_data.get("windows", "").splitlines())):
            match = WINDOW.fullmatch(line)
            if match is None:
                self.add_errors({"windows": [ErrorText("calendar_window")]})
                return []
            try:
                starts_at, ends_at = (instant(text, zone).isoformat() for text in match.groups())
            except InvalidValue as invalid:
                self.add_errors({"windows": [invalid.text]})
                return []
            windows.append({"starts_at": starts_at, "ends_at": ends_at})
        return windows


def values_of(calendar: Calendar) -> dict[str, Any]:
    zone = calendar.timezone
    windows = [
        " ~ ".join(_window_time(window[name], zone) for name in ("starts_at", "ends_at"))
        for window in calendar.windows
    ]
    return {
        "name": calendar.name,
        "timezone": zone,
        "dates": "\n".join(calendar.dates),
        "windows": "\n".join(windows),
    }


def _window_time(text: str, zone: str) -> str:
    return wall_text(datetime.fromisoformat(text), zone).replace("T", " ").removesuffix(":00")


@require_safe
def calendars(request: HttpRequest) -> HttpResponse:
    visible = calendars_of(current_user(request)).select_related("owner")
    rows = visible.annotate(schedule_count=Count("schedules"))[:MOST_CALENDARS]
    return render(request, "scheduler/calendars.html", {"section": "schedules", "rows": rows})


@require_http_methods(["GET", "HEAD", "POST"])
def calendar(request: HttpRequest, calendar_id: UUID | None = None) -> HttpResponse:
    """A calendar with the schedules that use it, or without an id a new one; a POST saves it."""
    user, acts = current_user(request), request.method == "POST"
    calendar = calendar_for(user, calendar_id, acts=acts) if calendar_id else None
    form = CalendarForm(request.POST if acts else None, calendar=calendar)
    if (saved := form.save(lambda: _save(user, form))) is not None:
        messages.success(request, gettext("Calendar created.") if calendar is None else gettext("Saved."))
        return redirect("scheduler:calendar", saved.id)
    context = {
        "section": "schedules",
        "calendar": calendar,
        "form": form,
        "may_act": calendar is None or may_change(user, calendar),
        "schedules": calendar.schedules.order_by("name", "id")[:MOST_SCHEDULES] if calendar else (),
    }
    return render(request, "scheduler/calendar.html", context, status=400 if form.errors else 200)


@require_POST
def delete(request: HttpRequest, calendar_id: UUID) -> HttpResponse:
    calendar = calendar_for(current_user(request), calendar_id, acts=True)
    try:
        deletion = domain.remove(calendar.id, now=database_now(), undo_for=current_user(request))
    except Refused as refused:
        messages.error(request, str(refused.text))
        return redirect("scheduler:calendar", calendar.id)
    offer_undo(request, gettext("Calendar deleted."), deletion)
    return redirect("scheduler:calendars")


def _save(user: User, form: CalendarForm) -> Calendar:
    if form.calendar is None:
        return domain.create(form.values, owner=user, now=database_now())
    return domain.change(form.calendar.id, form.values, now=database_now())
