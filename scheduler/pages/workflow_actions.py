"""What can be done to a workflow: run it now, hold it, activate it, delete it; go on with a failed run."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from jobs.errors import Refused
from jobs.pages.permissions import current_user
from jobs.pages.refusals import all_told, told
from jobs.states import MemberRole
from scheduler.access import workflow_for
from scheduler.clock import database_now
from scheduler.models import Workflow, WorkflowRun
from scheduler.pages.back import back_to
from scheduler.states import RunStatus, WorkflowStatus
from scheduler.workflows import lifecycle as workflows
from scheduler.workflows import runs

ACTS = MemberRole.OPERATOR


@require_POST
@login_required
def run(request: HttpRequest, workflow_id: UUID) -> HttpResponse:
    user = current_user(request)
    found = workflow_for(user, workflow_id, ACTS)
    try:
        started = runs.run_now(found.id, user_id=user.pk, now=database_now())
    except Refused as refused:
        messages.warning(request, told(refused.text))
        return back_to(request, _address(found))
    if started.status == RunStatus.FAILED:
        messages.error(request, told(started.error_message))
    elif started.batch_id is not None:
        messages.success(request, _("It runs. These are its jobs."))
        return redirect("pages:batch", found.office_id, started.batch_id)
    return back_to(request, _address(found))


@require_POST
@login_required
def pause(request: HttpRequest, workflow_id: UUID) -> HttpResponse:
    return _turn(request, workflow_id, WorkflowStatus.PAUSED, _("%(name)s is paused: only by hand it runs."))


@require_POST
@login_required
def activate(request: HttpRequest, workflow_id: UUID) -> HttpResponse:
    return _turn(request, workflow_id, WorkflowStatus.ACTIVE, _("%(name)s is active from now on."))


def _turn(request: HttpRequest, workflow_id: UUID, status: WorkflowStatus, done: str) -> HttpResponse:
    found = workflow_for(current_user(request), workflow_id, ACTS)
    try:
        workflows.change(found.id, {"status": status.value}, now=database_now())
    except Refused as refused:
        why = [one for sentences in all_told(refused.errors).values() for one in sentences]
        messages.error(request, " ".join(why) or told(refused.text))
    else:
        messages.success(request, done % {"name": found})
    return back_to(request, _address(found))


@require_POST
@login_required
def resume(request: HttpRequest, workflow_id: UUID, run_id: UUID) -> HttpResponse:
    """Run what failed or was cancelled again; what succeeded is kept."""
    user = current_user(request)
    found = workflow_for(user, workflow_id, ACTS)
    if not WorkflowRun.objects.filter(workflow=found, pk=run_id).exists():
        raise Http404
    try:
        runs.resume(run_id, actor=user.get_username(), now=database_now())
    except Refused as refused:
        messages.warning(request, told(refused.text))
    else:
        messages.success(request, _("The run goes on from its failed steps."))
    return back_to(request, _address(found))


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def delete(request: HttpRequest, workflow_id: UUID) -> HttpResponse:
    found = workflow_for(current_user(request), workflow_id, ACTS)
    if request.method != "POST":
        context = {"section": "workflows", "workflow": found}
        return render(request, "scheduler/workflow_delete.html", context)
    workflows.remove(found.id)
    messages.success(request, _("%(name)s is deleted. The jobs of a run under way go on.") % {"name": found})
    return redirect("scheduler:workflows")


def _address(found: Workflow) -> str:
    return reverse("scheduler:workflow", args=[found.id])
