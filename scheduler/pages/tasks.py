"""The catalogue of Tasks, and the form that runs one."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from jobs import catalogue, lifecycle, submission
from jobs.access import operated_offices, require_access
from jobs.insight.offers import service_of, services
from jobs.known_tasks import KnownTask
from jobs.pages.permissions import current_user
from jobs.states import MemberRole
from scheduler.clock import database_now
from scheduler.manual_runs import run_task
from scheduler.models import Schedule
from scheduler.pages.task_arguments import help_for
from scheduler.pages.task_form import TaskForm
from scheduler.schedules import lifecycle as schedules

MOST_OFFICES = 500


@require_safe
def tasks(request: HttpRequest) -> HttpResponse:
    public = catalogue.public_tasks()
    offered = services([(task.task_id, task.role) for task in public])
    rows = [{"task": task, "service": offered[task.task_id]} for task in public]
    return render(request, "scheduler/tasks.html", {"section": "tasks", "rows": rows})


@require_http_methods(["GET", "HEAD", "POST"])
def task(request: HttpRequest, task_id: str) -> HttpResponse:
    """A Task with its arguments; a POST runs it."""
    help_text = help_for(task_id)
    if help_text is None:
        raise Http404
    user = current_user(request)
    offices = [(str(office.id), office.name) for office in operated_offices(user)[:MOST_OFFICES]]
    form = TaskForm(help_text.task, offices, request.POST if request.method == "POST" else None)
    if not form.is_bound and request.GET.get("office") in dict(offices):
        form.initial["office"] = request.GET["office"]
    if address := form.save(lambda: _run(user, task_id, form)):
        messages.success(request, _("Run started."))
        return redirect(address)
    context = {"section": "tasks", "help": help_text, "form": form, **_service(user, help_text.task)}
    context["schedules"] = _schedule_counts(user, task_id)
    return render(request, "scheduler/task.html", context, status=400 if form.errors else 200)


@require_POST
def act_on_schedules(request: HttpRequest, task_id: str, verb: str) -> HttpResponse:
    """Pause or resume all schedules of the Task that the user owns."""
    user, now = current_user(request), database_now()
    if verb == "pause":
        count = schedules.pause_all(task_id, owner=user, now=now)
        text = ngettext("%(count)s schedule paused.", "%(count)s schedules paused.", count)
    else:
        count = schedules.resume_all(task_id, owner=user, now=now)
        text = ngettext("%(count)s schedule resumed.", "%(count)s schedules resumed.", count)
    messages.success(request, text % {"count": count})
    return redirect("scheduler:task", task_id)


def _schedule_counts(user: User, task_id: str) -> dict[str, int]:
    """The user's schedules of the Task, enabled and paused."""
    own = Schedule.objects.filter(owner=user, task_id=task_id).order_by()
    counts = dict(own.values_list("enabled").annotate(number=Count("pk")))
    return {"enabled": counts.get(True, 0), "paused": counts.get(False, 0)}


def _run(user: User, task_id: str, form: TaskForm) -> str:
    """Start the run, and return the address of its page."""
    office_id = form.cleaned_data["office"]
    if not office_id:
        return reverse("scheduler:execution", args=[run_task(task_id, form.args, owner_id=user.pk)])
    office = require_access(user, office_id, MemberRole.OPERATOR).office
    (job,) = lifecycle.submit(submission.read(office, {"task_id": task_id, "args": form.args}))
    return reverse("pages:job", args=[office.id, job])


def _service(user: User, task: KnownTask) -> dict[str, Any]:
    """How workers offer the Task; for staff also which ones."""
    service = service_of(task.task_id, task.role)
    return {"service": service, "offers": service.offers if user.is_staff else []}
