"""The page of an Execution without a job."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from jobs import lifecycle as engine
from jobs.flower import link_for
from jobs.models import Execution, Worker
from jobs.pages.permissions import current_user
from jobs.pages.run_logs import LINES_ON_PAGE, LINES_ON_RUN, log_context
from jobs.queries import attempts_of, output_of
from jobs.states import EXECUTION_ENDED, ExecutionStatus
from scheduler.access import executions_of, may_cancel
from scheduler.pages.causes import causes_of
from scheduler.runs.again import REPEATABLE


@require_safe
def execution(request: HttpRequest, execution_id: UUID, *, template: str = "execution.html") -> HttpResponse:
    """The page, or with another template the part of it that is refreshed."""
    run = visible_execution(request, execution_id)
    if template == "execution.html" and run.job_id is not None and run.office_id is not None:
        return redirect("pages:job", run.office_id, run.job_id)
    user, now = current_user(request), timezone.now()
    ended = run.status in EXECUTION_ENDED
    context = {
        "section": "runs",
        "now": now,
        "run": run,
        "cause": causes_of([run])[run.id],
        "ended": ended,
        "attempts": attempts_of(run, run.created_at, run.finished_at or now, now),
        "worker": Worker.objects.filter(name=run.worker).first() if run.worker else None,
        "flower": link_for(user, run),
        "output": output_of(run.result),
        "may_cancel": not ended and may_cancel(user, run),
        "may_run_again": ended and run.trigger in REPEATABLE and may_cancel(user, run),
    }
    if template == "execution.html":
        context |= execution_log_context(request, run)
    return render(request, f"scheduler/{template}", context)


def execution_log_context(request: HttpRequest, run: Execution, count: int = LINES_ON_RUN) -> dict[str, Any]:
    page = reverse("scheduler:execution-log", args=[run.pk])
    return log_context(request, run, page, f"/api/executions/{run.pk}/logs.txt", count)


@require_safe
def execution_log(request: HttpRequest, execution_id: UUID) -> HttpResponse:
    run = visible_execution(request, execution_id)
    context = {
        "section": "runs",
        "title": run.task_id,
        "back": reverse("scheduler:execution", args=[run.pk]),
        **execution_log_context(request, run, LINES_ON_PAGE),
    }
    return render(request, "jobs/run_log_page.html", context)


def visible_execution(request: HttpRequest, execution_id: UUID) -> Execution:
    visible = executions_of(current_user(request)).select_related("job").prefetch_related("attempts")
    return get_object_or_404(visible, pk=execution_id)


@require_POST
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
