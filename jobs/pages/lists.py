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

from jobs.api import shapes
from jobs.pages import bulk, choice
from jobs.pages.gate import may_act, reader, seat
from jobs.pages.keyset import page_of, place
from jobs.pages.wishes import WishForm
from jobs.states import JobStatus, MemberRole

MATCHING = "matching"


@require_safe
@login_required
def jobs(request: HttpRequest, office_id: UUID) -> HttpResponse:
    here = seat(request, office_id)
    wanted = choice.chosen(here.office, request.GET)
    after, before = place(request.GET.get("after")), place(request.GET.get("before"))
    page = page_of(shapes.shown(wanted.jobs), after=after, before=before, few=wanted.few)
    return render(
        request,
        "jobs/list.html",
        {
            "section": "offices",
            "tab": "jobs",
            "office": here.office,
            "may_act": may_act(here),
            "page": page,
            "newer": _link(wanted.query, before=page.newer),
            "older": _link(wanted.query, after=page.older),
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
    here = seat(request, office_id, MemberRole.OPERATOR)
    verb = request.POST.get("verb", "")
    if verb not in bulk.VERBS:
        raise Http404
    matching = request.POST.get("scope") == MATCHING
    wanted = choice.chosen(here.office, request.POST)
    ids = request.POST.getlist("job")
    found = wanted.jobs if matching else choice.ticked(here.office, ids)
    context = {
        "section": "offices",
        "office": here.office,
        "verb": verb,
        "matching": matching,
        "ids": [] if matching else ids,
        "hidden": hidden_fields(wanted.query),
        "preview": bulk.preview(found, verb),
        "back": list_address(office_id, wanted.query),
    }
    if "sure" not in request.POST:
        return render(request, "jobs/confirm.html", {**context, "form": WishForm(verb=verb)})
    form = WishForm(request.POST, verb=verb)
    if not form.is_valid():
        return render(request, "jobs/confirm.html", {**context, "form": form}, status=400)
    done = bulk.apply(here.office, found, form.wish(actor=reader(request).get_username()))
    tell(request, verb, done)
    return redirect(list_address(office_id, wanted.query))


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


def _link(query: QueryDict, **where: int | None) -> str:
    """The same list from another place on; empty where there is none."""
    ((name, number),) = where.items()
    if number is None:
        return ""
    moved = query.copy()
    moved[name] = str(number)
    return f"?{moved.urlencode()}"
