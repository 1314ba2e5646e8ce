"""The views of a workflow's form: creating and editing a workflow, and the preview while it is typed."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from jobs import catalogue
from jobs.access import operated_offices, require_access
from jobs.ids import parse_uuid
from jobs.models import Office
from jobs.pages.permissions import current_user
from jobs.states import MemberRole
from scheduler.access import workflow_for
from scheduler.clock import database_now
from scheduler.display import config_in_words
from scheduler.models import Workflow
from scheduler.pages import workflow_editor
from scheduler.pages.forms import json_text
from scheduler.pages.schedule_edit import PREVIEWED_RUNS
from scheduler.pages.steps_graph import drawing_of, steps_of
from scheduler.pages.times import change_texts, moments
from scheduler.pages.workflow_form import EXAMPLE, WorkflowForm, config_data
from scheduler.pages.workflows import OFFICES_LIMIT
from scheduler.schedules import clock_changes
from scheduler.schedules.timezones import KOREAN_TIME
from scheduler.states import WorkflowStatus
from scheduler.workflows import lifecycle as workflows
from scheduler.workflows import recurrence
from scheduler.workflows.recurrence import Recurring


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, workflow_id: UUID | None = None) -> HttpResponse:
    """The form of a workflow, or without an id of a new one; a POST saves it."""
    form = _form(request, workflow_id, request.POST if request.method == "POST" else None)
    workflow = form.workflow
    if (saved := form.save(lambda: _save(form))) is not None:
        messages.success(request, gettext("Workflow created.") if workflow is None else gettext("Saved."))
        return redirect("scheduler:workflow", saved.id)
    context = {
        "section": "workflows",
        "workflow": workflow,
        "office": form.target_office,
        "form": form,
        "tasks": catalogue.public_tasks(),
        "example": json_text(EXAMPLE),
        "preview_at": reverse("scheduler:workflow-preview", args=[workflow.id])
        if workflow
        else reverse("scheduler:new-workflow-preview"),
        **_preview_context(form),
    }
    return render(request, "scheduler/workflow_form.html", context, status=400 if form.errors else 200)


@require_POST
def preview(request: HttpRequest, workflow_id: UUID | None = None) -> HttpResponse:
    """What the form means so far; the editor of the steps sends a change of them too."""
    data, edited = request.POST.copy(), None
    if "edit" in data:
        edited = workflow_editor.edit(request.POST)
        data["steps"] = edited.text
    form = _form(request, workflow_id, data)
    form.is_valid()
    if edited is not None and edited.form is not None:
        edited.add_errors(form.step_errors.get(edited.form.place, {}))
    context = {"errors": form.preview_errors(), "editor": edited, **_preview_context(form)}
    return render(request, "scheduler/workflow_preview_update.html", context)


def _form(request: HttpRequest, workflow_id: UUID | None, data: QueryDict | None) -> WorkflowForm:
    user = current_user(request)
    if workflow_id is not None:
        workflow = workflow_for(user, workflow_id, MemberRole.OPERATOR)
        return WorkflowForm(data, workflow=workflow, office=workflow.office)
    office = office_of(user, request.POST or request.GET)
    return WorkflowForm(data, workflow=None, office=office, offices=operated_offices(user)[:OFFICES_LIMIT])


def _save(form: WorkflowForm) -> Workflow | None:
    now = database_now()
    if form.workflow is not None:
        return workflows.change(form.workflow.id, form.values, now=now)
    return workflows.create(form.target_office, form.values, now=now) if form.target_office else None


def office_of(user: User, query: QueryDict) -> Office | None:
    """The chosen office, if the user is an operator there."""
    office_id = parse_uuid(query.get("office"))
    if office_id is None:
        return None
    try:
        return require_access(user, office_id, MemberRole.OPERATOR).office
    except (Http404, PermissionDenied):
        return None


def _preview_context(form: WorkflowForm) -> dict[str, Any]:
    if form.is_bound:
        config, steps = form.config, form.parsed_steps
    else:
        config = recurrence.read(config_data(form.initial))
        steps = form.workflow.steps if form.workflow else []
    now = database_now()
    zone = config.timezone if isinstance(config, Recurring) else KOREAN_TIME
    upcoming = recurrence.upcoming_times(config, now, PREVIEWED_RUNS) if config else []
    shown_steps = steps_of(steps)
    return {
        "in_words": config_in_words(config) if config else "",
        "next": moments(upcoming, zone),
        "clock_changes": change_texts(clock_changes.of_config(config, now), zone) if config else [],
        "active": form["status"].value() == WorkflowStatus.ACTIVE,
        "steps": shown_steps,
        "drawing": drawing_of(shown_steps),
        "wrong": {str(place) for place in form.step_errors},
        "is_edited": True,
        "is_unreadable": steps != [],
    }
