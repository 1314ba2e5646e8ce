"""The page of a role's queue: its length, its waits and who waits.

Members see what concerns their own offices there. Staff see everything and the workers, and pause the queue.
"""

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from jobs import queues, workers
from jobs.pages.permissions import current_user, staff_user
from scheduler import access, monitor, queue_lengths
from scheduler.pages.running import running_context

RUNNING_LIMIT = 25


@require_safe
def queue(request: HttpRequest, role: str, *, template: str = "queue.html") -> HttpResponse:
    """The page, or with another template the part of it that is refreshed."""
    user, now = current_user(request), timezone.now()
    status = next((queue for queue in queue_lengths.queues(user, now) if queue.role == role), None)
    if status is None:
        raise Http404
    context: dict[str, Any] = {
        "section": "monitor",
        "now": now,
        "role": role,
        "live_at": reverse("scheduler:queue-live", args=[role]),
        "queue": status,
        "may_act": user.is_staff,
        "served": role in queues.served_roles(),
        "workers": _workers(role, now) if user.is_staff else None,
        **running_context(access.executions_of(user).filter(role=role), now, RUNNING_LIMIT),
        "waiting": queue_lengths.waiting_offices(user, role, now),
    }
    return render(request, f"scheduler/{template}", context)


def _workers(role: str, now: datetime) -> list[dict[str, Any]]:
    return [
        {"worker": row, "online": workers.is_online(row, now)}
        for row in monitor.workers(now)
        if role in row.roles
    ]


@require_POST
def act(request: HttpRequest, role: str, verb: str) -> HttpResponse:
    user = staff_user(request)
    if queues.find_queue(role) is None:
        raise Http404
    if verb == "resume":
        changed, text = queues.resume_queue(role, user), _("Queue resumed.")
    else:
        changed = queues.pause_queue(role, user, request.POST.get("reason", ""))
        text = _("Queue paused.")
    if changed:
        messages.success(request, text)
    else:
        messages.warning(request, _("Nothing was changed: another user did it before."))
    return redirect("scheduler:queue", role)
