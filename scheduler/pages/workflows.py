"""Workflows: the list, and one with its steps, its next run and its history."""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from jobs.access import RANK, access_for, max_role, offices_of, role_of_staff
from jobs.display import state_label
from jobs.ids import parse_uuid
from jobs.insight import progress
from jobs.keyset import page_links, page_of
from jobs.models import Batch
from jobs.pages.permissions import current_user
from jobs.pages.refusals import told
from jobs.pages.selection import filter_query
from jobs.selection import narrowed
from jobs.sql import call
from jobs.states import MemberRole
from scheduler import sql
from scheduler.access import workflow_for, workflows_of
from scheduler.models import Workflow, WorkflowRun
from scheduler.pages.schedules import MARKS, ORDER, Mark, mark
from scheduler.pages.steps_graph import drawing_of, steps_of
from scheduler.pages.times import language
from scheduler.schedules import words
from scheduler.states import RUN_RESUMABLE, RunStatus, WorkflowStatus
from scheduler.workflows import recurrence

RUNS = 20
MOST_OFFICES = 200
NEWEST_FIRST = ("-scheduled_time", "-id")
PENDING = Prefetch("runs", WorkflowRun.objects.filter(status=RunStatus.PENDING), to_attr="pending")


class WorkflowFilterForm(forms.Form):
    status = forms.ChoiceField(
        label=_("State"),
        choices=[(one, state_label(one).name) for one in WorkflowStatus],
        required=False,
    )
    office = forms.UUIDField(label=_("Office"), required=False)
    name = forms.CharField(label=_("Name"), max_length=200, required=False)


@require_safe
@login_required
def workflows(request: HttpRequest) -> HttpResponse:
    user, form = current_user(request), WorkflowFilterForm(request.GET)
    mine = workflows_of(user).select_related("office").defer("steps").prefetch_related(PENDING)
    page = page_of(
        chosen(mine, form.cleaned_data) if form.is_valid() else mine.none(),
        order=ORDER,
        among=workflows_of(user),
        after=parse_uuid(request.GET.get("after")),
        before=parse_uuid(request.GET.get("before")),
    )
    query = filter_query(request.GET, form.fields)
    marks = marks_of([workflow.id for workflow in page.rows])
    named = {workflow.office_id for workflow in page.rows}
    offices: dict[UUID, Any] = offices_of(user).in_bulk(named)
    rows = [
        {
            "workflow": workflow,
            "in_words": in_words(workflow),
            "active": workflow.status == WorkflowStatus.ACTIVE,
            "next": next_of(workflow),
            "marks": marks.get(workflow.id, []),
            "may_act": acts_in(user, offices[workflow.office_id].member_role),
        }
        for workflow in page.rows
    ]
    context = {
        "section": "workflows",
        "rows": rows,
        "query": query,
        "form": form,
        "offices": list(offices_of(user)[:MOST_OFFICES]),
        **page_links(page, query),
    }
    return render(request, "scheduler/workflows.html", context)


def chosen(found: QuerySet[Workflow], wanted: dict[str, Any]) -> QuerySet[Workflow]:
    return narrowed(found, wanted, {"status": "status", "office": "office", "name": "name__icontains"})


def acts_in(user: User, role: str | None) -> bool:
    """By the reader's role in an office, and what they are for the whole system."""
    own = max_role(role, role_of_staff(user)) if role else role_of_staff(user)
    return own is not None and RANK[own] >= RANK[MemberRole.OPERATOR]


def in_words(workflow: Workflow) -> str:
    return words.config_in_words(recurrence.read(workflow.schedule_config), language())


def next_of(workflow: Any) -> WorkflowRun | None:
    return next(iter(workflow.pending), None)


def marks_of(found: Collection[UUID]) -> dict[UUID, list[Mark]]:
    """The last runs of each, the newest last."""
    marks: dict[UUID, list[Mark]] = {}
    rows = call.rows(sql.RECENT_RUNS, {"workflows": list(found), "limit": MARKS})
    for workflow, at, status in rows:
        marks.setdefault(workflow, []).append(mark(at, state_label(status)))
    return marks


@require_safe
@login_required
def workflow(request: HttpRequest, workflow_id: UUID) -> HttpResponse:
    return _answer(request, workflow_id, "scheduler/workflow.html")


@require_safe
@login_required
def workflow_live(request: HttpRequest, workflow_id: UUID) -> HttpResponse:
    return _answer(request, workflow_id, "scheduler/workflow_live.html")


def _answer(request: HttpRequest, workflow_id: UUID, template: str) -> HttpResponse:
    user = current_user(request)
    workflow_for(user, workflow_id)
    found = Workflow.objects.select_related("office").prefetch_related(PENDING).get(pk=workflow_id)
    access = access_for(user, found.office_id)
    page = runs_of(found, parse_uuid(request.GET.get("after")), parse_uuid(request.GET.get("before")))
    steps = steps_of(found.steps)
    context = {
        "section": "workflows",
        "now": timezone.now(),
        "workflow": found,
        "office": found.office,
        "may_act": access is not None and access.may(MemberRole.OPERATOR),
        "active": found.status == WorkflowStatus.ACTIVE,
        "in_words": in_words(found),
        "next": next_of(found),
        "steps": steps,
        "drawing": drawing_of(steps),
        "runs": run_rows(page.rows),
        "query": request.GET,
        **page_links(page, filter_query(request.GET, ())),
    }
    return render(request, template, context)


def runs_of(found: Workflow, after: UUID | None, before: UUID | None) -> Any:
    all_runs = WorkflowRun.objects.filter(workflow=found)
    begun = all_runs.exclude(status=RunStatus.PENDING).select_related("started_by")
    begun = begun.defer("workflow_data").prefetch_related("history")
    return page_of(begun, order=NEWEST_FIRST, among=all_runs, after=after, before=before, size=RUNS)


def run_rows(runs: Sequence[WorkflowRun]) -> list[dict[str, Any]]:
    """Each with its batch, as long as that is kept, and how far it is."""
    batches = Batch.objects.in_bulk([run.batch_id for run in runs if run.batch_id])
    live = [run.batch_id for run in runs if run.batch_id and run.status == RunStatus.RUNNING]
    counts = progress.counts_of(live)
    return [
        {
            "run": run,
            "batch": batches.get(run.batch_id) if run.batch_id else None,
            "percent": progress.percent(counts[run.batch_id]) if run.batch_id in counts else None,
            "happened": told(run.error_message),
            "resumable": run.status in RUN_RESUMABLE,
            "starts": list(run.history.all()),
        }
        for run in runs
    ]
