"""What can be done to a schedule: run its Task now, hold it, resume it, delete it."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from jobs.errors import Conflict, Refused
from jobs.pages.permissions import current_user
from jobs.pages.refusals import told
from scheduler.access import executions_of, schedule_for
from scheduler.clock import database_now
from scheduler.manual_runs import run_task
from scheduler.models import Schedule
from scheduler.pages.back import back_to
from scheduler.schedules import lifecycle as schedules


@require_POST
@login_required
def run(request: HttpRequest, schedule_id: UUID) -> HttpResponse:
    """The same as running its Task by hand: refused while a scheduled or manual run of it has not ended."""
    user = current_user(request)
    schedule = schedule_for(user, schedule_id, acts=True)
    try:
        execution = run_task(schedule.task_id, schedule.args, user_id=user.pk)
    except Conflict as conflict:
        messages.warning(request, _under_way(request, schedule, str(conflict.extra.get("execution_id", ""))))
    except Refused as refused:
        messages.error(request, told(refused.text))
    else:
        messages.success(request, _("It was sent. This is its run."))
        return redirect("scheduler:execution", execution)
    return back_to(request, reverse("scheduler:schedule", args=[schedule.id]))


def _under_way(request: HttpRequest, schedule: Schedule, execution: str) -> str:
    text = _("A run of %(task)s has not ended yet, so no other was started.") % {"task": schedule.task_id}
    if not executions_of(current_user(request)).filter(pk=execution).exists():
        return text
    address = reverse("scheduler:execution", args=[execution])
    return format_html('{} <a href="{}">{}</a>', text, address, _("See that run"))


@require_POST
@login_required
def pause(request: HttpRequest, schedule_id: UUID) -> HttpResponse:
    schedule = schedule_for(current_user(request), schedule_id, acts=True)
    schedules.pause(schedule.id, now=database_now())
    messages.success(
        request, _("%(name)s is paused. What would be due meanwhile is not made up.") % {"name": schedule}
    )
    return back_to(request, reverse("scheduler:schedule", args=[schedule.id]))


@require_POST
@login_required
def resume(request: HttpRequest, schedule_id: UUID) -> HttpResponse:
    schedule = schedule_for(current_user(request), schedule_id, acts=True)
    if schedules.resume(schedule.id, now=database_now()).next_run_at is None:
        messages.warning(
            request, _("%(name)s is enabled, but its time is over: it will not run.") % {"name": schedule}
        )
    else:
        messages.success(request, _("%(name)s goes on from now.") % {"name": schedule})
    return back_to(request, reverse("scheduler:schedule", args=[schedule.id]))


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def delete(request: HttpRequest, schedule_id: UUID) -> HttpResponse:
    schedule = schedule_for(current_user(request), schedule_id, acts=True)
    if request.method != "POST":
        context = {"section": "schedules", "schedule": schedule}
        return render(request, "scheduler/schedule_delete.html", context)
    schedules.remove(schedule.id)
    messages.success(request, _("%(name)s is deleted. What it has started goes on.") % {"name": schedule})
    return redirect("scheduler:schedules")
