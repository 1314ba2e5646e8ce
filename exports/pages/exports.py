"""The pages of the user's exports: list, detail, and the parts that scripts refresh; cancel, export again."""

import json

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from exports import display, lifecycle, links
from exports.access import exports_of
from exports.models import ExportJob, Replay
from exports.pages.export_rows import export_rows
from exports.pages.filters import page_newest_first, read_filter
from exports.pages.forms import LinkForm
from exports.render.options import RenderOptions
from exports.states import TERMINAL, JobType, Status
from jobs.errors import Refused
from jobs.ids import parse_number
from jobs.keyset import page_links
from jobs.pages.permissions import current_user
from jobs.pages.verbs import call_verb

SIZE = 25
MAX_PARTS = 100
FILTERS = {"state": Status.values, "kind": JobType.values}


@require_safe
def exports(request: HttpRequest) -> HttpResponse:
    query = read_filter(request.GET, FILTERS)
    rows = _own_exports(request)
    if query.problems:
        rows = rows.none()
    if state := query.get("state"):
        rows = rows.filter(status=state)
    if kind := query.get("kind"):
        rows = rows.filter(job_type=kind)
    page = page_newest_first(rows, request.GET, SIZE)
    context = {
        "section": "exports",
        "tab": "exports",
        "exports": export_rows(page.rows, timezone.now()),
        "filter": query,
        "states": Status,
        "kinds": display.KIND_NAMES,
        "state": query.get("state"),
        "kind": query.get("kind"),
        "newest": not request.GET.keys() & {"after", "before"},
        **page_links(page, query.params),
        **script_context(),
    }
    return render(request, "exports/list.html", context)


@require_safe
def export(request: HttpRequest, job_id: int) -> HttpResponse:
    (row,) = export_rows([_own(request, job_id)], timezone.now())
    return render(request, "exports/export.html", {"section": "exports", "export": row, **script_context()})


@require_safe
def parts(request: HttpRequest) -> HttpResponse:
    """The current HTML of some exports, as rows of a table or in full."""
    ids = [
        job_id for text in request.GET.getlist("id")[:MAX_PARTS] if (job_id := parse_number(text)) is not None
    ]
    rows = export_rows(list(_own_exports(request).filter(pk__in=ids)), timezone.now())
    shape = "full" if request.GET.get("as") == "full" else "rows"
    return render(request, "exports/parts.html", {shape: rows})


@require_POST
def cancel(request: HttpRequest, job_id: int) -> HttpResponse:
    job = _own(request, job_id)
    call_verb(request, lambda: lifecycle.cancel(job.pk, timezone.now()), _("The export was cancelled."))
    return redirect("exports:export", job_id=job.pk)


@require_POST
def start_again(request: HttpRequest, job_id: int) -> HttpResponse:
    """Starts a new export of the same replay, type and options; the old one stays as it is."""
    job = _own(request, job_id)
    if job.status not in TERMINAL:
        messages.warning(request, _("This export has not ended yet."))
        return redirect("exports:export", job_id=job.pk)
    return start_export(request, job.replay, JobType(job.job_type), job.options)


@require_POST
def share(request: HttpRequest, job_id: int) -> HttpResponse:
    job, form = _own(request, job_id), LinkForm(request.POST)
    if not form.is_valid():
        messages.warning(request, str(form.errors["hours"][0]))
        return redirect("exports:export", job_id=job.pk)
    made = _("The link was made. Copy it from the list.")
    call_verb(request, lambda: links.create(job, form.age, timezone.now()), made)
    return redirect("exports:export", job_id=job.pk)


@require_POST
def revoke(request: HttpRequest, job_id: int, link_id: int) -> HttpResponse:
    job = _own(request, job_id)
    if not links.revoke(job, link_id):
        raise Http404
    messages.success(request, _("The link was revoked."))
    return redirect("exports:export", job_id=job.pk)


def start_export(
    request: HttpRequest, replay: Replay, job_type: JobType, options: RenderOptions
) -> HttpResponse:
    try:
        job = lifecycle.request(replay, job_type, timezone.now(), options)
    except Refused as refused:
        messages.warning(request, str(refused.text))
        return redirect("exports:replay", replay_id=replay.pk)
    messages.success(request, _("Export started."))
    return redirect("exports:export", job_id=job.pk)


def script_context() -> dict[str, str]:
    """The names of the phases for the script that moves the progress bars."""
    return {"phases": json.dumps({name: str(text) for name, text in display.PHASE_NAMES.items()})}


def _own_exports(request: HttpRequest) -> QuerySet[ExportJob]:
    """With their replays, whose titles the pages show."""
    return exports_of(current_user(request)).select_related("replay")


def _own(request: HttpRequest, job_id: int) -> ExportJob:
    return get_object_or_404(_own_exports(request), pk=job_id)
