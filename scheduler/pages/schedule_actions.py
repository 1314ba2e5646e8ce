"""Actions on a schedule: run its Task now, pause, resume, delete."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from jobs.errors import Conflict, Refused
from jobs.pages.permissions import current_user
from jobs.pages.undo import offer_undo
from scheduler.access import executions_of, schedule_for
from scheduler.clock import database_now
from scheduler.manual_runs import run_schedule
from scheduler.models import Schedule
from scheduler.schedules import lifecycle as schedules


def redirect_back(request: HttpRequest, page: str, row_id: UUID) -> HttpResponse:
    """Redirect to the page on which the user pressed the button, if it is on this server; else to `page`."""
    path = request.POST.get("back", "")
    if url_has_allowed_host_and_scheme(path, allowed_hosts=None):
        return redirect(path)
    return redirect(page, row_id)


@require_POST
def run(request: HttpRequest, schedule_id: UUID) -> HttpResponse:
    """Run the schedule's Task by hand: refused while another run of it for its owner is in progress."""
    schedule = schedule_for(current_user(request), schedule_id, acts=True)
    try:
        execution = run_schedule(schedule)
    except Conflict as conflict:
        messages.warning(
            request, _running_text(request, schedule, str(conflict.extra.get("execution_id", "")))
        )
    except Refused as refused:
        messages.error(request, str(refused.text))
    else:
        messages.success(request, _("Run started."))
        return redirect("scheduler:execution", execution)
    return redirect_back(request, "scheduler:schedule", schedule.id)


def _running_text(request: HttpRequest, schedule: Schedule, execution: str) -> str:
    text = _("Not started: %(task)s is already running.") % {"task": schedule.task_id}
    if not executions_of(current_user(request)).filter(pk=execution).exists():
        return text
    address = reverse("scheduler:execution", args=[execution])
    return format_html('{} <a href="{}">{}</a>', text, address, _("View run"))


@require_POST
def pause(request: HttpRequest, schedule_id: UUID) -> HttpResponse:
    schedule = schedule_for(current_user(request), schedule_id, acts=True)
    schedules.pause(schedule.id, now=database_now())
    messages.success(request, _("Schedule paused. Runs due while it is paused are not backfilled."))
    return redirect_back(request, "scheduler:schedule", schedule.id)


@require_POST
def resume(request: HttpRequest, schedule_id: UUID) -> HttpResponse:
    schedule = schedule_for(current_user(request), schedule_id, acts=True)
    if schedules.resume(schedule.id, now=database_now()).next_run_at is None:
        messages.warning(request, _("Schedule enabled, but it has ended: there are no upcoming runs."))
    else:
        messages.success(request, _("Schedule resumed."))
    return redirect_back(request, "scheduler:schedule", schedule.id)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, schedule_id: UUID) -> HttpResponse:
    schedule = schedule_for(current_user(request), schedule_id, acts=True)
    if request.method != "POST":
        back = reverse("scheduler:schedule", args=[schedule.id])
        context = {"section": "schedules", "row": schedule, "back": back}
        return render(request, "scheduler/schedule_delete.html", context)
    deletion = schedules.remove(schedule.id, now=database_now(), undo_for=current_user(request))
    text = _("Schedule deleted. Its runs stay visible; those in progress continue.")
    offer_undo(request, text, deletion)
    return redirect("scheduler:schedules")
