"""The offices that the user may see, and the batches of one."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from jobs.access import offices_of
from jobs.insight.progress import effective_progress_of
from jobs.insight.stats import office_counts
from jobs.pages.live_list import Place
from jobs.pages.permissions import current_user, office_access, office_context

MOST_OFFICES = 100
MOST_BATCHES = 50


@require_safe
def offices(request: HttpRequest) -> HttpResponse:
    visible = list(offices_of(current_user(request))[:MOST_OFFICES])
    counts = office_counts([office.id for office in visible])
    rows = [{"office": office, "counts": counts[office.id]} for office in visible]
    return render(request, "jobs/offices.html", {"section": "offices", "rows": rows})


@require_safe
def batches(request: HttpRequest, office_id: UUID, *, template: str = "batches.html") -> HttpResponse:
    """The page, or with another template the part of it that is refreshed."""
    access = office_access(request, office_id)
    office = access.office
    place = Place.read(request.GET)
    newest = list(place.exclude_newer(office.batches.all()).order_by("-created_at", "-id")[:MOST_BATCHES])
    by_batch = effective_progress_of([batch.id for batch in newest])
    context = {
        **office_context(access, "batches"),
        "now": timezone.now(),
        "rows": [{"batch": batch, "progress": by_batch[batch.id]} for batch in newest],
        **place.context(
            reverse("pages:batches", args=[office_id]), QueryDict(), place.count_new(office.batches.all())
        ),
    }
    return render(request, f"jobs/{template}", context)
