"""One step queue: its run, and the actions on it."""

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from jobs.display import Text
from jobs.errors import Conflict
from jobs.flower import link_for
from jobs.ids import parse_number
from jobs.pages.permissions import current_user
from jobs.pages.verbs import call_verb
from jobs.states import MemberRole
from scheduler.monitor import no_worker
from scheduler.steps import lifecycle, queues
from scheduler.steps.access import may_operate, queue_for
from scheduler.steps.job_checks import check_queue
from scheduler.steps.models import Step, StepQueue
from scheduler.steps.pages.queue_context import queue_context

# How many jobs that could not run the check of a queue shows.
SHOWN_ERRORS = 10


ACTIONS: dict[str, tuple[Callable[[int], object], Text]] = {
    "run": (lifecycle.run, gettext_lazy("Queue started.")),
    "resume": (lifecycle.resume, gettext_lazy("Run resumed.")),
    "cancel": (lifecycle.cancel, gettext_lazy("Rollback requested.")),
}


@require_safe
def queue(request: HttpRequest, queue_id: int, *, template: str = "queue.html") -> HttpResponse:
    """The page, or with another template the part of it that is refreshed."""
    user, start = current_user(request), parse_number(request.GET.get("from"))
    context = queue_context(queue_for(user, queue_id), start, timezone.now())
    context |= {"section": "step-queues", "may_act": may_operate(user, queue_id), "from_job": start}
    if context["current"]:
        context["current"]["flower"] = link_for(user, context["current"]["run"])
    return render(request, f"step_queues/{template}", context)


@require_POST
def act(request: HttpRequest, queue_id: int, verb: str) -> HttpResponse:
    _queue_to_operate(request, queue_id)
    action, message = ACTIONS[verb]
    call_verb(request, lambda: action(queue_id), message)
    return redirect("steps:queue", queue_id=queue_id)


@require_POST
def check(request: HttpRequest, queue_id: int) -> HttpResponse:
    """Check the jobs without running any; the messages say what a run would fail at."""
    try:
        result = check_queue(_queue_to_operate(request, queue_id))
    except Conflict as refused:
        messages.warning(request, str(refused.text))
        return redirect("steps:queue", queue_id=queue_id)
    for step, error in result.refused[:SHOWN_ERRORS]:
        reasons = " ".join(str(text) for texts in error.errors.values() for text in texts)
        messages.error(request, _("Job %(number)s: %(error)s") % {"number": step.number, "error": reasons})
    if result.roles_without_worker:
        messages.warning(request, no_worker(", ".join(result.roles_without_worker)))
    if result.is_valid:
        messages.success(request, _("Every job can run."))
    return redirect("steps:queue", queue_id=queue_id)


@require_POST
def rerun(request: HttpRequest, queue_id: int, job_id: UUID) -> HttpResponse:
    _queue_to_operate(request, queue_id)
    get_object_or_404(Step, queue=queue_id, job_id=job_id)
    call_verb(request, lambda: lifecycle.rerun_backward(queue_id, job_id), _("Rollback retried."))
    return redirect("steps:queue", queue_id=queue_id)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, queue_id: int) -> HttpResponse:
    """A confirmation that says what will be deleted; then the deletion."""
    step_queue = _queue_to_operate(request, queue_id)
    if request.method != "POST":
        back = reverse("steps:queue", args=[queue_id])
        context = {"section": "step-queues", "row": step_queue, "back": back}
        return render(request, "step_queues/queue_delete.html", context)
    deleted = _("%(name)s was deleted.") % {"name": str(step_queue)}
    if call_verb(request, lambda: queues.delete(queue_id), deleted):
        return redirect("steps:queues")
    return redirect("steps:queue", queue_id=queue_id)


def _queue_to_operate(request: HttpRequest, queue_id: int) -> StepQueue:
    return queue_for(current_user(request), queue_id, MemberRole.OPERATOR)
