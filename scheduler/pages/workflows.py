"""Workflows: the list, and a workflow with its steps, its next run and its run history."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from jobs.access import offices_of, operated_offices
from jobs.display import local_time, state_label
from jobs.ids import parse_uuid
from jobs.insight import progress
from jobs.keyset import Page, page_links, page_of
from jobs.models import Batch, Office
from jobs.pages.permissions import current_user, office_access
from jobs.pages.selection import filter_query
from jobs.selection import narrow
from jobs.sql import call
from jobs.states import MemberRole
from scheduler.access import workflow_for, workflows_of
from scheduler.display import config_in_words, state_choices
from scheduler.models import Workflow, WorkflowRun
from scheduler.pages.lists import FilterForm, choice_field, read_list, text_field
from scheduler.pages.run_grid import grid_of
from scheduler.pages.schedules import MARKS, Mark
from scheduler.pages.steps_graph import drawing_of, steps_of
from scheduler.sql import reports
from scheduler.states import RunStatus, WorkflowStatus
from scheduler.workflows import recurrence

RUNS = 20
OFFICES_LIMIT = 200
NEWEST_FIRST = ("-scheduled_time", "-id")


class WorkflowFilterForm(FilterForm):
    status = choice_field(_("State"), state_choices(WorkflowStatus))
    office = forms.UUIDField(label=_("Office"), required=False, widget=forms.Select)
    name = text_field(_("Name"))

    def __init__(self, data: QueryDict, offices: Iterable[Office]) -> None:
        super().__init__(data)
        choices = [(office.id, office.name) for office in offices]
        self.fields["office"].widget.choices = [("", _("all")), *choices]

    def filter(self, rows: QuerySet[Workflow]) -> QuerySet[Workflow]:
        lookups = {"status": "status", "office": "office", "name": "name__icontains"}
        return narrow(rows, self.cleaned_data, lookups)


@require_safe
def workflows(request: HttpRequest, *, template: str = "workflows.html") -> HttpResponse:
    """The page, or with another template the part of it that is refreshed."""
    user = current_user(request)
    visible = workflows_of(user).select_related("office").defer("steps")
    form = WorkflowFilterForm(request.GET, offices_of(user)[:OFFICES_LIMIT])
    listed, context = read_list(request, form, visible, address=reverse("scheduler:workflows"))
    marks = recent_marks([workflow.id for workflow in listed])
    operated = operated_offices(user).in_bulk({workflow.office_id for workflow in listed})
    rows = [
        {
            "workflow": workflow,
            "in_words": in_words(workflow),
            "marks": marks.get(workflow.id, []),
            "may_act": workflow.office_id in operated,
        }
        for workflow in listed
    ]
    return render(request, f"scheduler/{template}", context | {"section": "workflows", "rows": rows})


def in_words(workflow: Workflow) -> str:
    return config_in_words(recurrence.read(workflow.schedule_config))


def recent_marks(workflows: Collection[UUID]) -> dict[UUID, list[Mark]]:
    """The recent runs of each workflow, newest last."""
    marks: dict[UUID, list[Mark]] = {}
    rows = call.rows(reports.RECENT_RUNS, {"workflows": list(workflows), "limit": MARKS})
    for workflow, at, status in rows:
        marks.setdefault(workflow, []).append(Mark(local_time(at), state_label(status)))
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
        "may_act": office_access(request, workflow.office_id).may(MemberRole.OPERATOR),
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
    by_batch = progress.progress_of(live)
    return [
        {
            "run": run,
            "batch": batches.get(run.batch_id) if run.batch_id else None,
            "percent": by_batch[run.batch_id].percent if run.batch_id in by_batch else None,
        }
        for run in runs
    ]
