"""The alerts of the user: the list, and what is new for the header and for the browser's notifications."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from jobs.pages.permissions import current_user
from jobs.states import EventType
from scheduler import alerts as domain
from scheduler.alerts import Alert
from scheduler.clock import database_now

ADDRESSES = {
    EventType.JOB_FAILED: "pages:job",
    EventType.WORKFLOW_RUN_FAILED: "scheduler:workflow-run-page",
    EventType.SCHEDULE_FAILING: "scheduler:schedule",
}


@require_safe
@never_cache
def alerts(request: HttpRequest) -> HttpResponse:
    user, now = current_user(request), database_now()
    seen = domain.seen_until(user, now)
    listed = domain.of_user(user, now - domain.LISTED_DAYS)
    rows = [
        {
            "alert": alert,
            "title": EventType(alert.type).label,
            "address": _address(alert),
            "is_new": alert.at > seen,
        }
        for alert in listed
    ]
    newest = listed[0].at.isoformat() if listed and listed[0].at > seen else ""
    context = {"section": "alerts", "rows": rows, "newest": newest}
    return render(request, "scheduler/alerts.html", context)


@require_safe
@never_cache
def new(request: HttpRequest) -> JsonResponse:
    """How many alerts are new, and the newest of them."""
    user = current_user(request)
    rows = domain.of_user(user, domain.seen_until(user, database_now()))
    newest = rows[0] if rows else None
    return JsonResponse(
        {
            "count": len(rows),
            "newest": newest
            and {
                "id": newest.id,
                "title": str(EventType(newest.type).label),
                "text": newest.name,
                "address": _address(newest) or reverse("scheduler:alerts"),
            },
        }
    )


@require_POST
def mark_seen(request: HttpRequest) -> HttpResponse:
    """Mark the alerts until the newest one that the user's page listed; later ones stay new."""
    user, now = current_user(request), database_now()
    try:
        until = parse_datetime(request.POST.get("until", ""))
    except ValueError:
        until = None
    if until is not None and until.tzinfo is not None:
        domain.mark_seen(user, min(until, now))
    return redirect("scheduler:alerts")


def _address(alert: Alert) -> str:
    return reverse(ADDRESSES[EventType(alert.type)], args=alert.target) if alert.target else ""
