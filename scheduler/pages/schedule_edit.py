"""A schedule is written: the form, its preview while somebody writes, and saving it by the API's verbs."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from jobs.errors import Refused
from jobs.pages.permissions import current_user
from jobs.pages.refusals import all_told
from scheduler.access import schedule_for
from scheduler.clock import database_now
from scheduler.models import Schedule
from scheduler.pages import labels
from scheduler.pages.arguments import choosable, help_of
from scheduler.pages.schedule_form import FIELDS, NEW, UNITS, WRITTEN_IN, Errors, Texts, check, texts_of
from scheduler.pages.schedules import NEXT
from scheduler.pages.times import COMMON_ZONES, language, moments
from scheduler.schedules import lifecycle as schedules
from scheduler.schedules import rules, words

METHODS = ["GET", "HEAD", "POST"]
# Fields of the API that stand in a field of the form under another name.
FIELD_OF = {name: texts[0] for name, texts in WRITTEN_IN.items()}
NOWHERE = "form"
# Beside each of them stands why it is refused.
ANSWERED = tuple(name for name in FIELDS if name not in ("unit", "enabled"))


@require_http_methods(METHODS)
@login_required
def new(request: HttpRequest) -> HttpResponse:
    current_user(request)
    if request.method != "POST":
        asked = {name: request.GET[name] for name in ("name", "task_id", "args") if name in request.GET}
        return _form(request, None, {**NEW, **asked}, {})
    return _save(request, None, texts_from(request.POST))


@require_http_methods(METHODS)
@login_required
def edit(request: HttpRequest, schedule_id: UUID) -> HttpResponse:
    schedule = schedule_for(current_user(request), schedule_id, acts=True)
    if request.method != "POST":
        return _form(request, schedule, texts_of(schedule), {})
    return _save(request, schedule, texts_from(request.POST))


@require_POST
@login_required
def preview_new(request: HttpRequest) -> HttpResponse:
    current_user(request)
    return _preview(request, None)


@require_POST
@login_required
def preview(request: HttpRequest, schedule_id: UUID) -> HttpResponse:
    return _preview(request, schedule_for(current_user(request), schedule_id, acts=True))


def texts_from(given: QueryDict) -> Texts:
    return {name: given.get(name, "") for name in FIELDS}


def _save(request: HttpRequest, schedule: Schedule | None, texts: Texts) -> HttpResponse:
    now = database_now()
    found = check(texts, schedule, now)
    if found.errors:
        return _form(request, schedule, texts, found.errors)
    try:
        if schedule is None:
            saved = schedules.create(found.given, owner=current_user(request), now=now)
        else:
            saved = schedules.change(schedule.id, found.given, now=now)
    except Refused as refused:
        return _form(request, schedule, texts, refused.errors or {NOWHERE: [refused.text]})
    messages.success(
        request, (_("%(name)s is made.") if schedule is None else _("%(name)s is changed.")) % {"name": saved}
    )
    return redirect("scheduler:schedule", saved.id)


def _form(request: HttpRequest, schedule: Schedule | None, texts: Texts, errors: Errors) -> HttpResponse:
    context = {
        "section": "schedules",
        "schedule": schedule,
        "texts": texts,
        "tasks": choosable(),
        "kinds": labels.KINDS,
        "units": [(name, unit_names()[name]) for name in UNITS],
        "zones": COMMON_ZONES,
        "overlaps": labels.OVERLAPS,
        "catch_ups": labels.CATCH_UPS,
        "errors": beside(errors, ANSWERED),
        "preview_at": reverse("scheduler:schedule-preview", args=[schedule.id])
        if schedule
        else reverse("scheduler:new-schedule-preview"),
        **looking_ahead(texts, schedule, database_now()),
    }
    return render(request, "scheduler/schedule_form.html", context, status=400 if errors else 200)


def _preview(request: HttpRequest, schedule: Schedule | None) -> HttpResponse:
    texts = texts_from(request.POST)
    context = looking_ahead(texts, schedule, database_now())
    # Nobody is told that a field is empty which they have not come to yet.
    written = {name: why for name, why in context["found"].items() if texts.get(FIELD_OF.get(name, name))}
    context["whys"] = [(name, beside(written, ANSWERED).get(name, [])) for name in ANSWERED]
    return render(request, "scheduler/schedule_preview.html", context)


def looking_ahead(texts: Texts, schedule: Schedule | None, now: datetime) -> dict[str, Any]:
    found = check(texts, schedule, now)
    rule = found.rule
    return {
        "found": found.errors,
        "in_words": words.rule_in_words(rule, language()) if rule else "",
        "next": moments(rules.upcoming(rule, now, NEXT), rule.zone.key) if rule else [],
        "paused": not texts["enabled"],
        "help": help_of(texts["task_id"]),
    }


def beside(errors: Errors, fields: Iterable[str]) -> dict[str, list[str]]:
    """Each reason in the reader's language, by the field of the form that it stands beside."""
    shown, known = dict[str, list[str]](), set(fields)
    for name, why in all_told(errors).items():
        field = FIELD_OF.get(name, name)
        if field in known:
            shown.setdefault(field, []).extend(why)
        else:
            shown.setdefault(NOWHERE, []).extend(f"{name}: {one}" if name != NOWHERE else one for one in why)
    return shown


def unit_names() -> dict[str, str]:
    return {"seconds": _("seconds"), "minutes": _("minutes"), "hours": _("hours"), "days": _("days")}
