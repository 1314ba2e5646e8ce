"""A workflow is written: the form, its preview with the steps drawn, and saving it by the API's verbs."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.dates import WEEKDAYS
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from jobs.access import offices_of, require_access
from jobs.display import state_label
from jobs.errors import Refused
from jobs.ids import parse_uuid
from jobs.models import Office
from jobs.pages.permissions import current_user
from jobs.pages.refusals import all_told
from jobs.states import MemberRole
from scheduler.access import workflow_for
from scheduler.clock import database_now
from scheduler.models import Workflow
from scheduler.pages.arguments import choosable
from scheduler.pages.schedule_edit import NOWHERE, unit_names
from scheduler.pages.schedule_form import UNITS, Errors
from scheduler.pages.schedules import NEXT
from scheduler.pages.steps_graph import Step, drawing_of, steps_of
from scheduler.pages.times import COMMON_ZONES, language, moments, next_runs
from scheduler.pages.workflow_form import (
    FIELD_OF,
    FIELDS,
    LAST_DAY,
    MODES,
    NEW,
    PATTERNS,
    Texts,
    check,
    texts_of,
)
from scheduler.pages.workflows import MOST_OFFICES, acts_in
from scheduler.schedules import words
from scheduler.states import WorkflowStatus
from scheduler.workflows import lifecycle as workflows
from scheduler.workflows.recurrence import KOREAN_TIME, Recurring

METHODS = ["GET", "HEAD", "POST"]
ACTS = MemberRole.OPERATOR
OFFICE = "office"
# Beside each of them stands why it is refused.
ANSWERED = (*(name for name in FIELDS if name != "unit"), OFFICE)


@require_http_methods(METHODS)
@login_required
def new(request: HttpRequest) -> HttpResponse:
    user = current_user(request)
    if request.method != "POST":
        return _form(request, None, office_of(user, request.GET), NEW, {})
    office = office_of(user, request.POST)
    return _save(request, None, office, texts_from(request.POST))


@require_http_methods(METHODS)
@login_required
def edit(request: HttpRequest, workflow_id: UUID) -> HttpResponse:
    found = workflow_for(current_user(request), workflow_id, ACTS)
    if request.method != "POST":
        return _form(request, found, found.office, texts_of(found), {})
    return _save(request, found, found.office, texts_from(request.POST))


@require_POST
@login_required
def preview_new(request: HttpRequest) -> HttpResponse:
    return _preview(request, None, office_of(current_user(request), request.POST))


@require_POST
@login_required
def preview(request: HttpRequest, workflow_id: UUID) -> HttpResponse:
    found = workflow_for(current_user(request), workflow_id, ACTS)
    return _preview(request, found, found.office)


def offices_to_act_in(user: User) -> list[Office]:
    found: Iterable[Any] = offices_of(user)[:MOST_OFFICES]
    return [office for office in found if acts_in(user, office.member_role)]


def office_of(user: User, given: QueryDict) -> Office | None:
    """The one that was chosen, if the reader may act there."""
    chosen = parse_uuid(given.get(OFFICE))
    if chosen is None:
        return None
    try:
        return require_access(user, chosen, ACTS).office
    except (Http404, PermissionDenied):
        return None


def texts_from(given: QueryDict) -> Texts:
    return {name: given.get(name, "") for name in FIELDS} | {
        "days_of_week": ",".join(sorted(given.getlist("days_of_week")))
    }


def _save(
    request: HttpRequest, workflow: Workflow | None, office: Office | None, texts: Texts
) -> HttpResponse:
    found = check(texts, workflow, office)
    errors = dict(found.errors)
    if office is None:
        errors[OFFICE] = [_("Choose an office in which you may act.")]
    if errors or office is None:
        return _form(request, workflow, office, texts, errors)
    now = database_now()
    try:
        if workflow is None:
            saved = workflows.create(office, found.given, now=now)
        else:
            saved = workflows.change(workflow.id, found.given, now=now)
    except Refused as refused:
        return _form(request, workflow, office, texts, refused.errors or {NOWHERE: [refused.text]})
    messages.success(
        request, (_("%(name)s is made.") if workflow is None else _("%(name)s is changed.")) % {"name": saved}
    )
    return redirect("scheduler:workflow", saved.id)


def _form(
    request: HttpRequest, workflow: Workflow | None, office: Office | None, texts: Texts, errors: Errors
) -> HttpResponse:
    context = {
        "section": "workflows",
        "workflow": workflow,
        "office": office,
        "offices": [] if workflow else offices_to_act_in(current_user(request)),
        "texts": texts,
        "tasks": choosable(),
        **choices(texts),
        "preview_at": reverse("scheduler:workflow-preview", args=[workflow.id])
        if workflow
        else reverse("scheduler:new-workflow-preview"),
        **looking_ahead(texts, workflow, office, database_now()),
    }
    context["errors"] = beside(errors, context["steps"])
    return render(request, "scheduler/workflow_form.html", context, status=400 if errors else 200)


def choices(texts: Texts) -> dict[str, Any]:
    modes = {
        "immediate": _("at once, when it is activated"),
        "delayed": _("some time after it is activated"),
        "scheduled": _("at a set time"),
        "recurring": _("again and again"),
    }
    patterns = {"daily": _("every day"), "weekly": _("every week"), "monthly": _("every month")}
    return {
        "modes": [(mode, modes[mode]) for mode in MODES],
        "patterns": [(pattern, patterns[pattern]) for pattern in PATTERNS],
        "weekdays": [(str(day), name) for day, name in WEEKDAYS.items()],
        "chosen_days": texts["days_of_week"].split(","),
        "days": [(str(day), str(day)) for day in range(1, 32)] + [(LAST_DAY, _("the last"))],
        "statuses": [(one.value, state_label(one).name) for one in WorkflowStatus],
        "units": [(name, unit_names()[name]) for name in UNITS],
        "zones": COMMON_ZONES,
    }


def _preview(request: HttpRequest, workflow: Workflow | None, office: Office | None) -> HttpResponse:
    texts = texts_from(request.POST)
    context = looking_ahead(texts, workflow, office, database_now())
    # Nobody is told that a field is empty which they have not come to yet.
    written = {
        field: why for field, why in beside(context["found"], context["steps"]).items() if texts.get(field)
    }
    there = ANSWERED if workflow is None else ANSWERED[:-1]
    context["whys"] = [(name, written.get(name, [])) for name in there]
    return render(request, "scheduler/workflow_preview.html", context)


def looking_ahead(
    texts: Texts, workflow: Workflow | None, office: Office | None, now: datetime
) -> dict[str, Any]:
    found = check(texts, workflow, office)
    steps = steps_of(found.steps)
    config = found.config
    zone = config.timezone if isinstance(config, Recurring) else KOREAN_TIME
    upcoming = [at for at in next_runs(config, now, NEXT) if at >= now] if config else []
    return {
        "found": found.errors,
        "config": config,
        "in_words": words.config_in_words(config, language()) if config else "",
        "next": moments(upcoming, zone),
        "active": texts["status"] == WorkflowStatus.ACTIVE,
        "steps": steps,
        "drawing": drawing_of(steps),
    }


def beside(errors: Errors, steps: Sequence[Step]) -> dict[str, list[str]]:
    """Each reason in the reader's language, by the field of the form that it stands beside."""
    shown: dict[str, list[str]] = {}
    refs = [step.node.ref for step in steps]
    for name, why in all_told(_unnested(errors)).items():
        field, _dot, rest = name.partition(".")
        field = FIELD_OF.get(field, field)
        where = f"{_step_named(rest, refs)}: " if field == "steps" and rest else ""
        if field in ANSWERED:
            shown.setdefault(field, []).extend(f"{where}{one}" for one in why)
        else:
            shown.setdefault(NOWHERE, []).extend(why)
    return shown


def _unnested(errors: Errors) -> Errors:
    return {name.removeprefix("schedule_config."): why for name, why in errors.items()}


def _step_named(rest: str, refs: list[str]) -> str:
    """`2.task_id` as people say it: the third step, by its name if it has one, and the field."""
    place_text, _dot, field = rest.partition(".")
    number = int(place_text) if place_text.isdecimal() and len(place_text) < 7 else None
    if number is None:
        return rest
    ref = refs[number] if number < len(refs) else ""
    step = _("step %(number)s") % {"number": number + 1} + (f" ({ref})" if ref else "")
    return f"{step}, {field}" if field else step
