"""Executions: the list of those that the reader may see, and one that no job owns."""

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
from jobs.selection import narrowed
from jobs.states import EXECUTION_ENDED, ExecutionStatus, Trigger
from scheduler.access import executions_by_cause, executions_of, may_cancel
from scheduler.pages.triggers import causes_of


class ExecutionFilterForm(forms.Form):
    status = forms.MultipleChoiceField(label=_("State"), choices=ExecutionStatus.choices, required=False)
    trigger = forms.ChoiceField(
        label=_("Caused by"), choices=[(one, TRIGGER_NAMES[one]) for one in Trigger], required=False
    )
    task_id = forms.CharField(label=_("Task"), max_length=200, required=False)
    schedule = forms.UUIDField(label=_("Schedule ID"), required=False)


@require_safe
@login_required
def executions(request: HttpRequest) -> HttpResponse:
    user, form = current_user(request), ExecutionFilterForm(request.GET)
    parts = executions_by_cause(user) if form.is_valid() else [Execution.objects.none()]
    page = page_of(
        [chosen(part, form.cleaned_data) for part in parts],
        parse_uuid(request.GET.get("after")),
        parse_uuid(request.GET.get("before")),
    )
    query = filter_query(request.GET, form.fields)
    causes = causes_of(page.rows, user)
    context = {
        "section": "executions",
        "rows": [{"run": run, "cause": causes[run.id]} for run in page.rows],
        "query": query,
        "statuses": list(ExecutionStatus),
        "wanted": query.getlist("status"),
        "form": form,
        **page_links(page, query),
    }
    return render(request, "scheduler/executions.html", context)


def chosen(found: QuerySet[Execution], wanted: dict[str, Any]) -> QuerySet[Execution]:
    if wanted.get("schedule"):
        found = found.filter(trigger=Trigger.SCHEDULE, source=str(wanted["schedule"])).exclude(source="")
    return narrowed(found, wanted, {"status": "status__in", "trigger": "trigger", "task_id": "task_id"})


def page_of(parts: list[QuerySet[Execution]], after: UUID | None, before: UUID | None) -> Page[Execution]:
    """The newest first; a place is an id."""
    rows = Execution.objects.select_related("job").defer(
        *("args", "result", "progress", "job__args", "job__error_message")
    )
    return NewestOfParts(parts, rows).page(after=after, before=before)


@require_safe
@login_required
def execution(request: HttpRequest, execution_id: UUID) -> HttpResponse:
    found = seen_by(request, execution_id)
    if found.job_id is not None and found.office_id is not None:
        return redirect("pages:job", found.office_id, found.job_id)
    return _answer(request, found, "scheduler/execution.html")


@require_safe
@login_required
def execution_live(request: HttpRequest, execution_id: UUID) -> HttpResponse:
    return _answer(request, seen_by(request, execution_id), "scheduler/execution_live.html")


def seen_by(request: HttpRequest, execution_id: UUID) -> Execution:
    visible = executions_of(current_user(request)).select_related("job").prefetch_related("attempts")
    found = visible.filter(pk=execution_id).first()
    if found is None:
        raise Http404
    return found


def _answer(request: HttpRequest, found: Execution, template: str) -> HttpResponse:
    user, now = current_user(request), timezone.now()
    ended = found.status in EXECUTION_ENDED
    context = {
        "section": "executions",
        "now": now,
        "run": found,
        "cause": causes_of([found], user)[found.id],
        "ended": ended,
        "attempts": attempts_of(found, found.created_at, found.finished_at or now, now),
        "worker": Worker.objects.filter(name=found.worker).first() if found.worker else None,
        "flower": link_for(user, found),
        "output": output_of(found.result),
        "may_cancel": not ended and may_cancel(user, found),
    }
    return render(request, template, context)


@require_POST
@login_required
def cancel(request: HttpRequest, execution_id: UUID) -> HttpResponse:
    found = seen_by(request, execution_id)
    if found.job_id is not None:
        raise Http404  # it is cancelled with its job
    if not may_cancel(current_user(request), found):
        raise PermissionDenied
    status = engine.cancel_execution(found.id)
    if status is None:
        messages.warning(request, gettext("There was nothing to cancel: it has ended."))
    elif status == ExecutionStatus.CANCELLED:
        messages.success(request, gettext("It is cancelled."))
    else:
        messages.success(request, gettext("It was told to stop."))
    return redirect("scheduler:execution", found.id)
