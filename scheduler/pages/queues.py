"""The page of a role's queue: its length, its wait, the workers that serve it, and who waits."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from jobs import workers
from jobs.access import offices_of
from jobs.pages.permissions import current_user
from jobs.states import ExecutionStatus
from scheduler import access, monitor
from scheduler.pages.causes import queues_of_executions

RUNNING_LIMIT = 25


@require_safe
@login_required
def queue(request: HttpRequest, role: str, *, template: str = "queue.html") -> HttpResponse:
    """The page, or with another template the part of it that is refreshed."""
    user, now = current_user(request), timezone.now()
    status = next((queue for queue in monitor.queues() if queue.role == role), None)
    if status is None:
        raise Http404
    live = access.executions_of(user).filter(status=ExecutionStatus.RUNNING, role=role)
    running = list(live.select_related("job").order_by("attempt_started_at")[:RUNNING_LIMIT])
    context: dict[str, Any] = {
        "section": "monitor",
        "now": now,
        "role": role,
        "live_at": reverse("scheduler:queue-live", args=[role]),
        "queue": status,
        "served": role in monitor.served_roles(),
        "workers": [
            {"worker": row, "online": workers.is_online(row, now)}
            for row in monitor.workers(now)
            if role in row.roles
        ],
        "running": running,
        "step_queues": queues_of_executions(running),
        "waiting": monitor.waiting_offices(role, None if user.is_staff else offices_of(user)),
    }
    return render(request, f"scheduler/{template}", context)
