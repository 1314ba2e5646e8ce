"""The page of a workflow run: its state, its graph by state, and what can be done about it."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from jobs import queries
from jobs.models import Batch
from jobs.pages.batch import batch_context
from jobs.pages.batch_view import view_of
from jobs.pages.permissions import current_user, office_access
from jobs.states import MemberRole
from scheduler.access import workflow_for
from scheduler.models import WorkflowRun
from scheduler.pages.workflows import run_rows


@gzip_page
@require_safe
def workflow_run(
    request: HttpRequest, workflow_id: UUID, run_id: UUID, *, template: str = "workflow_run.html"
) -> HttpResponse:
    """The page, or with another template the part of it that is refreshed."""
    workflow = workflow_for(current_user(request), workflow_id)
    newest = queries.newest_event(workflow.office)
    runs = WorkflowRun.objects.filter(workflow=workflow, pk=run_id).prefetch_related("history")
    run = get_object_or_404(runs.select_related("started_by").defer("workflow_data"))
    now = timezone.now()
    batch = Batch.objects.filter(pk=run.batch_id).first() if run.batch_id else None
    context = {
        "section": "workflows",
        "now": now,
        "workflow": workflow,
        "office": workflow.office,
        "may_act": office_access(request, workflow.office_id).may(MemberRole.OPERATOR),
        "row": run_rows([run])[0],
        "batch": batch,
        "newest_event": newest,
        **(batch_context(workflow.office, batch, now, view_of(request.GET)) if batch else {}),
    }
    return render(request, f"scheduler/{template}", context)
