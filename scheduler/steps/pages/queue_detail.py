"""One step queue: the walk as it stands, and what can be done about it."""

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from jobs.errors import Conflict
from jobs.keyset import place
from jobs.pages.flower import link_for
from jobs.pages.permissions import current_user
from scheduler.steps import lifecycle, queues
from scheduler.steps.models import Step
from scheduler.steps.pages import labels
from scheduler.steps.pages.permissions import may_act, queue_acted_on_by, queue_seen_by
from scheduler.steps.pages.reading import reading


@require_safe
@login_required
def queue(request: HttpRequest, queue_id: int) -> HttpResponse:
    return _answer(request, queue_id, "step_queues/one.html")


@require_safe
@login_required
def queue_live(request: HttpRequest, queue_id: int) -> HttpResponse:
    return _answer(request, queue_id, "step_queues/one_live.html")


def _answer(request: HttpRequest, queue_id: int, template: str) -> HttpResponse:
    found = queue_seen_by(request, queue_id)
    wanted = place(request.GET.get("from"))
    context = {"section": "step-queues", "may_act": may_act(request, queue_id), "wanted": wanted}
    read = reading(found, wanted, timezone.now())
    if read["current"]:
        read["current"]["flower"] = link_for(current_user(request), read["current"]["run"])
    return render(request, template, context | read)


@require_POST
@login_required
def run(request: HttpRequest, queue_id: int) -> HttpResponse:
    queue_acted_on_by(request, queue_id)
    return _tried(request, queue_id, lambda: lifecycle.run(queue_id), _("The queue runs."))


@require_POST
@login_required
def cancel(request: HttpRequest, queue_id: int) -> HttpResponse:
    queue_acted_on_by(request, queue_id)
    return _tried(
        request,
        queue_id,
        lambda: lifecycle.cancel(queue_id),
        _("The queue was told to turn back: what was done is being undone."),
    )


@require_POST
@login_required
def rerun(request: HttpRequest, queue_id: int, job_id: UUID) -> HttpResponse:
    queue_acted_on_by(request, queue_id)
    if not Step.objects.filter(queue=queue_id, job_id=job_id).exists():
        raise Http404
    verb = lambda: lifecycle.rerun_backward(queue_id, job_id)  # noqa: E731
    return _tried(request, queue_id, verb, _("The backward operation runs again."))


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def delete(request: HttpRequest, queue_id: int) -> HttpResponse:
    """What would be gone, before it is."""
    found = queue_acted_on_by(request, queue_id)
    if request.method != "POST":
        return render(request, "step_queues/delete.html", {"section": "step-queues", "queue": found})
    name = str(found)
    try:
        queues.remove(queue_id)
    except Conflict as refused:
        return _refused(request, queue_id, refused)
    messages.success(request, _("%(name)s was deleted.") % {"name": name})
    return redirect("steps:queues")


def _tried(request: HttpRequest, queue_id: int, verb: Callable[[], object], words: str) -> HttpResponse:
    try:
        verb()
    except Conflict as refused:
        return _refused(request, queue_id, refused)
    messages.success(request, words)
    return redirect("steps:queue", queue_id=queue_id)


def _refused(request: HttpRequest, queue_id: int, refused: Conflict) -> HttpResponse:
    messages.warning(request, labels.refusal(refused))
    return redirect("steps:queue", queue_id=queue_id)
