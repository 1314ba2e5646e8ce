"""Restores what the user has deleted on a page."""

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from jobs.access import require_access
from jobs.errors import Refused
from jobs.models import Deletion, Webhook
from jobs.notifications import webhooks
from jobs.pages.permissions import current_user
from jobs.states import DeletedKind, MemberRole
from scheduler.clock import database_now
from scheduler.models import Workflow
from scheduler.runs import views
from scheduler.schedules import calendars
from scheduler.schedules import lifecycle as schedules
from scheduler.workflows import lifecycle as workflows


def _restore_schedule(deletion: Deletion) -> str:
    schedule = schedules.restore(deletion, now=database_now())
    return reverse("scheduler:schedule", args=[schedule.id])


def _restore_calendar(deletion: Deletion) -> str:
    calendar = calendars.restore(deletion, now=database_now())
    return reverse("scheduler:calendar", args=[calendar.id])


def _restore_view(deletion: Deletion) -> str:
    view = views.restore(deletion, now=database_now())
    return f"{reverse('scheduler:runs')}?{view.query}"


def _restore_webhook(deletion: Deletion) -> str:
    webhook = get_object_or_404(Webhook.with_deleted, pk=deletion.row["id"])
    require_access(deletion.user, webhook.office_id, MemberRole.OWNER)
    webhooks.restore(deletion)
    return reverse("pages:webhook", args=[webhook.office_id, webhook.id])


def _restore_workflow(deletion: Deletion) -> str:
    workflow = get_object_or_404(Workflow.with_deleted, pk=deletion.row["id"])
    require_access(deletion.user, workflow.office_id, MemberRole.OPERATOR)
    workflows.restore(deletion, now=database_now())
    return reverse("scheduler:workflow", args=[workflow.id])


KINDS: dict[str, tuple[Callable[[Deletion], str], str | Promise]] = {
    DeletedKind.SCHEDULE: (_restore_schedule, _("Schedule restored.")),
    DeletedKind.CALENDAR: (_restore_calendar, _("Calendar restored.")),
    DeletedKind.VIEW: (_restore_view, _("View restored.")),
    DeletedKind.WEBHOOK: (_restore_webhook, _("Webhook restored.")),
    DeletedKind.WORKFLOW: (_restore_workflow, _("Workflow restored.")),
}


@require_POST
def undo(request: HttpRequest, deletion_id: UUID) -> HttpResponse:
    deletion = get_object_or_404(Deletion, pk=deletion_id, user=current_user(request))
    restore, text = KINDS[deletion.kind]
    try:
        address = restore(deletion)
    except Refused as refused:
        return render(request, "scheduler/undo_refused.html", {"reason": refused.text}, status=409)
    messages.success(request, str(text))
    return redirect(address)
