"""Executions: the list of those that the user may see, and an Execution without a job."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from jobs import lifecycle as engine
from jobs.display import TRIGGER_NAMES
from jobs.flower import link_for
from jobs.ids import parse_uuid
from jobs.keyset import NewestOfParts, Page, page_links
from jobs.models import Execution, Worker
from jobs.pages.permissions import current_user
from jobs.pages.selection import filter_query
from jobs.queries import attempts_of, output_of
from jobs.selection import narrow
from jobs.states import EXECUTION_ENDED, ExecutionStatus, Trigger
from scheduler.access import executions_by_cause, executions_of, may_cancel
from scheduler.pages.causes import causes_of
from scheduler.schedules.history import executions_of_schedule


class ExecutionFilterForm(forms.Form):
    status = forms.MultipleChoiceField(label=_("State"), choices=ExecutionStatus.choices, required=False)
    trigger = forms.ChoiceField(
        label=_("Trigger"), choices=[(trigger, TRIGGER_NAMES[trigger]) for trigger in Trigger], required=False
    )
    task_id = forms.CharField(label=_("Task"), max_length=200, required=False)
    schedule = forms.UUIDField(label=_("Schedule ID"), required=False)


@require_safe
@login_required
def executions(request: HttpRequest) -> HttpResponse:
    user, form = current_user(request), ExecutionFilterForm(request.GET)
    parts = executions_by_cause(user) if form.is_valid() else [Execution.objects.none()]
    page = page_of(
        [filter_executions(part, form.cleaned_data) for part in parts],
        parse_uuid(request.GET.get("after")),
        parse_uuid(request.GET.get("before")),
    )
    query = filter_query(request.GET, form.fields)
    causes = causes_of(page.rows)
    context = {
        "section": "executions",
        "rows": [{"run": run, "cause": causes[run.id]} for run in page.rows],
        "query": query,
        "statuses": list(ExecutionStatus),
        "chosen_statuses": query.getlist("status"),
        "form": form,
        **page_links(page, query),
    }
    return render(request, "scheduler/executions.html", context)


def filter_executions(executions: QuerySet[Execution], values: dict[str, Any]) -> QuerySet[Execution]:
    if values.get("schedule"):
        executions = executions_of_schedule(executions, values["schedule"])
    return narrow(executions, values, {"status": "status__in", "trigger": "trigger", "task_id": "task_id"})


def page_of(parts: list[QuerySet[Execution]], after: UUID | None, before: UUID | None) -> Page[Execution]:
    """The newest first; a place is an id."""
    rows = Execution.objects.select_related("job").defer(
        *("args", "result", "progress", "job__args", "job__error_message")
    )
    return NewestOfParts(parts, rows).page(after=after, before=before)


@require_safe
@login_required
def execution(request: HttpRequest, execution_id: UUID, *, template: str = "execution.html") -> HttpResponse:
    """The page, or with another template the part of it that is refreshed."""
    run = visible_execution(request, execution_id)
    if template == "execution.html" and run.job_id is not None and run.office_id is not None:
        return redirect("pages:job", run.office_id, run.job_id)
    user, now = current_user(request), timezone.now()
    ended = run.status in EXECUTION_ENDED
    context = {
        "section": "executions",
        "now": now,
        "run": run,
        "cause": causes_of([run])[run.id],
        "ended": ended,
        "attempts": attempts_of(run, run.created_at, run.finished_at or now, now),
        "worker": Worker.objects.filter(name=run.worker).first() if run.worker else None,
        "flower": link_for(user, run),
        "output": output_of(run.result),
        "may_cancel": not ended and may_cancel(user, run),
    }
    return render(request, f"scheduler/{template}", context)


def visible_execution(request: HttpRequest, execution_id: UUID) -> Execution:
    visible = executions_of(current_user(request)).select_related("job").prefetch_related("attempts")
    execution = visible.filter(pk=execution_id).first()
    if execution is None:
        raise Http404
    return execution


@require_POST
@login_required
def cancel(request: HttpRequest, execution_id: UUID) -> HttpResponse:
    run = visible_execution(request, execution_id)
    if run.job_id is not None:
        raise Http404  # it is cancelled with its job
    if not may_cancel(current_user(request), run):
        raise PermissionDenied
    status = engine.cancel_execution(run.id)
    if status is None:
        messages.warning(request, gettext("The run has already ended."))
    elif status == ExecutionStatus.CANCELLED:
        messages.success(request, gettext("Run cancelled."))
    else:
        messages.success(request, gettext("Cancellation requested."))
    return redirect("scheduler:execution", run.id)
