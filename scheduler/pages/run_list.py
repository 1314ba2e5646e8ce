"""The list of everything that ran or will run: search, filters, saved views, actions and CSV."""

from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from jobs.access import offices_of
from jobs.ids import parse_uuid, uuid7_at
from jobs.keyset import Page, page_links
from jobs.models import Batch
from jobs.pages.confirmation import MATCHING, confirm, hidden_fields
from jobs.pages.live_list import New, Place, with_query
from jobs.pages.permissions import current_user
from jobs.pages.time_range import CUSTOM, RANGE_NAMES
from jobs.states import Trigger
from scheduler.models import SavedView
from scheduler.pages.causes import causes_of_rows
from scheduler.pages.run_filter import FAILURES, RunFilterForm
from scheduler.runs import bulk, csv_export, search
from scheduler.runs.filters import RunFilter, RunState, Sort

# Filters that stand in the form only when they are set.
REFERENCES = ("batch", "schedule")
MOST_OFFICES = 200


@require_safe
def runs(request: HttpRequest) -> HttpResponse:
    user, form = current_user(request), RunFilterForm(request.GET)
    context = _list_context(request, user, form) | {
        "section": "runs",
        "form": form,
        "states": list(RunState),
        "more_fields": _choices(form, user),
        "references": [(name, form.query()[name]) for name in REFERENCES if name in form.query()],
        "custom": form.query().get("range") == CUSTOM or "since" in form.query() or "until" in form.query(),
        "views": SavedView.objects.filter(user=user).order_by("name"),
        "batch": _batch_name(user, form),
    }
    return render(request, "scheduler/runs.html", context)


@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """The rows of the page again, and how many runs are newer."""
    user, form = current_user(request), RunFilterForm(request.GET)
    return render(request, "scheduler/runs_live.html", _list_context(request, user, form))


@require_safe
def count(request: HttpRequest) -> HttpResponse:
    values = RunFilterForm(request.GET).values(timezone.now())
    newest = Place.read(request.GET).newest
    counted = search.Count(0, False)
    if values is not None:
        counted = search.count(current_user(request), replace(values, newest=newest))
    number = f"{counted.number:,}{'+' if counted.more else ''}"
    return HttpResponse(_("%(number)s runs") % {"number": number}, content_type="text/plain; charset=utf-8")


@require_safe
def as_csv(request: HttpRequest) -> HttpResponseBase:
    user, values = current_user(request), RunFilterForm(request.GET).values(timezone.now())
    if values is None:
        raise Http404
    rows = search.every(user, values, csv_export.MOST)
    return StreamingHttpResponse(
        csv_export.lines(rows),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="runs.csv"'},
    )


@require_POST
def act(request: HttpRequest) -> HttpResponse:
    """Show what an action would change, then apply it."""
    user, verb = current_user(request), request.POST.get("verb", "")
    if verb not in bulk.VERBS:
        raise Http404
    form = RunFilterForm(request.POST)
    matching = request.POST.get("scope") == MATCHING
    newest = parse_uuid(request.POST.get("newest")) or uuid7_at(timezone.now())
    ids = [] if matching else [run for run in map(parse_uuid, request.POST.getlist("run")) if run]
    values = form.values(timezone.now()) if matching else None
    selection = (
        bulk.select_matching(user, replace(values, newest=newest), verb)
        if values
        else bulk.select(user, ids, ids)
    )
    context = {
        "section": "runs",
        "act_at": reverse("scheduler:runs-act"),
        "back_text": _("Runs"),
        "field": "run",
        "newest": newest,
        "ids": ids,
        "hidden": hidden_fields(form.query()),
        "filter_text": describe(form) if matching else "",
        "searched_since": selection.searched_since,
    }
    return confirm(
        request,
        verb,
        bulk.preview(selection, verb),
        partial(bulk.apply, selection),
        back=list_address(form.query()),
        context=context,
    )


def describe(form: RunFilterForm) -> str:
    """The filter in words, for a confirmation."""
    parts = [f"{form.fields[name].label}: {', '.join(values)}" for name, values in form.query().lists()]
    return " · ".join(parts)


def list_address(query: QueryDict) -> str:
    return with_query(reverse("scheduler:runs"), query)


@require_safe
def old_list(request: HttpRequest) -> HttpResponse:
    """The address of the list of Executions, which this list has replaced."""
    states = {"PENDING": ("pending", "queued"), "RUNNING": ("running",), "SUCCESS": ("succeeded",)}
    states |= {"FAILED": ("failed",), "CANCELLED": ("cancelled",)}
    query = [(name, request.GET[name]) for name in ("trigger", "schedule") if name in request.GET]
    query += [("task", request.GET["task_id"])] if "task_id" in request.GET else []
    query += [
        ("state", state) for status in request.GET.getlist("status") for state in states.get(status, ())
    ]
    return redirect(f"{reverse('scheduler:runs')}{'?' if query else ''}{urlencode(query)}")


def _list_context(request: HttpRequest, user: User, form: RunFilterForm) -> dict[str, Any]:
    now = timezone.now()
    values = form.values(now)
    place = Place.read(request.GET)
    result, new, newest = search.RunPage(()), New(), None
    if values is not None:
        result = search.search(
            user, replace(values, newest=place.newest), after=place.after, before=place.before
        )
        if place.is_first and values.sort == Sort.NEWEST:
            newest = result.rows[0].id if result.rows else None
            new = _count_newer(user, values, place.newest)
    query, at = form.query(), reverse("scheduler:runs")
    links = place.context(at, query, new, newest)
    counted = query.copy()
    counted["newest"] = str(links["newest"])
    return {
        "now": now,
        "rows": result.rows,
        "causes": causes_of_rows(result.rows),
        "query": query,
        "hidden": hidden_fields(query),
        "searched_to": result.searched_to,
        "upward": values is not None and values.sort == Sort.OLDEST,
        "further": _further_address(query, result, values),
        **page_links(Page((), result.newer, result.older), query),
        "counted": counted.urlencode(),
        **links,
    }


def _batch_name(user: User, form: RunFilterForm) -> str:
    """The name of the batch in the filter, if the user may see it."""
    batch = parse_uuid(form.query().get("batch"))
    visible = Batch.objects.filter(pk=batch, office__in=offices_of(user)).first() if batch else None
    return str(visible or batch or "")


def _choices(form: RunFilterForm, user: User) -> list[dict[str, Any]]:
    """The fields of the form that are a choice of one."""
    query = form.query()
    offices = [(str(office.pk), office.name) for office in offices_of(user).order_by("name")[:MOST_OFFICES]]
    choices = {"failure": FAILURES, "trigger": Trigger.choices, "office": offices, "ended": RANGE_NAMES}
    return [
        {"name": name, "label": form.fields[name].label, "choices": values, "chosen": query.get(name, "")}
        for name, values in choices.items()
    ]


def _count_newer(user: User, values: RunFilter, newest: UUID | None) -> New:
    return New() if newest is None else New.of(search.count(user, values, since=newest).number)


def _further_address(query: QueryDict, result: search.RunPage, values: RunFilter | None) -> str:
    """The address of the same search in further runs, after one that ended before the last."""
    if result.bound is None or values is None or values.sort == Sort.LONGEST:
        return ""
    moved = query.copy()
    moved["after"] = str(result.bound)
    return f"?{moved.urlencode()}"
