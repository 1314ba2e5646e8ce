"""Workflows: the list, and a workflow with its steps, its next run and its run history."""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from jobs.access import offices_of, operated_offices
from jobs.display import state_label
from jobs.ids import parse_uuid
from jobs.insight import progress
from jobs.keyset import Page, page_links, page_of
from jobs.models import Batch
from jobs.pages.live_list import Place
from jobs.pages.permissions import can_operate, current_user, office_access
from jobs.pages.selection import filter_query
from jobs.selection import narrow
from jobs.sql import call
from scheduler.access import workflow_for, workflows_of
from scheduler.display import state_choices
from scheduler.models import Workflow, WorkflowRun
from scheduler.pages.run_grid import grid_of
from scheduler.pages.schedules import MARKS, ORDER, Mark, mark
from scheduler.pages.steps_graph import drawing_of, steps_of
from scheduler.pages.times import language
from scheduler.schedules import words
from scheduler.sql import reports
from scheduler.states import RunStatus, WorkflowStatus
from scheduler.workflows import recurrence

RUNS = 20
OFFICES_LIMIT = 200
FILTERS = {"status": "status", "office": "office", "name": "name__icontains"}
NEWEST_FIRST = ("-scheduled_time", "-id")


class WorkflowFilterForm(forms.Form):
    status = forms.ChoiceField(label=_("State"), choices=state_choices(WorkflowStatus), required=False)
    office = forms.UUIDField(label=_("Office"), required=False)
    name = forms.CharField(label=_("Name"), max_length=200, required=False)


@require_safe
def workflows(request: HttpRequest, *, template: str = "workflows.html") -> HttpResponse:
    """The page, or with another template the part of it that is refreshed."""
    user, form, place = current_user(request), WorkflowFilterForm(request.GET), Place.read(request.GET)
    visible = workflows_of(user).select_related("office").defer("steps")
    matching = narrow(visible, form.cleaned_data, FILTERS) if form.is_valid() else visible.none()
    page = page_of(
        place.exclude_newer(matching),
        order=ORDER,
        among=workflows_of(user),
        after=place.after,
        before=place.before,
    )
    query, at = filter_query(request.GET, form.fields), reverse("scheduler:workflows")
    marks = recent_marks([workflow.id for workflow in page.rows])
    operated = operated_offices(user).in_bulk({workflow.office_id for workflow in page.rows})
    rows = [
        {
            "workflow": workflow,
            "in_words": in_words(workflow),
            "marks": marks.get(workflow.id, []),
            "may_act": workflow.office_id in operated,
        }
        for workflow in page.rows
    ]
    context = {
        "section": "workflows",
        "now": timezone.now(),
        "rows": rows,
        "query": query,
        "form": form,
        "offices": list(offices_of(user)[:OFFICES_LIMIT]),
        **page_links(page, query),
        **place.context(at, query, place.count_new(matching)),
    }
    return render(request, f"scheduler/{template}", context)


def in_words(workflow: Workflow) -> str:
    return words.config_in_words(recurrence.read(workflow.schedule_config), language())


def recent_marks(workflows: Collection[UUID]) -> dict[UUID, list[Mark]]:
    """The recent runs of each workflow, newest last."""
    marks: dict[UUID, list[Mark]] = {}
    rows = call.rows(reports.RECENT_RUNS, {"workflows": list(workflows), "limit": MARKS})
    for workflow, at, status in rows:
        marks.setdefault(workflow, []).append(mark(at, state_label(status)))
    return marks


@gzip_page
@require_safe
def workflow(request: HttpRequest, workflow_id: UUID, *, template: str = "workflow.html") -> HttpResponse:
    """The page, or with another template the part of it that is refreshed."""
    workflow = workflow_for(current_user(request), workflow_id)
    page = runs_page(workflow, parse_uuid(request.GET.get("after")), parse_uuid(request.GET.get("before")))
    steps = steps_of(workflow.steps)
    context = {
        "section": "workflows",
        "now": timezone.now(),
        "workflow": workflow,
        "office": workflow.office,
        "may_act": can_operate(office_access(request, workflow.office_id)),
        "in_words": in_words(workflow),
        "steps": steps,
        "drawing": drawing_of(steps),
        "runs": run_rows(page.rows),
        "grid": grid_of(page.rows, steps),
        "query": request.GET,
        **page_links(page, filter_query(request.GET, ())),
    }
    return render(request, f"scheduler/{template}", context)


def runs_page(workflow: Workflow, after: UUID | None, before: UUID | None) -> Page[WorkflowRun]:
    all_runs = WorkflowRun.objects.filter(workflow=workflow)
    started = all_runs.exclude(status=RunStatus.PENDING).select_related("started_by")
    started = started.defer("workflow_data").prefetch_related("history")
    return page_of(started, order=NEWEST_FIRST, among=all_runs, after=after, before=before, size=RUNS)


def run_rows(runs: Sequence[WorkflowRun]) -> list[dict[str, Any]]:
    """Each run with its batch, as long as that is kept, and its progress."""
    batches = Batch.objects.in_bulk([run.batch_id for run in runs if run.batch_id])
    live = [run.batch_id for run in runs if run.batch_id and run.status == RunStatus.RUNNING]
    counts = progress.counts_of(live)
    return [
        {
            "run": run,
            "batch": batches.get(run.batch_id) if run.batch_id else None,
            "percent": progress.percent(counts[run.batch_id]) if run.batch_id in counts else None,
        }
        for run in runs
    ]
