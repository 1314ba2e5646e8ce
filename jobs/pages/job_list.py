"""The list of an office's jobs, and what can be done to many of them at once."""

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from jobs import serialize
from jobs.keyset import links, page_of, place
from jobs.pages import bulk, selection
from jobs.pages.forms import SureForm, WishForm
from jobs.pages.permissions import can_operate, current_user, office_access
from jobs.states import JobStatus, MemberRole

MATCHING = "matching"


@require_safe
@login_required
def jobs(request: HttpRequest, office_id: UUID) -> HttpResponse:
    here = office_access(request, office_id)
    wanted = selection.chosen(here.office, request.GET)
    after, before = place(request.GET.get("after")), place(request.GET.get("before"))
    page = page_of(serialize.with_job_fields(wanted.jobs), after=after, before=before, few=wanted.few)
    return render(
        request,
        "jobs/list.html",
        {
            "section": "offices",
            "tab": "jobs",
            "office": here.office,
            "can_operate": can_operate(here),
            "page": page,
            **links(page, wanted.query),
            "filter": wanted,
            "hidden": hidden_fields(wanted.query),
            "statuses": list(JobStatus),
            "roles": settings.DURE_ROLES,
        },
    )


@require_POST
@login_required
def confirm(request: HttpRequest, office_id: UUID) -> HttpResponse:
    """What would happen, before it does."""
    office = office_access(request, office_id, MemberRole.OPERATOR).office
    verb = request.POST.get("verb", "")
    if verb not in bulk.VERBS:
        raise Http404
    wanted = selection.chosen(office, request.POST)
    matching = request.POST.get("scope") == MATCHING
    # "All that match" are those that were there when they were counted.
    until = place(request.POST.get("until")) or selection.newest(office)
    ids = [] if matching else request.POST.getlist("job")
    found = wanted.jobs.filter(seq__lte=until) if matching else selection.ticked(office, ids)
    preview = bulk.preview(found, verb)
    given = request.POST if "sure" in request.POST else None
    form = WishForm(given, verb=verb)
    many = matching and preview.changed > bulk.TYPED_ABOVE
    sure = SureForm(given, count=preview.changed) if many else None
    if form.is_valid() and (sure is None or sure.is_valid()):
        tell(request, verb, bulk.apply(office, found, form.wish(actor=current_user(request).get_username())))
        return redirect(list_address(office_id, wanted.query))
    context = {
        "section": "offices",
        "office": office,
        "verb": verb,
        "matching": matching,
        "until": until,
        "ids": ids,
        "hidden": hidden_fields(wanted.query),
        "preview": preview,
        "back": list_address(office_id, wanted.query),
        "form": form,
        "sure": sure.asked_again() if sure and sure.is_bound and not sure.is_valid() else sure,
    }
    return render(request, "jobs/confirm.html", context, status=400 if form.is_bound else 200)


def tell(request: HttpRequest, verb: str, done: bulk.Done) -> None:
    words = {
        "cancel": ngettext("%(count)s job cancelled.", "%(count)s jobs cancelled.", done.changed),
        "retry": ngettext("%(count)s job will run again.", "%(count)s jobs will run again.", done.changed),
        "reprioritise": ngettext(
            "%(count)s job has a new place.", "%(count)s jobs have a new place.", done.changed
        ),
    }[verb] % {"count": done.changed}
    if done.skipped:
        words += " " + _("%(count)s were skipped: they had changed meanwhile.") % {"count": done.skipped}
    messages.add_message(request, messages.SUCCESS if done.changed else messages.WARNING, words)


def list_address(office_id: UUID, query: QueryDict) -> str:
    address = reverse("pages:jobs", args=[office_id])
    return f"{address}?{query.urlencode()}" if query else address


def hidden_fields(query: QueryDict) -> list[tuple[str, str]]:
    return [(name, value) for name, values in query.lists() for value in values]
