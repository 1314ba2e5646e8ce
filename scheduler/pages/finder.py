"""The results of the search that every page has."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from jobs.pages.permissions import current_user
from scheduler import find

LONGEST = 200


@require_safe
def results(request: HttpRequest) -> HttpResponse:
    text = request.GET.get("q", "").replace("\x00", "").strip()[:LONGEST]
    context = {"results": find.find(current_user(request), text), "text": text}
    return render(request, "scheduler/finder_results.html", context)
