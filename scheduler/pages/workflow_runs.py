"""The runs of all workflows, by state and time: what the tiles of the overview count."""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from jobs.ids import parse_uuid
from jobs.keyset import page_links, page_of
from jobs.pages.permissions import current_user
from jobs.pages.selection import filter_query
from jobs.pages.time_range import RANGE_NAMES, RANGES
from scheduler import access
from scheduler.display import state_choices
from scheduler.pages.workflows import run_rows
from scheduler.states import RunStatus


class WorkflowRunFilterForm(forms.Form):
    status = forms.ChoiceField(label=_("State"), choices=state_choices(RunStatus), required=False)
    ended = forms.ChoiceField(label=_("Ended"), choices=RANGE_NAMES, required=False)


@require_safe
def workflow_runs(request: HttpRequest, *, template: str = "workflow_runs.html") -> HttpResponse:
    """The page, or with another template the part of it that is refreshed."""
    user, now, form = current_user(request), timezone.now(), WorkflowRunFilterForm(request.GET)
    visible = access.runs_of(user).select_related("workflow", "started_by")
    matching = visible.defer("workflow_data", "workflow__steps")
    if not form.is_valid():
        matching = matching.none()
    else:
        if status := form.cleaned_data["status"]:
            matching = matching.filter(status=status)
        if ended := form.cleaned_data["ended"]:
            matching = matching.filter(ended_at__gte=now - RANGES[ended])
    after, before = (parse_uuid(request.GET.get(name)) for name in ("after", "before"))
    page = page_of(matching, order=("-id",), after=after, before=before)
    query = filter_query(request.GET, form.fields)
    context = {
        "section": "workflows",
        "now": now,
        "form": form,
        "query": query,
        "rows": run_rows(page.rows),
        "live_at": f"{reverse('scheduler:workflow-runs-live')}?{request.GET.urlencode()}",
        **page_links(page, query),
    }
    return render(request, f"scheduler/{template}", context)
