"""The reader's exports: the list, one of them, the parts that a page asks for again, cancel and once more."""

import json

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from exports import lifecycle
from exports.models import ExportJob
from exports.pages import labels
from exports.pages.export_rows import in_full, own, shown
from exports.pages.filters import asked
from exports.states import TERMINAL, JobType, Status
from jobs.errors import Conflict
from jobs.ids import parse_number
from jobs.keyset import page_links, page_of
from jobs.pages.permissions import current_user

SIZE = 25
MOST_PARTS = 100
FILTERS = {"state": Status.values, "kind": JobType.values}


@require_safe
@login_required
def exports(request: HttpRequest) -> HttpResponse:
    wanted = asked(request.GET, FILTERS)
    rows = own(current_user(request))
    if wanted.problems:
        rows = rows.none()
    if state := wanted.get("state"):
        rows = rows.filter(status=state)
    if kind := wanted.get("kind"):
        rows = rows.filter(job_type=kind)
    after, before = parse_number(request.GET.get("after")), parse_number(request.GET.get("before"))
    page = page_of(rows, after=after, before=before, size=SIZE, order=("-pk",))
    context = {
        "section": "exports",
        "tab": "exports",
        "exports": shown(page.rows, timezone.now()),
        "filter": wanted,
        "states": Status,
        "kinds": labels.KINDS,
        "state": wanted.get("state"),
        "kind": wanted.get("kind"),
        "newest": after is None and before is None,
        **page_links(page, wanted.query),
        **for_script(),
    }
    return render(request, "exports/list.html", context)


@require_safe
@login_required
def export(request: HttpRequest, job_id: int) -> HttpResponse:
    found = get_object_or_404(own(current_user(request)), pk=job_id)
    context = {"section": "exports", "one": in_full(found, timezone.now()), **for_script()}
    return render(request, "exports/one.html", context)


@require_safe
@login_required
def parts(request: HttpRequest) -> HttpResponse:
    """Some exports as they are now, for the page that shows them: rows of a table, or one in full."""
    ids = [
        number
        for text in request.GET.getlist("id")[:MOST_PARTS]
        if (number := parse_number(text)) is not None
    ]
    found, now = list(own(current_user(request)).filter(pk__in=ids)), timezone.now()
    if request.GET.get("as") == "full":
        return render(request, "exports/parts.html", {"full": [in_full(job, now) for job in found]})
    return render(request, "exports/parts.html", {"rows": shown(found, now)})


@require_POST
@login_required
def cancel(request: HttpRequest, job_id: int) -> HttpResponse:
    found = get_object_or_404(own(current_user(request)), pk=job_id)
    try:
        lifecycle.cancel(found.pk, timezone.now())
    except Conflict as conflict:
        messages.warning(request, labels.refusal(conflict))
    else:
        messages.success(request, _("The export was cancelled."))
    return redirect("exports:export", job_id=found.pk)


@require_POST
@login_required
def again(request: HttpRequest, job_id: int) -> HttpResponse:
    """A new export of the same kind and replay: what has ended stays as it is."""
    found = get_object_or_404(own(current_user(request)), pk=job_id)
    if found.status not in TERMINAL:
        messages.warning(request, _("Nothing to do: this export has not ended yet."))
        return redirect("exports:export", job_id=found.pk)
    return started(request, lifecycle.request(found.replay, JobType(found.job_type), timezone.now()))


def started(request: HttpRequest, job: ExportJob) -> HttpResponse:
    messages.success(request, _("The export was asked for."))
    return redirect("exports:export", job_id=job.pk)


def for_script() -> dict[str, str]:
    """The words that the script puts beside a bar that moves."""
    return {"phases": json.dumps({name: str(phase) for name, phase in labels.PHASES.items()})}
