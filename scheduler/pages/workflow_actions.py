"""Actions on a workflow: run now, pause, activate, delete; cancel a run, and retry its failed steps."""

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from jobs.display import Text
from jobs.errors import Refused
from jobs.pages.permissions import current_user
from jobs.pages.undo import offer_undo
from jobs.pages.verbs import call_verb
from jobs.states import MemberRole
from scheduler.access import workflow_for
from scheduler.clock import database_now
from scheduler.models import Workflow, WorkflowRun
from scheduler.pages.schedule_actions import redirect_back
from scheduler.states import RunStatus, WorkflowStatus
from scheduler.workflows import lifecycle as workflows
from scheduler.workflows import runs


def _workflow_for_operator(request: HttpRequest, workflow_id: UUID) -> Workflow:
    return workflow_for(current_user(request), workflow_id, MemberRole.OPERATOR)


@require_POST
def run(request: HttpRequest, workflow_id: UUID) -> HttpResponse:
    user, workflow = current_user(request), _workflow_for_operator(request, workflow_id)
    try:
        started = runs.run_now(workflow.id, user_id=user.pk, now=database_now())
    except Refused as refused:
        messages.warning(request, str(refused.text))
        return redirect_back(request, "scheduler:workflow", workflow.id)
    if started.status == RunStatus.FAILED:
        messages.error(request, started.error)
    elif started.batch_id is not None:
        messages.success(request, _("Workflow started."))
        return redirect("pages:batch", workflow.office_id, started.batch_id)
    return redirect_back(request, "scheduler:workflow", workflow.id)


STATUS_TEXTS = {
    WorkflowStatus.PAUSED: gettext_lazy("Workflow paused. It runs only when you start it."),
    WorkflowStatus.ACTIVE: gettext_lazy("Workflow activated."),
}


@require_POST
def set_status(request: HttpRequest, workflow_id: UUID, status: WorkflowStatus) -> HttpResponse:
    workflow = _workflow_for_operator(request, workflow_id)
    try:
        workflows.change(workflow.id, {"status": status.value}, now=database_now())
    except Refused as refused:
        texts = [str(text) for texts in refused.errors.values() for text in texts]
        messages.error(request, " ".join(texts) or str(refused.text))
    else:
        messages.success(request, str(STATUS_TEXTS[status]))
    return redirect_back(request, "scheduler:workflow", workflow.id)


RUN_VERBS: dict[str, tuple[Callable[..., object], Text]] = {
    "resume": (runs.resume, gettext_lazy("Retrying the failed steps.")),
    "cancel": (runs.cancel, gettext_lazy("Cancellation requested.")),
}


@require_POST
def change_run(request: HttpRequest, workflow_id: UUID, run_id: UUID, verb: str) -> HttpResponse:
    """Cancel the steps that have not ended, or retry those that failed or were cancelled."""
    user, workflow = current_user(request), _workflow_for_operator(request, workflow_id)
    get_object_or_404(WorkflowRun, workflow=workflow, pk=run_id)
    change, message = RUN_VERBS[verb]
    call_verb(request, lambda: change(run_id, actor=user.get_username(), now=database_now()), message)
    return redirect_back(request, "scheduler:workflow", workflow.id)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, workflow_id: UUID) -> HttpResponse:
    workflow = _workflow_for_operator(request, workflow_id)
    if request.method != "POST":
        back = reverse("scheduler:workflow", args=[workflow.id])
        context = {"section": "workflows", "row": workflow, "back": back}
        return render(request, "scheduler/workflow_delete.html", context)
    deletion = workflows.remove(workflow.id, now=database_now(), undo_for=current_user(request))
    offer_undo(request, _("Workflow deleted. The jobs of a run in progress continue."), deletion)
    return redirect("scheduler:workflows")
