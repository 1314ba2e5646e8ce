"""The offices that the reader may see."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from jobs.access import offices_of
from jobs.insight import progress
from jobs.pages.permissions import current_user, office_access
from jobs.pages.summary import standing

SHOWN = 100
BATCHES = 50


@require_safe
@login_required
def offices(request: HttpRequest) -> HttpResponse:
    found = list(offices_of(current_user(request))[:SHOWN])
    counts = standing([office.id for office in found])
    rows = [{"office": office, "counts": counts[office.id]} for office in found]
    return render(request, "jobs/offices.html", {"section": "offices", "rows": rows})


@require_safe
@login_required
def batches(request: HttpRequest, office_id: UUID) -> HttpResponse:
    office = office_access(request, office_id).office
    found = list(office.batches.order_by("-created_at", "-id")[:BATCHES])
    counts = progress.counts_of([batch.id for batch in found])
    rows = [
        {
            "batch": batch,
            "total": sum(counts[batch.id].values()),
            "percent": progress.percent(counts[batch.id]),
        }
        for batch in found
    ]
    return render(
        request, "jobs/batches.html", {"section": "offices", "tab": "batches", "office": office, "rows": rows}
    )
