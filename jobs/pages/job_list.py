"""The list of an office's jobs, and actions on many of them."""

from functools import partial
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from jobs import bulk, queries, serialize
from jobs.ids import parse_number
from jobs.keyset import page_links, page_of
from jobs.pages import confirmation, selection
from jobs.pages.confirmation import MATCHING, hidden_fields
from jobs.pages.live_list import Place, with_query
from jobs.pages.permissions import office_access, office_context
from jobs.selection import are_few
from jobs.states import JobStatus, MemberRole


@require_safe
def jobs(request: HttpRequest, office_id: UUID, *, template: str = "list.html") -> HttpResponse:
    """The page, or with another template the part of it that is refreshed."""
    access = office_access(request, office_id)
    selected = selection.filtered_jobs(access.office, request.GET)
    place = Place.read(request.GET, "seq", parse_number)
    page = page_of(
        serialize.with_job_fields(place.exclude_newer(selected.jobs)),
        after=place.after,
        before=place.before,
        few=are_few(selected.statuses),
    )
    at, newest = reverse("pages:jobs", args=[office_id]), selection.newest_seq(access.office)
    context = {
        **office_context(access, "jobs"),
        "now": timezone.now(),
        "page": page,
        **page_links(page, selected.query),
        **place.context(at, selected.query, place.count_new(selected.jobs), newest),
        "filter": selected,
        "form": selection.SearchForm(),
        "hidden": hidden_fields(selected.query),
        "statuses": list(JobStatus),
        "roles": queries.known_roles(),
    }
    return render(request, f"jobs/{template}", context)


@require_POST
def confirm(request: HttpRequest, office_id: UUID) -> HttpResponse:
    """Show what an action would change, then apply it."""
    access = office_access(request, office_id, MemberRole.OPERATOR)
    office = access.office
    verb = request.POST.get("verb", "")
    if verb not in bulk.APPLIES_TO:
        raise Http404
    selected = selection.filtered_jobs(office, request.POST)
    matching = request.POST.get("scope") == MATCHING
    # "All that match" are those that matched when the page was opened, or else when they were counted.
    newest = parse_number(request.POST.get("newest")) or selection.newest_seq(office)
    ids = [] if matching else request.POST.getlist("job")
    jobs = selected.jobs.filter(seq__lte=newest) if matching else selection.selected_jobs(office, ids)
    context = {
        **office_context(access),
        "act_at": reverse("pages:confirm", args=[office.id]),
        "back_text": office.name,
        "field": "job",
        "newest": newest,
        "ids": ids,
        "hidden": hidden_fields(selected.query),
        "filter_text": selection.describe(office, selected.query) if matching else "",
        "searched_since": selected.searched_since if matching else None,
    }
    return confirmation.confirm(
        request,
        verb,
        bulk.preview(jobs, verb),
        partial(bulk.apply, jobs),
        back=with_query(reverse("pages:jobs", args=[office_id]), selected.query),
        context=context,
    )
